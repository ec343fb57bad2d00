/// Receives the events of an application's registration and connection. Every method has a default that does nothing.
///
/// Called on the application's own thread, in the order of the events, never on the thread that called a method of ``Application``. Errors of a
/// synchronization are reported by `onSynchronize` instead.
/// SMP 2.3: `SUPApplicationCallback`, `SUPApplicationDefaultCallback`.
public protocol ApplicationCallback: AnyObject, Sendable {
    /// Reports the names of settings that arrived, or that the administrator changed.
    func onApplicationSettingsChanged(names: [String])
    /// Reports the connection's status. Code and message are 0 and "" except with ``ConnectionStatus/connectionError``. May be called several times
    /// for one cause.
    func onConnectionStatusChanged(_ status: ConnectionStatus, code: Int, message: String)
    /// Reports the registration's status. Code and message are 0 and "" except with ``RegistrationStatus/registrationError``.
    func onRegistrationStatusChanged(_ status: RegistrationStatus, code: Int, message: String)
    /// Reports a condition of the device that the application passed to ``Application/report(_:)``.
    func onDeviceConditionChanged(_ condition: DeviceCondition)
    /// Reports that the server, or an HTTP server on the way, rejected a request: 401 authentication, 403 authorization, 63 communication of the
    /// synchronization. Includes the headers of the response, if there were any.
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
