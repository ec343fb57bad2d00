internal import MobileProtocol
internal import MobileStore

/// The surrogate keys that rows of the back end have on all devices. A row keeps its key as long as the cache lives, in every partition. A row that a
/// device created keeps the key that the device assigned.
struct KeyMap {
    let package: DeployedPackage
    let cache: PackageCache

    /// Returns the back end's key of a row; nil for a surrogate key that the cache does not know.
    static func key(of surrogateKey: Int64, in object: ObjectPlan, _ connection: Connection) throws -> Value? {
        try connection.first("SELECT k FROM \(object.keyTable) WHERE _sk = ?1", [.integer(surrogateKey)])?[0]
    }

    /// Imports the keys of rows that devices have created since the last time, from the back end's own record of them.
    /// - Parameter source: the read of the back end in which rows are loaded afterwards. A row is therefore never seen before its key.
    func apply(_ backEnd: BackEnd, _ source: Connection, in connection: Connection) throws {
        guard !backEnd.isIdempotent, try Self.isRecording(source) else { return }
        var applied = try appliedSequence(of: backEnd, in: connection)
        // A file with fewer operations than were already read is a different file, such as a restored copy: read all of it.
        if try ProcessedOperations.lastSequence(in: source) < applied { applied = 0 }
        var last: Int64?
        var rejected = Set<String>()
        try ProcessedOperations.forEachOutcome(after: applied, in: source) { seq, client, outcome in
            last = seq
            guard outcome.package == package.identifier else { return }
            if try apply(outcome, of: client, in: connection) { rejected.insert(client) }
        }
        guard let last else { return }
        for client in rejected { try RejectedRows(cache: cache).prune(client, in: connection) }
        _ = try connection.execute(
            "UPDATE _back_end SET applied = ?3 WHERE package = ?1 AND name = ?2", [.integer(cache.id), .text(backEnd.name), .integer(last)])
    }

    /// Imports the keys of new rows without loading anything, so that operations can refer to them.
    func catchUp(with backEnd: BackEnd, _ database: Database) throws {
        guard !backEnd.isIdempotent else { return }
        let applied = try database.read { try appliedSequence(of: backEnd, in: $0) }
        let last = try backEnd.database.read { try Self.isRecording($0) ? ProcessedOperations.lastSequence(in: $0) : applied }
        guard last != applied else { return }
        try database.write(label: "keys of new rows") { connection in
            try backEnd.database.read { try apply(backEnd, $0, in: connection) }
        }
    }

    /// Imports the outcomes of a batch on a back end that keeps no record of them.
    func apply(_ outcomes: [OperationOutcome], of client: String, in connection: Connection) throws {
        var hasRejected = false
        for outcome in outcomes { hasRejected = try apply(outcome, of: client, in: connection) || hasRejected }
        if hasRejected { try RejectedRows(cache: cache).prune(client, in: connection) }
    }

    /// Assigns one row the key that its device gave it, or records that there is no such row. The replay has already checked that the client may
    /// assign this key, and that the row has no other one. Existing entries of either in the map are therefore out of date.
    /// - Returns: whether the row is recorded as rejected.
    private func apply(_ outcome: OperationOutcome, of client: String, in connection: Connection) throws -> Bool {
        let surrogateKey = outcome.result.key
        if outcome.result.outcome == .rejected, outcome.change == .create {
            try RejectedRows(cache: cache).add(surrogateKey, operation: outcome.result.id, of: client, in: connection)
            return true
        }
        guard let key = outcome.rowKey, let object = package.object(named: outcome.result.object) else { return false }
        _ = try connection.execute("DELETE FROM \(object.keyTable) WHERE _sk = ?1 OR k = ?2", [.integer(surrogateKey), key])
        _ = try connection.execute("INSERT INTO \(object.keyTable) (_sk, k) VALUES (?1, ?2)", [.integer(surrogateKey), key])
        try cache.keepFree(from: surrogateKey, in: connection)
        try RejectedRows(cache: cache).remove(surrogateKey, of: client, in: connection)
        return false
    }

    func appliedSequence(of backEnd: BackEnd, in connection: Connection) throws -> Int64 {
        try connection.optionalNumber(
            "SELECT applied FROM _back_end WHERE package = ?1 AND name = ?2", [.integer(cache.id), .text(backEnd.name)]) ?? 0
    }

    private static func isRecording(_ source: Connection) throws -> Bool {
        try source.first("SELECT 1 FROM sqlite_schema WHERE name = 'mobile_processed_operation'") != nil
    }
}
