internal import Synchronization

/// Ends requests from another thread: once it is cancelled, requests that carry it end with ``TransportError/Code/cancelled``, those
/// that are under way and those that come later.
public final class TransportCancellation: Sendable {
    private struct State {
        var isCancelled = false
        var handlers: [Int: @Sendable () -> Void] = [:]
        var nextHandler = 0
    }
    private let state = Mutex(State())

    /// Nothing is cancelled yet.
    public init() {}

    /// Whether ``cancel()`` has been called.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Ends all requests that carry this object. Does not wait for them.
    public func cancel() {
        state.withLock { state in
            state.isCancelled = true
            // Under the lock, so that a request that has taken its handler back is not touched any more.
            for handler in state.handlers.values { handler() }
        }
    }

    /// Runs `body` while `handler` would be called by ``cancel()``.
    /// - Throws: ``TransportError/Code/cancelled`` when it has been cancelled before; `body` does not run then.
    func whileCalling<Result>(_ handler: @escaping @Sendable () -> Void, _ body: () throws -> Result) throws -> Result {
        let number = try state.withLock { state in
            guard !state.isCancelled else { throw TransportError(.cancelled, "the request was cancelled before it began") }
            state.nextHandler += 1
            state.handlers[state.nextHandler] = handler
            return state.nextHandler
        }
        defer { state.withLock { _ = $0.handlers.removeValue(forKey: number) } }
        return try body()
    }
}
