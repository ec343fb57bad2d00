internal import Synchronization

/// A piece of work that waits for its time.
final class WorkTimer: Sendable {
    private let isOver = Mutex(false)

    /// True for the first of ``fire()`` and ``cancel()``.
    @discardableResult
    func fire() -> Bool {
        isOver.withLock { over in
            defer { over = true }
            return !over
        }
    }

    func cancel() { fire() }
}
