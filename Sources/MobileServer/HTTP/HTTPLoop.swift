internal import MobileExecution
internal import MobileMicrohttpd

/// The one thread that runs the daemon: it waits for events of all connections, and runs the tasks that other threads post.
///
/// Every function of the library, except ``mhs_start``, is called on this thread: the library's own tools for several threads have races (see
/// `shim.h`). State that only this thread uses needs no lock.
final class HTTPLoop: Sendable {
    typealias Task = @Sendable () -> Void

    private struct State {
        var tasks: [Task] = []
        var isStopping = false
        var hasEnded = false
    }
    private let state = SystemLock(State())
    private let bell: SystemBell
    private let ended = Promise<Void, Never>()

    init() throws(ServerError) { bell = try SystemBell() }

    /// Runs `task` on the loop's thread, after those that were posted before it.
    /// - Returns: false if the loop has ended; then the task does not run.
    @discardableResult
    func post(_ task: @escaping Task) -> Bool {
        let count = state.withLock { state -> Int? in
            guard !state.hasEnded else { return nil }
            state.tasks.append(task)
            return state.tasks.count
        }
        if count == 1 { bell.ring() }
        return count != nil
    }

    /// Starts the thread.
    /// - Parameters:
    ///   - daemon: the daemon, which the loop stops at its end.
    ///   - interval: the time between two calls of `tick`.
    ///   - tick: runs on the loop's thread.
    ///   - end: runs on the loop's thread before the daemon is stopped, which must not have suspended connections then.
    /// - Returns: false if the system cannot start a thread. The daemon is stopped then.
    func start(_ daemon: HTTPDaemon, interval: Duration, tick: @escaping Task, end: @escaping Task) -> Bool {
        guard SystemThread.start({ self.run(daemon, interval, tick, end) }) else {
            MHD_stop_daemon(daemon.pointer)
            return false
        }
        return true
    }

    /// Ends the loop after the tasks that were posted before, and waits for its end.
    func stop() {
        state.withLock { $0.isStopping = true }
        bell.ring()
        ended.wait()
    }

    private func run(_ daemon: HTTPDaemon, _ interval: Duration, _ tick: Task, _ end: Task) {
        mhs_block_sigpipe()
        var nextTick = ContinuousClock.now + interval
        while true {
            let (tasks, isStopping) = state.withLock { state in
                defer { state.tasks = [] }
                return (state.tasks, state.isStopping)
            }
            for task in tasks { task() }
            if isStopping { break }
            MHD_run(daemon.pointer)
            let now = ContinuousClock.now
            if now >= nextTick {
                tick()
                nextTick = now + interval
            }
            let untilTick = Int64((nextTick - now) / .milliseconds(1)) + 1, wanted = mhs_timeout(daemon.pointer)
            // Something is there to do already. A bell that rings meanwhile is heard at the next wait.
            if wanted == 0 { continue }
            bell.wait(or: mhs_epoll_descriptor(daemon.pointer), milliseconds: wanted < 0 ? untilTick : min(wanted, untilTick))
        }
        end()
        MHD_stop_daemon(daemon.pointer)
        let last = state.withLock { state in
            state.hasEnded = true
            defer { state.tasks = [] }
            return state.tasks
        }
        // Their requests have ended; other threads may wait for them.
        for task in last { task() }
        ended.resolve(.success(()))
    }
}

/// A daemon of the library, which only the loop's thread uses.
struct HTTPDaemon: @unchecked Sendable {
    let pointer: OpaquePointer
}

/// A value that passes from one thread to another: its giver does not use it any more.
struct HandedOver<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
