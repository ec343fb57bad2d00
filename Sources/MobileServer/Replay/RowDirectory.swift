internal import MobileProtocol
internal import MobileStore

/// One row as devices know it.
struct RowIdentity: Hashable {
    let object: String
    let surrogateKey: Int64

    init(_ object: String, _ surrogateKey: Int64) { (self.object, self.surrogateKey) = (object, surrogateKey) }
    init(_ frame: OperationFrame) { self.init(frame.object, frame.key) }
}

/// What the server knows about rows while it replays an upload: from earlier uploads by the cache, and from this one.
struct RowDirectory {
    let package: DeployedPackage
    let cache: PackageCache
    let database: Database
    let client: String
    /// Keys that operations of this upload have made.
    private var keys: [RowIdentity: RowKey] = [:]

    init(package: DeployedPackage, cache: PackageCache, database: Database, client: String) {
        (self.package, self.cache, self.database, self.client) = (package, cache, database, client)
    }

    /// The back end's key of a row; nil for a row that the server does not know.
    func key(of row: RowIdentity, _ object: ObjectPlan) throws -> RowKey? {
        if let key = keys[row] { return key }
        return try database.read { try KeyMap.key(of: row.surrogateKey, in: object, $0) }.flatMap { RowKey($0, of: object) }
    }

    /// Whether an operation of this upload has made the row or changed its key.
    func isNew(_ row: RowIdentity) -> Bool { keys[row] != nil }

    /// Whether the client may create a row under this surrogate key.
    func mayGive(_ surrogateKey: Int64) throws -> Bool {
        try database.read { try cache.mayGive(surrogateKey, client: client, in: $0) }
    }

    mutating func set(_ key: RowKey, of row: RowIdentity) { keys[row] = key }

    /// Takes over what became of an operation that came before.
    mutating func take(_ outcome: OperationOutcome) {
        guard let key = outcome.rowKey, let object = package.object(named: outcome.result.object), let rowKey = RowKey(key, of: object) else {
            return
        }
        keys[RowIdentity(object.name, outcome.result.key)] = rowKey
    }
}
