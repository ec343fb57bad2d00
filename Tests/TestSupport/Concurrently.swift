internal import Foundation
internal import MobileExecution

/// Runs `work` on a new thread.
/// - Returns: a closure that waits for its result.
public func concurrently<Result: Sendable>(_ work: @escaping @Sendable () -> Result) -> () -> Result {
    let promise = Promise<Result, Never>()
    Thread.detachNewThread { promise.resolve(.success(work())) }
    return { promise.wait() }
}

/// Asks until `condition` holds, for half a minute at most.
/// - Returns: whether it holds.
public func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
    let end = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < end {
        if try condition() { return true }
        sched_yield()
    }
    return false
}
