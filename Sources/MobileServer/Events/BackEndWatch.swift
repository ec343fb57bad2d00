internal import MobileExecution

/// Looks at one back end at short intervals while a client listens, on a thread of its own, and reports when the back end has changed.
///
/// After a report it rests for as long as the report took. So a back end that changes all the time takes half of a processor at most.
final class BackEndWatch: Sendable {
    /// The time between two looks.
    static let interval: Duration = .milliseconds(20)

    private let thread = RestartableThread()
    /// Whether the next look counts as a change.
    private let isForced = SystemLock(false)
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
    func start() { thread.start { self.run() } }

    /// Ends the looks. Does not wait for one in progress.
    func stop() { thread.stop() }

    /// Looks at once, and counts the back end as changed. No effect while it does not look.
    func wake() {
        isForced.withLock { $0 = true }
        thread.wake()
    }

    /// Ends the looks, and waits for one in progress.
    func close() { thread.close() }

    /// Whether it looks; for tests.
    var isRunning: Bool { thread.isRunning }

    private func run() {
        var known: BackEndPosition?, hasFailed = false, pause = interval
        while !thread.hasEnded() {
            let isForced = isForced.withLock { isForced in
                defer { isForced = false }
                return isForced
            }
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
            thread.pause(pause)
        }
    }
}
