internal import MobileStore

/// The parameters of a subscription. Worklight 5.0.6: class `WLPushOptions`.
public struct WLPushOptions: Sendable, Hashable {
    /// Whether notifications may show a text; default true.
    public var alert = true
    /// Whether notifications may play a sound; default true.
    public var sound = true
    /// Whether notifications may set the number at the application's icon; default true.
    public var badge = true
    private var parameters: [String: String] = [:]

    /// Creates options without parameters.
    public init() {}

    /// Adds a parameter, in place of one of this name. Worklight 5.0.6: `addSubscriptionParameter::`.
    public mutating func addSubscriptionParameter(_ name: String, _ value: String) { parameters[name] = value }

    /// Adds parameters, in place of those of the same names. Worklight 5.0.6: `addSubscriptionParameters:`.
    public mutating func addSubscriptionParameters(_ parameters: [String: String]) { self.parameters.merge(parameters) { $1 } }

    /// Returns the value of a parameter; nil if there is none. Worklight 5.0.6: `getSubscriptionParameter:`.
    public func getSubscriptionParameter(_ name: String) -> String? { parameters[name] }

    /// Returns all parameters. Worklight 5.0.6: `getSubscriptionParameters`.
    public func getSubscriptionParameters() -> [String: String] { parameters }

    /// The options as the field `subscribe`; a parameter has precedence over the flag of its name.
    var json: JSONValue {
        var object: JSONObject = ["alert": .boolean(alert), "sound": .boolean(sound), "badge": .boolean(badge)]
        for (name, value) in parameters.sorted(by: { $0.key < $1.key }) { object[name] = .string(value) }
        return .object(object)
    }
}

/// Learns that the device can subscribe. Worklight 5.0.6: interface `OnReadyToSubscribeListener`.
public protocol WLOnReadyToSubscribeListener: AnyObject, Sendable {
    /// The server has the token of the device. Worklight 5.0.6: `onReadyToSubscribe`.
    func onReadyToSubscribe()
}

/// Receives the notifications of an event source. Worklight 5.0.6: `EventListener`.
public protocol WLEventSourceListener: AnyObject, Sendable {
    /// A notification arrived.
    /// - Parameters:
    ///   - properties: alert, badge and sound, as JSON text.
    ///   - payload: the data of the application with the alias, as JSON text.
    func onReceive(_ properties: String, _ payload: String)
}
