/// Registration and connection of an application as one value: the status changes of each event, in their order.
///
///     registration  unregistered --register--> registering --granted--> registered --unregister--> unregistering --> unregistered
///                                                  |                                                     |
///                                                  +---------- refused, or no network at the start ------+--> registrationError
///
///     connection    disconnected --start--> connecting --> connected --stop--> disconnecting --> disconnected
///                                            |    ^            |
///                                  network lost   retry        network lost
///                                            v    |            v
///                                         connectionError <----+
///
/// Every function returns the changes to report, in the documented order, and does no input or output itself.
struct ApplicationState: Equatable, Sendable {
    private(set) var registration = RegistrationStatus.unregistered
    private(set) var connection = ConnectionStatus.disconnected

    /// One change to report through ``ApplicationCallback``.
    enum Change: Equatable, Sendable {
        case registration(RegistrationStatus, code: Int, message: String)
        case connection(ConnectionStatus, code: Int, message: String)
    }

    /// - Parameter isRegistered: whether the application is registered from its last run.
    init(isRegistered: Bool) { registration = isRegistered ? .registered : .unregistered }

    /// `register` was called.
    mutating func beginRegistration() -> [Change] { set(.registering) }

    /// The server has been found and the request is sent; also for each further attempt after the network was lost.
    mutating func beginConnection() -> [Change] { set(.connecting) }

    /// The server answered with a session.
    mutating func connected() -> [Change] {
        var changes = set(.connected)
        if registration == .registering { changes += set(.registered) }
        return changes
    }

    /// The network was lost, or the server did not answer. A registration that had not begun to connect has failed for good; all other work is tried
    /// again in the background.
    mutating func lost(code: Int, message: String) -> [Change] {
        if registration == .registering, connection != .connecting {
            return set(.registrationError, code: code, message: message)
        }
        return set(.connectionError, code: code, message: message)
    }

    /// The server answered with a refusal: another attempt would not help.
    mutating func refused(code: Int, message: String) -> [Change] {
        var changes = set(.connectionError, code: code, message: message)
        if registration == .registering { changes += set(.registrationError, code: code, message: message) }
        return changes
    }

    mutating func beginStop() -> [Change] { connection == .disconnected ? [] : set(.disconnecting) }

    /// The connection was stopped on request. A registration that still waited for the network ends with it, without further attempts.
    mutating func stopped() -> [Change] {
        var changes = connection == .disconnected ? [] : set(.disconnected)
        if registration == .registering {
            changes += set(.registrationError, code: SyncError.Code.cancelled.rawValue, message: "stopped before the server was reached")
        }
        return changes
    }

    mutating func beginUnregistration() -> [Change] { set(.unregistering) }
    mutating func unregistered() -> [Change] { set(.unregistered) }
    mutating func unregistrationFailed(code: Int, message: String) -> [Change] { set(.registrationError, code: code, message: message) }

    private mutating func set(_ status: RegistrationStatus, code: Int = 0, message: String = "") -> [Change] {
        registration = status
        return [.registration(status, code: code, message: message)]
    }

    private mutating func set(_ status: ConnectionStatus, code: Int = 0, message: String = "") -> [Change] {
        connection = status
        return [.connection(status, code: code, message: message)]
    }
}
