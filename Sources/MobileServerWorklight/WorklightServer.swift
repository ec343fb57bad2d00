internal import MobileCrypto
internal import MobileExecution
internal import MobileProtocol
public import MobileServer
internal import MobileStore

/// A face of the server for clients of IBM Worklight 5.0 to 6.2, as a function from requests to responses.
///
///     let face = try WorklightServer(configuration, state: serverConfiguration)
///     let http = try HTTPServer { request in face.respond(to: request) }
///
/// All state is in the state store of the server: any number of processes can serve the same sessions if they share it.
public final class WorklightServer: Sendable {
    /// The configuration of the face.
    public let configuration: WorklightConfiguration
    /// The administration of versions, notifications, logs and statistics.
    public let administration: WorklightAdministration
    let state: FaceState
    let sessions: SessionStore
    let accounts: FaceAccounts
    let clock: @Sendable () -> Int64
    private let log: @Sendable (String) -> Void
    private let applications: [String: WorklightApplication]
    private let adapters: [String: WorklightAdapter]
    private let realms: [String: WorklightRealm]

    /// Opens the state store and creates the tables of the face.
    /// - Parameters:
    ///   - configuration: what the face serves.
    ///   - serverConfiguration: the configuration of the server whose state store, accounts, clock and log the face uses. The server itself need not run.
    /// - Throws: `ServerError`: a name is wrong or occurs twice, or the store cannot be opened.
    public init(_ configuration: WorklightConfiguration, state serverConfiguration: ServerConfiguration) throws {
        self.configuration = configuration
        applications = try Self.table(configuration.applications.map { ($0.id, $0) }, "application")
        adapters = try Self.table(configuration.adapters.map { ($0.name, $0) }, "adapter")
        realms = try Self.table(configuration.realms.map { ($0.name, $0) }, "realm")
        try Self.check(configuration, realms)
        log = serverConfiguration.log
        clock = serverConfiguration.clock
        state = try FaceState(serverConfiguration) { WorklightTables.statements($0) }
        accounts = state.accounts(serverConfiguration)
        sessions = SessionStore(
            state: state, idleLimit: Int64(configuration.sessionIdleLimit / .milliseconds(1)), clock: clock, random: serverConfiguration.random)
        administration = WorklightAdministration(state: state, clock: clock)
        for (name, password) in serverConfiguration.users.sorted(by: { $0.key < $1.key }) { try accounts.setUser(name, password: password) }
    }

    private static func table<T>(_ values: [(String, T)], _ what: String) throws -> [String: T] {
        try Dictionary(values) { _, _ in throw ServerError(.configuration, "a Worklight \(what) occurs twice") }
    }

    private static func check(_ configuration: WorklightConfiguration, _ realms: [String: WorklightRealm]) throws {
        for application in configuration.applications {
            let isName =
                !application.id.isEmpty && application.id.utf8.count <= 256
                && application.id.unicodeScalars.allSatisfy {
                    $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "_")
                }
            guard isName else {
                throw ServerError(.configuration, "Worklight application \"\(application.id.prefix(80))\": use letters, digits and _")
            }
            if let entity = application.provisioning?.entity, entity.organization(application.id).unicodeScalars.count > Certificate.maximumName {
                throw ServerError(
                    .configuration, "Worklight application \"\(application.id.prefix(80))\": its name is too long for device certificates")
            }
        }
        let named = configuration.applications.compactMap(\.userRealm) + configuration.adapters.flatMap { $0.procedures.values.compactMap(\.realm) }
        for name in named where realms[name] == nil { throw ServerError(.configuration, "there is no Worklight realm \"\(name.prefix(80))\"") }
        for name in realms.keys where name.isEmpty || name.hasPrefix("wl_") {
            throw ServerError(.configuration, "a Worklight realm of users is not called \"\(name.prefix(80))\"")
        }
    }

    /// Closes the connections to the state store.
    public func close() throws { try state.close() }

    /// Whether a request belongs to the face: its path begins with the context.
    public func serves(_ request: ServerRequest) -> Bool {
        let root = configuration.root
        return request.path.hasPrefix(root + "/apps/services/") || request.path == root + "/invoke" || request.path.hasSuffix("/j_security_check")
    }

    /// Answers one request. Never throws: a failure is an answer as well.
    public func respond(to request: ServerRequest) -> ServerResponse {
        do {
            let request = try WireRequest(request, root: configuration.root, maximum: configuration.maximumBody)
            return try answer(request).response(gzip: request.gzip)
        } catch let error as ProtocolError where error.code == .limitExceeded {
            return Answer.failure(413, "the body of the request is too long").response(gzip: .no)
        } catch {
            log("Worklight \(request.method) \(request.path.prefix(80)): \(error)")
            return Answer.failure(500, "the server could not do this; its log says why").response(gzip: .no)
        }
    }

    private func answer(_ request: WireRequest) throws -> Answer {
        switch request.place {
        case .reach: return Answer(body: .text("OK"))
        case .logUploader: return try takeLog(request)
        case .logProfile: return Answer(status: 204, body: .none)
        case .nowhere: return .failure(404, "there is nothing here")
        case .form: return try login(request)
        case .invoke:
            guard ["GET", "POST"].contains(request.method) else { return .failure(405, "use GET or POST") }
            return try inSession(request, nil) { session in try self.invoke(request, &session) }
        case .application(let id, let environment, let name):
            guard let application = applications[id], application.environments.isEmpty || application.environments.contains(environment) else {
                return .failure(404, "there is no such application")
            }
            guard request.method == "POST" || request.method == "GET" && (name == "query" || name.hasPrefix("query/") || name == "proxy") else {
                return .failure(405, "use POST")
            }
            return try inSession(request, application) { session in
                try self.perform(name, request, application, environment, &session)
            }
        }
    }

    // MARK: Sessions

    /// Runs the security test, then `body`, and names the realms that were satisfied. A request without a session begins one.
    private func inSession(
        _ request: WireRequest, _ application: WorklightApplication?, _ body: (inout SessionStore.Session) throws -> Answer
    ) throws -> Answer {
        let cookies = request.cookies
        var session = try sessions.session(cookies[Self.sessionCookie]) ?? sessions.begin()
        var environment = ""
        if case .application(_, let name, _) = request.place { environment = name }
        let rule = try application.flatMap { try administration.rule(application: $0.id, environment: environment, version: request.version) }
        let proof = proof(request, application, session)
        let check = SecurityCheck(
            request: request, application: application, rule: rule, proof: proof, withdrawals: try withdrawals(application, session, proof),
            token: { self.sessions.text() })
        let anonymous =
            cookies[Self.persistentCookie].flatMap { $0.utf8.count <= 128 ? $0 : nil }
            ?? (session.content.anonymous.isEmpty ? sessions.text() : session.content.anonymous)
        var answer: Answer
        switch try changing(
            &session,
            { content in
                content.anonymous = anonymous
                return check.run(&content)
            })
        {
        case .answer(let refusal)?: answer = refusal
        case .passed?: answer = try guarded(request, application, &session, body)
        // The session ended in this moment; the client begins again.
        case nil:
            session = try sessions.begin()
            answer = .challenge([SecurityCheck.antiXSRF: ["WL-Instance-Id": .string(session.content.instance)]])
        }
        try announce(&session, in: &answer)
        if session.isNew { answer.headers.append((name: "Set-Cookie", value: "\(Self.sessionCookie)=\(session.cookie); Path=/; HttpOnly")) }
        if cookies[Self.persistentCookie] == nil {
            answer.headers.append((name: "Set-Cookie", value: "\(Self.persistentCookie)=\(anonymous); Path=/; \(expiry())"))
        }
        return answer
    }

    /// The signed answer of a device; nil without one.
    private func proof(_ request: WireRequest, _ application: WorklightApplication?, _ session: SessionStore.Session) -> DeviceProof? {
        guard let application, let provisioning = application.provisioning else { return nil }
        let answer = request.answers[SecurityCheck.provisionedDevice]
        return DeviceProof(answer, provisioning, application: application.id, token: session.content.token, now: clock() / 1000)
    }

    /// The withdrawals of the device that proves its name now, and of the one that has done so in the session.
    private func withdrawals(
        _ application: WorklightApplication?, _ session: SessionStore.Session, _ proof: DeviceProof?
    ) throws -> [String: DeviceWithdrawal] {
        guard let application, let provisioning = application.provisioning else { return [:] }
        let isProven = session.content.identities[SecurityCheck.provisionedDevice] != nil
        let devices = [proof?.id, isProven ? session.content.device : nil].compactMap(\.self)
        return try administration.withdrawals(from: devices, provisioning.entity, application: application.id)
    }

    private static let sessionCookie = "JSESSIONID"
    private static let persistentCookie = "WL_PERSISTENT_COOKIE"

    /// The end of the persistent cookie: one year from now.
    private func expiry() -> String {
        let seconds = clock() / 1000 + 31_536_000
        return "Max-Age=31536000; Expires=\(HTTPTime.text(seconds))"
    }

    /// Checks the realm of users that guards the application, then runs `body`.
    private func guarded(
        _ request: WireRequest, _ application: WorklightApplication?, _ session: inout SessionStore.Session,
        _ body: (inout SessionStore.Session) throws -> Answer
    ) throws -> Answer {
        if let realm = application?.userRealm, session.content.identities[realm] == nil, !Self.isOpen(request) {
            return challenge(realm, error: "")
        }
        return try body(&session)
    }

    /// Whether a request needs no user: a client that logs out, or polls for messages, is not asked to log in.
    private static func isOpen(_ request: WireRequest) -> Bool {
        guard case .application(_, _, let name) = request.place else { return false }
        return ["logout", "authenticate", "heartbeat", "login", "appversionaccess", "updates", "composite"].contains(name)
    }

    /// Changes the session in the store, and in `session`; nil if it has ended.
    func changing<R>(_ session: inout SessionStore.Session, _ change: (inout SessionContent) throws -> R) throws -> R? {
        // Most requests change nothing, and need no write.
        var content = session.content
        let result = try change(&content)
        if content == session.content { return result }
        guard let (result, content) = try sessions.change(session.cookie, change) else { return nil }
        session.content = content
        return result
    }

    /// Names the newly satisfied realms in a JSON answer; another one leaves that to the next.
    private func announce(_ session: inout SessionStore.Session, in answer: inout Answer) throws {
        guard case .json(var object) = answer.body, !session.content.unannounced.isEmpty else { return }
        let named = try changing(&session) { content in
            defer { content.unannounced = [] }
            return content.unannounced
        }
        var identities = JSONObject()
        for realm in named ?? [] { identities[realm] = session.content.identities[realm] }
        guard !identities.isEmpty else { return }
        object["WL-Authentication-Success"] = .object(identities)
        answer.body = .json(object)
    }

    // MARK: Logins

    /// The request for the login to a realm.
    func challenge(_ realm: String, error: String) -> Answer {
        switch realms[realm]?.login {
        case .form(let page, _)?: Answer(body: .html(page(error)))
        case .adapter(let challenge)?: .json(challenge())
        case nil: .failure(404, "there is no such realm")
        }
    }

    /// Takes a login form: it logs in to all realms with a form that accept the user.
    private func login(_ request: WireRequest) throws -> Answer {
        let forms = configuration.realms.filter { if case .form = $0.login { true } else { false } }
        guard let first = forms.first else { return .failure(404, "there is no realm with a form") }
        // A form belongs to a session: without one, the login would have no effect.
        guard ["GET", "POST"].contains(request.method), var session = try sessions.session(request.cookies[Self.sessionCookie]) else {
            return challenge(first.name, error: "")
        }
        let user = request.fields.text("j_username") ?? "", password = request.fields.text("j_password") ?? ""
        var accepted: [(realm: String, attributes: JSONObject)] = [], reason = "Invalid user name or password"
        for realm in forms {
            guard case .form(_, let accepts) = realm.login, !user.isEmpty else { continue }
            if let accepts {
                if let attributes = try accepts(user, password) { accepted.append((realm.name, attributes)) }
                continue
            }
            switch try accounts.login(user: user, password: password, from: request.address) {
            case .accepted: accepted.append((realm.name, [:]))
            case .refused: break
            case .later(let text): reason = text
            }
        }
        guard !accepted.isEmpty else { return challenge(first.name, error: reason) }
        _ = try changing(&session) { content in
            for (realm, attributes) in accepted { content.satisfy(realm, WorklightIdentity.object(user, attributes)) }
        }
        return .json([:])
    }

    // MARK: Procedures

    func procedure(_ adapter: String, _ name: String) -> WorklightProcedure? { adapters[adapter]?.procedures[name] }
    func hasEventSource(_ adapter: String, _ source: String) -> Bool { adapters[adapter]?.eventSources.contains(source) == true }
    func hasRealm(_ name: String) -> Bool { realms[name] != nil }
}
