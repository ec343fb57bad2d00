import MobileModel
import MobileStore

/// The row that a pending change is based on, for objects that refuse conflicts: table `_basis`, one row per row with a pending change.
///
/// **It is the server's version that the device had when the user last changed the row.** The original state is not sufficient: imports replace it, and the
/// server would compare its row with a version that no user has seen. Submissions leave it as it is, because a rejected one is sent again from it.
///
/// **It has no attributes that a newer model has added, until the server has sent their values.** Why: the user has seen none, and they would be in conflict with
/// the values that the back end has.
///
/// **A row without a pending change keeps its last submission until the next download of its group.** The device may not have the row that an accepted
/// operation left: the answer comes without it if another group is synchronized. The next change then follows that operation.
struct EditBasis {
    /// The server's version, by attribute, without the key and large values; empty for a row that the server did not have.
    let original: JSONObject
    /// The last submission of the row; 0 for none. The server knows which row it left.
    let follows: Int64
}

extension EntityMetadata {
    var refusesConflicts: Bool { model.conflicts == .refuse && otherOperation == nil && !isLocal }

    /// Returns the values that the server compares with its row.
    func comparedValues(_ content: [Value], _ connection: Connection) throws -> JSONObject {
        let unseen = try PackageSettings(connection).unseenAttributes(of: name)
        let compared = attributes.filter { !$0.isLarge && !primaryKey.contains($0.index) && !unseen.contains($0.name) }
        return JSONObject(uniqueKeys: compared.map { ($0.name, $0.storage.json(content[$0.index])) })
    }
}

extension Transaction {
    /// Notes that the user has changed a row whose original state is the server's version.
    func noteEdit(of entity: EntityMetadata, _ key: Int64) throws {
        guard entity.refusesConflicts, let original = try originalState(of: entity, key) else { return }
        guard original.server == .present, let content = try content(entity.sql.originalTable, of: entity, key) else {
            return try setBasis([:], of: entity, key, replacing: false)
        }
        try setBasis(entity.comparedValues(content, connection), of: entity, key, replacing: true)
    }

    /// Returns the basis of a pending change; nil for an object that does not refuse conflicts.
    func basis(of entity: EntityMetadata, _ key: Int64) throws -> EditBasis? {
        guard entity.refusesConflicts else { return nil }
        if let basis = try storedBasis(of: entity, key) { return basis }
        // The change was made while the last writer won.
        try noteEdit(of: entity, key)
        return try storedBasis(of: entity, key)
    }

    private func storedBasis(of entity: EntityMetadata, _ key: Int64) throws -> EditBasis? {
        let row = try connection.storedRow(
            [BasisColumn.original, .follows], "WHERE \"entity\" = ?1 AND \"sk\" = ?2", [.text(entity.name), .integer(key)])
        return try row.map { EditBasis(original: try $0.object(.original), follows: try $0.integer(.follows)) }
    }

    private func setBasis(_ original: JSONObject, of entity: EntityMetadata, _ key: Int64, replacing: Bool) throws {
        let last = try lastSubmission(of: entity, key)
        try connection.execute(
            """
            INSERT INTO "_basis" ("entity", "sk", "original", "follows", "refused") VALUES (?1, ?2, ?3, ?4, 0)
            ON CONFLICT ("entity", "sk") DO UPDATE SET "original" = \(replacing ? "excluded.\"original\"" : "\"original\"")
            """, [.text(entity.name), .integer(key), .text(JSONValue.object(original).description), .integer(last)])
    }

    /// Returns the id of the last operation on the row that waits in the outbox; 0 for none. The row may have been cancelled since.
    private func lastSubmission(of entity: EntityMetadata, _ key: Int64) throws -> Int64 {
        try connection.optionalNumber(
            "SELECT max(\"id\") FROM \"_outbox\" WHERE \"entity\" = ?1 AND \"sk\" = ?2 AND \"client\" = ''",
            [.text(entity.name), .integer(key)]) ?? 0
    }

    /// Notes a submission of the row. A conflict of the one before is over.
    func noteSubmission(_ id: Int64, of entity: EntityMetadata, _ key: Int64) throws {
        guard entity.refusesConflicts else { return }
        try connection.execute(
            "UPDATE \"_basis\" SET \"follows\" = ?3, \"refused\" = 0, \"row\" = NULL WHERE \"entity\" = ?1 AND \"sk\" = ?2",
            [.text(entity.name), .integer(key), .integer(id)])
    }

    /// Notes an operation that is done without a change of the row here, or was accepted: a later change follows it.
    func noteLast(_ id: Int64, of entity: EntityMetadata, _ key: Int64) throws {
        guard entity.refusesConflicts else { return }
        // A pending change that was made while the last writer won has no basis yet.
        _ = try basis(of: entity, key)
        try connection.execute(
            """
            INSERT INTO "_basis" ("entity", "sk", "original", "follows", "refused") VALUES (?1, ?2, '{}', ?3, 0)
            ON CONFLICT ("entity", "sk") DO UPDATE SET "follows" = max("follows", ?3)
            """, [.text(entity.name), .integer(key), .integer(id)])
    }

    /// Makes later changes follow the operation before a submission that is withdrawn.
    func followOperation(before id: Int64, of entity: EntityMetadata, _ key: Int64) throws {
        guard entity.refusesConflicts else { return }
        try connection.execute(
            """
            UPDATE "_basis" SET "follows" = coalesce((SELECT "follows" FROM "_outbox" WHERE "id" = ?3), 0) WHERE "entity" = ?1 AND "sk" = ?2
            """, [.text(entity.name), .integer(key), .integer(id)])
    }

    /// Gives the pending change the basis of its submission again, after later edits were cancelled.
    func returnBasis(toSubmission id: Int64, of entity: EntityMetadata, _ key: Int64) throws {
        guard entity.refusesConflicts else { return }
        try connection.execute(
            """
            UPDATE "_basis" SET "original" = (SELECT CASE "original" WHEN '' THEN '{}' ELSE "original" END FROM "_outbox" WHERE "id" = ?3)
            WHERE "entity" = ?1 AND "sk" = ?2
            """, [.text(entity.name), .integer(key), .integer(id)])
    }

    /// Forgets the basis of a row's change, but not its last submission.
    func dropBasis(of entity: EntityMetadata, _ key: Int64) throws {
        guard entity.refusesConflicts else { return }
        let row: [Value] = [.text(entity.name), .integer(key)]
        try connection.execute("DELETE FROM \"_basis\" WHERE \"entity\" = ?1 AND \"sk\" = ?2 AND \"follows\" = 0", row)
        try connection.execute(
            "UPDATE \"_basis\" SET \"original\" = '{}', \"refused\" = 0, \"row\" = NULL WHERE \"entity\" = ?1 AND \"sk\" = ?2", row)
    }

    /// Forgets which attributes of a group the server had not sent.
    func noteSeenAttributes(inGroup group: String) throws {
        let settings = PackageSettings(connection)
        guard try settings.hasUnseenAttributes else { return }
        for entity in metadata.storedEntities where !entity.isLocal && entity.model.synchronizationGroup == group {
            try settings.setUnseenAttributes([], of: entity.name)
        }
    }

    /// Forgets the last submissions of the rows of a group that have no pending change: a download has brought these rows as they are.
    package func dropBasesOfUnchangedRows(inGroup group: String) throws {
        for entity in metadata.storedEntities where entity.refusesConflicts && entity.model.synchronizationGroup == group {
            try connection.execute(
                """
                DELETE FROM "_basis" WHERE "entity" = ?1
                    AND NOT EXISTS (SELECT 1 FROM \(entity.sql.originalTable) AS o WHERE o."_sk" = "_basis"."sk")
                """, [.text(entity.name)])
        }
    }

    /// Returns the basis of an operation that is submitted without a change of its row: the row as it shows now, after all operations that wait. A
    /// pending change of the row follows `id` from then on.
    func basis(ofRepeated id: Int64, of entity: EntityMetadata, _ key: Int64) throws -> EditBasis? {
        guard entity.refusesConflicts else { return nil }
        let pending = try originalState(of: entity, key), table = pending == nil ? entity.sql.table : entity.sql.originalTable
        let isKnown = pending.map { $0.server == .present } ?? true
        let content = isKnown ? try content(table, of: entity, key) : nil
        let follows = max(try storedBasis(of: entity, key)?.follows ?? 0, try lastSubmission(of: entity, key))
        try noteLast(id, of: entity, key)
        return EditBasis(original: try content.map { try entity.comparedValues($0, connection) } ?? [:], follows: follows)
    }
}
