internal import Foundation
internal import MobileExecution
internal import PostgreSQLClient
internal import PostgreSQLTestSupport
internal import TestSupport

/// Looks at the sessions of the server's processes in PostgreSQL.
final class SessionWatch {
    private let connection: PostgreSQLConnection
    private let databases: String

    /// - Parameter backEnd: the name of its database.
    init(_ server: ServerProcesses, backEnd: String) throws {
        connection = try PostgreSQLConnection(server.ground.postgreSQL.configuration(database: "postgres"))
        databases = "datname IN ('\(server.state.name)', '\(backEnd)')"
    }

    private func count(_ condition: String) throws -> Int64 {
        try connection.first("SELECT count(*) FROM pg_stat_activity WHERE \(databases) AND (\(condition))")?[0].integer ?? 0
    }

    /// Whether a transaction of a process is open.
    var hasTransaction: Bool {
        get throws { try count("application_name = 'MobileServer' AND (state LIKE 'idle in transaction%' OR backend_xid IS NOT NULL)") > 0 }
    }

    /// Ends the sessions that wait for their process in a transaction, as the time limit of PostgreSQL does.
    func endTransactions() throws {
        _ = try connection.first(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE \(databases) AND application_name = 'MobileServer' AND state LIKE 'idle in transaction%'"
        )
    }

    /// Waits until `isOver`, or until all sessions wait for locks, clients or processes for 60 ms: then nothing more happens without a change from outside.
    func waitUntilStill(_ isOver: () -> Bool) throws {
        let end = ContinuousClock.now + .seconds(10)
        var began = ContinuousClock.now, last = ""
        while ContinuousClock.now < end, !isOver() {
            let now =
                try connection.first(
                    """
                    SELECT coalesce(string_agg(pid || ' ' || state || ' ' || coalesce(wait_event_type, '') || ' ' || state_change, ',' ORDER BY pid), '')
                    FROM pg_stat_activity WHERE \(databases)
                    """)?[0].text ?? ""
            let isActive = try count("state = 'active' AND wait_event_type IS DISTINCT FROM 'Lock'") > 0
            if now != last || isActive { (began, last) = (ContinuousClock.now, now) }
            // Longer than the work of a process between two statements.
            if ContinuousClock.now - began > .milliseconds(60) { return }
        }
    }
}

/// Does something while a transaction of a process is open.
final class TransactionWatch: Sendable {
    private let isOver = SystemLock(false)
    private let result: Promise<Bool, Never>

    init(_ server: ServerProcesses, backEnd: String, _ action: @escaping @Sendable () -> Void) {
        let isOver = isOver
        let result = Promise<Bool, Never>()
        self.result = result
        Thread.detachNewThread {
            guard let watch = try? SessionWatch(server, backEnd: backEnd) else { return result.resolve(.success(false)) }
            while !isOver.withLock({ $0 }) {
                guard (try? watch.hasTransaction) == true else { continue }
                action()
                return result.resolve(.success(true))
            }
            result.resolve(.success(false))
        }
    }

    /// The synchronization is over.
    /// - Returns: whether it was done.
    func end() -> Bool {
        isOver.withLock { $0 = true }
        return result.wait()
    }
}
