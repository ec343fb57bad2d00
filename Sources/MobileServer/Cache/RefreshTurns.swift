internal import Dispatch
internal import MobileExecution

/// The refreshes in progress of one process: a part that one of them works on, no other one takes. A refresh that has waited looks again, and mostly
/// finds that nothing is left to do.
final class RefreshTurns: Sendable {
    enum Part: Hashable {
        case partition(Int64)
        /// All rows of any partition of a back end.
        case allRows(backEnd: String)
    }

    private struct State {
        var taken = Set<Part>()
        var waiting: [DispatchSemaphore] = []
    }

    private let state = SystemLock(State())

    /// Takes the free ones of the parts, as soon as there is one: a refresh of many partitions does not wait for all of them to be free at a
    /// time. One that holds some takes only ``Part/allRows(backEnd:)`` in addition; so no two wait for each other.
    /// - Returns: the taken parts.
    /// - Throws: ``RequestFailure`` when the deadline has passed.
    func take(_ parts: Set<Part>, until deadline: ContinuousClock.Instant) throws -> Set<Part> {
        while true {
            let bell = DispatchSemaphore(value: 0)
            let free = state.withLock { state in
                let free = parts.subtracting(state.taken)
                if free.isEmpty { state.waiting.append(bell) }
                state.taken.formUnion(free)
                return free
            }
            if !free.isEmpty { return free }
            guard bell.wait(timeout: .now() + max(0, (deadline - .now) / .seconds(1))) == .success else { throw RequestFailure.loading }
        }
    }

    /// The number of refreshes that wait; for tests.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Whether a refresh works on a part; for tests.
    func isTaken(_ part: Part) -> Bool { state.withLock { $0.taken.contains(part) } }

    func give(_ parts: Set<Part>) {
        let waiting = state.withLock { state in
            state.taken.subtract(parts)
            defer { state.waiting = [] }
            return state.waiting
        }
        for bell in waiting { bell.signal() }
    }
}

extension RequestFailure {
    /// Another refresh took longer than this request waits.
    static var loading: RequestFailure { RequestFailure(.unavailable, "the server is loading rows from a back end; try again") }
}
