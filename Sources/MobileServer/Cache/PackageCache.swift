internal import MobileCrypto
internal import MobileModel
internal import MobileStore

/// The cache of one package: the epoch of its versions, and its objects.
struct PackageCache: Sendable {
    /// The package's row in `_package`.
    let id: Int64
    /// The name of this life of the cache. Tokens of another epoch are not valid here.
    let epoch: String
    /// The objects' rows in `_object`, by name.
    let objectIDs: [String: Int64]
    /// The eras of the store.
    let eras: Eras

    /// Creates or finds the package's cache. If the shape of an object has changed, the cache starts again from nothing.
    static func open(_ package: DeployedPackage, in store: any StateStore, configuration: ServerConfiguration) throws -> PackageCache {
        try store.write(label: "deploying \(package.identifier)") { connection in
            try PackageCacheBuilder(package: package, connection: connection, configuration: configuration).open()
        }
    }

    /// Returns the id of an object of the package.
    func id(of object: ObjectPlan) -> Int64 { objectIDs[object.name] ?? 0 }
}

private struct PackageCacheBuilder {
    let package: DeployedPackage
    let connection: any StateConnection
    let configuration: ServerConfiguration

    func open() throws -> PackageCache {
        let cache = try find(package.identifier) ?? create(package.identifier)
        try cache.repairNextKey(firstKey: eras.firstKey, in: connection)
        return cache
    }

    /// Returns the package's cache; nil if there is none, or if it had to be emptied.
    private func find(_ name: String) throws -> PackageCache? {
        guard let row = try connection.storedRow([PackageColumn.id, .epoch], "WHERE name = ?1", [.text(name)]) else { return nil }
        let id = try row.integer(.id)
        let shapes = try connection.storedRows([ObjectColumn.name, .shape], "WHERE package = ?1", [.integer(id)])
        let found = Dictionary(try shapes.map { (try $0.text(.name), try $0.text(.shape)) }) { $1 }
        if found == Dictionary(uniqueKeysWithValues: package.objects.map { ($0.name, $0.shape) }) {
            return PackageCache(id: id, epoch: try row.text(.epoch), objectIDs: try objectIDs(of: id), eras: eras)
        }
        try empty(id)
        return nil
    }

    private func objectIDs(of package: Int64) throws -> [String: Int64] {
        let rows = try connection.storedRows([ObjectColumn.name, .id], "WHERE package = ?1", [.integer(package)])
        return Dictionary(try rows.map { (try $0.text(.name), try $0.integer(.id)) }) { $1 }
    }

    /// Deletes the rows of a package whose model has changed, and keeps the record of granted keys.
    private func empty(_ id: Int64) throws {
        let objects = "SELECT id FROM _object WHERE package = ?1", partitions = "SELECT id FROM _partition WHERE object IN (\(objects))"
        for table in ["_partition_era", "_mark", "_quarantine", "_quarantine_rest"] + SegmentTables.ofPartitions {
            try connection.execute("DELETE FROM \(table) WHERE partition IN (\(partitions))", [.integer(id)])
        }
        for statement in [
            "_row WHERE partition IN (\(partitions))", "_large WHERE partition IN (\(partitions))", "_partition WHERE object IN (\(objects))",
            "_key WHERE object IN (\(objects))", "_object WHERE package = ?1", "_back_end WHERE package = ?1",
        ] { try connection.execute("DELETE FROM \(statement)", [.integer(id)]) }
    }

    private var eras: Eras { Eras(configuration) }

    private func create(_ name: String) throws -> PackageCache {
        let epoch = configuration.random(12).hexadecimal
        let id = try connection.number(
            "INSERT INTO _package (name, epoch) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET epoch = excluded.epoch RETURNING id",
            [.text(name), .text(epoch)])
        // Keys of the emptied cache, which devices may still hold, are below the first key.
        try PackageCache.raiseNextKey(to: eras.firstKey, in: connection)
        for object in package.objects {
            try connection.execute(
                "INSERT INTO _object (package, name, shape) VALUES (?1, ?2, ?3)", [.integer(id), .text(object.name), .text(object.shape)])
        }
        for backEnd in package.backEnds.keys.sorted() {
            try connection.execute("INSERT INTO _back_end (package, name, applied) VALUES (?1, ?2, 0)", [.integer(id), .text(backEnd)])
        }
        return PackageCache(id: id, epoch: epoch, objectIDs: try objectIDs(of: id), eras: eras)
    }
}
