internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// The surrogate keys that rows of the back end have on all devices. A row keeps its key as long as the cache lives, in every partition, and in all
/// versions of the package (see ``SharedIdentity``). A row that a device created keeps the key that the device assigned.
struct KeyMap {
    let package: DeployedPackage
    let cache: PackageCache

    /// Returns the back end's key of a row; nil for a surrogate key that the cache does not know.
    func key(of surrogateKey: Int64, in object: ObjectPlan, _ connection: any StateConnection) throws -> Value? {
        let row = try connection.first(
            "SELECT CAST(k AS TEXT) FROM _key WHERE object = ?1 AND sk = ?2", [.integer(cache.keySpace(of: object)), .integer(surrogateKey)])
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
                try forgetMarks(ofSpace: cache.keySpace(of: object), in: connection)
            }
        }
        try apply(missing.map { ($0.client, $0.outcome) }, of: backEnd, in: connection)
        // Unless another import has read more.
        guard present == found.known || found.history.holds(present.number, in: present.era) && present.number < found.end.number else { return true }
        try connection.execute(
            "UPDATE _back_end SET applied = ?3, era = ?4 WHERE \(Self.place)",
            place(backEnd) + [.integer(found.end.number), .text(found.end.era)])
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
                    let found = try RecordImport.read(source, of: backEnd, after: known, package: package.model.name, apply: apply)
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
    func apply(_ outcomes: [OperationOutcome], of client: String, on backEnd: ServedBackEnd, in connection: any StateConnection) throws {
        try apply(outcomes.map { (client, $0) }, of: backEnd, in: connection)
    }

    private func apply(
        _ outcomes: [(client: String, outcome: OperationOutcome)], of backEnd: ServedBackEnd, in connection: any StateConnection
    ) throws {
        guard !outcomes.isEmpty else { return }
        let versions = try cache.identity.versions(of: backEnd.name, in: connection)
        var remembered: [RejectedRows: Set<String>] = [:]
        for (client, outcome) in outcomes {
            // A version that this store does not know has no rows here.
            guard let version = versions[outcome.package] else { continue }
            for place in try apply(outcome, of: client, as: version, in: versions, connection) {
                remembered[place.rows, default: []].insert(place.client)
            }
        }
        for (rows, clients) in remembered { for client in clients { try rows.prune(client, in: connection) } }
    }

    /// Assigns one row the key that its device gave it, or records that there is no such row. The replay has already checked that the client may
    /// assign this key, and that the row has no other one. Existing entries of either in the map are therefore out of date.
    /// - Parameter version: the version of the package that the device has.
    /// - Returns: the places of ``RejectedRows`` that have another row now.
    private func apply(
        _ outcome: OperationOutcome, of client: String, as version: SharedIdentity.Version, in versions: [String: SharedIdentity.Version],
        _ connection: any StateConnection
    ) throws -> [(rows: RejectedRows, client: String)] {
        let surrogateKey = outcome.result.key, rejected = RejectedRows(package: version.id)
        if outcome.result.outcome == .rejected, outcome.change == .create {
            try rejected.add(surrogateKey, operation: outcome.result.id, of: client, in: connection)
            return [(rejected, client)]
        }
        guard let key = outcome.rowKey, let space = version.keySpaces[outcome.result.object] else { return [] }
        let row: [Value] = [.integer(space), .integer(surrogateKey), .text(KeyText(key).text)]
        let kept = connection.dialect.keptKey("?3")
        var remembered: [(RejectedRows, String)] = []
        if try connection.exists("SELECT 1 FROM _key WHERE object = ?1 AND (sk = ?2 OR k = \(kept)) AND NOT (sk = ?2 AND k = \(kept))", row) {
            // Rows under the former key are found by a comparison of all rows only, and not by one that has looked up its keys already.
            try forgetMarks(ofSpace: space, in: connection)
            let sharing = versions.values.filter { $0.keySpaces.values.contains(space) }
            for other in sharing { try RefreshLease.noteRekeyed(package: other.id, backEnd: other.backEnd, in: connection) }
            for former in try connection.rows("SELECT sk FROM _key WHERE object = ?1 AND k = \(kept) AND sk <> ?2", row) {
                guard let former = former[0].integer else { continue }
                for rows in sharing.map({ RejectedRows(package: $0.id) }) {
                    try rows.add(former, operation: cache.eras.clock(), of: RejectedRows.displaced, in: connection)
                    remembered.append((rows, RejectedRows.displaced))
                }
            }
        }
        try connection.execute("DELETE FROM _key WHERE object = ?1 AND (sk = ?2 OR k = \(kept))", row)
        try connection.execute("INSERT INTO _key (object, sk, k) VALUES (?1, ?2, \(kept))", row)
        try cache.keepFree(from: surrogateKey, in: connection)
        for other in versions.values where other.keySpaces.values.contains(space) {
            try RejectedRows(package: other.id).remove(surrogateKey, of: client, in: connection)
        }
        return remembered
    }

    /// Demands comparisons of all rows whose keys are in a key space.
    private func forgetMarks(ofSpace space: Int64, in connection: any StateConnection) throws {
        try connection.execute(
            "UPDATE _partition SET mark = NULL WHERE object IN (SELECT object FROM _key_space WHERE space = ?1)", [.integer(space)])
    }

    /// Returns the number up to which the record of operations was read, with the back end's era of it.
    func appliedPosition(of backEnd: ServedBackEnd, in connection: any StateConnection) throws -> AppliedPosition {
        let row = try connection.first(
            "SELECT applied, era FROM _back_end WHERE \(Self.place)", place(backEnd))
        return AppliedPosition(number: row?[0].integer ?? 0, era: row?[1].text ?? "")
    }

    /// Waits until no other process imports from the back end into this cache, and keeps others out until the transaction ends.
    func lock(_ backEnd: ServedBackEnd, in connection: any StateConnection) throws {
        _ = try connection.first(
            "SELECT applied FROM _back_end WHERE \(Self.place)" + connection.dialect.lock, place(backEnd))
    }

    /// The row of `_back_end` with the position.
    private static let place = "package = ?1 AND name = ?2"

    private func place(_ backEnd: ServedBackEnd) -> [Value] {
        [.integer(cache.identity.sources[backEnd.name] ?? cache.id), .text(backEnd.name)]
    }
}
