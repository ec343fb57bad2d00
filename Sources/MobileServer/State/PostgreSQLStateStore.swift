internal import Foundation
package import MobileStore
package import PostgreSQLClient

/// The server's state in a PostgreSQL database, which any number of server processes share.
///
/// A serial write is a SERIALIZABLE transaction. After a conflict, a deadlock or a lost connection it runs again. Where the connection breaks during COMMIT,
/// the outcome is read from the engine's own record of transactions, and never guessed.
struct PostgreSQLStateStore: StateStore {
    private let pool: PostgreSQLPool
    /// Connections of long preparations: any number of these leaves those of the others free.
    private let stagingPool: PostgreSQLPool
    let configuration: PostgreSQLConfiguration
    let name: String

    /// The time for one transaction with all of its repetitions.
    private static let timeLimit = Duration.seconds(30)
    /// The time for one that copies a partition, or reads one for a download.
    static let longTimeLimit = Duration.seconds(900)

    /// Connects, and creates the tables that are missing.
    /// - Throws: ``ServerError/Code/cache``; ``ServerError/Code/configuration`` for an address that contains a password.
    init(_ configuration: PostgreSQLConfiguration, maximumConnections: Int = 8) throws {
        name = configuration.address
        self.configuration = configuration
        pool = PostgreSQLPool(configuration, maximumConnections: maximumConnections)
        stagingPool = PostgreSQLPool(configuration, maximumConnections: 4)
        do { try PostgreSQLStateSchema.prepare(self) } catch let error as PostgreSQLError {
            pool.close()
            guard error.code != .misuse else { throw ServerError(.configuration, "state store: \(error.message)", cause: error) }
            throw ServerError(.cache, "state store \(name): \(error)", cause: error)
        } catch {
            pool.close()
            throw error
        }
    }

    var dialect: StateDialect { .postgreSQL }

    func read<R>(_ body: (any StateConnection) throws -> R) throws -> R {
        try repeated(for: Self.longTimeLimit) { deadline in
            try pool.withConnection(deadline: deadline) { connection in
                try connection.transaction(isolation: .repeatableRead, access: .readOnly, deadline: deadline) {
                    try body(PostgreSQLStateConnection(connection: $0))
                }
            }
        }
    }

    func write<R>(label: String, isolation: StateIsolation, _ body: (any StateConnection) throws -> R) throws -> R {
        try repeated(for: isolation == .serial ? Self.timeLimit : Self.longTimeLimit) { deadline in
            var result: R?
            var transaction: Int64?
            do {
                return try pool.withConnection(deadline: deadline) { connection in
                    try connection.transaction(isolation: isolation == .serial ? .serializable : .readCommitted, deadline: deadline) { connection in
                        let value = try body(PostgreSQLStateConnection(connection: connection))
                        // NULL for a transaction that has changed nothing.
                        transaction = try connection.first("SELECT txid_current_if_assigned()")?.first?.integer
                        result = value
                        return value
                    }
                }
            } catch let error as PostgreSQLError where error.code == .commitUnknown {
                switch try pool.recordedOutcome(of: transaction, until: deadline) {
                case "committed": return result
                case "aborted": return nil
                // The record of an old transaction is removed, and a standby may not have got it.
                default: throw error
                }
            }
        }
    }

    func draft<R>(label: String, _ body: (any StateConnection) throws -> R) throws -> R {
        try write(label: label, isolation: .locks) { connection in
            try connection.execute("SET LOCAL synchronous_commit = off")
            return try body(connection)
        }
    }

    /// The server writes its log all the time.
    func flushDrafts() {}

    func staging<R>(_ body: (any StagingConnection) throws -> R) throws -> R {
        try stagingPool.withConnection(deadline: .now + configuration.connectionTimeout) { connection in
            try body(PostgreSQLStagingConnection(connection: connection) { try pool.recordedOutcome(of: $0, until: $1) })
        }
    }

    func close() throws {
        stagingPool.close()
        pool.close()
    }

    /// Runs `attempt` until it returns a value or throws an error that a repetition does not help against. The pause before a repetition grows, with
    /// jitter, so that two processes do not meet again.
    private func repeated<R>(for time: Duration, _ attempt: (ContinuousClock.Instant) throws -> R?) throws -> R {
        let deadline = ContinuousClock.now + time
        var pause = Duration.milliseconds(1)
        while true {
            do {
                if let result = try attempt(deadline) { return result }
            } catch let error as PostgreSQLError where error.canBeRepeated && ContinuousClock.now + pause < deadline {
                Thread.sleep(forTimeInterval: pause / .seconds(1) * Double.random(in: 0.5...1.5))
                pause = min(pause * 2, .milliseconds(250))
            }
        }
    }
}

/// The temporary tables that a transaction has made. One that is used no longer is kept for the next one of its name: a transaction that refreshes
/// thousands of partitions would leave as many dead rows of each table in the system's catalogs, and every look into those would pass all of them.
private final class StagedTables {
    private struct Table {
        let definition: String
        /// The number of rows at the last `ANALYZE`.
        let counted: Int64
        var isUsed = true
    }

    private var tables: [String: Table] = [:]

    /// Returns a table that is used no longer, with its columns and the number of rows that the planner knows.
    func take(_ name: String) -> (definition: String, counted: Int64)? {
        guard let table = tables[name], !table.isUsed else { return nil }
        return (table.definition, table.counted)
    }

    func use(_ name: String, _ definition: String, counted: Int64) { tables[name] = Table(definition: definition, counted: counted) }

    func keep(_ name: String) { tables[name]?.isUsed = false }

    /// Whether the planner would take a table for much smaller or larger than it is. `ANALYZE` leaves dead rows, too. `TRUNCATE` does not plan prepared
    /// statements again: without `ANALYZE`, each partition of a few rows would read all keys of the object, as the plan for one of thousands does.
    static func isCountedAgain(_ count: Int64, known: Int64) -> Bool {
        let (count, last) = (max(count, 50), max(known, 50))
        return count > 2 * last || last > 2 * count
    }
}

/// A transaction on the state in a PostgreSQL database.
struct PostgreSQLStateConnection: StateConnection {
    let connection: PostgreSQLConnection
    /// Whether staged tables outlive the transaction.
    var keepsStagedTables = false
    private let staged = StagedTables()

    func historyID() throws -> String { try connection.historyID() }

    func execute(_ sql: String, _ values: [Value]) throws -> Int { try connection.execute(sql, values.map(PostgreSQLValue.init)) }

    func rows(_ sql: String, _ values: [Value]) throws -> [[Value]] {
        try connection.rows(sql, values.map(PostgreSQLValue.init)).map { $0.map(Value.init) }
    }

    func forEachRow(_ sql: String, _ values: [Value], _ visit: (any StateRow) throws -> Void) throws {
        try connection.forEachRow(sql, values.map(PostgreSQLValue.init)) { try visit(PostgreSQLStateRow(row: $0)) }
    }

    func stage(_ table: String, _ columns: [(name: String, type: String)], _ fill: (_ add: ([Value]) throws -> Void) throws -> Void) throws {
        let definition = columns.map { "\($0.name) \($0.type)" }.joined(separator: ", ")
        let unused = staged.take(table), known = unused?.definition == definition ? unused?.counted : nil
        if known != nil {
            try connection.execute("TRUNCATE \(table)")
        } else {
            if unused != nil { try connection.execute("DROP TABLE \(table)") }
            try connection.execute("CREATE TEMP TABLE \(table) (\(definition)) ON COMMIT \(keepsStagedTables ? "PRESERVE ROWS" : "DROP")")
        }
        var count: Int64 = 0
        try connection.copy(into: table, columns: columns.map(\.name)) { copy in
            try fill {
                try copy.add($0.map(PostgreSQLValue.init))
                count += 1
            }
        }
        if let known, !StagedTables.isCountedAgain(count, known: known) {
            staged.use(table, definition, counted: known)
        } else {
            try countRows(of: [table])
            staged.use(table, definition, counted: count)
        }
    }

    func unstage(_ table: String) throws {
        // The next transaction of this connection would find it.
        if keepsStagedTables { try connection.execute("DROP TABLE \(table)") } else { staged.keep(table) }
    }

    var dialect: StateDialect { .postgreSQL }
}

struct PostgreSQLStateRow: StateRow {
    let row: PostgreSQLRow

    func value(_ column: Int) -> Value { Value(row[column]) }
    func integer(_ column: Int) -> Int64 { row[column].integer ?? 0 }

    func bytes(_ column: Int) -> [UInt8] {
        switch row[column] {
        case .text(let text): Array(text.utf8)
        case .blob(let bytes): bytes
        default: []
        }
    }
}

extension PostgreSQLValue {
    /// Converts a value. PostgreSQL stores no U+0000; in a text it becomes U+FFFD.
    package init(_ value: Value) {
        self =
            switch value {
            case .null: .null
            case .integer(let value): .integer(value)
            case .real(let value): .real(value)
            case .text(let value): .text(value.hasNUL ? value.replacing("\0", with: "\u{FFFD}") : value)
            case .blob(let bytes): .blob(bytes)
            }
    }
}

extension Value {
    package init(_ value: PostgreSQLValue) {
        self =
            switch value {
            case .null: .null
            case .integer(let value): .integer(value)
            case .real(let value): .real(value)
            case .text(let value): .text(value)
            case .blob(let bytes): .blob(bytes)
            }
    }
}
