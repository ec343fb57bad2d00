internal import MobileExecution

/// Delivers events to any number of asynchronous sequences. Each receives the events that follow its creation.
///
/// A reader that lags by more than ``capacity`` events loses the oldest ones: a forgotten sequence must not hold memory without a limit.
final class EventStream<Event: Sendable>: Sendable {
    static var capacity: Int { 4096 }

    private struct Readers {
        var next = 0
        var continuations: [Int: AsyncStream<Event>.Continuation] = [:]
    }
    private let readers = SystemLock(Readers())

    func stream() -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(Self.capacity))
        let id = readers.withLock { readers in
            readers.next += 1
            readers.continuations[readers.next] = continuation
            return readers.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.readers.withLock { _ = $0.continuations.removeValue(forKey: id) }
        }
        return stream
    }

    func send(_ event: Event) {
        // Yielded outside the lock: a continuation may end in here and take it again.
        for continuation in readers.withLock({ Array($0.continuations.values) }) { continuation.yield(event) }
    }

    deinit {
        for continuation in readers.withLock({ Array($0.continuations.values) }) { continuation.finish() }
    }
}
