internal import MobileCrypto
internal import MobileStore

/// Lists and changes users, devices, sessions and subscriptions for administrators. Each change applies from the next request on, in every process
/// that serves from the cache.
struct UserDirectory: Sendable {
    let stateStore: any StateStore

    /// Creates a user, or gives one a new password, which ends the sessions that began with the old one.
    func setPassword(
        _ password: String, ofUser name: String, random: (Int) -> [UInt8], parameters: PasswordVerifier.Parameters
    ) throws {
        guard (1...LoginThrottle.longestName).contains(name.utf8.count) else {
            throw ServerError(.configuration, "user name of \(name.utf8.count) bytes: use 1 to \(LoginThrottle.longestName)")
        }
        let known = try stateStore.read { try Accounts.verifier(of: name, in: $0) }
        if let known, try PasswordVerifier(encoded: known).accepts(password) { return }
        let verifier = try PasswordVerifier(password: password, salt: random(16), parameters: parameters).encoded
        try stateStore.write(label: "user \(name)") { connection in
            _ = try connection.execute(
                "INSERT INTO _user (name, verifier) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET verifier = excluded.verifier",
                [.text(name), .text(verifier)])
            try endSessions("user_name = ?1", [.text(name)], connection)
        }
    }

    // MARK: Users

    func users() throws -> [ServerAdministration.User] {
        try stateStore.read { connection in
            try connection.rows(
                """
                SELECT u.name, u.locked, (SELECT count(*) FROM _device AS d WHERE d.user_name = u.name),
                    (SELECT count(*) FROM _session AS s WHERE s.user_name = u.name)
                FROM _user AS u ORDER BY u.name
                """
            ).map { values in
                let row = StoredRow<UserColumn>([.name, .isLocked, .devices, .sessions], values)
                return ServerAdministration.User(
                    name: try row.text(.name), isLocked: try row.flag(.isLocked), devices: try row.int(.devices), sessions: try row.int(.sessions))
            }
        }
    }

    func removeUser(_ name: String) throws {
        try change("user", name, "SELECT 1 FROM _user WHERE name = ?1", [.text(name)]) { connection in
            try endSessions("user_name = ?1", [.text(name)], connection)
            for statement in [
                "_device WHERE user_name", "_activation WHERE user_name", "_user_role WHERE user_name", "_user_attribute WHERE user_name",
                "_user WHERE name",
            ] {
                _ = try connection.execute("DELETE FROM \(statement) = ?1", [.text(name)])
            }
            _ = try connection.execute("UPDATE _client SET state = 'unsubscribed' WHERE user_name = ?1", [.text(name)])
        }
    }

    func setLocked(_ isLocked: Bool, user name: String) throws {
        try change("user", name, "SELECT 1 FROM _user WHERE name = ?1", [.text(name)]) { connection in
            _ = try connection.execute("UPDATE _user SET locked = ?2 WHERE name = ?1", [.text(name), .integer(isLocked ? 1 : 0)])
            if isLocked { try endSessions("user_name = ?1", [.text(name)], connection) }
        }
    }

    // MARK: Roles and attributes

    static func roles(of user: String, in connection: any StateConnection) throws -> Set<String> {
        Set(try connection.rows("SELECT role FROM _user_role WHERE user_name = ?1", [.text(user)]).compactMap { $0[0].text })
    }

    static func attributes(of user: String, in connection: any StateConnection) throws -> [String: [String]] {
        let rows = try connection.rows("SELECT name, value FROM _user_attribute WHERE user_name = ?1 ORDER BY name, value", [.text(user)])
        return Dictionary(grouping: rows) { $0[0].text ?? "" }.mapValues { $0.compactMap { $0[1].text } }
    }

    func roles(of user: String) throws -> Set<String> { try stateStore.read { try Self.roles(of: user, in: $0) } }

    func attributes(of user: String) throws -> [String: [String]] { try stateStore.read { try Self.attributes(of: user, in: $0) } }

    /// The greatest number of values that a user's attributes have together, and of roles.
    static let accessLimit = 2000
    /// The greatest length of a role, and of an attribute's name and value, in bytes of UTF-8.
    static let longestAccessText = 1024

    func setRoles(_ roles: Set<String>, ofUser name: String) throws {
        try Self.check(roles.sorted(), "role", of: name)
        try replace("_user_role", "role", roles.sorted().map { [.text($0)] }, ofUser: name)
    }

    /// Sets all values of one attribute; none removes it.
    func setAttribute(_ attribute: String, to values: Set<String>, ofUser name: String) throws {
        try Self.check([attribute] + values.sorted(), "attribute", of: name)
        try replace("_user_attribute", "name, value", values.sorted().map { [.text(attribute), .text($0)] }, ofUser: name, attribute: attribute)
    }

    private func replace(_ table: String, _ columns: String, _ rows: [[Value]], ofUser name: String, attribute: String? = nil) throws {
        try change("user", name, "SELECT 1 FROM _user WHERE name = ?1", [.text(name)]) { connection in
            _ = try connection.execute(
                "DELETE FROM \(table) WHERE user_name = ?1" + (attribute == nil ? "" : " AND name = ?2"),
                [.text(name)] + (attribute.map { [.text($0)] } ?? []))
            let places = (2...(rows.first?.count ?? 1) + 1).map { "?\($0)" }.joined(separator: ", ")
            for row in rows { _ = try connection.execute("INSERT INTO \(table) (user_name, \(columns)) VALUES (?1, \(places))", [.text(name)] + row) }
            let count = try connection.number("SELECT count(*) FROM \(table) WHERE user_name = ?1", [.text(name)])
            guard count <= Self.accessLimit else {
                throw ServerError(.configuration, "user \"\(LogSanitizer.name(name))\": \(count) values, expected at most \(Self.accessLimit)")
            }
        }
    }

    private static func check(_ texts: [String], _ kind: String, of user: String) throws {
        for text in texts where !(1...longestAccessText).contains(text.utf8.count) || text.unicodeScalars.contains("\0") {
            throw ServerError(
                .configuration,
                "user \"\(LogSanitizer.name(user))\": \(kind) of \(text.utf8.count) bytes: use 1 to \(longestAccessText) bytes without U+0000")
        }
    }

    // MARK: Devices

    func devices() throws -> [ServerAdministration.Device] {
        try stateStore.read { connection in
            let columns: [DeviceColumn] = [.application, .device, .user, .registered, .isLocked]
            return try connection.storedRows(columns, "ORDER BY application, device").map { row in
                ServerAdministration.Device(
                    application: try row.text(.application), device: try row.text(.device), user: try row.text(.user),
                    registered: try row.integer(.registered), isLocked: try row.flag(.isLocked))
            }
        }
    }

    func removeDevice(_ device: String, _ application: String) throws {
        try changeDevice(device, application) { key, connection in
            for table in ["_inquiry", "_device"] {
                _ = try connection.execute("DELETE FROM \(table) WHERE application = ?1 AND device = ?2", key)
            }
            try endSessions("application = ?1 AND device = ?2", key, connection)
        }
    }

    func setLocked(_ isLocked: Bool, device: String, _ application: String) throws {
        try changeDevice(device, application) { key, connection in
            _ = try connection.execute(
                "UPDATE _device SET locked = ?3 WHERE application = ?1 AND device = ?2", key + [.integer(isLocked ? 1 : 0)])
            if isLocked { try endSessions("application = ?1 AND device = ?2", key, connection) }
        }
    }

    private func changeDevice(_ device: String, _ application: String, _ body: ([Value], any StateConnection) throws -> Void) throws {
        let key: [Value] = [.text(application), .text(device)]
        try change("device of \(LogSanitizer.name(application))", device, "SELECT 1 FROM _device WHERE application = ?1 AND device = ?2", key) {
            try body(key, $0)
        }
    }

    // MARK: Sessions

    func sessions() throws -> [ServerAdministration.Session] {
        try stateStore.read { connection in
            let columns: [SessionColumn] = [.token, .user, .application, .device, .began, .used]
            return try connection.storedRows(columns, "ORDER BY user_name, application, device, began").map { row in
                ServerAdministration.Session(
                    id: Self.id(try row.value(.token)), user: try row.text(.user), application: try row.text(.application),
                    device: try row.text(.device), began: try row.integer(.began), used: try row.integer(.used))
            }
        }
    }

    func removeSession(_ id: String) throws {
        try stateStore.write(label: "session") { connection in
            let tokens = try connection.rows("SELECT token FROM _session").map { $0[0] }.filter { Self.id($0) == id }
            guard !tokens.isEmpty else { throw ServerError(.notFound, "there is no session \"\(LogSanitizer.name(id))\"") }
            for token in tokens { try endSessions("token = ?1", [token], connection) }
        }
    }

    /// Returns the id of a session: the beginning of the digest of its token, which grants no access.
    private static func id(_ digest: Value) -> String { (digest.blob ?? []).prefix(8).hexadecimal }

    private func endSessions(_ condition: String, _ values: [Value], _ connection: any StateConnection) throws {
        _ = try connection.execute("DELETE FROM _session WHERE \(condition)", values)
    }

    // MARK: Subscriptions

    func subscriptions() throws -> [ServerAdministration.Subscription] {
        try stateStore.read { connection in
            try connection.rows(
                """
                SELECT p.name, c.client, c.user_name, c.state FROM _client AS c JOIN _package AS p ON p.id = c.package
                ORDER BY p.name, c.user_name, c.client
                """
            ).map { values in
                let row = StoredRow<ClientColumn>([.package, .client, .user, .state], values)
                return ServerAdministration.Subscription(
                    package: try row.text(.package), client: try row.text(.client), user: try row.text(.user), state: try row.text(.state))
            }
        }
    }

    func setState(_ state: ClientDirectory.State, client: String, package: String, onlyFrom known: ClientDirectory.State? = nil) throws {
        let key: [Value] = [.text(client), .text(package)]
        let which = "client = ?1 AND package = (SELECT id FROM _package WHERE name = ?2)" + (known.map { " AND state = '\($0.rawValue)'" } ?? "")
        try change("subscription of \(LogSanitizer.name(package))", client, "SELECT 1 FROM _client WHERE \(which)", key) { connection in
            _ = try connection.execute("UPDATE _client SET state = ?3 WHERE \(which)", key + [.text(state.rawValue)])
        }
    }

    // MARK: The common part

    /// Changes an existing entry.
    private func change(_ kind: String, _ name: String, _ query: String, _ key: [Value], _ body: (any StateConnection) throws -> Void) throws {
        try stateStore.write(label: kind) { connection in
            guard try connection.first(query, key) != nil else { throw ServerError(.notFound, "there is no \(kind) \"\(LogSanitizer.name(name))\"") }
            try body(connection)
        }
    }
}
