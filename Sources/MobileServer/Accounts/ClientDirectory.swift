internal import MobileStore

/// The local databases of devices: their owners, their subscription states, and the surrogate keys that were granted to them.
struct ClientDirectory: Sendable {
    let stateStore: any StateStore
    let cache: PackageCache
    let configuration: ServerConfiguration

    /// The state of a client's subscription.
    enum State: String, Sendable {
        case subscribed
        /// The client imports nothing until it resumes.
        case suspended
        case unsubscribed
        /// An administrator has locked the client out.
        case locked
    }

    /// Returns the client's state; nil for a client that the server has never seen.
    /// - Throws: ``RequestFailure`` for a client id that belongs to another user.
    func state(of client: String, user: String) throws -> State? {
        try stateStore.read { try state(of: client, user: user, in: $0) }
    }

    /// As ``state(of:user:)``, in a read with other checks.
    func state(of client: String, user: String, in connection: any StateConnection) throws -> State? {
        let row = try connection.storedRow(
            [ClientColumn.user, .state], "WHERE client = ?1 AND package = ?2", [.text(client), .integer(cache.id)])
        guard let row else { return nil }
        guard try row.text(.user) == user else { throw Self.foreign }
        return try row.kind(.state)
    }

    private static var foreign: RequestFailure { RequestFailure(.forbidden, "the client id belongs to another user") }

    func setState(_ state: State, of client: String, user: String) throws {
        guard !client.isEmpty, client.utf8.count <= 128 else {
            throw RequestFailure(.badRequest, "client id of \(client.utf8.count) bytes: expected 1 to 128")
        }
        guard try self.state(of: client, user: user) != state else { return }
        try stateStore.write(label: "subscription") { connection in
            // Another user may have stored the same id since the check above: the row then belongs to that user.
            let changed = try connection.execute(
                """
                INSERT INTO _client (client, package, user_name, state) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (client, package) DO UPDATE SET state = excluded.state
                WHERE _client.user_name = excluded.user_name AND _client.state <> 'locked'
                """, [.text(client), .integer(cache.id), .text(user), .text(state.rawValue)])
            guard changed == 1 else { throw Self.foreign }
            if state == .unsubscribed { try RejectedRows(package: cache.id).forget(client, in: connection) }
        }
    }

    /// Grants surrogate keys for new rows, which no other client ever receives. The grant is on the disk before it is answered.
    func grantKeys(to client: String) throws -> (first: Int64, last: Int64) {
        try stateStore.write(label: "key range") { connection in
            let (first, last) = try cache.takeKeys(configuration.keyRangeSize, in: connection)
            _ = try connection.execute(
                "INSERT INTO _key_range (package, first, last, client, granted) VALUES (?1, ?2, ?3, ?4, ?5)",
                [.integer(cache.id), .integer(first), .integer(last), .text(client), .integer(configuration.clock())])
            return (first, last)
        }
    }

    /// The maximum number of ranges of surrogate keys that one client can claim over its life.
    static let maximumClaims: Int64 = 10_000

    /// Records the ranges of surrogate keys that a client made itself. The record is on the disk before an operation of the client is done. Most claims
    /// repeat earlier ones and write nothing.
    /// - Returns: the ranges that belong to another client; the record of these stays as it is.
    /// - Throws: ``RequestFailure`` 400 for more ranges than ``maximumClaims``; none of the claims is recorded then.
    func claimKeys(_ ranges: [Int64], for client: String) throws -> [Int64] {
        let isKnown = try stateStore.read { connection in
            try ranges.allSatisfy { try cache.isClaimed($0, client: client, in: connection) }
        }
        guard !isKnown else { return [] }
        return try stateStore.write(label: "key claims") { connection in
            let refused = try ranges.filter { try !cache.claim($0, client: client, now: configuration.clock(), in: connection) }
            let count = try cache.claims(of: client, in: connection)
            guard count <= Self.maximumClaims else {
                throw RequestFailure(.badRequest, "the client has claimed \(count) ranges of surrogate keys, the limit is \(Self.maximumClaims)")
            }
            return refused
        }
    }
}
