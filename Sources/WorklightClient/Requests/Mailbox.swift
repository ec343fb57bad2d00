internal import MobileExecution

/// Runs jobs one at a time, in the order in which they were handed in. All state of a client is changed by such jobs, so it needs no further lock, and
/// the callbacks of applications never run at the same time.
///
/// A job may end with work, such as a request on its way, whose result is the next job. A thread of the client without other jobs does that work itself,
/// because waking another thread can take longer than the job:
///
///     job --work--> result --job--> ...
final class Mailbox: Sendable {
    typealias Job = @Sendable () -> Void
    /// Work that blocks, outside of the mailbox. Returns the job that takes its result.
    typealias Work = @Sendable () -> Job
    private typealias Entry = @Sendable () -> Work?

    private struct State {
        var isRunning = false
        var entries: [Entry] = []
    }
    private let state = SystemLock(State())
    private let threads: BlockingWork

    init(_ threads: BlockingWork) { self.threads = threads }

    /// Runs a job on the calling thread if no other one is running; otherwise after those that came before it. For jobs that call no code of the
    /// application, and for threads on which such code may run.
    /// - Parameter job: returns the work with which it ends. Another thread does that.
    func post(_ job: @escaping @Sendable () -> Work?) {
        let isFree = state.withLock { state in
            guard !state.isRunning else {
                state.entries.append(job)
                return false
            }
            state.isRunning = true
            return true
        }
        guard isFree else { return }
        let work = job()
        // The calling thread has done its own job: others would hold it up.
        let isEmpty = state.withLock { state in
            state.isRunning = !state.entries.isEmpty
            return state.entries.isEmpty
        }
        if let work { start(work) }
        if !isEmpty { threads.start { self.carry(self.drain()) } }
    }

    /// Runs a job on a thread of the client, never on the calling one.
    func later(_ job: @escaping Job) {
        if append(job) { threads.start { self.carry(self.drain()) } }
    }

    /// Does work on a thread of the client, and then the job that it returns.
    func start(_ work: @escaping Work) { threads.start { self.carry(work) } }

    /// Does work, the job that takes its result, and what that job and those after it end with.
    private func carry(_ work: Work?) {
        var next = work
        while let work = next {
            next = append(work()) ? drain() : nil
            // It waits its turn: an application that makes each call in the callback of another one would keep the thread from all others.
            if let work = next, threads.hasWaiting { return start(work) }
        }
    }

    /// - Returns: whether the caller has to run the jobs.
    private func append(_ job: @escaping Job) -> Bool {
        state.withLock { state in
            state.entries.append {
                job()
                return nil
            }
            defer { state.isRunning = true }
            return !state.isRunning
        }
    }

    /// Runs jobs until there is none.
    /// - Returns: the work with which the last one ended.
    private func drain() -> Work? {
        var last: Work?
        while true {
            let entries = state.withLock { state in
                defer { state.entries = [] }
                if state.entries.isEmpty { state.isRunning = false }
                return state.entries
            }
            guard !entries.isEmpty else { return last }
            for entry in entries {
                // The next job may call code of the application, which takes as long as it likes.
                if let last { start(last) }
                last = entry()
            }
        }
    }
}
