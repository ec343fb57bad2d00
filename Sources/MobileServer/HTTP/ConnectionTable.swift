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
    private var idle = Arrivals<ID>()
    private var refused = Arrivals<ID>()
    private var refusedCount = 0

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
        if let idle = eldestIdle() {
            standings[idle] = .leaving
            standings[id] = .waiting
            return (false, .idle(idle))
        }
        var eviction = Eviction.none
        if refusedCount >= refusals, let eldest = eldestRefused() {
            standings[eldest] = .leaving
            refusedCount -= 1
            eviction = .refused(eldest)
        }
        standings[id] = .refused(order)
        refusedCount += 1
        refused.append(id, order)
        if refused.count > 2 * refusals + 64 { forgetUnrefused() }
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
        idle.append(id, order)
        if idle.count > 2 * standings.count + 64 { forgetBusy() }
    }

    /// Removes a closed connection.
    mutating func close(_ id: ID) {
        switch standings.removeValue(forKey: id) {
        case .waiting, .busy, .idle: used -= 1
        case .refused: refusedCount -= 1
        case .leaving, nil: break
        }
    }

    /// The number of connections that are open but idle.
    var idleCount: Int { standings.values.count { if case .idle = $0 { true } else { false } } }

    /// Removes the connection that has been idle longest from the order, and returns it.
    private mutating func eldestIdle() -> ID? {
        while let entry = idle.popFirst() { if case .idle(entry.order) = standings[entry.id] { return entry.id } }
        return nil
    }

    private mutating func eldestRefused() -> ID? {
        while let entry = refused.popFirst() { if case .refused(entry.order) = standings[entry.id] { return entry.id } }
        return nil
    }

    /// Removes the entries of connections that are not idle any more.
    private mutating func forgetBusy() {
        var left = Arrivals<ID>()
        while let entry = idle.popFirst() { if case .idle(entry.order) = standings[entry.id] { left.append(entry.id, entry.order) } }
        idle = left
    }

    /// Removes the entries of refused connections that have been closed.
    private mutating func forgetUnrefused() {
        var left = Arrivals<ID>()
        while let entry = refused.popFirst() { if case .refused(entry.order) = standings[entry.id] { left.append(entry.id, entry.order) } }
        refused = left
    }
}

/// Connections in the order in which they came into a state, including those that have left it since: finding the eldest takes constant time.
private struct Arrivals<ID: Sendable>: Sendable {
    private var entries: [(id: ID, order: Int)] = []
    private var first = 0

    var count: Int { entries.count - first }

    mutating func append(_ id: ID, _ order: Int) { entries.append((id, order)) }

    mutating func popFirst() -> (id: ID, order: Int)? {
        guard first < entries.count else { return nil }
        defer {
            first += 1
            if first * 2 > entries.count {
                entries.removeFirst(first)
                first = 0
            }
        }
        return entries[first]
    }
}
