internal import MobileExecution
internal import MobileStore

/// The clients that listen at this process, by the partitions that they wait for.
final class ListenerRegistry: Sendable {
    /// The limits of listeners.
    struct Limits: Sendable {
        var all: Int
        var perUser: Int
        var perDevice: Int
    }

    private struct Weak { weak let listener: EventListener? }

    private struct State {
        var listeners: [ObjectIdentifier: Weak] = [:]
        var owners: [ObjectIdentifier: EventListener.Owner] = [:]
        var byPartition: [Int64: Set<ObjectIdentifier>] = [:]
        var partitions: [ObjectIdentifier: [Int64]] = [:]
        var byClient: [String: Set<ObjectIdentifier>] = [:]
        var perUser: [String: Int] = [:]
        var perDevice: [Device: Int] = [:]
    }

    private struct Device: Hashable {
        let application: String
        let device: String
        init(_ owner: EventListener.Owner) { (application, device) = (owner.application, owner.device) }
    }

    private let state = SystemLock(State())
    private let limits: Limits

    init(_ limits: Limits) { self.limits = limits }

    /// Adds a listener. An earlier one of the same owner ends: the client has lost its connection, and the server has not found out yet.
    /// - Throws: ``RequestFailure`` 429 beyond the limit of the user or the device, 503 beyond that of the server.
    func add(_ listener: EventListener) throws(RequestFailure) {
        let owner = listener.owner, partitions = Array(listener.partitions)
        let former = formerListeners(of: owner)
        // Listeners are released outside of the lock, because the release removes them.
        let refusal = state.withLock { state -> RequestFailure? in
            for listener in former { Self.remove(ObjectIdentifier(listener), &state) }
            guard state.perDevice[Device(owner)] ?? 0 < limits.perDevice, state.perUser[owner.user] ?? 0 < limits.perUser else {
                return RequestFailure(.tooMany, "too many listening connections of this user or device")
            }
            guard state.listeners.count < limits.all else {
                return RequestFailure(.unavailable, "the server has no room for another listening connection; synchronize from time to time")
            }
            Self.insert(listener, partitions, &state)
            return nil
        }
        for listener in former { listener.end() }
        if let refusal { throw refusal }
    }

    private func formerListeners(of owner: EventListener.Owner) -> [EventListener] {
        state.withLock { state in
            let ids = owner.clients.first.flatMap { state.byClient[$0] } ?? []
            return ids.filter { state.owners[$0] == owner }.compactMap { state.listeners[$0]?.listener }
        }
    }

    private static func insert(_ listener: EventListener, _ partitions: [Int64], _ state: inout State) {
        let id = ObjectIdentifier(listener), owner = listener.owner
        state.listeners[id] = Weak(listener: listener)
        state.owners[id] = owner
        state.partitions[id] = partitions
        for partition in partitions { state.byPartition[partition, default: []].insert(id) }
        for client in owner.clients { state.byClient[client, default: []].insert(id) }
        state.perUser[owner.user, default: 0] += 1
        state.perDevice[Device(owner), default: 0] += 1
    }

    /// Removes a listener; no effect if it is not there any more.
    func remove(_ id: ObjectIdentifier) { state.withLock { Self.remove(id, &$0) } }

    private static func remove(_ id: ObjectIdentifier, _ state: inout State) {
        guard let owner = state.owners.removeValue(forKey: id) else { return }
        state.listeners[id] = nil
        for partition in state.partitions.removeValue(forKey: id) ?? [] { state.byPartition.remove(id, of: partition) }
        for client in owner.clients { state.byClient.remove(id, of: client) }
        state.perUser.decrease(owner.user)
        state.perDevice.decrease(Device(owner))
    }

    /// The number of listeners.
    var count: Int { state.withLock { $0.listeners.count } }

    /// Returns those of the partitions that a listener waits for.
    func watched(among partitions: [Int64]) -> [Int64] { state.withLock { state in partitions.filter { state.byPartition[$0] != nil } } }

    /// All partitions that a listener waits for.
    var watched: [Int64] { state.withLock { Array($0.byPartition.keys) } }

    /// Passes the present positions of partitions to the listeners that wait for them.
    func note(_ positions: [(partition: Int64, position: PartitionPosition?)]) {
        let concerned = state.withLock { state in
            var ids = Set<ObjectIdentifier>()
            for entry in positions { ids.formUnion(state.byPartition[entry.partition] ?? []) }
            return ids.compactMap { state.listeners[$0]?.listener }
        }
        for listener in concerned { listener.note(positions) }
    }

    /// Returns the listeners of a client.
    func listeners(of client: String) -> [EventListener] {
        state.withLock { state in (state.byClient[client] ?? []).compactMap { state.listeners[$0]?.listener } }
    }
}

extension Dictionary where Value == Set<ObjectIdentifier> {
    /// Removes a member, and the set with its last member.
    fileprivate mutating func remove(_ id: ObjectIdentifier, of key: Key) {
        self[key]?.remove(id)
        if self[key]?.isEmpty == true { self[key] = nil }
    }
}

extension Dictionary where Value == Int {
    /// Decreases a count, and removes it at 0.
    fileprivate mutating func decrease(_ key: Key) {
        guard let count = self[key] else { return }
        self[key] = count > 1 ? count - 1 : nil
    }
}
