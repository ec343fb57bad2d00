internal import MobileExecution
public import MobileStore

/// The kinds of notifications that an application accepts. Worklight 5.0.6: `UIRemoteNotificationType`.
public struct WLNotificationTypes: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// A number at the application's icon.
    public static let badge = WLNotificationTypes(rawValue: 1)
    /// A sound.
    public static let sound = WLNotificationTypes(rawValue: 2)
    /// A text.
    public static let alert = WLNotificationTypes(rawValue: 4)
}

/// The calls for event sources that are named by number. ``WLPush`` names them by alias.
extension WLClient {
    /// Subscribes to an event source; its identifier, a number of the application's own, is the alias of its notifications. The server gets the token
    /// first if it has another one. Worklight 5.0.6:
    /// `subscribeWithToken:adapter:eventSource:eventSourceID:notificationTypes:delegate:options:`.
    public func subscribe(
        token: [UInt8], adapter: String, eventSource: String, eventSourceID: Int, notificationTypes: WLNotificationTypes,
        delegate: (any WLDelegate)?, options: [String: String] = [:]
    ) {
        var parameters = WLPushOptions()
        parameters.alert = notificationTypes.contains(.alert)
        parameters.sound = notificationTypes.contains(.sound)
        parameters.badge = notificationTypes.contains(.badge)
        parameters.addSubscriptionParameters(options)
        let json = parameters.json.description
        let source = WLPush.EventSource(adapter: adapter, name: eventSource), alias = String(eventSourceID)
        bring(token) { outcome in
            if case .failure = outcome { return Self.report(outcome, to: delegate) }
            self.push.change(alias, source, ("subscribe", json), { Self.report($0, to: delegate) }) { $0[alias] = source }
        }
    }

    /// Ends the subscription to an event source. Worklight 5.0.6: `unsubscribeAdapter:eventSource:delegate:`.
    public func unsubscribe(adapter: String, eventSource: String, delegate: (any WLDelegate)?) {
        let source = WLPush.EventSource(adapter: adapter, name: eventSource)
        guard let alias = push.alias(of: source) else {
            let failure = WLFailResponse(.unexpectedError, "there is no subscription to event source \(eventSource.prefix(80))")
            return engine.mailbox.later { delegate?.onFailure(failure) }
        }
        push.change(alias, source, ("unsubscribe", "{}"), { Self.report($0, to: delegate) }) { $0[alias] = nil }
    }

    /// Whether the user of this session is subscribed to an event source, as far as the server has said. Worklight 5.0.6:
    /// `isSubscribedToAdapter:eventSource:`.
    public func isSubscribed(adapter: String, eventSource: String) -> Bool {
        push.alias(of: WLPush.EventSource(adapter: adapter, name: eventSource)) != nil
    }

    /// Sends the token of the device if the server has another one. Worklight 5.0.6: `updateDeviceToken:delegate:`.
    public func updateDeviceToken(_ token: [UInt8], delegate: (any WLDelegate)?) { bring(token) { Self.report($0, to: delegate) } }

    /// Returns the number of the event source of a notification. Worklight 5.0.6: `getEventSourceIDFromUserInfo:`.
    /// - Returns: -1 if the notification has none.
    public func getEventSourceID(fromUserInfo userInfo: JSONObject) -> Int {
        WLPush.payload(of: userInfo).flatMap { WLPush.alias(of: $0) }.flatMap { Int($0) } ?? -1
    }

    private func bring(_ token: [UInt8], _ completion: @escaping @Sendable (WLRequest.Outcome) -> Void) {
        guard isConnected else {
            return engine.mailbox.later { completion(.failure(WLFailResponse(.unexpectedError, "connect before handing over a token"))) }
        }
        let text = token.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        if push.note(text) { return engine.mailbox.later { completion(.success(WLResponse(status: 200))) } }
        push.update(text, completion)
    }
}
