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
            "SELECT k FROM _key WHERE object = ?1 AND sk = ?2", [.integer(cache.id(of: object)), .integer(surrogateKey)])
        guard let row else { return nil }
        guard let key = row[0].text.flatMap({ KeyText(text: $0).value }) else {
            throw StoreError(.corrupt, "table _key: surrogate key \(surrogateKey) of \"\(object.name)\" has a damaged key")
        }
        return key
    }

    /// Imports the keys of rows that devices have created since the last time, from the back end's own record of them.
    /// - Parameter source: the read of the back end in which rows are loaded afterwards. A row is therefore never seen before its key.
    func apply(_ backEnd: ServedBackEnd, _ source: any BackEndSnapshot, in connection: any StateConnection) throws {
        guard !backEnd.isIdempotent, let records = try source.records() else { return }
        let history = try RecordHistory(records), known = try appliedPosition(of: backEnd, in: connection)
        // A record that has not reached this number in its era is that of a restored back end: read all of it.
        let applied = history.holds(known.number, in: known.era) ? known.number : 0
        if applied != known.number {
            for object in package.objects where object.binding.backEnd == backEnd.name {
                try connection.execute("UPDATE _partition SET mark = NULL WHERE object = ?1", [.integer(cache.id(of: object))])
            }
        }
        var last: Int64?
        var rejected = Set<String>()
        try records.forEachOutcome(after: applied) { number, client, text in
            last = number
            let outcome = try OperationOutcome(json: JSONValue(parsing: text))
            guard outcome.package == package.identifier else { return }
            if try apply(outcome, of: client, in: connection) { rejected.insert(client) }
        }
        if last == nil, applied != known.number { last = 0 }
        guard let last else { return }
        for client in rejected { try RejectedRows(cache: cache).prune(client, in: connection) }
        _ = try connection.execute(
            "UPDATE _back_end SET applied = ?3, era = ?4 WHERE package = ?1 AND name = ?2",
            [.integer(cache.id), .text(backEnd.name), .integer(last), .text(history.era(of: last))])
    }

    /// Imports the keys of new rows without loading anything, so that operations can refer to them.
    func catchUp(with backEnd: ServedBackEnd, _ stateStore: any StateStore) throws {
        guard !backEnd.isIdempotent else { return }
        let applied = try stateStore.read { try appliedPosition(of: backEnd, in: $0) }
        guard try !backEnd.system.read({ try hasAll($0, applied) }) else { return }
        try stateStore.write(label: "keys of new rows", isolation: .locks) { connection in
            try lock(backEnd, in: connection)
            try backEnd.system.read { try apply(backEnd, $0, in: connection) }
        }
    }

    /// Whether all records of the back end up to now were read.
    func hasAll(_ source: any BackEndSnapshot, _ applied: (number: Int64, era: String)) throws -> Bool {
        guard let records = try source.records() else { return true }
        return try records.lastNumber() == applied.number && RecordHistory(records).holds(applied.number, in: applied.era)
    }

    /// Imports the outcomes of a batch on a back end that keeps no record of them.
    func apply(_ outcomes: [OperationOutcome], of client: String, in connection: any StateConnection) throws {
        var hasRejected = false
        for outcome in outcomes { hasRejected = try apply(outcome, of: client, in: connection) || hasRejected }
        if hasRejected { try RejectedRows(cache: cache).prune(client, in: connection) }
    }

    /// Assigns one row the key that its device gave it, or records that there is no such row. The replay has already checked that the client may
    /// assign this key, and that the row has no other one. Existing entries of either in the map are therefore out of date.
    /// - Returns: whether the row is recorded as rejected.
    private func apply(_ outcome: OperationOutcome, of client: String, in connection: any StateConnection) throws -> Bool {
        let surrogateKey = outcome.result.key
        if outcome.result.outcome == .rejected, outcome.change == .create {
            try RejectedRows(cache: cache).add(surrogateKey, operation: outcome.result.id, of: client, in: connection)
            return true
        }
        guard let key = outcome.rowKey, let object = package.object(named: outcome.result.object) else { return false }
        let row: [Value] = [.integer(cache.id(of: object)), .integer(surrogateKey), .text(KeyText(key).text)]
        if try connection.exists("SELECT 1 FROM _key WHERE object = ?1 AND (sk = ?2 OR k = ?3) AND NOT (sk = ?2 AND k = ?3)", row) {
            // Rows under the former key are found by a comparison of all rows only.
            try connection.execute("UPDATE _partition SET mark = NULL WHERE object = ?1", [row[0]])
        }
        try connection.execute("DELETE FROM _key WHERE object = ?1 AND (sk = ?2 OR k = ?3)", row)
        try connection.execute("INSERT INTO _key (object, sk, k) VALUES (?1, ?2, ?3)", row)
        try cache.keepFree(from: surrogateKey, in: connection)
        try RejectedRows(cache: cache).remove(surrogateKey, of: client, in: connection)
        return false
    }

    /// Returns the number up to which the record of operations was read, with the back end's era of it.
    func appliedPosition(of backEnd: ServedBackEnd, in connection: any StateConnection) throws -> (number: Int64, era: String) {
        let row = try connection.first(
            "SELECT applied, era FROM _back_end WHERE package = ?1 AND name = ?2", [.integer(cache.id), .text(backEnd.name)])
        return (row?[0].integer ?? 0, row?[1].text ?? "")
    }

    /// Waits until no other process imports from the back end into this cache, and keeps others out until the transaction ends.
    func lock(_ backEnd: ServedBackEnd, in connection: any StateConnection) throws {
        _ = try connection.first(
            "SELECT applied FROM _back_end WHERE package = ?1 AND name = ?2" + connection.dialect.lock, [.integer(cache.id), .text(backEnd.name)])
    }
}
