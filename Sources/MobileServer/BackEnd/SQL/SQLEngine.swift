internal import MobileModel
internal import MobileStore

/// An engine that ``SQLBackEnd`` works on: SQLite or PostgreSQL.
protocol SQLEngine: Sendable {
    /// The place of the database, for messages.
    var place: String { get }

    /// Runs `body` on one snapshot.
    func read<R>(_ body: (any BackEndConnection) throws -> R) throws -> R

    /// Runs `body` on one snapshot, on other connections than those of rows, because reading large values can take long.
    func readContents<R>(_ body: (any BackEndConnection) throws -> R) throws -> R

    /// Runs `body` in a transaction, once, and commits it.
    func write<R>(label: String, _ body: (any BackEndConnection) throws -> R) throws -> R

    /// The time between two looks at the position while devices listen for changes.
    var positionInterval: Duration { get }

    /// Explains an error of this engine; nil for an error from elsewhere.
    func classify(_ error: any Error, _ sentence: RejectionSentence) -> BackEndFailure?

    func close() throws
}

/// One transaction on a back end that speaks SQL: shared statements, and what the engines do in their own ways.
protocol BackEndConnection: SQLConnection {
    var expressions: any SQLExpressions { get }

    /// Finds a table or view as SQLite compares names; nil if there is none.
    func table(named name: String) throws -> BackEndTable?

    /// Prepares a statement, to check that the back end understands it. Preparing changes nothing.
    /// - Returns: the columns of its rows.
    func columns(of sql: String) throws -> [BackEndTable.Column]

    /// Finds all tables of users, in the order of their names.
    /// - Parameter schemas: the schemas of PostgreSQL to read; empty for those of the search path.
    /// - Returns: the tables, and what a model cannot have, each with the reason.
    func foundTables(schemas: [String]) throws -> (tables: [FoundTable], omissions: [String])

    /// Reads the description of one table.
    func described(_ table: FoundTable) throws -> DescribedTable

    /// Reads something from the database.
    func ping() throws

    /// Returns the state that this transaction sees.
    func position() throws -> BackEndPosition?

    func forEachRow(of object: SQLObject, _ parameters: [String: Value], _ keys: [RowKey]?, _ visit: (BackEndRow) throws -> Void) throws

    /// Packs all rows of a partition.
    /// - Parameters:
    ///   - sums: the sums to add up on the way, with their seed; nil, also for a connection that does not have ``addsUpLoads``.
    ///   - unfit: visits the rows that their attributes cannot hold.
    ///   - added: is called after each row, and may take the rows.
    /// - Returns: the sums.
    func packRows(
        of object: SQLObject, _ parameters: [String: Value], sums: (query: BucketQuery, seed: [UInt8])?, into rows: inout PackedRows,
        unfit: (UnfitRow) throws -> Void, _ added: (inout PackedRows) throws -> Void
    ) throws -> BucketSums?

    /// Whether a load can add up its rows on the way.
    var addsUpLoads: Bool { get }

    func forEachLargeValue(
        of object: SQLObject, _ parameters: [String: Value], _ keys: [RowKey]?, _ visit: (LargeValueDigest) throws -> Void
    ) throws

    func value(of attribute: AttributeModel, in key: RowKey, of object: SQLObject, _ receive: ([UInt8]) throws -> Void) throws -> BackEndValue

    /// Runs a statement of a model.
    /// - Returns: the number of changed rows, and a condition on the row that it inserted, if the engine knows it.
    func run(_ sql: String, _ values: [Value], of object: SQLObject) throws -> (changed: Int, inserted: InsertedRow?)

    /// The way of writing values piece by piece; nil where the engine takes whole values only.
    var pieces: SQLitePieces? { get }

    /// The log of changes that the back end's owner may have installed.
    var triggerLog: any TriggerLog { get }

    /// The clause of a SELECT that locks its rows until the transaction ends; nil where a transaction that writes excludes all others.
    var rowLock: String? { get }

    /// The sums of rows, by which changes are found without a log.
    var buckets: any BucketReading { get }

    /// Whether there is a table with this name, for the records of operations.
    func hasTable(_ name: String) throws -> Bool

    /// The statements that create the tables for the records of operations, by the tables' names.
    var recordTables: [(name: String, statements: [String])] { get }

    /// Numbers the records of a client that this transaction has made, where the engine does not count them up itself.
    func numberRecords(of client: String, count: Int) throws

    /// Keeps other transactions from giving numbers to records until this one ends.
    func lockRecordNumbers() throws

    /// Returns the last number of a record that was ever given.
    func lastRecordNumber() throws -> Int64
}

extension BackEndConnection {
    var addsUpLoads: Bool { false }

    func packRows(
        of object: SQLObject, _ parameters: [String: Value], sums: (query: BucketQuery, seed: [UInt8])?, into rows: inout PackedRows,
        unfit: (UnfitRow) throws -> Void, _ added: (inout PackedRows) throws -> Void
    ) throws -> BucketSums? {
        try forEachRow(of: object, parameters, nil) { row in
            switch row.held(by: object.plan) {
            case .unfit(let row): try unfit(row)
            case .fit(let row):
                rows.add(row)
                try added(&rows)
            }
        }
        return nil
    }
}

/// A condition on the row that a statement has inserted.
struct InsertedRow {
    let condition: String
    let values: [Value]
}
