/// Runs work that blocks on threads of its own, so that no thread does which others wait for: neither Swift's cooperative ones, of which
/// there are as many as processors, nor those of Dispatch's global queues.
///
///     let length = try await BlockingWork.run { try copy(file) }
///
/// Threads are started when there is work for them, up to a limit; what comes beyond waits its turn, as a task, without a thread. So a job
/// must not wait for another one of the same threads.
package final class BlockingWork: Sendable {
    private let threads: WorkThreads

    /// - Parameter threads: how many jobs can block at the same time, 1 or more.
    package init(threads: Int) { self.threads = WorkThreads(limit: threads) }

    /// Jobs that wait for a thread still run; those that wait for their time do not.
    deinit { threads.release() }

    /// That of the whole process, whose functions without an owner need one.
    private static let shared = BlockingWork(threads: 64)

    /// Runs `body` on a thread of the process's own.
    /// - Throws: what `body` throws.
    package nonisolated(nonsending) static func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        try await shared.run(body)
    }

    /// Runs `body` on one of the threads.
    /// - Throws: what `body` throws.
    package nonisolated(nonsending) func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            threads.start { continuation.resume(with: Result { try body() }) }
        }
    }

    /// Runs `job` as soon as a thread is free, in the order of the calls. Where the system has no room for a single thread it runs here and
    /// now: late is better than never.
    package func start(_ job: @escaping @Sendable () -> Void) { threads.start(job) }

    /// Runs `job` after a span of time on the monotonic clock, unless what is returned is cancelled before.
    /// - Returns: nil where the system has no room for a single thread; the job does not run then.
    package func start(after span: Duration, _ job: @escaping @Sendable () -> Void) -> Timer? {
        threads.start(after: span, job).map { Timer(threads: threads, number: $0) }
    }

    /// A job that waits for its time.
    package struct Timer: Sendable {
        fileprivate let threads: WorkThreads
        fileprivate let number: UInt64

        /// Takes the job back if it has not begun.
        /// - Returns: whether it had not.
        package func cancel() -> Bool { threads.cancel(number) }
    }
}
