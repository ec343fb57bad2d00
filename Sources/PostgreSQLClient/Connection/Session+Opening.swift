internal import MobileExecution

extension Session {
    /// Looking for a host's address can take any time, and so can a password source: both happen on these threads.
    private static let threads = BlockingWork(threads: 64)

    /// A session on its way from the thread that opens it.
    private struct Opened: @unchecked Sendable {  // the opening thread keeps no reference
        let session: Session
    }

    /// Opens a session.
    /// - Throws: `.misuse`, `.connectionFailed`, `.authentication`, `.timeout`, and the server's own refusals, such as `.outOfResources`.
    static func open(_ configuration: PostgreSQLConfiguration, until deadline: Deadline?) throws(PostgreSQLError) -> Session {
        let limit = Deadline.now + configuration.connectionTimeout, deadline = deadline.map { min($0, limit) } ?? limit
        let opening = Promise<Opened, PostgreSQLError>()
        threads.start {
            opening.resolve(Result { () throws(PostgreSQLError) in Opened(session: try connect(configuration, until: deadline)) })
        }
        guard let opened = try opening.wait(timeout: deadline - .now) else {
            throw PostgreSQLError(.timeout, "no connection to PostgreSQL before the deadline")
        }
        return opened.session
    }

    private static func connect(_ configuration: PostgreSQLConfiguration, until deadline: Deadline) throws(PostgreSQLError) -> Session {
        let wire = try Wire(configuration.parameters())
        try wire.connect(until: deadline)
        guard wire.serverVersion >= PostgreSQLConfiguration.minimumServerVersion * 10_000 else {
            let version = "\(wire.serverVersion / 10_000).\(wire.serverVersion % 10_000)"
            throw PostgreSQLError(
                .connectionFailed, "the server has PostgreSQL \(version): use \(PostgreSQLConfiguration.minimumServerVersion) or later")
        }
        return try Session(wire, configuration)
    }
}
