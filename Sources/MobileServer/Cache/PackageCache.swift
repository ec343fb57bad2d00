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
    /// The objects' key spaces and the back ends' positions, which versions of a package share.
    let identity: SharedIdentity
    /// The eras of the store.
    let eras: Eras

    /// Creates or finds the package's cache. If the shape of an object has changed, the cache starts again from nothing.
    static func open(_ package: DeployedPackage, in store: any StateStore, configuration: ServerConfiguration) throws -> PackageCache {
        let histories = try SharedIdentity.histories(of: package)
        return try store.write(label: "deploying \(package.identifier)") { connection in
            try PackageCacheBuilder(package: package, histories: histories, connection: connection, configuration: configuration).open()
        }
    }

    /// Returns the id of an object of the package.
    func id(of object: ObjectPlan) -> Int64 { objectIDs[object.name] ?? 0 }

    /// Returns the number under which `_key` has the surrogate keys of an object.
    func keySpace(of object: ObjectPlan) -> Int64 { identity.keySpaces[object.name] ?? 0 }
}

private struct PackageCacheBuilder {
    let package: DeployedPackage
    let histories: [String: RecordHistory]
    let connection: any StateConnection
    let configuration: ServerConfiguration

    func open() throws -> PackageCache {
        let cache = try find() ?? create(former: [:])
        try cache.repairNextKey(firstKey: eras.firstKey, in: connection)
        return cache
    }

    /// Returns the package's cache, emptied if the shape of an object has changed; nil if there is none.
    private func find() throws -> PackageCache? {
        guard let row = try connection.storedRow([PackageColumn.id, .epoch], "WHERE name = ?1", [.text(package.identifier)]) else { return nil }
        let id = try row.integer(.id)
        let shapes = try connection.storedRows([ObjectColumn.name, .shape], "WHERE package = ?1", [.integer(id)])
        let found = Dictionary(try shapes.map { (try $0.text(.name), try $0.text(.shape)) }) { $1 }
        let ids = try objectIDs(of: id)
        if found == Dictionary(uniqueKeysWithValues: package.objects.map { ($0.name, $0.shape) }) {
            let identity = try SharedIdentity.find(package, id: id, objectIDs: ids, in: connection)
            return PackageCache(id: id, epoch: try row.text(.epoch), objectIDs: ids, identity: identity, eras: eras)
        }
        let former = try SharedIdentity.spaces(ofObjects: ids, in: connection)
        try empty(id)
        let cache = try create(former: former)
        try SharedIdentity.removeUnused(former.values.map(\.space), in: connection)
        return cache
    }

    private func objectIDs(of package: Int64) throws -> [String: Int64] {
        let rows = try connection.storedRows([ObjectColumn.name, .id], "WHERE package = ?1", [.integer(package)])
        return Dictionary(try rows.map { (try $0.text(.name), try $0.integer(.id)) }) { $1 }
    }

    /// Deletes the rows of a package whose model has changed. The keys of rows stay as long as a key space needs them.
    private func empty(_ id: Int64) throws {
        let objects = "SELECT id FROM _object WHERE package = ?1", partitions = "SELECT id FROM _partition WHERE object IN (\(objects))"
        for table in ["_partition_era", "_mark", "_quarantine", "_quarantine_rest"] + SegmentTables.ofPartitions {
            try connection.execute("DELETE FROM \(table) WHERE partition IN (\(partitions))", [.integer(id)])
        }
        for statement in [
            "_row WHERE partition IN (\(partitions))", "_large WHERE partition IN (\(partitions))", "_partition WHERE object IN (\(objects))",
            "_key_space WHERE object IN (\(objects))", "_object WHERE package = ?1",
        ] { try connection.execute("DELETE FROM \(statement)", [.integer(id)]) }
    }

    private var eras: Eras { Eras(configuration) }

    /// - Parameter former: the key spaces that the objects had before the cache was emptied.
    private func create(former: [String: SharedIdentity.Space]) throws -> PackageCache {
        let epoch = configuration.random(12).hexadecimal
        let id = try connection.number(
            "INSERT INTO _package (name, epoch) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET epoch = excluded.epoch RETURNING id",
            [.text(package.identifier), .text(epoch)])
        // Keys of the emptied cache, which devices may still hold, are below the first key.
        try PackageCache.raiseNextKey(to: eras.firstKey, in: connection)
        for object in package.objects {
            try connection.execute(
                "INSERT INTO _object (package, name, shape) VALUES (?1, ?2, ?3)", [.integer(id), .text(object.name), .text(object.shape)])
        }
        for backEnd in package.backEnds.keys.sorted() {
            try connection.execute(
                "INSERT INTO _back_end (package, name, applied) VALUES (?1, ?2, 0) ON CONFLICT (package, name) DO NOTHING",
                [.integer(id), .text(backEnd)])
        }
        let ids = try objectIDs(of: id)
        let identity = try SharedIdentity.make(package, id: id, objectIDs: ids, former: former, histories, in: connection)
        return PackageCache(id: id, epoch: epoch, objectIDs: ids, identity: identity, eras: eras)
    }
}
