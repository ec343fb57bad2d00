internal import MobileCrypto
internal import MobileProtocol
internal import MobileStore

/// Users with their password verifiers, registered devices, and sessions.
struct Accounts: Sendable {
    let stateStore: any StateStore
    let configuration: ServerConfiguration
    private let throttle = LoginThrottle()
    private let gate: LoginGate

    init(stateStore: any StateStore, configuration: ServerConfiguration) {
        (self.stateStore, self.configuration) = (stateStore, configuration)
        gate = LoginGate(slots: configuration.limits.logins)
    }

    /// An authenticated user with application and device.
    struct Session: Sendable, Equatable {
        let user: String
        let application: String
        let device: String
    }

    /// The maximum lengths of names, REG-03: the connection id is device, two underscores, application.
    private static let longestApplication = 64, longestConnection = 128

    // MARK: Users

    /// Creates a user, or sets the password of one. Sessions that began with another password end.
    func setUser(_ name: String, password: String) throws {
        try UserDirectory(stateStore: stateStore).setPassword(
            password, ofUser: name, random: configuration.random, parameters: configuration.passwordParameters)
    }

    /// Makes an activation code the only one of a user. Creates the user, without a password, if necessary.
    func setActivationCode(_ code: String, user: String) throws {
        try stateStore.write(label: "activation code") { connection in
            _ = try connection.execute("INSERT INTO _user (name, verifier) VALUES (?1, '') ON CONFLICT DO NOTHING", [.text(user)])
            try activationCodes.set(code, user: user, in: connection)
        }
    }

    private var activationCodes: ActivationCodes {
        ActivationCodes(lifetime: Int64(configuration.activationCodeLifetime / .milliseconds(1)), now: configuration.clock())
    }

    /// The proof of a user's identity. The transaction that admits the user checks it again.
    private enum Proof {
        /// The verifier that accepted the password.
        case password(verifier: String)
        case activationCode(String)
    }

    /// - Throws: ``RequestFailure``, which does not reveal whether the name or the password was wrong, not even by its timing.
    private func proof(_ credentials: Credentials) throws -> Proof {
        if let code = credentials.activationCode { return .activationCode(code) }
        guard let known = try stateStore.read({ try Self.verifier(of: credentials.user, in: $0) }) else {
            // Making a verifier takes as long as checking one. An unknown name therefore takes as long as a wrong password.
            _ = try PasswordVerifier(
                password: credentials.password, salt: configuration.random(16), parameters: configuration.passwordParameters)
            throw Self.wrongCredentials
        }
        guard try PasswordVerifier(encoded: known).accepts(credentials.password) else { throw Self.wrongCredentials }
        return .password(verifier: known)
    }

    private static var wrongCredentials: RequestFailure { RequestFailure(.unauthorized, "wrong user name or password") }

    /// Returns nil for an unknown user, and for one without a password.
    static func verifier(of user: String, in connection: any StateConnection) throws -> String? {
        try connection.storedRow([UserColumn.verifier], "WHERE name = ?1 AND verifier <> ''", [.text(user)])?.text(.verifier)
    }

    /// Runs a login unless its user or address has to wait, and counts its failure or success.
    private func admit<Result>(_ credentials: Credentials, from address: String, _ body: (Proof) throws -> Result) throws -> Result {
        guard credentials.user.utf8.count <= LoginThrottle.longestName else {
            throw RequestFailure(.badRequest, "user name of \(credentials.user.utf8.count) bytes: at most \(LoginThrottle.longestName)")
        }
        try checkPace(credentials.user, address)
        return try gate.run {
            // Checked again, because other logins may have failed during the wait. The gate's slots therefore limit the number of concurrent guesses.
            try checkPace(credentials.user, address)
            do {
                let result = try body(proof(credentials))
                throttle.succeeded(user: credentials.user, address: address)
                return result
            } catch let failure as RequestFailure where failure.code == RequestFailure.Kind.unauthorized.rawValue {
                throttle.failed(user: credentials.user, address: address, now: configuration.clock())
                throw failure
            }
        }
    }

    private func checkPace(_ user: String, _ address: String) throws {
        let delay = throttle.delay(user: user, address: address, now: configuration.clock())
        guard delay == 0 else {
            throw RequestFailure(.unavailable, "too many failed logins; try again in \((delay + 999) / 1000) seconds")
        }
    }

    /// Checks a password without a device and a session.
    /// - Throws: ``RequestFailure`` for wrong credentials, a locked user, and too many failed logins.
    func verify(user: String, password: String, from address: String) throws {
        try admit(Credentials(user: user, password: password), from: address) { proof in
            try stateStore.read { try check(proof, user, "", "", in: $0) }
        }
    }

    // MARK: Devices and sessions

    /// Registers the device and begins a session. A device that is already registered for the same user begins a new one.
    /// - Parameter address: the address that the request comes from.
    func register(_ header: MessageHeader, _ credentials: Credentials, from address: String) throws -> SessionGrant {
        let (application, device) = try names(header)
        return try admit(credentials, from: address) { proof in
            try stateStore.write(label: "register") { connection in
                try check(proof, credentials.user, application, device, in: connection)
                if let known = try registration(ofDevice: device, application, in: connection) {
                    guard known.user == credentials.user else { throw RequestFailure(.forbidden, "the device is registered for another user") }
                    guard !known.isLocked else { throw Self.lockedDevice }
                }
                _ = try connection.execute(
                    "INSERT INTO _device (application, device, user_name, registered) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
                    [.text(application), .text(device), .text(credentials.user), .integer(configuration.clock())])
                return try beginSession(Session(user: credentials.user, application: application, device: device), in: connection)
            }
        }
    }

    /// Begins a new session of a registered device.
    func login(_ header: MessageHeader, _ credentials: Credentials, from address: String) throws -> SessionGrant {
        let (application, device) = try names(header)
        return try admit(credentials, from: address) { proof in
            // An activation code is valid for one registration only.
            guard case .password = proof else { throw Self.wrongCredentials }
            return try stateStore.write(label: "login") { connection in
                try check(proof, credentials.user, application, device, in: connection)
                guard let known = try registration(ofDevice: device, application, in: connection), known.user == credentials.user else {
                    throw RequestFailure(.unknownRegistration, "the device is not registered for this user and application")
                }
                guard !known.isLocked else { throw Self.lockedDevice }
                return try beginSession(Session(user: credentials.user, application: application, device: device), in: connection)
            }
        }
    }

    private static var lockedDevice: RequestFailure { RequestFailure(.forbidden, "an administrator has locked the device") }

    /// Checks the proof in the transaction that uses it. While the password was checked, the user may have been removed, locked, or given another
    /// password.
    private func check(_ proof: Proof, _ user: String, _ application: String, _ device: String, in connection: any StateConnection) throws {
        switch proof {
        case .password(let accepted):
            guard try Self.verifier(of: user, in: connection) == accepted else { throw Self.wrongCredentials }
        case .activationCode(let code):
            guard try activationCodes.use(code, user: user, application: application, device: device, in: connection) else {
                throw RequestFailure(.unauthorized, "the activation code is not valid for this user and device")
            }
        }
        guard try connection.first("SELECT 1 FROM _user WHERE name = ?1 AND locked = 1", [.text(user)]) == nil else {
            throw RequestFailure(.forbidden, "an administrator has locked the user")
        }
    }

    /// Removes the device and all of its sessions.
    func unregister(_ session: Session) throws {
        try stateStore.write(label: "unregister") { connection in
            for table in ["_session", "_device"] {
                _ = try connection.execute(
                    "DELETE FROM \(table) WHERE application = ?1 AND device = ?2", [.text(session.application), .text(session.device)])
            }
        }
    }

    /// Returns the session of a token; nil for a token that is not known, or whose session has ended.
    /// - Parameter isUse: whether the call uses the session, and so extends it.
    func session(token: String, isUse: Bool) throws -> Session? {
        guard let found = try stateStore.read({ try session(token: token, in: $0) }) else { return nil }
        if isUse { try extend(found) }
        return found.session
    }

    /// A session as it was read.
    struct FoundSession {
        let session: Session
        fileprivate let tokenDigest: [UInt8]
        fileprivate let used: Int64
    }

    /// Returns the session of a token in a read with other checks; nil as above. Its user calls ``extend(_:)`` afterwards.
    func session(token: String, in connection: any StateConnection) throws -> FoundSession? {
        let digest = try SHA256.digest(of: token), now = configuration.clock()
        let found = try connection.storedRow([SessionColumn.user, .application, .device, .began, .used], "WHERE token = ?1", [.blob(digest)])
        guard let found else { return nil }
        let began = try found.integer(.began), used = try found.integer(.used)
        // The stored times are not subtracted: they can be any number.
        guard began > now - lifetime, used > now - idleLimit else { return nil }
        let session = Session(user: try found.text(.user), application: try found.text(.application), device: try found.text(.device))
        return FoundSession(session: session, tokenDigest: digest, used: used)
    }

    /// Notes the use of a session. Not on each call, because each update is a write.
    func extend(_ found: FoundSession) throws {
        let now = configuration.clock()
        guard found.used <= now - min(3_600_000, idleLimit / 20) else { return }
        try stateStore.write(label: "session") { connection in
            _ = try connection.execute("UPDATE _session SET used = ?2 WHERE token = ?1", [.blob(found.tokenDigest), .integer(now)])
        }
    }

    private var lifetime: Int64 { Int64(configuration.sessionLifetime / .milliseconds(1)) }
    private var idleLimit: Int64 { Int64(configuration.sessionIdleLimit / .milliseconds(1)) }

    private func names(_ header: MessageHeader) throws(RequestFailure) -> (application: String, device: String) {
        guard let application = header.application, !application.isEmpty, let device = header.device ?? header.client, !device.isEmpty else {
            throw RequestFailure(.badRequest, "message \"\(header.method.rawValue)\": expected \"app\" and \"device\" in the header")
        }
        guard application.count <= Self.longestApplication, application.count + 2 + device.count <= Self.longestConnection else {
            throw RequestFailure(
                .badRequest,
                "application id of \(application.count), connection id of \(application.count + 2 + device.count) characters: at most \(Self.longestApplication) and \(Self.longestConnection)"
            )
        }
        return (application, device)
    }

    private func registration(
        ofDevice device: String, _ application: String, in connection: any StateConnection
    ) throws -> (user: String, isLocked: Bool)? {
        try connection.storedRow(
            [DeviceColumn.user, .isLocked], "WHERE application = ?1 AND device = ?2", [.text(application), .text(device)]
        ).map { (user: try $0.text(.user), isLocked: try $0.flag(.isLocked)) }
    }

    /// The maximum number of sessions of a device; the one used least recently ends when another begins.
    static let sessionsPerDevice: Int64 = 8

    private func beginSession(_ session: Session, in connection: any StateConnection) throws -> SessionGrant {
        let token = configuration.random(32).hexadecimal, now = configuration.clock()
        _ = try connection.execute("DELETE FROM _session WHERE used <= ?1", [.integer(now - idleLimit)])
        _ = try connection.execute("DELETE FROM _session WHERE began <= ?1", [.integer(now - lifetime)])
        _ = try connection.execute(
            "INSERT INTO _session (token, user_name, application, device, began, used) VALUES (?1, ?2, ?3, ?4, ?5, ?5)",
            [
                .blob(try SHA256.digest(of: token)), .text(session.user), .text(session.application), .text(session.device), .integer(now),
            ])
        _ = try connection.execute(
            """
            DELETE FROM _session WHERE application = ?1 AND device = ?2 AND token <> ?3 AND token NOT IN (
                SELECT token FROM _session WHERE application = ?1 AND device = ?2 AND token <> ?3 ORDER BY used DESC, began DESC LIMIT ?4)
            """,
            [
                .text(session.application), .text(session.device), .blob(try SHA256.digest(of: token)), .integer(Self.sessionsPerDevice - 1),
            ])
        return SessionGrant(token: token, settings: settings(of: session))
    }

    /// Returns the settings of the application for a device, with the id of its connection.
    func settings(of session: Session) -> JSONObject {
        var settings = JSONObject()
        for (name, value) in configuration.applicationSettings.sorted(by: { $0.key < $1.key }) { settings[name] = .string(value) }
        settings["connectionId"] = .string("\(session.device)__\(session.application)")
        return settings
    }
}

/// Activation codes. Each lets one device register without a password, for a limited time.
private struct ActivationCodes {
    let lifetime: Int64
    let now: Int64

    /// Makes a code the user's only one. A known code keeps the time of its creation, and a used one remains used.
    func set(_ code: String, user: String, in connection: any StateConnection) throws {
        let digest = try SHA256.digest(of: code)
        _ = try connection.execute("DELETE FROM _activation WHERE user_name = ?1 AND code <> ?2", [.text(user), .blob(digest)])
        _ = try connection.execute(
            "INSERT INTO _activation (user_name, code, made) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING", [.text(user), .blob(digest), .integer(now)])
    }

    /// Uses up a code for a device. The same device may use it again, since the first answer may have been lost. No other device may.
    /// - Returns: whether the code belongs to this user and is valid for this device.
    func use(_ code: String, user: String, application: String, device: String, in connection: any StateConnection) throws -> Bool {
        let row = try connection.first("SELECT code, made, application, device FROM _activation WHERE user_name = ?1", [.text(user)])
        guard let row, let known = row[0].blob, let made = row[1].integer, known.equalsInConstantTime(try SHA256.digest(of: code)),
            made > now - lifetime, row[2] == .null || (row[2].text == application && row[3].text == device)
        else { return false }
        _ = try connection.execute(
            "UPDATE _activation SET application = ?2, device = ?3 WHERE user_name = ?1", [.text(user), .text(application), .text(device)])
        return true
    }
}
