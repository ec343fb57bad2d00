internal import MobileCore

/// Threads for work that blocks, so that none of Swift's cooperative threads does. Jobs run at the same time.
///
/// They are its own: a job here may wait for what happens on the cooperative threads, and the other way round, which on a shared
/// pool of as many threads as processors is a deadlock.
@safe final class WorkQueue: Sendable {
    /// The core's threads have their own lock.
    nonisolated(unsafe) private let workers: OpaquePointer

    /// - Parameter threads: how many jobs can block at the same time.
    init(threads: Int) throws(StoreError) {
        var workers: OpaquePointer?
        try unsafe StoreError.check { unsafe mc_workers_create(Int32(clamping: threads), &workers, $0) }
        unsafe self.workers = workers!  // MC_OK promises them
    }

    deinit { unsafe mc_workers_free(workers) }

    /// Without any thread to be had the job runs here and now: late is better than never.
    func run(_ job: @escaping @Sendable () -> Void) {
        let context = unsafe Unmanaged.passRetained(Job(job)).toOpaque()
        let failure = unsafe StoreError.failure { unsafe mc_workers_run(workers, Job.run, context, $0) }
        if failure != nil { unsafe Job.run(context) }
    }

    /// Runs `job` after a span of time on the monotonic clock, unless what it returns is cancelled before.
    func run(after span: Duration, _ job: @escaping @Sendable () -> Void) throws(StoreError) -> Timer {
        let context = unsafe Unmanaged.passRetained(Job(job)).toOpaque()
        var number: UInt64 = 0
        let failure = unsafe StoreError.failure {
            unsafe mc_workers_run_after(workers, span.nanoseconds, Job.run, Job.drop, context, &number, $0)
        }
        if let failure {
            unsafe Job.drop(context)
            throw failure
        }
        return Timer(queue: self, number: number)
    }

    /// A job that waits for its time.
    struct Timer: Sendable {
        fileprivate let queue: WorkQueue
        fileprivate let number: UInt64

        func cancel() { _ = unsafe mc_workers_cancel(queue.workers, number) }
    }

    /// A closure on its way through C.
    private final class Job: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }

        static let run: mc_job = { context in
            guard let context = unsafe context else { return }
            unsafe Unmanaged<Job>.fromOpaque(context).takeRetainedValue().body()
        }

        static let drop: mc_job = { context in
            if let context = unsafe context { unsafe Unmanaged<Job>.fromOpaque(context).release() }
        }
    }
}
