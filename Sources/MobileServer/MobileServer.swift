internal import MobileProtocol
internal import MobileStore

/// A server for offline-first applications, as a function from requests to responses.
///
///     let server = try MobileServer(configuration)
///     let http = try HTTPServer(serving: server)
///
/// All persistent state is in its cache database and in the back ends, and commits in the same transaction as the change that it describes. The
/// process can therefore be killed at any instruction and restarted; devices only have to repeat the interrupted request.
///
/// Threads: any number of requests can run concurrently. Reads run in parallel; writes to the cache and to a back end are serialized.
public final class MobileServer: Sendable {
    /// The configuration that the server was opened with.
    public let configuration: ServerConfiguration
    /// The server's state; a face of another protocol keeps its tables there.
    package let stateStore: any StateStore
    private let accounts: Accounts
    let packages: [ServedPackage]
    /// Uploads that arrive in pieces.
    let uploads: UploadStore
    /// Lets clients listen for changes.
    let events: EventService
    private let domainLog: DomainLog
    private let traces: TraceStore
    private let contents: ContentService
    private let log: ServerLog
    private let ends: PruningSchedule
    /// Answers `GET /ready`.
    let readiness: ReadinessProbe
    /// The administration of users, devices, log records, logs and traces.
    public let administration: ServerAdministration

    /// Opens the cache and deploys the packages: opens their back ends and checks them against the models.
    /// - Throws: ``ServerError`` that names the wrong file, object, table or column. Nothing stays open in that case.
    public init(_ configuration: ServerConfiguration) throws {
        guard (1...1_000_000).contains(configuration.keyRangeSize) else {
            throw ServerError(.configuration, "key range size \(configuration.keyRangeSize): use 1 to 1,000,000")
        }
        try configuration.checkLogs()
        try configuration.checkAccounts()
        var configuration = configuration
        let log = ServerLog(configuration)
        // Wrapped here, so that every line is escaped regardless of its origin.
        configuration.log = { log.write(LogEntry(.warning, $0)) }
        self.log = log
        self.configuration = configuration
        let deployed = try configuration.packages.map {
            try PackageDeployer(
                $0, timeout: configuration.connectionTimeout, wholeValueLimit: configuration.maximumWholeValue, rules: configuration.changeRules
            ).deploy()
        }
        for (index, package) in deployed.enumerated() where deployed[..<index].contains(where: { $0.identifier == package.identifier }) {
            throw ServerError(.configuration, "package \"\(package.identifier)\": deployed twice")
        }
        let stateStore = try configuration.openStateStore(createsFile: true)
        self.stateStore = stateStore
        let eras = Eras(configuration)
        try stateStore.write(label: "era") {
            try eras.open(in: $0)
            try RefreshLease.endAll(in: $0)
        }
        administration = ServerAdministration(stateStore, configuration)
        domainLog = DomainLog(stateStore: stateStore, clock: configuration.clock)
        traces = TraceStore(stateStore: stateStore, clock: configuration.clock)
        accounts = Accounts(stateStore: stateStore, configuration: configuration)
        let news = VersionNews(registry: ListenerRegistry(configuration.limits.listeners), stateStore: stateStore, log: configuration.log)
        let files = SegmentFiles(configuration)
        packages = try deployed.map { try ServedPackage($0, stateStore: stateStore, files: files, configuration: configuration, news: news) }
        uploads = UploadStore(configuration)
        events = EventService(packages, news, configuration)
        contents = ContentService(try ContentGrants(stateStore, configuration), stateStore, files, packages, configuration)
        ends = PruningSchedule(
            Pruning(
                stateStore: stateStore, backEnds: packages.flatMap(\.deployed.writtenBackEnds), files: contents.files, configuration: configuration,
                backEndsWithChanges: packages.flatMap(\.deployed.backEnds.values)),
            log: configuration.log)
        readiness = ReadinessProbe(
            Self.parts(of: packages, stateStore), deadline: configuration.readinessTimeout, log: { log.write(LogEntry(.error, $0)) })
        for (name, password) in configuration.users.sorted(by: { $0.key < $1.key }) { try accounts.setUser(name, password: password) }
        for (user, code) in configuration.activationCodes.sorted(by: { $0.key < $1.key }) { try accounts.setActivationCode(code, user: user) }
    }

    /// Waits for the requests in progress and closes all databases. Later requests are answered as failures.
    public func close() throws {
        events.close()
        uploads.close()
        for package in packages { try package.close() }
        contents.files.close()
        try stateStore.close()
    }

    /// The accounts, for a face of another protocol: within the limits and delays of all logins.
    package var faceAccounts: FaceAccounts { FaceAccounts(accounts) }

    /// Whether an error means that the state is out of reach at the moment, and the request may come again.
    package func isUnavailable(_ error: any Error) -> Bool { isStateUnavailable(error) }

    /// Names and versions of the packages, such as `CRM:1.0`.
    public var packageNames: [String] { packages.map(\.deployed.identifier) }

    /// Answers one request. Never throws: a failure is an answer as well.
    public func respond(to request: ServerRequest) -> ServerResponse {
        if request.path == HealthEndpoint.ready { return readiness.wait() }
        var line = RequestLine(request)
        let began = configuration.clock()
        let response = respond(to: request, &line)
        if line.passport != nil || configuration.requestTrace.traces(line.device) {
            let entry = line.entry(request, status: response.status, milliseconds: configuration.clock() - began)
            log.write(entry)
            note(LogSanitizer.escaped(entry.message), of: line)
        }
        return response
    }

    /// Keeps a line for the trace that the device may upload later. Drops it if the request has no user, because only a session can upload a trace.
    private func note(_ text: String, of line: RequestLine) {
        guard let passport = line.passport, !line.user.isEmpty else { return }
        do { try traces.note(passport, text, application: line.application, device: line.device) } catch {
            configuration.log("a line of transaction \(passport.transaction) could not be kept: \(error)")
        }
    }

    /// Checks a request as soon as its header is complete: identifies the client and determines the limits of the body. A client without the required
    /// session is refused here, before a byte of the body is read. The body itself is not inspected.
    ///
    /// A content whose file is at hand is answered at once: that waits for nothing, and a change of threads would cost more than the answer.
    public func admit(_ request: ServerRequest) -> RequestAdmission {
        if contents.isAtHand(request.path) { return .answer(respond(to: request)) }
        do { return .body(try bodyLimits(of: request)) } catch {
            let response = refusal(of: error, request)
            let line = RequestLine(request)
            if line.passport != nil || configuration.requestTrace.tracesAll {
                log.write(line.entry(request, status: response.status, milliseconds: 0))
            }
            return .answer(response)
        }
    }

    /// Answers a request that waits for nothing; nil for all others, and for those that are traced.
    func answerAtOnce(_ request: ServerRequest) -> ServerResponse? {
        guard request.headers["sap-passport"] == nil, !configuration.requestTrace.isOn else { return nil }
        return contents.answerAtOnce(request)
    }

    private func bodyLimits(of request: ServerRequest) throws -> BodyLimits {
        try checkAddress(request)
        let limits = configuration.limits
        func body(_ length: Int, _ time: Duration) -> BodyLimits {
            BodyLimits(maximumLength: length, time: time, leastRate: limits.leastRate, grace: limits.grace)
        }
        switch request.path {
        case Endpoint.status, HealthEndpoint.live, HealthEndpoint.ready: return body(0, limits.strangerTime)
        case Endpoint.messages:
            guard try request.bearerToken.flatMap({ try accounts.session(token: $0, isUse: false) }) == nil else {
                return body(ProtocolLimit.messages, limits.uploadTime)
            }
            var stranger = body(limits.strangerBytes, limits.strangerTime)
            stranger.refusal = Self.missingSession.wire
            return stranger
        case Endpoint.traces:
            _ = try session(of: request, isUse: false)
            return body(ProtocolLimit.trace, limits.uploadTime)
        case let path where Self.isUpload(path):
            _ = try session(of: request, isUse: false)
            return body(UploadStore.longestPiece, limits.uploadTime)
        case Endpoint.events:
            _ = try session(of: request, isUse: false)
            return body(Self.longestInterest, limits.strangerTime)
        case Endpoint.changes:
            try checkOperator(request)
            return body(Self.longestReport, limits.strangerTime)
        case let path where ContentService.name(in: path) != nil:
            _ = try session(of: request, isUse: false)
            return body(0, limits.strangerTime)
        default:
            _ = try session(of: request, isUse: false)
            return body(limits.uploadBytes, limits.uploadTime)
        }
    }

    private func respond(to request: ServerRequest, _ line: inout RequestLine) -> ServerResponse {
        do { return try route(request, &line) } catch { return refusal(of: error, request) }
    }

    private func refusal(of error: any Error, _ request: ServerRequest) -> ServerResponse {
        do { throw error } catch let failure as RequestFailure {
            return Self.refusal(failure)
        } catch let error as ProtocolError where error.code == .outdatedVersion {
            return Self.refusal(RequestFailure(.outdatedApplication, "\(error.message): update the application"))
        } catch let error as ProtocolError where error.code != .spool {
            let isTooLarge = error.code == .limitExceeded
            return Self.refusal(RequestFailure(isTooLarge ? .tooLarge : .badRequest, error.description))
        } catch  where isStateUnavailable(error) {
            configuration.log("\(request.method) \(LogSanitizer.name(request.path)): \(error)")
            return Self.refusal(.busy)
        } catch {
            log.write(LogEntry(.error, "\(request.method) \(LogSanitizer.name(request.path)): \(error)"))
            return Self.refusal(RequestFailure(.failure, "the server could not do this; its log says why"))
        }
    }

    private func checkAddress(_ request: ServerRequest) throws {
        let methods: [String]
        switch request.path {
        case Endpoint.status: methods = ["GET"]
        case HealthEndpoint.live, HealthEndpoint.ready: methods = ["GET", "HEAD"]
        case Endpoint.events: methods = ["GET", "POST"]
        case let path where Self.isUpload(path): methods = ["PUT", "HEAD", "DELETE"]
        case Endpoint.messages, Endpoint.synchronize, Endpoint.traces, Endpoint.changes: methods = ["POST"]
        case let path where ContentService.name(in: path) != nil: methods = ["GET"]
        default: throw RequestFailure(.notFound, "there is nothing at \(request.path.prefix(80))")
        }
        guard methods.contains(request.method) else {
            throw RequestFailure(.methodNotAllowed, "\(request.path) takes \(methods[0]) only")
        }
    }

    private func route(_ request: ServerRequest, _ line: inout RequestLine) throws -> ServerResponse {
        try checkAddress(request)
        switch request.path {
        case HealthEndpoint.live: return Readiness.live
        case Endpoint.status:
            let status = ServerStatus(server: "MobileServer", packages: packageNames)
            return ServerResponse(status: 200, contentType: Endpoint.messageContentType, body: .bytes(status.bytes))
        case Endpoint.messages:
            return try answerMessages(request, &line)
        case Endpoint.traces:
            return try takeTrace(request, &line)
        case let path where Self.isUpload(path):
            let session = try session(of: request, isUse: true)
            line.take(session)
            return try answerUpload(request, session)
        case Endpoint.events:
            let session = try session(of: request, isUse: true)
            line.take(session)
            return try listen(request, session)
        case Endpoint.changes:
            return try takeChanges(request)
        case let path where ContentService.name(in: path) != nil:
            return try answerContent(request, &line)
        default:
            return try synchronize(request, &line)
        }
    }

    private func answerContent(_ request: ServerRequest, _ line: inout RequestLine) throws -> ServerResponse {
        guard let token = request.bearerToken else { throw Self.missingSession }
        // One read for all checks: a first synchronization has dozens of these requests.
        let (found, content) = try stateStore.read { connection in
            guard let found = try accounts.session(token: token, in: connection) else { throw Self.endedSession }
            return (found, try contents.permitted(request, found.session, token: token, in: connection))
        }
        line.take(found.session)
        try accounts.extend(found)
        return try contents.answer(request, content)
    }

    private func answerMessages(_ request: ServerRequest, _ line: inout RequestLine) throws -> ServerResponse {
        // An expired token must not prevent a device from logging in: each message is answered separately.
        let session = try request.bearerToken.flatMap { try accounts.session(token: $0, isUse: true) }
        guard session != nil || request.body.length <= configuration.limits.strangerBytes else { throw Self.missingSession }
        let messages = try Message.messages(parsing: request.body.remainingBytes(maximum: ProtocolLimit.messages))
        guard messages.count <= configuration.limits.messages else {
            throw RequestFailure(.tooLarge, "\(messages.count) messages: at most \(configuration.limits.messages) go in one request")
        }
        let handler = MessageHandler(
            accounts: accounts, packages: packages, domainLog: domainLog, session: session, address: request.remoteAddress, log: configuration.log)
        let answers = answers(to: messages, handler)
        line.device = session?.device ?? messages.first?.header.device ?? ""
        line.user = session?.user ?? ""
        line.application = session?.application ?? ""
        line.events = zip(messages, answers).map { message, answer in
            let package = message.header.package.map { " of \(LogSanitizer.name($0))" } ?? ""
            return "\(LogSanitizer.name(message.header.method.rawValue))\(package): \(answer.header.method.isFailure ? "failed" : "done")"
        }
        let headers = answers.contains(where: \.saysUnavailable) ? [ServerResponse.retryLater] : []
        return ServerResponse(status: 200, headers: headers, contentType: Endpoint.messageContentType, body: .bytes(Message.bytes(answers)))
    }

    /// A login costs 0.1 s of processor time: each request may contain one.
    private func answers(to messages: [Message], _ handler: MessageHandler) -> [Message] {
        var hasLogin = false
        return messages.map { message in
            let isLogin = [.register, .login].contains(message.header.method)
            if isLogin, hasLogin {
                return message.failed(RequestFailure(.badRequest, "one \"register\" or \"login\" goes in one request").wire)
            }
            hasLogin = hasLogin || isLogin
            return handler.answer(message)
        }
    }

    private func synchronize(_ request: ServerRequest, _ line: inout RequestLine) throws -> ServerResponse {
        let session = try session(of: request, isUse: true)
        line.take(session)
        let body = try synchronizedBody(request, session)
        let upload = try UploadReader(body).header()
        line.client = upload.client
        guard let package = packages.first(where: { $0.deployed.identifier == upload.package }) else {
            throw RequestFailure(.notFound, "there is no package \"\(upload.package.prefix(80))\"")
        }
        let download = try package.synchronize(
            body, user: session.user, inquiries: domainLog.inquiries(of: session),
            grants: SessionGrants(grants: contents.grants, session: session, package: package.deployed.identifier, client: upload.client), &line)
        ends.tick()
        return ServerResponse(
            status: 200, contentType: Endpoint.frameContentType, body: .stream { try download.nextChunk() })
    }

    private func takeTrace(_ request: ServerRequest, _ line: inout RequestLine) throws -> ServerResponse {
        let session = try session(of: request, isUse: true)
        line.take(session)
        try traces.store(TraceDocument(request.body.remainingBytes(maximum: ProtocolLimit.trace)), from: session)
        return ServerResponse(status: 204)
    }

    private static var missingSession: RequestFailure {
        RequestFailure(.unauthorized, "the request carries no token of a session; log in first")
    }

    private static var endedSession: RequestFailure {
        RequestFailure(.unauthorized, "the session is unknown or has ended; log in again")
    }

    private func session(of request: ServerRequest, isUse: Bool) throws -> Accounts.Session {
        guard let token = request.bearerToken else { throw Self.missingSession }
        guard let session = try accounts.session(token: token, isUse: isUse) else {
            throw Self.endedSession
        }
        return session
    }

    private static func refusal(_ failure: RequestFailure) -> ServerResponse {
        let isBusy = [RequestFailure.Kind.unavailable.rawValue, RequestFailure.Kind.tooMany.rawValue].contains(failure.code)
        return ServerResponse(
            status: failure.status, headers: isBusy ? [ServerResponse.retryLater] : [], contentType: Endpoint.messageContentType,
            body: .bytes(failure.wire.bytes))
    }
}

extension Message {
    /// Whether this answer reports a temporary failure, so that the same message may succeed later.
    fileprivate var saysUnavailable: Bool { header.method.isFailure && content["code"]?.integer == ResultCode.unavailable }
}
