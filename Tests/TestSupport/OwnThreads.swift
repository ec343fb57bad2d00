internal import Foundation

/// Starts each job on a new thread. Jobs on Swift's threads would wait for other tests that keep these busy.
public final class OwnThreads: TaskExecutor {
    /// An executor without threads; each job brings one.
    public init() {}

    /// Runs a job on a new thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Runs a closure on a new thread and returns its result: for waits in tests of thread pools, which must not block a thread of these.
    public static func run(_ body: @escaping @Sendable () -> Bool) async -> Bool {
        await withCheckedContinuation { continuation in Thread.detachNewThread { continuation.resume(returning: body()) } }
    }
}
