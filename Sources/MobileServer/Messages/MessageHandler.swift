internal import MobileProtocol
internal import MobileStore

/// Answers messages: registration, login, subscriptions. Each message receives one answer, in the order of the request.
struct MessageHandler {
    let accounts: Accounts
    let packages: [ServedPackage]
    let domainLog: DomainLog
    let session: Accounts.Session?
    /// The address that the request comes from.
    let address: String
    let log: @Sendable (String) -> Void

    func answer(_ message: Message) -> Message {
        do {
            return try handle(message)
        } catch let failure as RequestFailure {
            return message.failed(failure.wire)
        } catch let error as ProtocolError {
            return message.failed(ProtocolFailure(code: ResultCode.badRequest, message: error.message))
        } catch {
            log("message \"\(message.header.method.rawValue)\": \(error)")
            if isStateUnavailable(error) { return message.failed(RequestFailure.busy.wire) }
            return message.failed(ProtocolFailure(code: ResultCode.failure, message: "the server could not do this; its log says why"))
        }
    }

    private func handle(_ message: Message) throws -> Message {
        let header = message.header
        switch header.method {
        case .register: return message.result(try accounts.register(header, message.content(), from: address).json.object ?? [:])
        case .login: return message.result(try accounts.login(header, message.content(), from: address).json.object ?? [:])
        case .connect: return message.result(ConnectionGrant(settings: accounts.settings(of: try authenticated())).json.object ?? [:])
        case .unregister: try accounts.unregister(try authenticated())
        case .subscribe: try subscribe(message)
        case .unsubscribe: try setState(.unsubscribed, header)
        case .suspend: try setState(.suspended, header)
        case .resume: try setState(.subscribed, header)
        // The client drops its tokens, so it receives all data again.
        case .recover: try setState(.subscribed, header)
        case .log: try takeLog(message)
        default: throw RequestFailure(.badRequest, "there is no method \"\(header.method.rawValue.prefix(80))\"")
        }
        return message.result()
    }

    private func authenticated() throws(RequestFailure) -> Accounts.Session {
        guard let session else { throw RequestFailure(.unauthorized, "the request carries no token of a session; log in first") }
        return session
    }

    /// Checks the parameters, so that a wrong one fails the subscription and not a later synchronization.
    private func subscribe(_ message: Message) throws {
        let content: SubscribeContent = try message.content()
        let (package, _, session) = try subscriber(message.header)
        try content.subscriptions.checkCount()
        for object in content.subscriptions.keys where package.deployed.object(named: object) == nil {
            throw RequestFailure(.notFound, "package \"\(package.deployed.identifier)\" has no synchronized object \"\(object.prefix(80))\"")
        }
        let access = try package.access(of: session.user)
        for object in package.deployed.objects {
            _ = try PartitionParameters.sets(
                of: object, subscriptions: content.subscriptions[object.name], personalization: content.personalization.with(user: session.user),
                access: access)
        }
        try setState(.subscribed, message.header)
    }

    private func takeLog(_ message: Message) throws {
        let (package, _, session) = try subscriber(message.header)
        try domainLog.take(message.content(), from: session, package: package.deployed.identifier)
    }

    private func setState(_ state: ClientDirectory.State, _ header: MessageHeader) throws {
        let (package, client, session) = try subscriber(header)
        let known = try package.clients.state(of: client, user: session.user)
        guard known != .locked else { throw RequestFailure(.forbidden, "an administrator has locked the subscription") }
        if state != .subscribed || header.method != .subscribe {
            guard let known, known != .unsubscribed else {
                throw RequestFailure(.notFound, "the client is not subscribed to \"\(package.deployed.identifier)\"")
            }
        }
        try package.clients.setState(state, of: client, user: session.user)
    }

    private func subscriber(_ header: MessageHeader) throws(RequestFailure) -> (ServedPackage, client: String, Accounts.Session) {
        let session = try authenticated()
        guard let name = header.package, let client = header.client else {
            throw RequestFailure(.badRequest, "message \"\(header.method.rawValue)\": expected \"pkg\" and \"cid\" in the header")
        }
        guard let package = packages.first(where: { $0.deployed.identifier == name }) else {
            throw RequestFailure(.notFound, "there is no package \"\(name.prefix(80))\"")
        }
        return (package, client, session)
    }
}

extension JSONObject {
    /// Returns the personalization with the built-in key `username` (PER-08), which the server alone determines.
    func with(user: String) -> JSONObject {
        var object = self
        object["username"] = .string(user)
        return object
    }
}
