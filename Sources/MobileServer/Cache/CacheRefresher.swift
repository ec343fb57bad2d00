internal import MobileExecution
internal import MobileModel
internal import MobileStore

/// Keeps the cache of one package up to date, on demand. Before a client receives rows, the partitions that it requests are compared with their back
/// ends, unless the back end is unchanged since the last comparison.
final class CacheRefresher: Sendable {
    let package: DeployedPackage
    let cache: PackageCache
    private let stateStore: any StateStore
    private let restored = RestoredPartitions()
    /// The back end's `data_version` at the last load, by partition. It is lost with the process: each partition is compared once after a start.
    private let loadedVersions = SystemLock<[Int64: Int64]>([:])

    init(package: DeployedPackage, cache: PackageCache, stateStore: any StateStore) {
        self.package = package
        self.cache = cache
        self.stateStore = stateStore
    }

    /// Brings the partitions up to date.
    /// - Returns: the partitions, in the order of `parameters`.
    func refresh(_ parameters: [PartitionParameters]) throws -> [Partition] {
        let partitions = try find(parameters)
        let putBack = restored.take(partitions)
        if !putBack.isEmpty { loadedVersions.withLock { loaded in for partition in putBack { loaded[partition] = nil } } }
        for (name, backEnd) in package.backEnds.sorted(by: { $0.key < $1.key }) {
            let objects = Set(package.objects.filter { $0.binding.backEnd == name }.map(\.name))
            let own = partitions.filter { objects.contains($0.object) }
            guard !own.isEmpty, try !isCurrent(own, backEnd) else { continue }
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

    private func isCurrent(_ partitions: [Partition], _ backEnd: BackEnd) throws -> Bool {
        let version = try backEnd.database.read { try BackEnd.dataVersion($0) }
        return loadedVersions.withLock { loaded in partitions.allSatisfy { loaded[$0.id] == version } }
    }

    private func refresh(_ partitions: [Partition], _ backEnd: BackEnd) throws {
        let version = try stateStore.write(label: "refresh from \(backEnd.name)", isolation: .locks) { connection in
            // One refresh at a time, also of several processes. The snapshot of the back end begins after the lock: it is never older than the rows.
            let keys = KeyMap(package: package, cache: cache)
            try keys.lock(backEnd, in: connection)
            return try backEnd.database.read { source in
                let dataVersion = try BackEnd.dataVersion(source)
                try keys.apply(backEnd, source, in: connection)
                let stale = Dictionary(grouping: partitions.filter { !isLoaded($0, dataVersion) }, by: \.object)
                // In the order of the model, so that parents have their keys from their own load. All processes lock partitions in the same order.
                for object in package.objects {
                    for partition in (stale[object.name] ?? []).sorted(by: { $0.id < $1.id }) {
                        let refresh = PartitionRefresh(
                            object: object, partition: partition, package: package, cache: cache, connection: connection, source: source)
                        try refresh.run()
                    }
                }
                return dataVersion
            }
        }
        // Only after the commit: a load that is rolled back does not count.
        loadedVersions.withLock { loaded in for partition in partitions { loaded[partition.id] = version } }
    }

    private func isLoaded(_ partition: Partition, _ version: Int64) -> Bool {
        loadedVersions.withLock { $0[partition.id] == version }
    }
}
