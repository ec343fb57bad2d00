internal import MobileExecution

/// A limited number of connections to one database, for any number of threads.
///
/// Connections are opened when they are needed, handed to waiting callers in the order of their calls, and closed after some time without use. One
/// that comes back broken, or that cannot be reset, is closed.
package final class PostgreSQLPool: Sendable {
    /// The settings of its connections.
    package let configuration: PostgreSQLConfiguration
    /// The largest number of connections.
    package let maximumConnections: Int
    /// The time after which an unused connection is closed.
    package let idleTime: Duration

    private let places: PoolPlaces

    /// Makes a pool; it opens no connection before one is needed.
    /// - Parameters:
    ///   - maximumConnections: the largest number of connections, 1 or more; default 8.
    ///   - idleTime: the time after which an unused connection is closed; default 60 s.
    package init(_ configuration: PostgreSQLConfiguration, maximumConnections: Int = 8, idleTime: Duration = .seconds(60)) {
        precondition(maximumConnections > 0, "a pool needs a connection")
        self.configuration = configuration
        self.maximumConnections = maximumConnections
        self.idleTime = idleTime
        places = PoolPlaces(limit: maximumConnections, idleTime: idleTime)
    }

    deinit { places.close() }

    /// Runs `body` with a connection, which is the caller's alone until `body` returns. Then an open transaction is rolled back, and settings,
    /// subscriptions, temporary tables and locks of the session are dropped. Prepared statements stay.
    /// - Parameters:
    ///   - deadline: the time until which it waits for a connection, and opens one; nil (default): the configuration's time limit from now.
    ///   - body: must not keep the connection, and should not call this pool: with all connections in use that way, all wait.
    /// - Throws: the error of `body`; ``PostgreSQLError`` `.timeout` (all connections are in use until the deadline), `.closed`, and the errors of
    ///   ``PostgreSQLConnection/init(_:deadline:)``.
    package func withConnection<R>(
        deadline: ContinuousClock.Instant? = nil, _ body: (PostgreSQLConnection) throws -> R
    ) throws -> R {
        let connection = PostgreSQLConnection(try session(until: deadline ?? .now + configuration.timeLimit))
        defer { takeBack(connection) }
        return try body(connection)
    }

    private func session(until deadline: Deadline) throws(PostgreSQLError) -> Session {
        while true {
            switch try places.take(until: deadline) {
            case .session(let idle):
                if idle.session.isAlive { return idle.session }
                // The server ended it while no caller used it; its place is free for another one.
                places.release()
            case .place:
                do {
                    return try Session.open(configuration, until: deadline)
                } catch {
                    places.release()
                    throw error
                }
            }
        }
    }

    private func takeBack(_ connection: PostgreSQLConnection) {
        guard let session = connection.takeBack(), session.reset() else { return places.release() }
        places.putBack(IdleSession(session: session, since: .now))
    }

    /// Closes unused connections now, and the others when they come back; callers that wait or come later throw ``PostgreSQLError/Code/closed``.
    /// It can be called more than once.
    package func close() { places.close() }

    /// The numbers of connections and callers.
    package struct Usage: Sendable, Equatable {
        /// The connections that are open or being opened.
        package let connections: Int
        /// Those of them that no caller uses.
        package let idle: Int
        /// The callers that wait for one.
        package let waiting: Int
    }

    /// The numbers at this moment.
    package var usage: Usage { places.usage }
}

extension Session {
    /// Makes the session as if it were new, except for its prepared statements.
    /// - Returns: false when it is of no further use.
    fileprivate func reset() -> Bool {
        rollBack()
        guard wire.isOpen else { return false }
        do {
            try run(
                script: """
                    SET SESSION AUTHORIZATION DEFAULT; RESET ALL; CLOSE ALL; UNLISTEN *; SELECT pg_advisory_unlock_all(); DISCARD SEQUENCES; DISCARD TEMP
                    """, until: recoveryDeadline)
            // Messages of channels that the next user has not subscribed to.
            while wire.notification() != nil {}
            return wire.isOpen && wire.transactionState == .idle
        } catch {
            return false
        }
    }
}
