/// The open connections as a value: which of them have a place, and who has to go for a new one.
///
///     new --place--> waiting --request--> busy --answered--> idle --request--> busy
///      |                                                      |
///      +-- no place --> refused                               +-- its place is needed --> leaving
///
/// A place is for a request that is being answered, or for one that is about to come. Connections that are only kept open give theirs up,
/// the one that has been idle longest first. Where all are in use, some more are let in for the time that it takes to say so.
struct ConnectionTable<ID: Hashable & Sendable>: Sendable {
    private enum Standing {
        /// Nothing has come over it so far.
        case waiting
        case busy
        /// Since the request with this number was answered.
        case idle(since: Int)
        /// Was told to go; a request that had come before is answered all the same.
        case leaving
        /// Has no place: gets a refusal. By the order of their coming.
        case refused(Int)
    }

    /// Connections that have a place.
    let places: Int
    /// Refused connections that may be there at a time; for one more the eldest is cut.
    let refusals: Int
    private var standings: [ID: Standing] = [:]
    private var used = 0
    private var order = 0

    init(places: Int, refusals: Int) { (self.places, self.refusals) = (places, refusals) }

    /// Who has to go for a new connection.
    enum Eviction: Equatable, Sendable {
        case none
        /// An idle one, whose place the new one has.
        case idle(ID)
        /// A refused one that asks for nothing. The new one is refused as well.
        case refused(ID)
    }

    /// A connection was opened.
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

    /// A request has come. False where it is to be refused.
    mutating func beginRequest(_ id: ID) -> Bool {
        switch standings[id] {
        case .refused: return false
        case .leaving, nil: return true
        case .waiting, .busy, .idle:
            standings[id] = .busy
            return true
        }
    }

    /// The request has been answered, or was broken off.
    mutating func endRequest(_ id: ID) {
        guard case .busy = standings[id] else { return }
        order += 1
        standings[id] = .idle(since: order)
    }

    /// The connection is closed.
    mutating func close(_ id: ID) {
        switch standings.removeValue(forKey: id) {
        case .waiting, .busy, .idle: used -= 1
        case .leaving, .refused, nil: break
        }
    }

    /// How many connections are kept open and not used.
    var idleCount: Int { standings.values.count { if case .idle = $0 { true } else { false } } }

    private func eldest(_ age: (Standing) -> Int?) -> ID? {
        standings.compactMap { id, standing in age(standing).map { (id, $0) } }.min { $0.1 < $1.1 }?.0
    }
}
