internal import MobileProtocol
internal import MobileStore

/// The identity of one row on devices.
struct RowIdentity: Hashable {
    let object: String
    let surrogateKey: Int64

    init(_ object: String, _ surrogateKey: Int64) { (self.object, self.surrogateKey) = (object, surrogateKey) }
    init(_ frame: OperationFrame) { self.init(frame.object, frame.key) }
}

/// The server's knowledge about rows during the replay of an upload: from earlier uploads by the cache, and from this one.
struct RowDirectory {
    let package: DeployedPackage
    let cache: PackageCache
    let stateStore: any StateStore
    let client: String
    /// The keys that operations of this upload have created or changed.
    private var keys: [RowIdentity: RowKey] = [:]
    /// The surrogate keys of the same rows, by object and key in the back end.
    private var owners: [String: [Value: Int64]] = [:]
    /// The surrogate keys of rows whose creation was rejected or deferred in this upload, with the code.
    private var rejected: [Int64: Int64] = [:]

    init(package: DeployedPackage, cache: PackageCache, stateStore: any StateStore, client: String) {
        (self.package, self.cache, self.stateStore, self.client) = (package, cache, stateStore, client)
    }

    /// Returns the back end's key of a row; nil for a row that the server does not know.
    func key(of row: RowIdentity, _ object: ObjectPlan) throws -> RowKey? {
        if let key = keys[row] { return key }
        let known = try stateStore.read { try KeyMap(package: package, cache: cache).key(of: row.surrogateKey, in: object, $0) }
        // A back end that was restored gives the keys of lost rows once more: this one belongs to a row that the upload has created.
        if let known, owners[object.name]?[known] != nil { return nil }
        return known.flatMap { RowKey($0, of: object) }
    }

    /// Whether an operation of this upload has created the row or changed its key.
    func isNew(_ row: RowIdentity) -> Bool { keys[row] != nil }

    /// Whether the client may create a row under this surrogate key.
    func mayGive(_ surrogateKey: Int64) throws -> Bool {
        try stateStore.read { try cache.mayGive(surrogateKey, client: client, in: $0) }
    }

    /// Returns the rejection of an operation that needs an unknown row whose creation was rejected or deferred; nil if neither was.
    /// - Parameter object: the object of the unknown row.
    func rejection(ofCreating surrogateKey: Int64, _ object: ObjectPlan) throws -> Rejection? {
        let isKnown =
            try rejected[surrogateKey] != nil || stateStore.read { try RejectedRows(cache: cache).contains(surrogateKey, of: client, in: $0) }
        guard isKnown else { return nil }
        // If the creation may succeed later, the operations that depend on it are not decided either.
        let code = rejected[surrogateKey].flatMap { ResultCode.isRecoverable($0) ? $0 : nil } ?? ResultCode.failedDependency
        return Rejection(code, "").shared(byCreationOf: object.name)
    }

    mutating func set(_ key: RowKey, of row: RowIdentity) {
        keys[row] = key
        owners[row.object, default: [:]][key.value] = row.surrogateKey
        rejected[row.surrogateKey] = nil
    }

    /// Takes the outcome of an earlier operation.
    mutating func take(_ outcome: OperationOutcome) {
        if outcome.result.outcome != .accepted, outcome.change == .create { rejected[outcome.result.key] = outcome.result.code }
        guard let key = outcome.rowKey, let object = package.object(named: outcome.result.object), let rowKey = RowKey(key, of: object) else {
            return
        }
        set(rowKey, of: RowIdentity(object.name, outcome.result.key))
    }
}
