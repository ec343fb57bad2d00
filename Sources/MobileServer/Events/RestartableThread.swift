internal import Dispatch
internal import MobileExecution

/// A thread that runs its work while it is wanted. It can be stopped and started again; there is never more than one.
///
/// The work calls ``hasEnded()`` in each round, and returns when that is true.
final class RestartableThread: Sendable {
    private struct State {
        var isWanted = false
        var isRunning = false
        var ended: [DispatchSemaphore] = []
    }

    private let state = SystemLock(State())
    private let bell = DispatchSemaphore(value: 0)

    /// Starts the work, if it does not run yet.
    func start(_ work: @escaping @Sendable () -> Void) {
        let isNew = state.withLock { state in
            state.isWanted = true
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard isNew, !SystemThread.start(work) else { return }
        state.withLock { $0.isRunning = false }
    }

    /// Ends the work after its round. Does not wait for that.
    func stop() {
        state.withLock { $0.isWanted = false }
        bell.signal()
    }

    /// Ends the work, and waits for the end of its round.
    func close() {
        let ended = DispatchSemaphore(value: 0)
        let isRunning = state.withLock { state in
            state.isWanted = false
            if state.isRunning { state.ended.append(ended) }
            return state.isRunning
        }
        bell.signal()
        if isRunning { ended.wait() }
    }

    /// Ends a pause of the work.
    func wake() { bell.signal() }

    var isWanted: Bool { state.withLock { $0.isWanted } }

    var isRunning: Bool { state.withLock { $0.isRunning } }

    // MARK: For the work

    /// Waits until ``wake()``, ``stop()`` or ``close()`` is called, or the time is over.
    func pause(_ time: Duration) { _ = bell.wait(timeout: .now() + time / .seconds(1)) }

    /// Ends the thread if it is no longer wanted: the work returns then. A start that comes in between keeps it running.
    func hasEnded() -> Bool {
        let (isOver, waiting) = state.withLock { state -> (Bool, [DispatchSemaphore]) in
            guard !state.isWanted else { return (false, []) }
            state.isRunning = false
            defer { state.ended = [] }
            return (true, state.ended)
        }
        for semaphore in waiting { semaphore.signal() }
        return isOver
    }
}
