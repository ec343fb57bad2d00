internal import MobileCrypto
internal import MobileModel
internal import MobileStore

/// The cache of one package: its tables, the epoch of its versions, and its surrogate keys.
struct PackageCache: Sendable {
    /// The package's row in `_package`.
    let id: Int64
    /// The name of this life of the cache. Tokens of another epoch are not valid here.
    let epoch: String
    /// The objects' rows in `_object`, by name.
    let objectIDs: [String: Int64]

    /// Creates or finds the tables of `package`. If the shape of an object has changed, the package's cache starts again from nothing.
    static func open(_ package: DeployedPackage, in database: Database, configuration: ServerConfiguration) throws -> PackageCache {
        try database.write(label: "deploying \(package.identifier)") { connection in
            let builder = PackageCacheBuilder(package: package, connection: connection, configuration: configuration)
            return try builder.open()
        }
    }

    /// Returns the version of the last detected change.
    func version(in connection: Connection) throws -> Int64 {
        try connection.number("SELECT version FROM _package WHERE id = ?1", [.integer(id)])
    }

    func setVersion(_ version: Int64, in connection: Connection) throws {
        _ = try connection.execute("UPDATE _package SET version = ?2 WHERE id = ?1", [.integer(id), .integer(version)])
    }

}

private struct PackageCacheBuilder {
    let package: DeployedPackage
    let connection: Connection
    let configuration: ServerConfiguration

    func open() throws -> PackageCache {
        let cache = try find(package.identifier) ?? create(package.identifier)
        // A file of an earlier release lacks these indexes.
        for object in package.objects {
            _ = try connection.execute("CREATE INDEX IF NOT EXISTS \(object.rowKeyIndex) ON \(object.rowTable) (_sk)")
        }
        try cache.repairNextKey(above: package.objects, firstKey: firstKey, in: connection)
        return cache
    }

    /// Returns the package's cache; nil if there is none, or if it had to be dropped.
    private func find(_ name: String) throws -> PackageCache? {
        if let row = try connection.storedRow([PackageColumn.id, .epoch], "WHERE name = ?1", [.text(name)]) {
            let id = try row.integer(.id)
            let shapes = try connection.storedRows([ObjectColumn.name, .shape], "WHERE package = ?1", [.integer(id)])
            let found = Dictionary(try shapes.map { (try $0.text(.name), try $0.text(.shape)) }) { $1 }
            if found == Dictionary(uniqueKeysWithValues: package.objects.map { ($0.name, $0.shape) }) {
                return PackageCache(id: id, epoch: try row.text(.epoch), objectIDs: try objectIDs(of: id))
            }
            try drop(id, objects: Array(found.keys))
        }
        return nil
    }

    private func objectIDs(of package: Int64) throws -> [String: Int64] {
        let rows = try connection.storedRows([ObjectColumn.name, .id], "WHERE package = ?1", [.integer(package)])
        return Dictionary(try rows.map { (try $0.text(.name), try $0.integer(.id)) }) { $1 }
    }

    /// Deletes the rows of a package whose model has changed, and keeps the record of granted keys.
    private func drop(_ id: Int64, objects: [String]) throws {
        for object in objects {
            let table = "\(package.identifier)/\(object)"
            for name in [table, table + "/keys"] { _ = try connection.execute("DROP TABLE IF EXISTS \(SQLText.quoted(name))") }
        }
        let own = "object IN (SELECT id FROM _object WHERE package = ?1)"
        for table in ["_partition", "_large"] { _ = try connection.execute("DELETE FROM \(table) WHERE \(own)", [.integer(id)]) }
        _ = try connection.execute("DELETE FROM _object WHERE package = ?1", [.integer(id)])
        _ = try connection.execute("DELETE FROM _back_end WHERE package = ?1", [.integer(id)])
    }

    /// The first key of a new epoch, above those of all earlier ones, even if their cache is lost: a device may still hold rows of an earlier epoch.
    /// 4096 keys per millisecond since 2025 leave enough room, and the numbers stay below 2^53 until the year 2094.
    private var firstKey: Int64 { max(1, configuration.clock() - 1_735_689_600_000) << 12 }

    private func create(_ name: String) throws -> PackageCache {
        let epoch = configuration.random(12).hexadecimal
        _ = try connection.execute(
            """
            INSERT INTO _package (name, epoch, next_key) VALUES (?1, ?2, ?3)
            ON CONFLICT (name) DO UPDATE SET epoch = excluded.epoch, version = 0, next_key = max(next_key, excluded.next_key)
            """, [.text(name), .text(epoch), .integer(firstKey)])
        let id = try connection.number("SELECT id FROM _package WHERE name = ?1", [.text(name)])
        for object in package.objects {
            _ = try connection.execute(
                "INSERT INTO _object (package, name, shape) VALUES (?1, ?2, ?3)", [.integer(id), .text(object.name), .text(object.shape)])
            try createTables(of: object)
        }
        for backEnd in package.backEnds.keys {
            _ = try connection.execute("INSERT INTO _back_end (package, name, applied) VALUES (?1, ?2, 0)", [.integer(id), .text(backEnd)])
        }
        return PackageCache(id: id, epoch: epoch, objectIDs: try objectIDs(of: id))
    }

    /// The columns have no type, so that a value is stored unchanged and equal values are equal in every byte.
    private func createTables(of object: ObjectPlan) throws {
        _ = try connection.execute("CREATE TABLE \(object.keyTable) (_sk INTEGER PRIMARY KEY, k NOT NULL UNIQUE)")
        let columns = object.rowColumns.map { SQLText.quoted($0) + ", " }.joined()
        _ = try connection.execute(
            """
            CREATE TABLE \(object.rowTable) (
                _partition INTEGER NOT NULL, _sk INTEGER NOT NULL, \(columns)
                _since INTEGER NOT NULL, _version INTEGER NOT NULL, _deleted INTEGER NOT NULL DEFAULT 0,
                PRIMARY KEY (_partition, _sk)) WITHOUT ROWID
            """)
        _ = try connection.execute("CREATE INDEX \(object.rowVersionIndex) ON \(object.rowTable) (_partition, _version)")
    }
}
