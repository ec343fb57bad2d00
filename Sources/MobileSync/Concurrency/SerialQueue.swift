internal import Dispatch
internal import Foundation

/// Runs pieces of work one after the other, with timers. While it has work, Dispatch gives a serial queue a thread beyond those of its global
/// queues. Blocking that thread blocks no other one, in particular none of Swift's cooperative threads.
final class SerialQueue: SerialWork {
    private let queue: DispatchQueue
    private let marker = DispatchSpecificKey<ObjectIdentifier>()

    init(label: String) {
        queue = DispatchQueue(label: label)
        queue.setSpecific(key: marker, value: ObjectIdentifier(self))
    }

    var isCurrent: Bool { DispatchQueue.getSpecific(key: marker) == ObjectIdentifier(self) }

    func run(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

    func sync(_ work: () -> Void) { queue.sync(execute: work) }

    func run(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> WorkTimer {
        let timer = WorkTimer()
        let nanoseconds = max(0, delay / .nanoseconds(1))
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(min(nanoseconds, 1e15)))) {
            if timer.fire() { work() }
        }
        return timer
    }

    func timer(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> WorkTimer {
        let timer = WorkTimer()
        DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(min(max(0, delay / .nanoseconds(1)), 1e15)))) {
            if timer.fire() { work() }
        }
        return timer
    }
}
