internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// The surrogate keys that rows of the back end have on all devices. A row keeps its key as long as the cache lives, in every partition. A row that a
/// device created keeps the key that the device assigned.
struct KeyMap {
    let package: DeployedPackage
    let cache: PackageCache

    /// Returns the back end's key of a row; nil for a surrogate key that the cache does not know.
    func key(of surrogateKey: Int64, in object: ObjectPlan, _ connection: any StateConnection) throws -> Value? {
        let row = try connection.first(
            "SELECT CAST(k AS TEXT) FROM _key WHERE object = ?1 AND sk = ?2", [.integer(cache.id(of: object)), .integer(surrogateKey)])
        guard let row else { return nil }
        guard let key = row[0].text.flatMap({ KeyText(text: $0).value }) else {
            throw StoreError(.corrupt, "table _key: surrogate key \(surrogateKey) of \"\(object.name)\" has a damaged key")
        }
        return key
    }

    /// Imports the keys of rows that devices have created, from the back end's own record of them. The caller has locked the back end.
    /// - Returns: whether the cache has the found outcomes now. Otherwise nothing was changed, and the record must be read again.
    func apply(_ found: RecordImport, of backEnd: ServedBackEnd, in connection: any StateConnection) throws -> Bool {
        let present = try appliedPosition(of: backEnd, in: connection)
        guard let missing = found.missing(at: present) else { return false }
        if found.isRestored {
            for object in package.objects where object.binding.backEnd == backEnd.name {
                try connection.execute("UPDATE _partition SET mark = NULL WHERE object = ?1", [.integer(cache.id(of: object))])
            }
        }
        try apply(missing.map { ($0.client, $0.outcome) }, in: connection)
        // Unless another import has read more.
        guard present == found.known || found.history.holds(present.number, in: present.era) && present.number < found.end.number else { return true }
        try connection.execute(
            "UPDATE _back_end SET applied = ?3, era = ?4 WHERE package = ?1 AND name = ?2",
            [.integer(cache.id), .text(backEnd.name), .integer(found.end.number), .text(found.end.era)])
        return true
    }

    /// Imports the keys of new rows without loading anything, so that operations can refer to them.
    func catchUp(with backEnd: ServedBackEnd, _ stateStore: any StateStore) throws {
        guard !backEnd.isIdempotent else { return }
        for _ in 0..<Self.attempts {
            let known = try stateStore.read { try appliedPosition(of: backEnd, in: $0) }
            do {
                let isDone = try backEnd.system.read { source in
                    let apply = { try take($0, from: backEnd, stateStore) }
                    let found = try RecordImport.read(source, of: backEnd, after: known, package: package.identifier, apply: apply)
                    return try found.map(apply) ?? true
                }
                if isDone { return }
            } catch is RecordImport.Moved {}
        }
        throw RequestFailure.busy
    }

    /// Imports outcomes in a transaction of their own.
    /// - Returns: as ``apply(_:of:in:)``.
    func take(_ found: RecordImport, from backEnd: ServedBackEnd, _ stateStore: any StateStore) throws -> Bool {
        try stateStore.write(label: "keys of new rows", isolation: .locks) { connection in
            try lock(backEnd, in: connection)
            return try apply(found, of: backEnd, in: connection)
        }
    }

    /// The number of times that an import begins again because another process was faster.
    private static let attempts = 20

    /// Imports the outcomes of a batch on a back end that keeps no record of them.
    func apply(_ outcomes: [OperationOutcome], of client: String, in connection: any StateConnection) throws {
        try apply(outcomes.map { (client, $0) }, in: connection)
    }

    private func apply(_ outcomes: [(client: String, outcome: OperationOutcome)], in connection: any StateConnection) throws {
        let remembered = Set(try outcomes.compactMap { try apply($0.outcome, of: $0.client, in: connection) })
        for client in remembered { try RejectedRows(cache: cache).prune(client, in: connection) }
    }

    /// Assigns one row the key that its device gave it, or records that there is no such row. The replay has already checked that the client may
    /// assign this key, and that the row has no other one. Existing entries of either in the map are therefore out of date.
    /// - Returns: the client under which ``RejectedRows`` have another row now; nil without one.
    private func apply(_ outcome: OperationOutcome, of client: String, in connection: any StateConnection) throws -> String? {
        let surrogateKey = outcome.result.key
        if outcome.result.outcome == .rejected, outcome.change == .create {
            try RejectedRows(cache: cache).add(surrogateKey, operation: outcome.result.id, of: client, in: connection)
            return client
        }
        guard let key = outcome.rowKey, let object = package.object(named: outcome.result.object) else { return nil }
        let row: [Value] = [.integer(cache.id(of: object)), .integer(surrogateKey), .text(KeyText(key).text)]
        let kept = connection.dialect.keptKey("?3")
        var remembered: String?
        if try connection.exists("SELECT 1 FROM _key WHERE object = ?1 AND (sk = ?2 OR k = \(kept)) AND NOT (sk = ?2 AND k = \(kept))", row) {
            // Rows under the former key are found by a comparison of all rows only, and not by one that has looked up its keys already.
            try connection.execute("UPDATE _partition SET mark = NULL WHERE object = ?1", [row[0]])
            try RefreshLease.noteRekeyed(package: cache.id, backEnd: object.binding.backEnd, in: connection)
            for former in try connection.rows("SELECT sk FROM _key WHERE object = ?1 AND k = \(kept) AND sk <> ?2", row) {
                guard let former = former[0].integer else { continue }
                try RejectedRows(cache: cache).addDisplaced(former, in: connection)
                remembered = RejectedRows.displaced
            }
        }
        try connection.execute("DELETE FROM _key WHERE object = ?1 AND (sk = ?2 OR k = \(kept))", row)
        try connection.execute("INSERT INTO _key (object, sk, k) VALUES (?1, ?2, \(kept))", row)
        try cache.keepFree(from: surrogateKey, in: connection)
        try RejectedRows(cache: cache).remove(surrogateKey, of: client, in: connection)
        return remembered
    }

    /// Returns the number up to which the record of operations was read, with the back end's era of it.
    func appliedPosition(of backEnd: ServedBackEnd, in connection: any StateConnection) throws -> AppliedPosition {
        let row = try connection.first(
            "SELECT applied, era FROM _back_end WHERE package = ?1 AND name = ?2", [.integer(cache.id), .text(backEnd.name)])
        return AppliedPosition(number: row?[0].integer ?? 0, era: row?[1].text ?? "")
    }

    /// Waits until no other process imports from the back end into this cache, and keeps others out until the transaction ends.
    func lock(_ backEnd: ServedBackEnd, in connection: any StateConnection) throws {
        _ = try connection.first(
            "SELECT applied FROM _back_end WHERE package = ?1 AND name = ?2" + connection.dialect.lock, [.integer(cache.id), .text(backEnd.name)])
    }
}
