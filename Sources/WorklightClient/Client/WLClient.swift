internal import MobileExecution
public import MobileStore
public import MobileTransport

/// A client of a Worklight server: connects an application, calls procedures of adapters, and runs challenge handlers. Worklight 5.0.6: class `WLClient`.
///
///     let client = try WLClient(WLConfiguration(plist: "worklight.plist"), store: Database(ConnectionProfile(path: path)))
///     try await client.connect()
///     let account = WLProcedureInvocationData(adapter: "demoAdapter", procedure: "getDemoAccount", parameters: ["123-456-789", "california"])
///     let response = try await client.invokeProcedure(account)
///
/// Any thread may call it. Callbacks run one after another on a thread of the client; they must not block.
public final class WLClient: Sendable {
    /// The configuration.
    public var configuration: WLConfiguration { engine.configuration }
    /// The push subscriptions of this client. Worklight 5.0.6: `[WLPush sharedInstance]`.
    public let push: WLPush
    /// The captured log of this client.
    public let logs: OCLogCenter
    let engine: WLEngine
    let outbox: Outbox
    private let heartbeat = SystemLock<BlockingWork.Timer?>(nil)
    let state = SystemLock(State())

    struct State {
        var isConnected = false
        var isInBackground = false
        var userPreferences: [String: String] = [:]
    }

    /// Creates a client.
    /// - Parameters:
    ///   - configuration: the server and the application.
    ///   - store: the database for what survives restarts: the device's identifier, captured logs, stored results and calls that wait. nil (default):
    ///     these last as long as the client, nothing is captured, stored or kept.
    ///   - transport: the access to the network; nil (default) for HTTP with the trusted certificates of the system.
    /// - Throws: `StoreError`: the tables of the client cannot be created in the database.
    public init(_ configuration: WLConfiguration, store: Database? = nil, transport: (any Transport)? = nil) throws {
        var http = HTTPTransport.Configuration()
        http.maximumIdleClients = WLEngine.maximumTransmissions
        let store = try store.map { try ClientStore($0) }
        engine = WLEngine(configuration, store, transport ?? HTTPTransport(http))
        push = WLPush(engine)
        logs = OCLogCenter(engine)
        outbox = Outbox(engine)
        push.client.withLock { $0 = WeakClient(client: self) }
        outbox.use { [weak self] data, options, completion in self?.sendProcedure(data, options, completion) }
    }

    deinit { _ = heartbeat.withLock { $0 }?.cancel() }

    // MARK: The shared client

    private static let sharedClient = SystemLock<WLClient?>(nil)

    /// The client that the application has chosen as the default. Without a choice, it is made from the file `worklight.plist` in the current directory;
    /// a missing or wrong file is an error of the program and ends it. Worklight 5.0.6: `sharedInstance`.
    public static var shared: WLClient {
        sharedClient.withLock { shared in
            if let shared { return shared }
            do {
                let made = try WLClient(WLConfiguration(plist: "worklight.plist"))
                shared = made
                return made
            } catch { preconditionFailure("there is no shared Worklight client: \(error)") }
        }
    }

    /// Chooses the client that ``shared`` returns; nil for none.
    public static func setShared(_ client: WLClient?) { sharedClient.withLock { $0 = client } }

    // MARK: Connecting

    /// Whether the last connect succeeded.
    public var isConnected: Bool { state.withLock { $0.isConnected } }

    /// The user's preferences that the server sent with the last connect.
    public var userPreferences: [String: String] { state.withLock { $0.userPreferences } }

    /// Connects the application: the server checks its version and begins a session. Must succeed before any other call is sent. Worklight 5.0.6:
    /// `wlConnectWithDelegate:`, `wlConnectWithDelegate:cookieExtractor:`.
    /// - Parameters:
    ///   - delegate: is called once with the result; procedures can be called from its `onSuccess`.
    ///   - cookieExtractor: cookies to share with the web pages of the application; nil (default) for none.
    ///   - timeout: the time for each sending; nil (default) for ``WLConfiguration/defaultTimeout``, zero for no limit.
    public func connect(delegate: (any WLDelegate)?, cookieExtractor: WLCookieExtractor? = nil, timeout: Duration? = nil) {
        connect(cookieExtractor, timeout) { Self.report($0, to: delegate) }
    }

    /// Connects the application.
    /// - Returns: the response.
    /// - Throws: ``WLFailResponse``.
    @discardableResult
    public func connect(cookieExtractor: WLCookieExtractor? = nil, timeout: Duration? = nil) async throws -> WLResponse {
        try await result { connect(cookieExtractor, timeout, $0) }
    }

    @discardableResult
    private func connect(
        _ extractor: WLCookieExtractor?, _ timeout: Duration?, _ completion: @escaping @Sendable (WLRequest.Outcome) -> Void
    ) -> WLRequest {
        let request = WLRequest(
            .standard, to: RequestAddress(engine.applicationURL + "init"), fields: [("action", "test")],
            timeout: timeout ?? configuration.defaultTimeout
        ) { outcome in
            if case .success(let response) = outcome { self.becomeConnected(response) }
            completion(outcome)
            if case .success = outcome { self.outbox.replay() }
        }
        engine.mailbox.post {
            self.state.withLock { $0.isConnected = false }
            self.stopHeartbeat()
            let engine = self.engine
            engine.jar.withLock { $0.startOver() }
            engine.headers.instanceID = nil
            engine.extractor = extractor
            if let extractor {
                let now = engine.configuration.clock(), host = engine.procedures.target.host
                engine.jar.withLock { jar in
                    for var cookie in extractor.cookies {
                        // Never to another server, such as that of a login form.
                        if cookie.domain.isEmpty { cookie.domain = host }
                        jar.set(cookie, now: now)
                    }
                }
                engine.headers.instanceID = engine.keep(or: nil) { try engine.store?.setting(.instance) }
            }
            return engine.transmission(of: request)
        }
        return request
    }

    private func becomeConnected(_ response: WLResponse) {
        var preferences: [String: String] = [:]
        for member in response.body.member("userPrefs")?.object ?? [:] { preferences[member.key] = member.value.string }
        state.withLock {
            $0.isConnected = true
            $0.userPreferences = preferences
        }
        push.connected()
        startHeartbeat()
    }

    // MARK: Requests

    /// Reports an activity of the user for audits and statistics. Without a connection, or when it fails, the log gets a line. Worklight 5.0.6:
    /// `logActivity:`.
    public func logActivity(_ activityType: String) {
        guard isConnected else { return configuration.log("an activity was not reported: the client is not connected") }
        let log = configuration.log
        send("logactivity", [("activity", activityType)]) { outcome in
            if case .failure(let failure) = outcome { log("an activity was not reported: \(failure)") }
        }
    }

    /// Registers a handler, in place of the one that has the same realm, the platform's own ones included. Worklight 5.0.6:
    /// `registerChallengeHandler:`.
    /// - Returns: false for a handler whose realm is empty; it is not registered.
    @discardableResult
    public func registerChallengeHandler(_ handler: BaseChallengeHandler) -> Bool {
        guard !handler.realm.isEmpty else {
            configuration.log("a challenge handler without a realm was not registered")
            return false
        }
        engine.mailbox.post {
            self.engine.register(handler)
            return nil
        }
        return true
    }

    /// Adds a header field to all later requests, in place of an earlier one of this name. Worklight 5.0.6: `addGlobalHeader:headerValue:`.
    public func addGlobalHeader(_ name: String, value: String) { engine.headers.set(name, value) }

    /// Removes a header field from later requests. Worklight 5.0.6: `removeGlobalHeader:`.
    public func removeGlobalHeader(_ name: String) { engine.headers.set(name, nil) }

    /// Ends the session's identity in a realm. Not in the document; the SDK has it from 6.2.
    /// - Throws: ``WLFailResponse``.
    public func logout(realm: String) async throws {
        _ = try await result { completion in send("logout", [("realm", realm)], completion: completion) }
    }

    /// Says that the application is not visible: there are no signs of life until ``enterForeground()``.
    public func enterBackground() {
        state.withLock { $0.isInBackground = true }
        stopHeartbeat()
    }

    /// Says that the application is visible again: asks the server for messages and resumes the signs of life.
    public func enterForeground() {
        state.withLock { $0.isInBackground = false }
        guard isConnected else { return }
        send("authenticate", []) { _ in }
        startHeartbeat()
    }

    // MARK: Inside

    /// Sends a request of the application.
    @discardableResult
    func send(
        _ path: String, _ fields: [(name: String, value: String)], completion: @escaping @Sendable (WLRequest.Outcome) -> Void
    ) -> WLRequest {
        let request = WLRequest(
            .standard, to: RequestAddress(engine.applicationURL + path), fields: fields, timeout: configuration.defaultTimeout,
            completion: completion)
        engine.mailbox.post { self.engine.transmission(of: request) }
        return request
    }

    /// Waits for the callback of a request; cancelling the task ends the request.
    func result(of start: (@escaping @Sendable (WLRequest.Outcome) -> Void) -> WLRequest?) async throws -> WLResponse {
        let promise = Promise<WLResponse, WLFailResponse>()
        let request = start { promise.resolve($0) }
        return try await withTaskCancellationHandler {
            try await promise.value
        } onCancel: {
            guard let request else { return }
            engine.mailbox.later { self.engine.cancel(request) }
        }
    }

    static func report(_ outcome: WLRequest.Outcome, to delegate: (any WLDelegate)?) {
        switch outcome {
        case .success(let response): delegate?.onSuccess(response)
        case .failure(let failure): delegate?.onFailure(failure)
        }
    }

    // MARK: Signs of life

    private func startHeartbeat() {
        stopHeartbeat()
        guard configuration.heartbeatInterval > .zero, !state.withLock({ $0.isInBackground }) else { return }
        let timer = engine.threads.start(after: configuration.heartbeatInterval) { [weak self] in self?.beat() }
        heartbeat.withLock { $0 = timer }
    }

    private func stopHeartbeat() { _ = heartbeat.withLock { $0 }?.cancel() }

    private func beat() {
        guard state.withLock({ $0.isConnected && !$0.isInBackground }) else { return }
        send("heartbeat", []) { _ in }
        startHeartbeat()
    }
}

/// A client that does not keep itself alive through its parts.
struct WeakClient {
    weak var client: WLClient?
}
