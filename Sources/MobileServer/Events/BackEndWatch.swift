internal import Dispatch
internal import MobileExecution

/// Looks at one back end at short intervals while a client listens, on a thread of its own, and reports when the back end has changed.
///
/// After a report it rests for as long as the report took. So a back end that changes all the time takes half of a processor at most.
final class BackEndWatch: Sendable {
    /// The time between two looks.
    static let interval: Duration = .milliseconds(20)

    private struct State {
        var isWanted = false
        var isRunning = false
        /// Whether the next look counts as a change.
        var isForced = false
        var ended: [DispatchSemaphore] = []
    }

    private let state = SystemLock(State())
    private let bell = DispatchSemaphore(value: 0)
    private let interval: Duration
    private let position: @Sendable () throws -> BackEndPosition?
    private let changed: @Sendable () throws -> Void
    private let failed: @Sendable (any Error) -> Void

    /// - Parameters:
    ///   - interval: the time between two looks.
    ///   - position: returns the state of the back end; nil if it does not know. Such a back end changes only when it is woken.
    ///   - changed: reads the changes; it is called again after the next look if it throws.
    ///   - failed: takes the first error of a row of errors.
    init(
        interval: Duration = BackEndWatch.interval, position: @escaping @Sendable () throws -> BackEndPosition?,
        changed: @escaping @Sendable () throws -> Void,
        failed: @escaping @Sendable (any Error) -> Void
    ) {
        (self.interval, self.position, self.changed, self.failed) = (interval, position, changed, failed)
    }

    /// Begins to look, if it does not yet.
    func start() {
        let isNew = state.withLock { state in
            state.isWanted = true
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard isNew, !SystemThread.start({ self.run() }) else { return }
        state.withLock { $0.isRunning = false }
    }

    /// Ends the looks. Does not wait for one in progress.
    func stop() {
        state.withLock { $0.isWanted = false }
        bell.signal()
    }

    /// Looks at once, and counts the back end as changed. No effect while it does not look.
    func wake() {
        state.withLock { $0.isForced = true }
        bell.signal()
    }

    /// Ends the looks, and waits for one in progress.
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

    /// Whether it looks; for tests.
    var isRunning: Bool { state.withLock { $0.isRunning } }

    private func run() {
        var known: BackEndPosition?, hasFailed = false, pause = interval
        while true {
            let (isOver, isForced) = state.withLock { state in
                defer { state.isForced = false }
                return (!state.isWanted, state.isForced)
            }
            if isOver, end() { return }
            if isOver { known = nil }
            let began = ContinuousClock.now
            do {
                let position = try position()
                pause = interval
                if position != known || isForced {
                    try changed()
                    pause = max(pause, ContinuousClock.now - began)
                }
                (known, hasFailed) = (position, false)
            } catch {
                if !hasFailed { failed(error) }
                (known, hasFailed, pause) = (nil, true, .seconds(1))
            }
            _ = bell.wait(timeout: .now() + pause / .seconds(1))
        }
    }

    /// Ends the thread, unless a start came in between.
    private func end() -> Bool {
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
