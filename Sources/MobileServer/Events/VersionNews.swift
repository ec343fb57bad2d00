internal import MobileStore

/// Brings the versions of partitions to the listeners of this process: after its own refreshes, and after those of other processes.
struct VersionNews: Sendable {
    let registry: ListenerRegistry
    let stateStore: any StateStore
    let log: @Sendable (String) -> Void

    /// Notes that partitions have changed. Reads nothing if no listener waits for one of them.
    func changed(_ partitions: [Int64]) {
        let watched = registry.watched(among: partitions)
        guard !watched.isEmpty else { return }
        do { registry.note(try positions(of: watched)) } catch {
            log("events: the versions of changed rows cannot be read: \(error)")
            // A listener that synchronizes in vain loses less than one that does not know.
            registry.note(watched.map { ($0, nil) })
        }
    }

    /// Looks at all partitions that a listener waits for.
    func lookAtAll() throws {
        let watched = registry.watched
        if !watched.isEmpty { registry.note(try positions(of: watched)) }
    }

    /// Looks at the partitions of one listener that has just been added.
    func look(for listener: EventListener) throws { listener.note(try positions(of: Array(listener.partitions))) }

    private func positions(of partitions: [Int64]) throws -> [(partition: Int64, position: PartitionPosition?)] {
        let list = JSONValue.array(partitions.map { .integer($0) }).description
        return try stateStore.read { connection in
            let numbers = connection.dialect.numbers("?1")
            return try connection.storedRows(PartitionState.columns, "WHERE id IN (\(numbers))", [.text(list)]).map {
                let state = try PartitionState($0)
                return (partition: state.partition, position: state.position)
            }
        }
    }
}
