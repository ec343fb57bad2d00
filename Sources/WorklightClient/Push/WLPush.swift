internal import MobileExecution
public import MobileStore

/// The push subscriptions of a client. Worklight 5.0.6: class `WLPush`.
///
/// The device's token is handed over with ``setTokenFromClient(_:)``. When the server knows it, the listener is called, and event sources can be
/// subscribed.
public final class WLPush: Sendable {
    struct EventSource: Hashable {
        let adapter: String
        let name: String
    }

    fileprivate struct Callback {
        let source: EventSource
        let listener: any WLEventSourceListener
    }

    struct Notification {
        let alias: String
        let properties: String
        let payload: String
    }

    struct State {
        fileprivate var listener: (any WLOnReadyToSubscribeListener)?
        fileprivate var callbacks: [String: Callback] = [:]
        fileprivate var subscriptions: [String: EventSource] = [:]
        /// The token of this device; nil until it is handed over.
        fileprivate var token: String?
        /// The token that the server has; nil: not known.
        fileprivate var serverToken: String?
        fileprivate var isConnected = false
        fileprivate var isReady = false
        /// Whether a token is on its way to the server.
        fileprivate var isUpdating = false
        fileprivate var notifications: [Notification] = []
    }

    /// The most notifications that wait for a subscription; the oldest one goes first.
    static let maximumNotifications = 100

    private let engine: WLEngine
    private let state = SystemLock(State())
    let client = SystemLock(WeakClient())

    init(_ engine: WLEngine) {
        self.engine = engine
        engine.onSubscriptionState = { [weak self] in self?.take($0) }
    }

    // MARK: The documented calls

    /// Whether notifications can reach this device. Worklight 5.0.6: `isPushSupported`.
    public var isPushSupported: Bool { engine.configuration.isPushSupported }

    /// Sets the listener that learns when the device can subscribe; it is kept alive. Worklight 5.0.6: `setOnReadyToSubscribeListener`.
    public func setOnReadyToSubscribeListener(_ listener: (any WLOnReadyToSubscribeListener)?) { state.withLock { $0.listener = listener } }

    /// Names an event source by a short alias, and sets the listener of its notifications, which is kept alive. Worklight 5.0.6:
    /// `registerEventSourceCallback::::`.
    /// - Returns: false if a text is empty, or the alias is taken; the log of the client says so, and nothing changes.
    @discardableResult
    public func registerEventSourceCallback(
        _ alias: String, adapter: String, eventSource: String, listener: any WLEventSourceListener
    ) -> Bool {
        let isRegistered = state.withLock { state in
            guard !alias.isEmpty, !adapter.isEmpty, !eventSource.isEmpty, state.callbacks[alias] == nil else { return false }
            state.callbacks[alias] = Callback(source: EventSource(adapter: adapter, name: eventSource), listener: listener)
            return true
        }
        if isRegistered { dispatch() } else { engine.configuration.log("the event source \"\(alias.prefix(80))\" was not registered") }
        return isRegistered
    }

    /// Hands the token of the device over. The server gets it after the next connect, or at once; then the listener is called. Worklight 5.0.6:
    /// `setTokenFromClient:`.
    public func setTokenFromClient(_ token: String) {
        state.withLock { state in
            if state.token != token { state.isReady = false }
            state.token = token
        }
        bringToken()
    }

    /// Subscribes to an event source. Worklight 5.0.6: `subscribe:::`.
    /// - Parameters:
    ///   - alias: the alias of ``registerEventSourceCallback(_:adapter:eventSource:listener:)``.
    ///   - options: the parameters of the subscription.
    ///   - delegate: is called once with the result; without a token at the server or a registered alias, with
    ///     ``WLErrorCode/unexpectedError``, and nothing is sent.
    public func subscribe(_ alias: String, options: WLPushOptions = WLPushOptions(), delegate: (any WLDelegate)?) {
        subscribe(alias, options) { WLClient.report($0, to: delegate) }
    }

    /// Asynchronous form of ``subscribe(_:options:delegate:)``.
    /// - Throws: ``WLFailResponse``.
    public func subscribe(_ alias: String, options: WLPushOptions = WLPushOptions()) async throws {
        try await wait { subscribe(alias, options, $0) }
    }

    /// Whether the user of this session is subscribed to an event source, as far as the server has said. Worklight 5.0.6: `isSubscribed:`.
    public func isSubscribed(_ alias: String) -> Bool { state.withLock { $0.subscriptions[alias] != nil } }

    /// Ends a subscription. Worklight 5.0.6: `unsubscribe::`.
    /// - Parameters:
    ///   - alias: the alias of the event source.
    ///   - delegate: as for ``subscribe(_:options:delegate:)``.
    public func unsubscribe(_ alias: String, delegate: (any WLDelegate)?) { unsubscribe(alias) { WLClient.report($0, to: delegate) } }

    /// Asynchronous form of ``unsubscribe(_:delegate:)``.
    /// - Throws: ``WLFailResponse``.
    public func unsubscribe(_ alias: String) async throws { try await wait { unsubscribe(alias, $0) } }

    /// Takes a notification that the system delivered: an object with `aps` (alert, badge, sound) and `payload`, which is an object or its JSON text.
    /// Its listener is called when the event source is subscribed and registered; until then the notification waits. Worklight 5.0.6:
    /// `application:didReceiveRemoteNotification:`.
    public func didReceiveRemoteNotification(_ userInfo: JSONObject) {
        guard let payload = Self.payload(of: userInfo), let alias = Self.alias(of: payload) else {
            return engine.configuration.log("a notification without an alias was dropped")
        }
        let aps = userInfo["aps"]?.object ?? userInfo
        var properties = JSONObject()
        for name in ["alert", "badge", "sound"] { properties[name] = aps[name] }
        let notification = Notification(
            alias: alias, properties: JSONValue.object(properties).description, payload: JSONValue.object(payload).description)
        state.withLock { state in
            state.notifications.append(notification)
            if state.notifications.count > Self.maximumNotifications { state.notifications.removeFirst() }
        }
        dispatch()
    }

    // MARK: Subscribing

    private typealias Completion = @Sendable (WLRequest.Outcome) -> Void

    private func subscribe(_ alias: String, _ options: WLPushOptions, _ completion: @escaping Completion) {
        let source = state.withLock { $0.isReady ? $0.callbacks[alias]?.source : nil }
        guard isPushSupported, !alias.isEmpty, let source else { return refuse("subscribe", alias, completion) }
        change(alias, source, ("subscribe", options.json.description), completion) { $0[alias] = source }
    }

    private func unsubscribe(_ alias: String, _ completion: @escaping Completion) {
        let source = state.withLock { $0.isReady ? $0.callbacks[alias]?.source : nil }
        guard isPushSupported, !alias.isEmpty, let source else { return refuse("unsubscribe", alias, completion) }
        change(alias, source, ("unsubscribe", "{}"), completion) { $0[alias] = nil }
    }

    func change(
        _ alias: String, _ source: EventSource, _ operation: (name: String, value: String),
        _ completion: @escaping @Sendable (WLRequest.Outcome) -> Void, _ apply: @escaping @Sendable (inout [String: EventSource]) -> Void
    ) {
        guard let client = client.withLock({ $0.client }), client.isConnected else { return refuse(operation.name, alias, completion) }
        client.send("notifications", [operation, ("alias", alias), ("adapter", source.adapter), ("eventSource", source.name)]) { outcome in
            if case .success = outcome { self.state.withLock { apply(&$0.subscriptions) } }
            completion(outcome)
            self.dispatch()
        }
    }

    private func refuse(_ action: String, _ alias: String, _ completion: @escaping @Sendable (WLRequest.Outcome) -> Void) {
        let text = "cannot \(action) \"\(alias.prefix(80))\": push is not ready, or the event source is not registered"
        engine.configuration.log(text)
        engine.mailbox.later { completion(.failure(WLFailResponse(.unexpectedError, text))) }
    }

    private func wait(_ start: (@escaping Completion) -> Void) async throws {
        let promise = Promise<WLResponse, WLFailResponse>()
        start { promise.resolve($0) }
        _ = try await promise.value
    }

    /// Whether there is a subscription to this event source under any alias.
    func alias(of source: EventSource) -> String? { state.withLock { state in state.subscriptions.first { $0.value == source }?.key } }

    // MARK: The server's state

    /// Takes the state that a response carries: it replaces all that was known.
    private func take(_ node: JSONNode) {
        var subscriptions: [String: EventSource] = [:]
        for source in node["eventSources"] {
            guard let alias = source["alias"].string, let adapter = source["adapter"].string, let name = source["eventSource"].string else {
                continue
            }
            subscriptions[alias] = EventSource(adapter: adapter, name: name)
        }
        let token = node["token"].string
        state.withLock { state in
            state.subscriptions = subscriptions
            state.serverToken = token
            if token != state.token { state.isReady = false }
        }
        if state.withLock({ $0.isConnected }) { bringToken() }
    }

    /// The connect has succeeded; the state of the server is known if it sent one.
    func connected() {
        state.withLock { $0.isConnected = true }
        bringToken()
    }

    /// Sends the token if the server has another one.
    private func bringToken() {
        enum Step { case nothing, ready, send(String) }
        let step = state.withLock { state -> Step in
            guard state.isConnected, let token = state.token, !state.isReady, !state.isUpdating else { return .nothing }
            guard state.serverToken != token else {
                state.isReady = true
                return .ready
            }
            state.isUpdating = true
            return .send(token)
        }
        switch step {
        case .nothing: break
        case .ready: becomeReady()
        case .send(let token):
            update(token) { [weak self] outcome in
                if case .failure(let failure) = outcome { self?.engine.configuration.log("the token was not updated: \(failure)") }
            }
        }
    }

    /// Sends a token.
    func update(_ token: String, _ completion: @escaping @Sendable (WLRequest.Outcome) -> Void) {
        client.withLock { $0.client }?.send("notifications", [("updateToken", token)]) { outcome in
            var isReady = false, isOutdated = false
            if case .success = outcome {
                (isReady, isOutdated) = self.state.withLock { state in
                    state.serverToken = token
                    state.isReady = state.token == token
                    state.isUpdating = false
                    return (state.isReady, state.token != token)
                }
            } else {
                self.state.withLock { $0.isUpdating = false }
            }
            completion(outcome)
            if isReady { self.becomeReady() }
            if isOutdated { self.bringToken() }
        }
    }

    /// Notes the token of the device.
    /// - Returns: whether the server has it.
    func note(_ token: String) -> Bool {
        state.withLock { state in
            if state.token != token { state.isReady = false }
            state.token = token
            if state.serverToken == token { state.isReady = true }
            return state.serverToken == token
        }
    }

    private func becomeReady() {
        engine.mailbox.later {
            self.state.withLock { $0.listener }?.onReadyToSubscribe()
            self.dispatch()
        }
    }

    // MARK: Notifications

    /// Passes waiting notifications to the listeners whose event sources are subscribed, in order, each once.
    private func dispatch() {
        let deliveries = state.withLock { state -> [(any WLEventSourceListener, Notification)] in
            var deliveries: [(any WLEventSourceListener, Notification)] = [], rest: [Notification] = []
            for notification in state.notifications {
                if state.subscriptions[notification.alias] != nil, let callback = state.callbacks[notification.alias] {
                    deliveries.append((callback.listener, notification))
                } else {
                    rest.append(notification)
                }
            }
            state.notifications = rest
            return deliveries
        }
        guard !deliveries.isEmpty else { return }
        let handedOver = HandedOver(deliveries)
        engine.mailbox.later {
            for (listener, notification) in handedOver.value { listener.onReceive(notification.properties, notification.payload) }
        }
    }

    /// Returns the payload of a notification, which is an object or the JSON text of one.
    static func payload(of userInfo: JSONObject) -> JSONObject? {
        switch userInfo["payload"] {
        case .object(let object)?: object
        case .string(let text)?: (try? JSONDocument(parsing: Array(text.utf8), duplicateKeys: .lastWins)).flatMap { $0.root.object }
        default: nil
        }
    }

    /// Returns the alias of a payload, which may be written as a number.
    static func alias(of payload: JSONObject) -> String? {
        switch payload["alias"] {
        case .string(let alias)? where !alias.isEmpty: alias
        case .integer(let number)?: String(number)
        default: nil
        }
    }
}
