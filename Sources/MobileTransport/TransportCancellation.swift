internal import MobileExecution

/// Ends requests from another thread: after ``cancel()``, all running and later requests that carry this object end with
/// ``TransportError/Code/cancelled``.
public final class TransportCancellation: Sendable {
    private struct State {
        var isCancelled = false
        /// Few at a time.
        var handlers: [(number: Int, call: @Sendable () -> Void)] = []
        var nextHandler = 0
    }
    private let state = SystemLock(State())

    /// Creates an object without a cancellation.
    public init() {}

    /// Whether ``cancel()`` has been called.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Ends all requests that carry this object. Does not wait for them.
    public func cancel() {
        state.withLock { state in
            state.isCancelled = true
            // Under the lock, so that the handler of a request is not called after the request has removed it.
            for handler in state.handlers { handler.call() }
        }
    }

    /// Runs `body`; a ``cancel()`` meanwhile calls `handler`.
    /// - Throws: ``TransportError/Code/cancelled`` if it was cancelled before; `body` does not run then.
    func whileCalling<Result>(_ handler: @escaping @Sendable () -> Void, _ body: () throws -> Result) throws -> Result {
        let number = try state.withLock { state in
            guard !state.isCancelled else { throw TransportError(.cancelled, "the request was cancelled before it began") }
            state.nextHandler += 1
            state.handlers.append((state.nextHandler, handler))
            return state.nextHandler
        }
        defer { state.withLock { $0.handlers.removeAll { $0.number == number } } }
        return try body()
    }
}
