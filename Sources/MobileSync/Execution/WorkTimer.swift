internal import MobileExecution

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
