internal import MobileTransport

/// The use of stored results of a procedure. A result is stored by its name, its parameters and a scope.
public struct WLCachePolicy: Sendable, Hashable {
    enum Kind: Hashable { case none, ifUnreachable, first }

    let kind: Kind
    let maximumAge: Duration?
    let scope: String

    /// Results are neither stored nor used.
    public static let none = WLCachePolicy(kind: .none, maximumAge: nil, scope: "")

    /// Each successful result is stored, and used when the server is out of reach.
    /// - Parameters:
    ///   - maximumAge: the oldest result that is used; nil (default): any.
    ///   - scope: separates results that belong to different users, for example by the user's name; default empty.
    public static func ifUnreachable(maximumAge: Duration? = nil, scope: String = "") -> WLCachePolicy {
        WLCachePolicy(kind: .ifUnreachable, maximumAge: maximumAge, scope: scope)
    }

    /// As ``ifUnreachable(maximumAge:scope:)``, and a result that is not older than `maximumAge` is used without asking the server.
    public static func first(maximumAge: Duration, scope: String = "") -> WLCachePolicy {
        WLCachePolicy(kind: .first, maximumAge: maximumAge, scope: scope)
    }
}

/// Whether a call waits in the outbox while the server is out of reach.
public enum WLReplayPolicy: Sendable, Hashable {
    /// The call fails.
    case never
    /// The call waits if it is certain that it was not sent. A call that was sent without an answer fails: the server may have executed it.
    case ifNotSent
    /// The call waits after each failure of the network: the procedure may be executed more than once.
    case repeatable

    func allowsReplay(after failure: WLFailResponse) -> Bool {
        switch self {
        case .never: false
        case .ifNotSent: failure.isNotSent
        case .repeatable: failure.isOutOfReach
        }
    }
}

extension WLFailResponse {
    /// Whether no answer came because of the network.
    var isOutOfReach: Bool {
        guard httpStatus == nil, let cause = cause as? TransportError else { return false }
        return [.cannotConnect, .timeout, .interrupted, .tls].contains(cause.code)
    }

    /// Whether it is certain that the server did not receive the last sending.
    var isNotSent: Bool { isOutOfReach && (cause as? TransportError)?.isBeforeConnection == true }
}
