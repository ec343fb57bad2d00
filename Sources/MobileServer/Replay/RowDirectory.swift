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
    /// The surrogate keys of the rows that the present batch needs, by object and key in the back end.
    private var needed: [String: [Value: Int64]] = [:]
    /// By back end: the number up to which the record was read for ``displaced(in:after:)``, with the life of the data.
    private var read: [String: (life: String, number: Int64)] = [:]
    /// By back end: the versions of the package that have the keys of rows in common.
    private var versions: [String: [String: SharedIdentity.Version]] = [:]

    init(package: DeployedPackage, cache: PackageCache, stateStore: any StateStore, client: String) {
        (self.package, self.cache, self.stateStore, self.client) = (package, cache, stateStore, client)
    }

    /// Returns the back end's key of a row; nil for a row that the server does not know.
    func key(of row: RowIdentity, _ object: ObjectPlan) throws -> RowKey? {
        if let key = keys[row] { return key }
        let known = try stateStore.read { try KeyMap(package: package, cache: cache).key(of: row.surrogateKey, in: object, $0) }
        // A back end that was restored gives the keys of lost rows once more: this one belongs to another row by now.
        if let known, isDisplaced(known, row) { return nil }
        return known.flatMap { RowKey($0, of: object) }
    }

    private func isDisplaced(_ key: Value, _ row: RowIdentity) -> Bool {
        owners[row.object]?[key].map { $0 != row.surrogateKey } ?? false
    }

    /// Whether another row has got the primary key of a row that the server knew.
    func isDisplaced(_ row: RowIdentity, _ object: ObjectPlan) throws -> Bool {
        let known = try stateStore.read { connection in
            let isRemembered = try RejectedRows(package: cache.id).contains(row.surrogateKey, of: RejectedRows.displaced, in: connection)
            return (isRemembered, try KeyMap(package: package, cache: cache).key(of: row.surrogateKey, in: object, connection))
        }
        return known.0 || known.1.map { isDisplaced($0, row) } ?? false
    }

    // MARK: Rows of other clients

    /// A row that the batch needs has lost its primary key to a row that another client has created meanwhile. The batch must begin again.
    struct Displaced: Error {
        /// Rows of other clients, with their keys in the back end.
        let owners: [(row: RowIdentity, key: Value)]
    }

    mutating func beginBatch() { needed = [:] }

    /// Takes over which rows have keys now.
    mutating func take(_ displaced: Displaced) {
        for owner in displaced.owners { owners[owner.row.object, default: [:]][owner.key] = owner.row.surrogateKey }
    }

    /// Notes that the batch changes or refers to a row.
    mutating func need(_ key: RowKey, of row: RowIdentity) { needed[row.object, default: [:]][key.value] = row.surrogateKey }

    /// Makes sure that no other client has created a row under a key that the batch needs, since the cache has read the record: a back end that was
    /// restored, or that gives keys of deleted rows again, gave it then. The end of the batch's transaction is the time for it: a creation that comes
    /// later did not have the key yet.
    /// - Parameter applied: the position of the cache before the batch began.
    /// - Throws: ``Displaced``.
    mutating func checkDisplaced(_ record: SeenRecords.Present, since applied: AppliedPosition) throws {
        guard !needed.isEmpty else { return }
        var last: Int64, created: [(row: RowIdentity, key: Value)] = []
        if let read = read[record.backEnd], read.life == record.life {
            last = max(read.number, applied.number)
        } else {
            last = try RecordHistory(record.records).holds(applied.number, in: applied.era) ? applied.number : 0
        }
        let versions = try versions(of: record.backEnd)
        // An object may have another name in another version.
        let names = Dictionary(cache.identity.keySpaces.map { ($1, $0) }) { first, _ in first }
        try record.records.forEachOutcome(after: last) { number, client, text in
            last = max(last, number)
            guard client != self.client, let outcome = try? OperationOutcome(json: JSONValue(parsing: text)), let key = outcome.rowKey,
                outcome.result.outcome == .accepted, let space = versions[outcome.package]?.keySpaces[outcome.result.object],
                let name = names[space]
            else { return }
            created.append((RowIdentity(name, outcome.result.key), key))
        }
        let displaced = Displaced(owners: created)
        let isDisplaced = created.contains { owner in needed[owner.row.object]?[owner.key].map { $0 != owner.row.surrogateKey } ?? false }
        if isDisplaced { throw displaced }
        take(displaced)
        if let life = record.life { read[record.backEnd] = (life, last) }
    }

    private mutating func versions(of backEnd: String) throws -> [String: SharedIdentity.Version] {
        if let known = versions[backEnd] { return known }
        let found = try stateStore.read { try cache.identity.versions(of: backEnd, in: $0) }
        versions[backEnd] = found
        return found
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
            try rejected[surrogateKey] != nil || stateStore.read { try RejectedRows(package: cache.id).contains(surrogateKey, of: client, in: $0) }
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
