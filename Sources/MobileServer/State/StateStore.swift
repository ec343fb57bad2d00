package import MobileStore

/// The database of the server's own state: accounts, sessions, subscriptions, key ranges, logs and traces.
///
/// Two engines implement it: SQLite, in one file for one machine, and PostgreSQL, for any number of processes. SQL is written once, in a subset that
/// both run; ``StateDialect`` holds what differs. These rules keep a statement in the subset:
/// - No column is called `user`: without quotes, PostgreSQL returns the name of the database role.
/// - A parameter that nothing types, as in `?1 IS NULL`, is written `CAST(?1 AS TEXT)`.
/// - Inside `ON CONFLICT .. DO UPDATE`, columns of the table are qualified.
/// - Functions are limited to aggregates, `coalesce` and `CASE`; sums are cast to `BIGINT`.
/// - Texts contain no U+0000, and names have at most 63 bytes.
package protocol StateStore: Sendable {
    /// The place of the state, for messages.
    var name: String { get }
    /// The parts of SQL that depend on the engine.
    var dialect: StateDialect { get }

    /// Runs `body` on one snapshot of the state.
    /// - Parameter body: may run again, when the connection to the engine breaks.
    func read<R>(_ body: (any StateConnection) throws -> R) throws -> R

    /// Runs `body` in a transaction, and commits it. The commit is durable when the call returns.
    /// - Parameters:
    ///   - label: names the transaction in messages and statistics.
    ///   - isolation: the protection from other transactions.
    ///   - body: may run again after a conflict with another process or a lost connection; only the last run takes effect. So it must change nothing
    ///     outside of the state that it cannot set again.
    func write<R>(label: String, isolation: StateIsolation, _ body: (any StateConnection) throws -> R) throws -> R

    /// Runs `body` in a short transaction of the kind ``StateIsolation/locks``, and commits it. Nothing uses its effects before a later write, which makes
    /// them durable together with its own: a loss of power before may undo them.
    func draft<R>(label: String, _ body: (any StateConnection) throws -> R) throws -> R

    /// Brings earlier drafts to the disk, so that the write that makes them durable waits less. Does nothing where it cannot.
    func flushDrafts()

    /// Runs `body` with a connection of its own, for a write whose preparation takes long.
    func staging<R>(_ body: (any StagingConnection) throws -> R) throws -> R

    /// Closes the connections.
    func close() throws
}

/// The protection of a write from other writes. SQLite has one writer, so there both are the same.
package enum StateIsolation: Sendable {
    /// As if transactions ran one after another.
    case serial
    /// Each statement sees what was committed when it began; the body locks the rows that it decides by, with ``StateDialect/lock``. For long
    /// transactions, which would meet others too often.
    case locks
}

extension StateStore {
    /// Runs `body` in a transaction, as if transactions ran one after another, and commits it.
    package func write<R>(label: String, _ body: (any StateConnection) throws -> R) throws -> R {
        try write(label: label, isolation: .serial, body)
    }
}

/// Statements of one transaction, on SQLite or PostgreSQL.
package protocol SQLConnection {
    /// Runs a statement.
    /// - Returns: the number of rows that it changed.
    @discardableResult
    func execute(_ sql: String, _ values: [Value]) throws -> Int

    /// Returns all rows of a query.
    func rows(_ sql: String, _ values: [Value]) throws -> [[Value]]

    /// Visits the rows of a query one by one, in the memory of one row.
    /// - Parameter visit: must not use this connection.
    func forEachRow(_ sql: String, _ values: [Value], _ visit: (any StateRow) throws -> Void) throws
}

/// One transaction on a ``StateStore``.
package protocol StateConnection: SQLConnection {
    /// Fills a temporary table, which this transaction alone sees. The transaction calls ``unstage(_:)`` when it needs it no longer; that of a
    /// ``StagingConnection`` stays.
    /// - Parameters:
    ///   - table: its name.
    ///   - columns: names with types, as in SQL; the types are `BIGINT`, `TEXT` and ``StateDialect/bytes``, a key may follow.
    ///   - fill: calls its argument for each row, with one value per column.
    func stage(_ table: String, _ columns: [(name: String, type: String)], _ fill: (_ add: ([Value]) throws -> Void) throws -> Void) throws

    /// Removes a staged table, or keeps it for the next one of its name.
    func unstage(_ table: String) throws

    /// The parts of SQL that depend on the engine.
    var dialect: StateDialect { get }

    /// The engine's name for the history of its data: another one after a recovery from a backup or the promotion of a standby. Empty for an engine that
    /// does not know it (``StateDialect/keepsHistory``).
    func historyID() throws -> String
}

/// A transaction in the memory of this process: its statements read lists as tables. On other engines rows are staged.
protocol ListReadingConnection: StateConnection {
    /// Runs a statement that reads a list as ``TextList/table(_:)``, the last of its parameters.
    /// - Returns: the number of rows that it changed.
    func execute(_ sql: String, _ values: [Value], reading list: TextList) throws -> Int

    /// Visits the rows of a query that reads a list, as ``SQLConnection/forEachRow(_:_:_:)``.
    func forEachRow(_ sql: String, _ values: [Value], reading list: TextList, _ visit: (any StateRow) throws -> Void) throws
}

/// The parts of SQL that depend on the engine.
package struct StateDialect: Sendable {
    /// The type of a key that the engine counts up.
    package let id: String
    /// The type of bytes.
    package let bytes: String
    /// The type of a row's key in the back end, as the state keeps it.
    let rowKey: String
    /// Returns the SQL of a kept key, from the SQL of its text (see ``KeyText``). The text of a kept key is `CAST(k AS TEXT)`.
    let keptKey: @Sendable (_ text: String) -> String
    /// The end of the definition of a table that is ordered by its primary key.
    package let ordered: String
    /// The end of a query that locks its rows until the transaction ends.
    package let lock: String
    /// Whether the engine knows the history of its data. Otherwise each open of the store counts as a new one.
    let keepsHistory: Bool
    /// Whether several servers may use one store at a time.
    let isShared: Bool
    /// A join whose left side is the outer loop.
    let outerJoin: String
    /// Returns the end of a table's name in a query that must use an index.
    let index: @Sendable (_ name: String) -> String
    /// Returns a query of the numbers in a JSON array that is a parameter, as `value`.
    let numbers: @Sendable (_ parameter: String) -> String
    /// Returns a query of the pairs of numbers in a JSON array of arrays that is a parameter, as `key` and `value`.
    let pairs: @Sendable (_ parameter: String) -> String

    static let sqlite = StateDialect(
        id: "INTEGER PRIMARY KEY", bytes: "BLOB",
        // Integers are kept as such, in a type that converts nothing: in the order of numbers, those that grow are added at the end of their object's keys,
        // in half of the time. Any number is less than a text. The check refuses the statements of a release that knows texts only and still runs, which
        // would give each row a second surrogate key.
        rowKey: "BLOB CHECK (k < '' OR CAST(CAST(k AS INTEGER) AS TEXT) <> k)", keptKey: { "\(ExactNumber.plainInteger)(\($0))" },
        ordered: " WITHOUT ROWID", lock: "", keepsHistory: false, isShared: false, outerJoin: "CROSS JOIN",
        index: { " INDEXED BY \($0)" },
        numbers: { "SELECT value FROM json_each(\($0))" },
        pairs: { "SELECT json_extract(value, '$[0]') AS key, json_extract(value, '$[1]') AS value FROM json_each(\($0))" })
    static let postgreSQL = StateDialect(
        id: "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY", bytes: "BYTEA", rowKey: "TEXT", keptKey: { $0 }, ordered: "", lock: " FOR UPDATE",
        keepsHistory: true,
        isShared: true,
        outerJoin: "JOIN",
        index: { _ in "" },
        numbers: { "SELECT CAST(value AS BIGINT) AS value FROM json_array_elements_text(CAST(\($0) AS JSON))" },
        pairs: {
            "SELECT CAST(value ->> 0 AS BIGINT) AS key, CAST(value ->> 1 AS BIGINT) AS value FROM json_array_elements(CAST(\($0) AS JSON))"
        })
}

/// A row of a query, valid while it is visited.
package protocol StateRow {
    /// Returns the value of a column, from 0.
    func value(_ column: Int) -> Value
    /// Returns an integer; 0 for NULL.
    func integer(_ column: Int) -> Int64
    /// Returns the UTF-8 of a text, or bytes; none for NULL.
    func bytes(_ column: Int) -> [UInt8]
}

extension StateConnection {
    /// Gives the planner the number of rows of temporary tables. Without it, PostgreSQL takes them for empty, and SQLite for large: to join the rows of the
    /// state with a single one, it would read all of them for a Bloom filter.
    func countRows(of tables: [String]) throws {
        for table in tables { try execute("ANALYZE \(dialect.isShared ? "" : "temp.")\(table)") }
    }
}

extension SQLConnection {
    @discardableResult
    package func execute(_ sql: String) throws -> Int { try execute(sql, []) }

    package func rows(_ sql: String) throws -> [[Value]] { try rows(sql, []) }

    /// Returns the first row of a query; nil if there is none.
    package func first(_ sql: String, _ values: [Value] = []) throws -> [Value]? { try rows(sql, values).first }

    /// Whether a query has a row.
    package func exists(_ sql: String, _ values: [Value] = []) throws -> Bool { try first(sql, values) != nil }

    /// Reads the rows of a query of one table.
    /// - Parameter rest: the SQL after the table's name.
    func storedRows<Column: StoredColumn>(_ columns: [Column], _ rest: String = "", _ values: [Value] = []) throws -> [StoredRow<Column>] {
        try rows(Column.selection(columns, rest), values).map { StoredRow(columns, $0) }
    }

    /// Reads the first row of a query of one table; nil without rows.
    func storedRow<Column: StoredColumn>(_ columns: [Column], _ rest: String = "", _ values: [Value] = []) throws -> StoredRow<Column>? {
        try storedRows(columns, rest, values).first
    }

    /// Reads the texts of a query of one column.
    func texts(_ sql: String, _ values: [Value] = []) throws -> [String] {
        try rows(sql, values).map { row in
            guard let text = row.first?.text else { throw StoreError(.corrupt, "a row of the result has no text: \(sql.prefix(200))") }
            return text
        }
    }

    /// Reads the number that a query returns.
    package func number(_ sql: String, _ values: [Value] = []) throws -> Int64 {
        guard let number = try optionalNumber(sql, values) else { throw StoreError(.corrupt, "the query returned no number: \(sql.prefix(200))") }
        return number
    }

    /// Reads the number that a query returns; nil when the result is NULL or empty, as for the maximum of no rows.
    func optionalNumber(_ sql: String, _ values: [Value] = []) throws -> Int64? {
        guard let value = try first(sql, values)?.first, value != .null else { return nil }
        guard let number = value.integer else { throw StoreError(.corrupt, "the query returned no number: \(sql.prefix(200))") }
        return number
    }
}
