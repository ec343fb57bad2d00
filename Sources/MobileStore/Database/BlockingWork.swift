/// Runs work that blocks on threads of its own, so that no thread does which others wait for: neither Swift's cooperative ones, of which
/// there are as many as processors, nor those of Dispatch's global queues.
///
/// Threads are started when there is work for them, up to a limit; what comes beyond waits its turn, as a task, without a thread. So a job
/// must not wait for another one.
package final class BlockingWork: Sendable {
    private let queue: WorkQueue

    /// - Parameter threads: how many jobs can block at the same time.
    package init(threads: Int) throws(StoreError) { queue = try WorkQueue(threads: threads) }

    /// That of the whole process, whose functions without an owner need one.
    private static let shared = Result { () throws(StoreError) in try BlockingWork(threads: 64) }

    /// Runs `body` on a thread of the process's own.
    /// - Throws: what `body` throws.
    package static func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R { try await shared.get().run(body) }

    /// Runs `body` on one of the threads.
    /// - Throws: what `body` throws.
    package func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            queue.run { continuation.resume(with: Result { try body() }) }
        }
    }
}
