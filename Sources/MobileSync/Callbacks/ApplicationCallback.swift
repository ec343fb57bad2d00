/// What an application wants to hear about its registration and connection. Every method has a default that does nothing.
///
/// Called on the application's own thread, in the order in which things happen, never on the thread that called a method of
/// ``Application``. Errors of a synchronization do not come here, they have `onSynchronize`.
/// SMP 2.3: `SUPApplicationCallback`, `SUPApplicationDefaultCallback`.
public protocol ApplicationCallback: AnyObject, Sendable {
    /// Settings came or were changed by the administrator: their names.
    func onApplicationSettingsChanged(names: [String])
    /// The connection's status. Code and message are 0 and "" except with ``ConnectionStatus/connectionError``; may come several times for one cause.
    func onConnectionStatusChanged(_ status: ConnectionStatus, code: Int, message: String)
    /// The registration's status. Code and message are 0 and "" except with ``RegistrationStatus/registrationError``.
    func onRegistrationStatusChanged(_ status: RegistrationStatus, code: Int, message: String)
    /// A condition of the device that the application reported by ``Application/report(_:)``.
    func onDeviceConditionChanged(_ condition: DeviceCondition)
    /// An HTTP server on the way, or the server itself, rejected a request: 401 authentication, 403 authorization, 63 communication of the
    /// synchronization; with the response's headers where there were any.
    func onHttpCommunicationError(code: Int, message: String, headers: [String: String])
}

extension ApplicationCallback {
    /// Does nothing.
    public func onApplicationSettingsChanged(names: [String]) {}
    /// Does nothing.
    public func onConnectionStatusChanged(_ status: ConnectionStatus, code: Int, message: String) {}
    /// Does nothing.
    public func onRegistrationStatusChanged(_ status: RegistrationStatus, code: Int, message: String) {}
    /// Does nothing.
    public func onDeviceConditionChanged(_ condition: DeviceCondition) {}
    /// Does nothing.
    public func onHttpCommunicationError(code: Int, message: String, headers: [String: String]) {}
}

/// The same events as values: see ``Application/events``.
public enum ApplicationEvent: Sendable, Equatable {
    case settingsChanged(names: [String])
    case connectionStatusChanged(ConnectionStatus, code: Int, message: String)
    case registrationStatusChanged(RegistrationStatus, code: Int, message: String)
    case deviceConditionChanged(DeviceCondition)
    case httpCommunicationError(code: Int, message: String, headers: [String: String])
}
