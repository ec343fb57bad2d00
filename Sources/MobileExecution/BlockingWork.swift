/// Runs blocking work on its own threads, so that it never blocks a shared thread: neither one of Swift's cooperative threads, whose number
/// is the number of processors, nor one of Dispatch's global queues.
///
///     let length = try await BlockingWork.run { try copy(file) }
///
/// Threads are started on demand, up to a limit. Beyond the limit a job waits in a queue, as a suspended task, without a thread. So a job
/// must not wait for another job of the same threads.
package final class BlockingWork: Sendable {
    private let threads: WorkThreads

    /// - Parameters:
    ///   - threads: the number of jobs that can block at the same time, 1 or more.
    ///   - lingering: how long at most one idle thread keeps polling after a job, because waking a thread can take longer than a short job.
    ///     Default zero.
    package init(threads: Int, lingering: Duration = .zero) { self.threads = WorkThreads(limit: threads, lingering: lingering) }

    /// Jobs that wait for a thread still run; those that wait for their time do not.
    deinit { threads.release() }

    /// The instance that functions without an owner share in the process.
    private static let shared = BlockingWork(threads: 64)

    /// Runs `body` on a thread of the process-wide instance.
    /// - Throws: the error of `body`.
    package nonisolated(nonsending) static func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        try await shared.run(body)
    }

    /// Runs `body` on one of the threads.
    /// - Throws: the error of `body`.
    package nonisolated(nonsending) func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            threads.start { continuation.resume(with: Result { try body() }) }
        }
    }

    /// Runs `job` as soon as a thread is free, in the order of the calls. When the system cannot start a single thread, it runs on the calling
    /// thread: a late job is better than a lost one.
    package func start(_ job: @escaping @Sendable () -> Void) { threads.start(job) }

    /// Whether work waits for a thread. A job that could end, or take further work itself, ends then.
    package var hasWaiting: Bool { threads.hasWaiting }

    /// Runs `job` after a span of time on the monotonic clock, unless the returned timer is cancelled before.
    /// - Returns: the timer; nil when the system cannot start a single thread, and the job does not run.
    package func start(after span: Duration, _ job: @escaping @Sendable () -> Void) -> Timer? {
        threads.start(after: span, job).map { Timer(threads: threads, number: $0) }
    }

    /// A job that waits for its time.
    package struct Timer: Sendable {
        fileprivate let threads: WorkThreads
        fileprivate let number: UInt64

        /// Cancels the job if it has not begun.
        /// - Returns: whether the job was cancelled.
        package func cancel() -> Bool { threads.cancel(number) }
    }
}
