/// The open connections as a value: which of them have a place, and which one has to close for a new one.
///
///     new --place--> waiting --request--> busy --answered--> idle --request--> busy
///      |                                                      |
///      +-- no place --> refused                               +-- its place is needed --> leaving
///
/// A place is for a request that is being answered, or for one that is about to arrive. Idle connections give up their places, the longest idle
/// first. If all places are in use, some more connections are accepted for the time that a refusal takes.
struct ConnectionTable<ID: Hashable & Sendable>: Sendable {
    private enum Standing {
        /// No request has arrived so far.
        case waiting
        case busy
        /// Since the request with this number was answered.
        case idle(since: Int)
        /// Has to close; a request that arrived before is still answered.
        case leaving
        /// Has no place: receives a refusal. The number is the order of arrival.
        case refused(Int)
    }

    /// The number of connections that have a place.
    let places: Int
    /// The maximum number of refused connections at a time; one more cuts the oldest.
    let refusals: Int
    private var standings: [ID: Standing] = [:]
    private var used = 0
    private var order = 0

    init(places: Int, refusals: Int) { (self.places, self.refusals) = (places, refusals) }

    /// The connection that has to close for a new one.
    enum Eviction: Equatable, Sendable {
        case none
        /// An idle connection, whose place the new one receives.
        case idle(ID)
        /// The oldest refused connection. The new one is refused as well.
        case refused(ID)
    }

    /// Adds an opened connection.
    mutating func open(_ id: ID) -> (isRefused: Bool, eviction: Eviction) {
        if used < places {
            standings[id] = .waiting
            used += 1
            return (false, .none)
        }
        order += 1
        if let idle = eldest({ if case .idle(let since) = $0 { since } else { nil } }) {
            standings[idle] = .leaving
            standings[id] = .waiting
            return (false, .idle(idle))
        }
        let eviction: Eviction
        if standings.values.count(where: { if case .refused = $0 { true } else { false } }) >= refusals,
            let eldest = eldest({ if case .refused(let order) = $0 { order } else { nil } })
        {
            standings[eldest] = .leaving
            eviction = .refused(eldest)
        } else {
            eviction = .none
        }
        standings[id] = .refused(order)
        return (true, eviction)
    }

    /// Notes the beginning of a request. Returns false if it is to be refused.
    mutating func beginRequest(_ id: ID) -> Bool {
        switch standings[id] {
        case .refused: return false
        case .leaving, nil: return true
        case .waiting, .busy, .idle:
            standings[id] = .busy
            return true
        }
    }

    /// Notes that the request has been answered, or was aborted.
    mutating func endRequest(_ id: ID) {
        guard case .busy = standings[id] else { return }
        order += 1
        standings[id] = .idle(since: order)
    }

    /// Removes a closed connection.
    mutating func close(_ id: ID) {
        switch standings.removeValue(forKey: id) {
        case .waiting, .busy, .idle: used -= 1
        case .leaving, .refused, nil: break
        }
    }

    /// The number of connections that are open but idle.
    var idleCount: Int { standings.values.count { if case .idle = $0 { true } else { false } } }

    private func eldest(_ age: (Standing) -> Int?) -> ID? {
        standings.compactMap { id, standing in age(standing).map { (id, $0) } }.min { $0.1 < $1.1 }?.0
    }
}
