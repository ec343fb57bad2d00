internal import MobileExecution
internal import MobileModel
internal import MobileStore

/// Keeps the cache of one package up to date, on demand. Before a client receives rows, the partitions that it requests are compared with their back
/// ends, unless the back end is unchanged since the last comparison.
final class CacheRefresher: Sendable {
    let package: DeployedPackage
    let cache: PackageCache
    private let stateStore: any StateStore
    private let clock: @Sendable () -> Int64
    private let comparisonInterval: Duration
    private let restored = RestoredPartitions()
    /// Takes the partitions that a refresh has changed, after its commit.
    private let changed: @Sendable ([Int64]) -> Void
    /// The back end's position at the last load, by partition. It is lost with the process: each partition is compared once after a start.
    let loadedPositions = SystemLock<[Int64: LoadedPosition]>([:])

    struct LoadedPosition {
        let position: BackEndPosition?
        /// The time of the next comparison of all rows, in milliseconds since 1970; nil where each load is one.
        let nextComparison: Int64?
    }

    init(
        package: DeployedPackage, cache: PackageCache, stateStore: any StateStore, configuration: ServerConfiguration,
        changed: @escaping @Sendable ([Int64]) -> Void = { _ in }
    ) {
        (self.package, self.cache, self.stateStore, self.changed) = (package, cache, stateStore, changed)
        (clock, comparisonInterval) = (configuration.clock, configuration.comparisonInterval)
    }

    /// Brings the partitions up to date.
    /// - Returns: the partitions, in the order of `parameters`.
    func refresh(_ parameters: [PartitionParameters]) throws -> [Partition] {
        let partitions = try find(parameters)
        let putBack = restored.take(partitions)
        if !putBack.isEmpty { forget(putBack) }
        for (name, backEnd) in package.backEnds.sorted(by: { $0.key < $1.key }) {
            let objects = Set(package.objects.filter { $0.binding.backEnd == name }.map(\.name))
            let own = partitions.filter { objects.contains($0.object) }
            guard !own.isEmpty, try !isCurrent(own, backEnd), try !isUnchanged(own, backEnd) else { continue }
            try refresh(own, backEnd)
        }
        return partitions
    }

    /// Finds the partitions' rows. The writer is only used if a partition has to be created.
    private func find(_ parameters: [PartitionParameters]) throws -> [Partition] {
        let known = try stateStore.read { connection in
            try parameters.map { try Partition.find($0, objectID: cache.objectIDs[$0.object] ?? 0, in: connection) }
        }
        let now = cache.eras.clock()
        let unnoted = known.contains { $0.map { $0.used <= now - Partition.useInterval } ?? true }
        guard unnoted else { return known.compactMap { $0 } }
        return try stateStore.write(label: "requested partitions") { connection in
            let partitions = try parameters.map { try Partition.make($0, objectID: cache.objectIDs[$0.object] ?? 0, now: now, in: connection) }
            try Partition.noteUse(of: partitions, now: now, in: connection)
            return partitions
        }
    }

    private func isCurrent(_ partitions: [Partition], _ backEnd: ServedBackEnd) throws -> Bool {
        guard let position = try backEnd.system.read({ try $0.position() }) else { return false }
        return partitions.allSatisfy { $0.isLoaded && isLoaded($0, position) }
    }

    /// Whether the back end knows that nothing in the partitions has changed, although its position has moved: then nothing needs to be written.
    private func isUnchanged(_ partitions: [Partition], _ backEnd: ServedBackEnd) throws -> Bool {
        let objects = Dictionary(uniqueKeysWithValues: package.objects.map { ($0.name, $0) })
        let keys = KeyMap(package: package, cache: cache)
        let (states, marks, applied) = try stateStore.read { connection in
            let states = try partitions.map { try $0.state(in: connection) }
            let marks = try zip(partitions, states).map { partition, state in
                try objects[partition.object].flatMap { try RefreshMark($0).content(of: state, in: connection) }
            }
            return (states, marks, try keys.appliedPosition(of: backEnd, in: connection))
        }
        let now = clock()
        guard states.allSatisfy({ $0.isLoaded && $0.mark != nil && !$0.isComparisonDue(now, comparisonInterval) }) else { return false }
        return try backEnd.system.read { source in
            let position = try source.position()
            guard try keys.hasAll(source, applied) else { return false }
            for (partition, mark) in zip(partitions, marks) {
                guard let mark, let object = objects[partition.object] else { return false }
                let parameters = BackEndLoad(object: object, parameters: partition.parameters, source: source).namedParameters
                guard try source.changes(of: object.model, parameters: parameters, since: mark).areNone else { return false }
            }
            loadedPositions.withLock { loaded in
                for (partition, state) in zip(partitions, states) {
                    loaded[partition.id] = LoadedPosition(position: position, nextComparison: state.nextComparison(comparisonInterval))
                }
            }
            return true
        }
    }

    private func refresh(_ partitions: [Partition], _ backEnd: ServedBackEnd) throws {
        let (loaded, changes) = try stateStore.write(label: "refresh from \(backEnd.name)", isolation: .locks) { connection in
            // One refresh at a time, also of several processes. The snapshot of the back end begins after the lock: it is never older than the rows.
            let keys = KeyMap(package: package, cache: cache)
            try keys.lock(backEnd, in: connection)
            return try backEnd.system.read { source in
                let position = try source.position()
                try keys.apply(backEnd, source, in: connection)
                var changes: [Int64] = [], loaded: [Int64: LoadedPosition] = [:]
                let outdated = try partitions.filter { partition in
                    // Another request may have loaded it meanwhile.
                    try !isLoaded(partition, position) || !(partition.isLoaded || partition.state(in: connection).isLoaded)
                }
                let stale = Dictionary(grouping: outdated, by: \.object)
                // In the order of the model, so that parents have their keys from their own load. All processes lock partitions in the same order.
                for object in package.objects {
                    for partition in (stale[object.name] ?? []).sorted(by: { $0.id < $1.id }) {
                        let refresh = PartitionRefresh(
                            object: object, partition: partition, package: package, cache: cache, connection: connection, backEnd: backEnd.system,
                            source: source, now: clock(), comparisonInterval: comparisonInterval)
                        if try refresh.run() { changes.append(partition.id) }
                        let state = try partition.state(in: connection)
                        loaded[partition.id] = LoadedPosition(position: position, nextComparison: state.nextComparison(comparisonInterval))
                    }
                }
                if !changes.isEmpty { try connection.notify(StateNotifications.partitions, StateNotifications.text(changes)) }
                return (loaded, changes)
            }
        }
        // Only after the commit: a load that is rolled back does not count.
        loadedPositions.withLock { $0.merge(loaded) { $1 } }
        if !changes.isEmpty { changed(changes) }
    }

    /// Reads partitions again when they are next needed, even if their back end seems unchanged.
    func forget(_ partitions: [Int64]) {
        loadedPositions.withLock { loaded in for partition in partitions { loaded[partition] = nil } }
    }

    /// Whether this process has loaded the rows of a position. In a restored store, the partition can be a new one with the number of a lost one.
    private func isLoaded(_ partition: Partition, _ position: BackEndPosition?) -> Bool {
        guard position != nil, let loaded = loadedPositions.withLock({ $0[partition.id] }) else { return false }
        return loaded.position == position && loaded.nextComparison.map { clock() < $0 } ?? true
    }
}
