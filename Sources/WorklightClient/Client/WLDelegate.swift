/// Receives the end of a request. Callbacks of one client run one after another on a thread of the client; they must not block, because other
/// callbacks wait. Worklight 5.0.6: protocol `WLDelegate`.
public protocol WLDelegate: AnyObject, Sendable {
    /// The request succeeded. Worklight 5.0.6: `onSuccess:`.
    func onSuccess(_ response: WLResponse)
    /// The request failed. Worklight 5.0.6: `onFailure:`.
    func onFailure(_ response: WLFailResponse)
}

/// A delegate of two closures.
public final class WLClosureDelegate: WLDelegate {
    private let success: @Sendable (WLResponse) -> Void
    private let failure: @Sendable (WLFailResponse) -> Void

    /// Creates a delegate that calls one of the closures.
    public init(onSuccess: @escaping @Sendable (WLResponse) -> Void, onFailure: @escaping @Sendable (WLFailResponse) -> Void) {
        success = onSuccess
        failure = onFailure
    }

    public func onSuccess(_ response: WLResponse) { success(response) }
    public func onFailure(_ response: WLFailResponse) { failure(response) }
}
