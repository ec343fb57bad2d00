internal import MobileStore
internal import PostgreSQLClient

/// A connection on which a write is prepared before it begins. Its temporary tables belong to it alone, and stay from one transaction to the next.
///
///     prepare: a slow source --> temporary tables     takes any time, and keeps nobody from writing
///     prepare: what differs from the state            reads one snapshot
///     write:   takes the differences over             short
package protocol StagingConnection {
    /// Runs `body` on one snapshot of the state, which begins with its first read. It writes temporary tables only.
    func prepare<R>(_ body: (any StateConnection) throws -> R) throws -> R

    /// Runs `body` in a transaction of the kind ``StateIsolation/locks``, and commits it.
    /// - Parameter body: may run again after a conflict with another process.
    func write<R>(label: String, _ body: (any StateConnection) throws -> R) throws -> R
}

/// A connection of its own to the SQLite file. Its temporary tables are in a file of their own, which no lock of the state covers.
struct SQLiteStagingConnection: StagingConnection {
    let database: Database

    func prepare<R>(_ body: (any StateConnection) throws -> R) throws -> R {
        try database.stage(label: "staging") { try body(SQLiteStateConnection(connection: $0)) }
    }

    func write<R>(label: String, _ body: (any StateConnection) throws -> R) throws -> R {
        try database.write(label: label) { try body(SQLiteStateConnection(connection: $0)) }
    }
}

/// A connection to PostgreSQL. While rows are copied into a table, the session does not wait inside of its transaction, however slow their source is.
struct PostgreSQLStagingConnection: StagingConnection {
    let connection: PostgreSQLConnection
    /// Returns the engine's record of a transaction whose commit was not answered.
    let recordedOutcome: (_ transaction: Int64?, _ deadline: ContinuousClock.Instant) throws -> String?

    private static let attempts = 10

    func prepare<R>(_ body: (any StateConnection) throws -> R) throws -> R {
        try connection.transaction(isolation: .repeatableRead, deadline: .now + PostgreSQLStateStore.longTimeLimit) {
            try body(PostgreSQLStateConnection(connection: $0, keepsStagedTables: true))
        }
    }

    func write<R>(label: String, _ body: (any StateConnection) throws -> R) throws -> R {
        let deadline = ContinuousClock.now + PostgreSQLStateStore.longTimeLimit
        for _ in 1..<Self.attempts {
            do { return try attempt(deadline, body) } catch let error as PostgreSQLError where error.code == .deadlock || error.code == .serialization
            {}
        }
        return try attempt(deadline, body)
    }

    private func attempt<R>(_ deadline: ContinuousClock.Instant, _ body: (any StateConnection) throws -> R) throws -> R {
        var result: R?
        var transaction: Int64?
        do {
            return try connection.transaction(isolation: .readCommitted, deadline: deadline) { connection in
                let value = try body(PostgreSQLStateConnection(connection: connection, keepsStagedTables: true))
                // NULL for a transaction that has changed nothing.
                transaction = try connection.first("SELECT txid_current_if_assigned()")?.first?.integer
                result = value
                return value
            }
        } catch let error as PostgreSQLError where error.code == .commitUnknown {
            guard try recordedOutcome(transaction, deadline) == "committed", let result else { throw error }
            return result
        }
    }
}
