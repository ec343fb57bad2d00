internal import MobileExecution

/// Runs jobs one at a time, in the order in which they were handed in. All state of a client is changed by such jobs, so it needs no further lock, and
/// the callbacks of applications never run at the same time.
final class Mailbox: Sendable {
    typealias Job = @Sendable () -> Void

    private struct State {
        var isRunning = false
        var jobs: [Job] = []
    }
    private let state = SystemLock(State())
    private let threads: BlockingWork

    init(_ threads: BlockingWork) { self.threads = threads }

    /// Runs a job on the calling thread if no other one is running; otherwise after those that came before it. For jobs that call no code of the
    /// application, and for threads on which such code may run.
    func post(_ job: @escaping Job) {
        let isFree = state.withLock { state in
            guard !state.isRunning else {
                state.jobs.append(job)
                return false
            }
            state.isRunning = true
            return true
        }
        guard isFree else { return }
        job()
        // The calling thread has done its own job: others would hold it up.
        let isEmpty = state.withLock { state in
            state.isRunning = !state.jobs.isEmpty
            return state.jobs.isEmpty
        }
        if !isEmpty { threads.start { self.drain() } }
    }

    /// Runs a job on a thread of the client, never on the calling one.
    func later(_ job: @escaping Job) {
        let isFree = state.withLock { state in
            state.jobs.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isFree { threads.start { self.drain() } }
    }

    private func drain() {
        while true {
            let jobs = state.withLock { state in
                defer { state.jobs = [] }
                if state.jobs.isEmpty { state.isRunning = false }
                return state.jobs
            }
            if jobs.isEmpty { return }
            for job in jobs { job() }
        }
    }
}
