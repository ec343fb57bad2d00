internal import MobileExecution
internal import MobileModel
internal import MobileStore

/// Keeps the cache of one package up to date, on demand. Before a client receives rows, the partitions that it requests are compared with their back
/// ends, unless the back end is unchanged since the last comparison.
final class CacheRefresher: Sendable {
    let package: DeployedPackage
    let cache: PackageCache
    let stateStore: any StateStore
    let files: SegmentFiles
    let clock: @Sendable () -> Int64
    let comparisonInterval: Duration
    let rules: RefreshRules
    let configuration: ServerConfiguration
    let turns = RefreshTurns()
    /// Takes the partitions that a refresh has changed, after its commit.
    let changed: @Sendable ([Int64]) -> Void
    /// The back end's position at the last load, by partition. It is lost with the process: each partition is compared once after a start.
    let loadedPositions = SystemLock<[Int64: LoadedPosition]>([:])

    struct LoadedPosition {
        let position: BackEndPosition?
        /// The position of the partition that has the rows of ``position``. One that another process has given a later version may have older rows: the
        /// other one may have read the back end before this process. One that was put back with a restored store has another position too.
        let partition: PartitionPosition
        /// The time of the next comparison of all rows, in milliseconds since 1970; nil where each load is one.
        let nextComparison: Int64?
    }

    init(
        package: DeployedPackage, cache: PackageCache, stateStore: any StateStore, files: SegmentFiles, configuration: ServerConfiguration,
        changed: @escaping @Sendable ([Int64]) -> Void = { _ in }
    ) {
        (self.package, self.cache, self.stateStore, self.files) = (package, cache, stateStore, files)
        (self.configuration, self.changed) = (configuration, changed)
        (clock, comparisonInterval, rules) = (configuration.clock, configuration.comparisonInterval, configuration.refreshRules)
    }

    /// Brings the partitions up to date.
    /// - Returns: the partitions, in the order of `parameters`.
    func refresh(_ parameters: [PartitionParameters]) throws -> [Partition] {
        let partitions = try find(parameters)
        for (name, backEnd) in package.backEnds.sorted(by: { $0.key < $1.key }) {
            let objects = Set(package.objects.filter { $0.binding.backEnd == name }.map(\.name))
            let own = partitions.filter { objects.contains($0.object) }
            guard !own.isEmpty, try !isCurrent(own, backEnd) else { continue }
            try refresh(own, backEnd)
        }
        return partitions
    }

    /// Reads rows that a back end has reported as changed, in partitions that were loaded before. Other changes are found as always.
    /// - Parameter keys: the keys of the rows, by the names of their objects.
    func refresh(_ parameters: [PartitionParameters], reported keys: [String: [RowKey]]) throws {
        let partitions = try find(parameters.filter { keys[$0.object] != nil })
        for (name, backEnd) in package.backEnds.sorted(by: { $0.key < $1.key }) {
            let objects = Set(package.objects.filter { $0.binding.backEnd == name }.map(\.name))
            let own = partitions.filter { objects.contains($0.object) }
            if !own.isEmpty { try refresh(own, backEnd, reported: keys) }
        }
    }

    private func refresh(_ partitions: [Partition], _ backEnd: ServedBackEnd, reported keys: [String: [RowKey]]? = nil) throws {
        var known = Set<Int64>()
        var waiting = partitions.filter { known.insert($0.id).inserted }
        let deadline = ContinuousClock.now + rules.wait
        while !waiting.isEmpty {
            let taken = try turns.take(Set(waiting.map { .partition($0.id) }), until: deadline)
            defer { turns.give(taken) }
            try BackEndRefresh(self, backEnd, waiting.filter { taken.contains(.partition($0.id)) }, reported: keys).run(until: deadline)
            waiting.removeAll { taken.contains(.partition($0.id)) }
        }
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
        return partitions.allSatisfy { $0.isLoaded && isLoaded($0.id, $0.position, position) }
    }

    /// Reads partitions again when they are next needed, even if their back end seems unchanged.
    func forget(_ partitions: [Int64]) {
        loadedPositions.withLock { loaded in for partition in partitions { loaded[partition] = nil } }
    }

    /// Notes that a partition has the rows of a position of its back end.
    func note(_ state: PartitionState, at position: BackEndPosition?) {
        let loaded = LoadedPosition(position: position, partition: state.position, nextComparison: state.nextComparison(comparisonInterval))
        loadedPositions.withLock { $0[state.partition] = loaded }
    }

    /// Notes that reported rows were read. The partition has the rows of the same position of its back end as before, and of these rows later ones.
    func noteReported(_ state: PartitionState, after former: PartitionState) {
        loadedPositions.withLock { positions in
            guard let known = positions[state.partition], known.partition == former.position else { return }
            positions[state.partition] = LoadedPosition(position: known.position, partition: state.position, nextComparison: known.nextComparison)
        }
    }

    /// Whether this process has loaded the rows of a position. In a restored store, the partition can be a new one with the number of a lost one.
    func isLoaded(_ partition: Int64, _ present: PartitionPosition, _ position: BackEndPosition?) -> Bool {
        guard position != nil, let loaded = loadedPositions.withLock({ $0[partition] }) else { return false }
        return loaded.position == position && loaded.partition == present && loaded.nextComparison.map { clock() < $0 } ?? true
    }
}
