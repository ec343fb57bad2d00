internal import MobileExecution

/// Runs pieces of work one after the other, in the order of their arrival: on a thread (``SerialQueue``), or step by step in a test.
protocol SerialWork: Sendable {
    /// Whether the caller is such a piece of work. Waiting for the others would then never end.
    var isCurrent: Bool { get }
    /// Adds `work` at the end of the queue. Never runs it before returning, so that it may be called with a lock held.
    func run(_ work: @escaping @Sendable () -> Void)
    /// Waits until all earlier work is done; must not be called from a piece of work itself.
    func sync(_ work: () -> Void)
    /// Runs `work` as one of the pieces after `delay`, unless the timer is cancelled first.
    func run(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> WorkTimer
    /// Like ``run(after:_:)``, but concurrently with the others: `work` must be quick, and runs even while they are busy.
    func timer(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> WorkTimer
}

/// The timer of a piece of work.
final class WorkTimer: Sendable {
    private let isOver = SystemLock(false)

    /// Returns true for the first of ``fire()`` and ``cancel()``.
    @discardableResult
    func fire() -> Bool {
        isOver.withLock { over in
            defer { over = true }
            return !over
        }
    }

    func cancel() { fire() }
}
