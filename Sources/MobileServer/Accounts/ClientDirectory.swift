internal import MobileStore

/// The local databases of devices: who they belong to, whether they are subscribed, which surrogate keys they were granted.
struct ClientDirectory: Sendable {
    let database: Database
    let cache: PackageCache
    let configuration: ServerConfiguration

    /// What the server sends to a client.
    enum State: String, Sendable {
        case subscribed
        /// Nothing is imported until the client resumes.
        case suspended
        case unsubscribed
        /// An administrator keeps the client out.
        case locked
    }

    /// The client's state; nil for a client that the server has never seen.
    /// - Throws: ``RequestFailure`` for a client id that belongs to another user.
    func state(of client: String, user: String) throws -> State? {
        try database.read { connection in
            let row = try connection.storedRow(
                [ClientColumn.user, .state], "WHERE client = ?1 AND package = ?2", [.text(client), .integer(cache.id)])
            guard let row else { return nil }
            guard try row.text(.user) == user else { throw Self.foreign }
            return try row.kind(.state)
        }
    }

    private static var foreign: RequestFailure { RequestFailure(.forbidden, "the client id belongs to another user") }

    func setState(_ state: State, of client: String, user: String) throws {
        guard !client.isEmpty, client.utf8.count <= 128 else {
            throw RequestFailure(.badRequest, "client id of \(client.utf8.count) bytes: expected 1 to 128")
        }
        guard try self.state(of: client, user: user) != state else { return }
        try database.write(label: "subscription") { connection in
            // Somebody else may have come with the same id since the look above: the row is his then.
            let changed = try connection.execute(
                """
                INSERT INTO _client (client, package, user, state) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (client, package) DO UPDATE SET state = excluded.state WHERE user = excluded.user AND state <> 'locked'
                """, [.text(client), .integer(cache.id), .text(user), .text(state.rawValue)])
            guard changed == 1 else { throw Self.foreign }
            if state == .unsubscribed { try RejectedRows(cache: cache).forget(client, in: connection) }
        }
    }

    /// Grants surrogate keys for new rows, which nobody else ever gets: the grant is on the disk before it is answered.
    func grantKeys(to client: String) throws -> (first: Int64, last: Int64) {
        try database.write(label: "key range") { connection in
            let (first, last) = try cache.takeKeys(configuration.keyRangeSize, in: connection)
            _ = try connection.execute(
                "INSERT INTO _key_range (package, first, last, client, granted) VALUES (?1, ?2, ?3, ?4, ?5)",
                [.integer(cache.id), .integer(first), .integer(last), .text(client), .integer(configuration.clock())])
            return (first, last)
        }
    }
}
