internal import MobileCrypto
internal import MobileStore

/// The users that a server has. Each change counts from the next request on, in every process that serves from the cache.
struct UserDirectory: Sendable {
    let database: Database

    /// Makes a user, or gives one a new password, which ends the sessions that began with the old one.
    func setPassword(
        _ password: String, ofUser name: String, random: (Int) -> [UInt8], parameters: PasswordVerifier.Parameters
    ) throws {
        guard (1...LoginThrottle.longestName).contains(name.utf8.count) else {
            throw ServerError(.configuration, "user name of \(name.utf8.count) bytes: use 1 to \(LoginThrottle.longestName)")
        }
        let known = try database.read { try $0.first("SELECT verifier FROM _user WHERE name = ?1 AND verifier <> ''", [.text(name)])?[0].text }
        if let known, try PasswordVerifier(encoded: known).accepts(password) { return }
        let verifier = try PasswordVerifier(password: password, salt: random(16), parameters: parameters).encoded
        try database.write(label: "user \(name)") { connection in
            _ = try connection.execute(
                "INSERT INTO _user (name, verifier) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET verifier = excluded.verifier",
                [.text(name), .text(verifier)])
            try endSessions("user = ?1", [.text(name)], connection)
        }
    }

    private func endSessions(_ condition: String, _ values: [Value], _ connection: Connection) throws {
        _ = try connection.execute("DELETE FROM _session WHERE \(condition)", values)
    }
}
