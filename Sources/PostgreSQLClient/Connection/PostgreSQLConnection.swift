/// A connection to a PostgreSQL database. Its calls block, each until its deadline at the latest.
///
///     let connection = try PostgreSQLConnection(PostgreSQLConfiguration("postgresql://app@db1/crm"))
///     try connection.transaction { transaction in
///         try transaction.execute("UPDATE account SET balance = balance - ?2 WHERE id = ?1", [7, 100])
///     }
///
/// One thread uses a connection at a time; threads of Swift's cooperative pool should not, because they must not block. A statement that passes its
/// deadline is cancelled at the server, and the connection can be used again; when the server does not answer that either, the connection
/// is closed, which ``isOpen`` shows.
///
/// Statements have parameters `?1`, `?2` and so on, which become PostgreSQL's `$1`, `$2`; both may be written. Each statement is prepared once per
/// connection and kept in a cache. The session's text is UTF-8, its dates are ISO, its time zone is UTC.
package final class PostgreSQLConnection {
    /// nil after the connection was closed, or went back to its pool.
    private var openSession: Session?

    /// Cancels this connection's running statement, from any thread.
    package let cancellation: PostgreSQLCancellation

    /// Connects and logs in.
    /// - Parameter deadline: the time until which it waits; the configuration's time for connecting ends it earlier.
    /// - Throws: ``PostgreSQLError`` `.misuse` (an unreadable address, a password in it, a setting out of its range), `.connectionFailed`,
    ///   `.authentication`, `.undefinedObject` (no such database), `.timeout`, `.outOfResources` (too many connections), `.shuttingDown`.
    package convenience init(
        _ configuration: PostgreSQLConfiguration, deadline: ContinuousClock.Instant? = nil
    ) throws(PostgreSQLError) {
        self.init(try Session.open(configuration, until: deadline))
    }

    /// Lends a session.
    init(_ session: Session) {
        cancellation = PostgreSQLCancellation(session.cancelHandle)
        session.cancellation = cancellation
        openSession = session
    }

    /// Ends the use of the session, which goes back to its pool.
    func takeBack() -> Session? {
        defer { openSession = nil }
        return openSession
    }

    /// Closes the connection; its transaction is rolled back by the server. Further calls throw ``PostgreSQLError/Code/closed``.
    package func close() { openSession = nil }

    /// The session.
    func session() throws(PostgreSQLError) -> Session {
        guard let openSession else { throw PostgreSQLError(.closed, "the connection was closed, or has gone back to its pool") }
        return openSession
    }

    /// Whether statements can run, as far as the last call showed.
    package var isOpen: Bool { openSession?.wire.isOpen ?? false }

    /// Whether a transaction is open, also one that can only be rolled back.
    package var isInTransaction: Bool { openSession.map { $0.wire.transactionState != .idle } ?? false }

    /// The process of the server that serves this connection, as in `pg_stat_activity`; 0 when it is closed.
    package var processID: Int { openSession?.wire.processID ?? 0 }

    /// The server's version, such as 150018 for 15.18; 0 when the connection is closed.
    package var serverVersion: Int { openSession?.wire.serverVersion ?? 0 }

    /// Whether TLS protects the connection.
    package var usesTLS: Bool { openSession?.wire.usesTLS ?? false }

    /// The number of prepared statements in the cache.
    package var preparedStatements: Int { openSession?.statements.count ?? 0 }
}
