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
    /// Surrogate keys of rows whose creation was rejected in this upload, with the code.
    private var rejected: [Int64: Int64] = [:]

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

    /// Why an operation cannot be done whose row, or the row that it refers to, the server does not know: nil where it has not rejected its creation.
    /// - Parameter object: the row's.
    func rejection(ofCreating surrogateKey: Int64, _ object: ObjectPlan) throws -> Rejection? {
        let isKnown = try rejected[surrogateKey] != nil || database.read { try RejectedRows(cache: cache).contains(surrogateKey, of: client, in: $0) }
        guard isKnown else { return nil }
        // What may succeed later with the same operations is not decided for the ones that follow either.
        let code = rejected[surrogateKey].flatMap { ResultCode.isRecoverable($0) ? $0 : nil } ?? ResultCode.failedDependency
        return Rejection(code, "not done, because the creation of the row of \"\(object.name)\" that it needs was rejected")
    }

    mutating func set(_ key: RowKey, of row: RowIdentity) {
        keys[row] = key
        rejected[row.surrogateKey] = nil
    }

    /// Takes over what became of an operation that came before.
    mutating func take(_ outcome: OperationOutcome) {
        if outcome.result.outcome == .rejected, outcome.change == .create { rejected[outcome.result.key] = outcome.result.code }
        guard let key = outcome.rowKey, let object = package.object(named: outcome.result.object), let rowKey = RowKey(key, of: object) else {
            return
        }
        set(rowKey, of: RowIdentity(object.name, outcome.result.key))
    }
}
