internal import MobileCrypto
internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// A back end in any SQLite file. Its journal mode stays unchanged; foreign keys are enforced.
///
/// Rows are loaded on the single reader of `database`, which stays open. Its `data_version` therefore shows whether another connection has changed
/// the file since a load. Large values are read on separate connections, because reading them can take long.
final class SQLiteEngine: SQLEngine {
    let path: String
    let database: Database
    let contents: Database
    /// The name of this use of the file, which ends when the server closes.
    private let life = SystemEnvironment.randomBytes(8).hexadecimal

    var place: String { path }

    /// - Parameters:
    ///   - name: the name in the model, for messages.
    ///   - timeout: the time to wait for a connection.
    init(name: String, path: String, timeout: Duration) throws(ServerError) {
        self.path = path
        do {
            var profile = ConnectionProfile(path: path)
            profile.journal = .unchanged
            profile.foreignKeys = true
            profile.createsFile = false
            profile.connectionTimeout = timeout
            profile.maxConnections = 1
            database = try Database(profile)
            profile.maxConnections = 2
            contents = try Database(profile)
        } catch {
            let reason = error.code == .notFound ? "there is no file \(path)" : error.message
            throw ServerError(.missingBackEnd, "back end \"\(name)\": \(reason)", cause: error)
        }
    }

    func read<R>(_ body: (any BackEndConnection) throws -> R) throws -> R {
        try database.read { try body(SQLiteBackEndConnection(connection: $0, life: life)) }
    }

    func readContents<R>(_ body: (any BackEndConnection) throws -> R) throws -> R {
        try contents.read { try body(SQLiteBackEndConnection(connection: $0, life: life)) }
    }

    func write<R>(label: String, _ body: (any BackEndConnection) throws -> R) throws -> R {
        try database.write(label: label) { try body(SQLiteBackEndConnection(connection: $0, life: life)) }
    }

    let positionInterval: Duration = .milliseconds(20)

    func close() throws {
        try contents.close()
        try database.close()
    }

    /// Maps a failure to a code, by the table of checklist area ERR: 412 constraint, 409 busy, 404 no such table, 503 down, 500 all others.
    func classify(_ error: any Error, _ sentence: RejectionSentence) -> BackEndFailure? {
        guard let error = error as? StoreError else { return nil }
        let backEndCode = error.sqliteCode.map(String.init) ?? ""
        switch Self.code(of: error) {
        case ResultCode.conflict: return .busy(backEndCode: backEndCode, detail: error.message)
        case ResultCode.unavailable: return .outOfReach(backEndCode: backEndCode, detail: error.message)
        case let code: return .refused(sentence.text(of: error, code: code), code: code, backEndCode: backEndCode, detail: error.message)
        }
    }

    private static func code(of error: StoreError) -> Int64 {
        switch error.code {
        case .constraint: return ResultCode.constraint
        case .timeout: return ResultCode.conflict
        case .full, .io, .closed: return ResultCode.unavailable
        default: break
        }
        switch (error.sqliteCode ?? 0) & 0xFF {
        case 5, 6: return ResultCode.conflict  // SQLITE_BUSY, SQLITE_LOCKED
        case 10, 13, 14: return ResultCode.unavailable  // SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN
        case 19: return ResultCode.constraint  // SQLITE_CONSTRAINT
        case 1 where error.message.contains("no such table"): return ResultCode.notFound
        default: return ResultCode.failure
        }
    }
}

/// A transaction on a back end in an SQLite file.
struct SQLiteBackEndConnection: BackEndConnection {
    let connection: Connection
    /// The name of the engine's use of the file.
    var life = ""

    private var statements: SQLiteStateConnection { SQLiteStateConnection(connection: connection) }

    func execute(_ sql: String, _ values: [Value]) throws -> Int { try connection.execute(sql, values) }
    func rows(_ sql: String, _ values: [Value]) throws -> [[Value]] { try connection.rows(sql, values) }
    func forEachRow(_ sql: String, _ values: [Value], _ visit: (any StateRow) throws -> Void) throws {
        try statements.forEachRow(sql, values, visit)
    }

    var expressions: any SQLExpressions { SQLiteExpressions(isUTF8: (try? connection.isUTF8) ?? true) }

    func table(named name: String) throws -> BackEndTable? { try BackEndTable(named: name, in: connection) }

    func columns(of sql: String) throws -> [BackEndTable.Column] {
        try connection.statement(sql).columnNames.map { BackEndTable.Column(name: $0, affinity: .blob, isGenerated: false) }
    }

    func ping() throws { _ = try connection.number("PRAGMA schema_version") }

    /// The number stays the same on the held reader until another connection changes the file. Reading it begins the snapshot of a read.
    func position() throws -> BackEndPosition? {
        BackEndPosition(historyID: "", state: String(try connection.number("PRAGMA data_version")))
    }

    func forEachRow(of object: SQLObject, _ parameters: [String: Value], _ keys: [RowKey]?, _ visit: (BackEndRow) throws -> Void) throws {
        var row = PackedRows(references: object.plan.references.count)
        _ = try pack(object, parameters, keys, sums: nil, into: &row, unfit: { try visit(BackEndRow($0)) }) { row in
            try visit(BackEndRow(row[0]))
            row.removeAll()
        }
    }

    /// The sums are added up by the same query.
    func packRows(
        of object: SQLObject, _ parameters: [String: Value], sums: (query: BucketQuery, seed: [UInt8])?, into rows: inout PackedRows,
        unfit: (UnfitRow) throws -> Void, _ added: (inout PackedRows) throws -> Void
    ) throws -> BucketSums? {
        try pack(object, parameters, nil, sums: sums, into: &rows, unfit: unfit, added)
    }

    var addsUpLoads: Bool { true }

    /// The exporter writes rows as JSON text in the form of the wire, which is taken over as it is.
    private func pack(
        _ object: SQLObject, _ parameters: [String: Value], _ keys: [RowKey]?, sums: (query: BucketQuery, seed: [UInt8])?,
        into rows: inout PackedRows, unfit: (UnfitRow) throws -> Void, _ added: (inout PackedRows) throws -> Void
    ) throws -> BucketSums? {
        let query = try SQLiteLoadQuery(object, parameters, keys, sums: sums, isUTF8: connection.isUTF8)
        let export = try connection.exporter(query.sql, query.values, columns: query.columns, sums: query.sums)
        var isAtEnd = false
        while !isAtEnd {
            do {
                while try rows.add(next: export, keys: query.keyTypes, of: object.plan) { try added(&rows) }
                isAtEnd = true
            } catch let error as StoreError {
                guard let row = UnfitRow(in: export, of: object.plan) else { throw error }
                try unfit(row)
            }
        }
        return query.sums.flatMap { BucketSums($0.sums.blob) }
    }

    func run(_ sql: String, _ values: [Value], of object: SQLObject) throws -> (changed: Int, inserted: InsertedRow?) {
        let changed = try connection.execute(sql, values)
        return (changed, InsertedRow(condition: "rowid = ?1", values: [.integer(connection.lastInsertedKey)]))
    }

    var triggerLog: any TriggerLog { SQLiteTriggerLog(connection: self) }

    var rowLock: String? { nil }

    var buckets: any BucketReading { SQLiteBuckets(connection: self) }

    var pieces: SQLitePieces? { SQLitePieces(connection: connection) }

    // MARK: Large values

    /// The rowid and, for each large attribute, the value's type and bytes. The bytes are NULL if the value can be read piece by piece.
    private func largeValuesStatement(of object: SQLObject, _ restriction: String) throws -> String {
        let isUTF8 = try connection.isUTF8
        let values = object.plan.largeAttributes.map { attribute in
            let column = object.column(attribute.name, prefix: "content.")
            let bytes = wholeValue(of: attribute, column, isUTF8)
            let whole = object.table.hasPieces ? "iif(typeof(\(column.sql)) IN ('blob', 'text'), NULL, \(bytes))" : bytes
            return "typeof(\(column.sql)), " + whole
        }
        let row = object.table.hasPieces ? "content.rowid" : "NULL"
        return "SELECT " + ([object.largeValueKey, row] + values).joined(separator: ", ")
            + " FROM \(object.largeValueTables) WHERE (\(object.hasLargeValue))\(restriction)"
    }

    /// Reads every large value of the partition once, the long ones piece by piece.
    func forEachLargeValue(
        of object: SQLObject, _ parameters: [String: Value], _ keys: [RowKey]?, _ visit: (LargeValueDigest) throws -> Void
    ) throws {
        let attributes = object.plan.largeAttributes, bound = object.loadParameters(parameters)
        let restriction = object.contentRestriction(to: keys, first: bound.count + 1)
        let query = try connection.statement(largeValuesStatement(of: object, restriction.sql))
        try query.bind(bound + restriction.values)
        var readers = [ColumnValueReader?](repeating: nil, count: attributes.count)
        while try query.step() {
            guard let key = RowKey(query.value(0), of: object.plan) else { continue }
            for (index, attribute) in attributes.enumerated() {
                let column = 2 + 2 * index
                guard query.text(column) != "null" else { continue }
                var digest = try SHA256(), text = attribute.type == .bigString ? UTF8Check() : nil
                var length: Int64 = 0
                if let bytes = wholeBytes(query, column + 1) {
                    try digest.update(bytes)
                    text?.update(bytes)
                    length = Int64(bytes.count)
                } else {
                    let reader = try valueReader(of: attribute, object, row: query.integer(1), reusing: readers[index])
                    readers[index] = reader
                    while let piece = try reader.nextChunk() {
                        try digest.update(piece)
                        text?.update(piece)
                    }
                    length = reader.byteCount
                }
                var found = LargeValueDigest(key: key, attribute: attribute.name, digest: try digest.finish(), length: length)
                found.isText = text?.isComplete
                try visit(found)
            }
        }
    }

    func value(of attribute: AttributeModel, in key: RowKey, of object: SQLObject, _ receive: ([UInt8]) throws -> Void) throws -> BackEndValue {
        let column = object.column(attribute.name), condition = object.condition(key)
        let bytes = try wholeValue(of: attribute, column, connection.isUTF8)
        let isInPieces = object.table.hasPieces ? "typeof(\(column.sql)) IN ('blob', 'text')" : "0"
        let row = object.table.hasPieces ? "rowid" : "NULL"
        let query = try connection.statement(
            """
            SELECT typeof(\(column.sql)), \(row), \(isInPieces), iif(\(isInPieces), NULL, \(bytes))
            FROM \(object.table.sql) WHERE \(condition.sql)
            """)
        try query.bind(condition.values)
        guard try query.step() else { return .noRow }
        guard query.text(0) != "null" else { return .null }
        if query.integer(2) == 1 {
            let reader = try valueReader(of: attribute, object, row: query.integer(1))
            while let piece = try reader.nextChunk() { try receive(piece) }
        } else {
            try receive(wholeBytes(query, 3) ?? [])
        }
        return .content
    }

    /// The value as bytes, which may be none of UTF-8. In a database of UTF-16 the bytes of a text are not those that travel: it stays a text.
    private func wholeValue(of attribute: AttributeModel, _ column: SQLColumn, _ isUTF8: Bool) -> String {
        let value = SQLiteExpressions().value(of: attribute, column)
        return attribute.type == .bigString && !isUTF8 ? value : "CAST(\(value) AS BLOB)"
    }

    private func wholeBytes(_ query: Statement, _ column: Int) -> [UInt8]? { query.blob(column) ?? query.text(column).map { Array($0.utf8) } }

    /// Returns a reader at the beginning of a large value: a new one, or `reader` moved there, which is cheaper.
    private func valueReader(
        of attribute: AttributeModel, _ object: SQLObject, row: Int64, reusing reader: ColumnValueReader? = nil
    ) throws -> ColumnValueReader {
        if let reader {
            try reader.move(toRow: row)
            return reader
        }
        return try connection.valueReader(
            table: object.table.name, column: object.tableColumn(attribute.name)?.name ?? attribute.name, row: row)
    }

    // MARK: Records of operations

    func hasTable(_ name: String) throws -> Bool { try exists("SELECT 1 FROM sqlite_schema WHERE name = ?1", [.text(name)]) }

    /// `seq` only grows (AUTOINCREMENT), even when rows are removed.
    var recordTables: [(name: String, statements: [String])] {
        [
            (
                SQLOperationRecords.table,
                [
                    """
                    CREATE TABLE mobile_processed_operation (
                        seq INTEGER PRIMARY KEY AUTOINCREMENT, client TEXT NOT NULL, operation INTEGER NOT NULL, outcome TEXT NOT NULL,
                        UNIQUE (client, operation))
                    """
                ]
            ), (SQLOperationRecords.guardTable, [SQLOperationRecords.guardTableStatement]),
            (SQLOperationRecords.eraTable, [SQLOperationRecords.eraTableStatement]), (RecordEnds.table, [RecordEnds.tableStatement]),
        ]
    }

    func numberRecords(of client: String, count: Int) throws {}

    /// A write transaction is alone.
    func lockRecordNumbers() throws {}

    func lastRecordNumber() throws -> Int64 {
        try connection.optionalNumber("SELECT seq FROM sqlite_sequence WHERE name = 'mobile_processed_operation'") ?? 0
    }
}

/// Writes values piece by piece into the rows of an SQLite file.
struct SQLitePieces {
    let connection: Connection

    /// Whether values of a large attribute can be written so.
    func takes(_ attribute: String, of object: SQLObject) throws -> Bool {
        guard let column = object.tableColumn(attribute), !column.isGenerated else { return false }
        return try object.table.takesPieces(in: column, connection)
    }

    /// Fills a value for which a statement has reserved space.
    func write(_ content: UploadedValue, to attribute: String, of object: SQLObject, row: Int64) throws {
        guard let column = object.tableColumn(attribute) else { return }
        let writer = try connection.valueWriter(table: object.table.name, column: column.name, row: row)
        try content.forEachPiece { try writer.append($0) }
    }
}
