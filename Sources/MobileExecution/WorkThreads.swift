internal import Dispatch
internal import Synchronization

/// The threads of a ``BlockingWork`` with the jobs that wait for one of them, and those that wait for their time.
///
/// A thread is started for a job that finds none without work, up to a limit. While a job waits for its time one thread keeps the time; as soon as
/// that one takes a job, another one has to. Each thread sleeps on a bell of its own. The threads own this: the last one to leave frees it.
final class WorkThreads: Sendable {
    typealias Job = @Sendable () -> Void

    private struct Delayed {
        let due: SuspendingClock.Instant
        let number: UInt64
        let job: Job
    }

    private struct State {
        var jobs = JobQueue()
        /// By the time they are due.
        var delayed: [Delayed] = []
        /// The bells of threads without work. Code that removes a bell rings it, once.
        var resting: [DispatchSemaphore] = []
        /// The thread that sleeps until the first delayed job is due. The same holds for its bell.
        var keeper: (bell: DispatchSemaphore, until: SuspendingClock.Instant)?
        /// The thread that has just done a job and polls for the next one. Code that resets this calls it.
        var lingerer: Seat?
        /// The lingering thread to be called after the lock.
        var called: Seat?
        var threads = 0
        var lastNumber: UInt64 = 0
        var isReleased = false
    }

    /// Where a thread waits. Between jobs that follow one another closely it polls, without the lock, which those who bring jobs would wait for.
    private final class Seat: Sendable {
        let bell = DispatchSemaphore(value: 0)
        /// Whether the thread has to look for work.
        let isCalled = Atomic(false)
        /// The time of its last poll, in nanoseconds. A thread that has not polled for a moment has lost the processor, and only another one can begin at once.
        let seen = Atomic<UInt64>(0)
    }

    /// The time in nanoseconds after which a lingering thread counts as without a processor.
    private static let moment: UInt64 = 10_000

    private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    private let limit: Int
    /// In nanoseconds.
    private let lingering: UInt64
    private let state = SystemLock(State())

    /// - Parameters:
    ///   - limit: threads at most, 1 or more.
    ///   - lingering: the time for which one thread without work stays awake; see ``BlockingWork/init(threads:lingering:)``.
    init(limit: Int, lingering: Duration) {
        precondition(limit > 0, "no work without a thread")
        self.limit = limit
        self.lingering = UInt64(max(0, lingering / .nanoseconds(1)))
    }

    /// Runs `body` with the state, then calls the lingering thread that got work.
    private func withState<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, called) = state.withLock { state in
            let result = body(&state)
            defer { state.called = nil }
            return (result, state.called)
        }
        called?.isCalled.store(true, ordering: .releasing)
        return result
    }

    func start(_ job: @escaping Job) {
        let hasThread = withState { state in
            guard provideThread(&state) else { return false }
            state.jobs.append(job)
            return true
        }
        if !hasThread { job() }
    }

    /// Whether work waits for a thread: a job, or the time of a delayed one.
    var hasWaiting: Bool { state.withLock { !$0.jobs.isEmpty || !$0.delayed.isEmpty && $0.keeper == nil } }

    /// - Returns: the job's number for ``cancel(_:)``; nil when there is no thread and the system cannot start one.
    func start(after span: Duration, _ job: @escaping Job) -> UInt64? {
        let due = SuspendingClock.now + span
        return withState { state -> UInt64? in
            if let keeper = state.keeper {
                if due < keeper.until { wakeKeeper(&state) }
            } else if !provideThread(&state) {
                return nil
            }
            state.lastNumber += 1
            let place = state.delayed.lastIndex { $0.due <= due }.map { $0 + 1 } ?? 0
            state.delayed.insert(Delayed(due: due, number: state.lastNumber, job: job), at: place)
            return state.lastNumber
        }
    }

    /// Takes a delayed job back; false when it has begun or is in the queue.
    func cancel(_ number: UInt64) -> Bool {
        // The job is released after the lock: its contents may call this object when they are freed.
        let taken = state.withLock { state in
            state.delayed.firstIndex { $0.number == number }.map { state.delayed.remove(at: $0).job }
        }
        return taken != nil
    }

    /// The threads end when the queue is empty, and are not waited for.
    func release() {
        let dropped = withState { state in
            state.isReleased = true
            for bell in state.resting { bell.signal() }
            state.resting = []
            callLingerer(&state)
            wakeKeeper(&state)
            defer { state.delayed = [] }
            return state.delayed.map(\.job)
        }
        withExtendedLifetime(dropped) {}
    }

    // MARK: Threads

    /// Finds a thread for one more task: one that is awake without work, one at rest, a new one, or, at the limit, the one that keeps the time. Called
    /// with the lock.
    /// - Returns: false when no thread would do the task.
    private func provideThread(_ state: inout State) -> Bool {
        if let lingerer = state.lingerer {
            callLingerer(&state)
            // It may have polled after this thread has read the clock.
            if Self.now < lingerer.seen.load(ordering: .relaxed) &+ Self.moment { return true }
        }
        if let bell = state.resting.popLast() {
            bell.signal()
        } else if state.threads < limit, SystemThread.start({ self.work() }) {
            state.threads += 1
        } else {
            wakeKeeper(&state)
        }
        return state.threads > 0
    }

    private func callLingerer(_ state: inout State) {
        guard let lingerer = state.lingerer else { return }
        (state.lingerer, state.called) = (nil, lingerer)
    }

    private func wakeKeeper(_ state: inout State) {
        state.keeper?.bell.signal()
        state.keeper = nil
    }

    private enum Step {
        case run(Job), linger, rest, keepTime(until: SuspendingClock.Instant), leave
    }

    private func work() {
        let seat = Seat()
        var mayLinger = false
        while true {
            switch nextStep(seat, mayLinger: mayLinger) {
            case .run(let job):
                job()
                mayLinger = lingering > 0
            case .linger:
                linger(seat)
                mayLinger = false
            case .rest:
                seat.bell.wait()
                mayLinger = false
            case .keepTime(let due):
                keepTime(until: due, seat.bell)
                mayLinger = false
            case .leave: return
            }
        }
    }

    /// Polls until this thread is called or its time is over. Other threads may use the processor meanwhile.
    private func linger(_ seat: Seat) {
        let end = Self.now &+ lingering
        while !seat.isCalled.load(ordering: .acquiring) {
            let now = Self.now
            if now >= end {
                let isBack = state.withLock { state in
                    guard state.lingerer === seat else { return false }
                    state.lingerer = nil
                    return true
                }
                if isBack { return }
                // The thread that has a job for this one is about to call it.
            }
            seat.seen.store(now, ordering: .relaxed)
            SystemThread.yield()
        }
        seat.isCalled.store(false, ordering: .relaxed)
    }

    private func nextStep(_ seat: Seat, mayLinger: Bool) -> Step {
        withState { state in
            moveDue(&state)
            if let job = state.jobs.popFirst() {
                if !state.delayed.isEmpty, state.keeper == nil { _ = provideThread(&state) }  // to keep the time meanwhile
                return .run(job)
            }
            if state.isReleased {
                state.threads -= 1
                return .leave
            }
            if let first = state.delayed.first, state.keeper == nil {
                state.keeper = (seat.bell, first.due)
                return .keepTime(until: first.due)
            }
            if mayLinger, state.lingerer == nil {
                seat.seen.store(Self.now, ordering: .relaxed)
                state.lingerer = seat
                return .linger
            }
            state.resting.append(seat.bell)
            return .rest
        }
    }

    /// Moves what is due to the queue. The calling thread takes one job; each other one needs a thread.
    private func moveDue(_ state: inout State) {
        guard !state.delayed.isEmpty else { return }
        let now = SuspendingClock.now, count = state.delayed.prefix { $0.due <= now }.count
        for number in 0..<count {
            state.jobs.append(state.delayed[number].job)
            if number > 0 { _ = provideThread(&state) }
        }
        state.delayed.removeFirst(count)
    }

    private func keepTime(until due: SuspendingClock.Instant, _ bell: DispatchSemaphore) {
        guard bell.wait(timeout: .now() + (due - .now) / .seconds(1)) == .timedOut else { return }
        let isKeeper = state.withLock { state in
            guard state.keeper?.bell === bell else { return false }
            state.keeper = nil
            return true
        }
        // The bell was removed in the meantime, so it rings.
        if !isKeeper { bell.wait() }
    }
}

/// Jobs, first come first served, at a constant cost each.
struct JobQueue {
    private var jobs: [WorkThreads.Job?] = []
    private var first = 0

    var isEmpty: Bool { first == jobs.count }

    mutating func append(_ job: @escaping WorkThreads.Job) { jobs.append(job) }

    mutating func popFirst() -> WorkThreads.Job? {
        guard first < jobs.count else { return nil }
        defer {
            jobs[first] = nil
            first += 1
            // Half of them at least are gone, so moving the others costs no more than they did.
            if first * 2 > jobs.count {
                jobs.removeFirst(first)
                first = 0
            }
        }
        return jobs[first]
    }
}
