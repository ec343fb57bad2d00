internal import Dispatch
internal import Foundation
internal import Synchronization

/// One thread's worth of work, one piece after the other, with timers. The thread belongs to this queue: blocking in here
/// blocks nobody else, in particular none of Swift's cooperative threads.
final class WorkQueue: Sendable {
    private let queue: DispatchQueue
    private let marker = DispatchSpecificKey<ObjectIdentifier>()

    init(label: String) {
        queue = DispatchQueue(label: label)
        queue.setSpecific(key: marker, value: ObjectIdentifier(self))
    }

    /// Whether the caller runs on this queue: waiting for it would then never end.
    var isCurrent: Bool { DispatchQueue.getSpecific(key: marker) == ObjectIdentifier(self) }

    func run(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

    /// Waits until everything that was queued before is done; never on the queue itself.
    func sync(_ work: () -> Void) { queue.sync(execute: work) }

    /// Runs `work` on the queue after `delay`, unless the timer is cancelled before.
    func run(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> Timer {
        let timer = Timer()
        let nanoseconds = max(0, delay / .nanoseconds(1))
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(min(nanoseconds, 1e15)))) {
            if timer.fire() { work() }
        }
        return timer
    }

    /// Like ``run(after:_:)``, but beside the queue: `work` must be quick, and runs even while the queue is busy.
    func timer(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> Timer {
        let timer = Timer()
        DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(min(max(0, delay / .nanoseconds(1)), 1e15)))) {
            if timer.fire() { work() }
        }
        return timer
    }

    /// A piece of work that waits for its time.
    final class Timer: Sendable {
        private let isOver = Mutex(false)
        /// True for the first of ``fire()`` and ``cancel()``.
        @discardableResult
        func fire() -> Bool {
            isOver.withLock { over in
                defer { over = true }
                return !over
            }
        }
        func cancel() { fire() }
    }
}
