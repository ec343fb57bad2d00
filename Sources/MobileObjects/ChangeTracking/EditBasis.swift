import MobileModel
import MobileStore

/// The row that a pending change is based on, for objects that refuse conflicts: table `_basis`, one row per row with a pending change.
///
/// **It is the server's version that the device had when the user last changed the row.** The original state is not sufficient: imports replace it, and the
/// server would compare its row with a version that no user has seen. Submissions leave it as it is, because a rejected one is sent again from it.
struct EditBasis {
    /// The server's version, by attribute, without the key and large values; empty for a row that the server did not have.
    let original: JSONObject
    /// The last submission of the row; 0 for none. The server knows which row it left.
    let follows: Int64
}

extension EntityMetadata {
    var refusesConflicts: Bool { model.conflicts == .refuse && otherOperation == nil && !isLocal }

    /// Returns the values that the server compares with its row.
    func comparedValues(_ content: [Value]) -> JSONObject {
        let compared = attributes.filter { !$0.isLarge && !primaryKey.contains($0.index) }
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
        try setBasis(entity.comparedValues(content), of: entity, key, replacing: true)
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
        try connection.execute(
            """
            INSERT INTO "_basis" ("entity", "sk", "original", "follows", "refused") VALUES (?1, ?2, ?3, 0, 0)
            ON CONFLICT ("entity", "sk") DO UPDATE SET "original" = \(replacing ? "excluded.\"original\"" : "\"original\"")
            """, [.text(entity.name), .integer(key), .text(JSONValue.object(original).description)])
    }

    /// Notes a submission of the row. A conflict of the one before is over.
    func noteSubmission(_ id: Int64, of entity: EntityMetadata, _ key: Int64) throws {
        guard entity.refusesConflicts else { return }
        try connection.execute(
            "UPDATE \"_basis\" SET \"follows\" = ?3, \"refused\" = 0, \"row\" = NULL WHERE \"entity\" = ?1 AND \"sk\" = ?2",
            [.text(entity.name), .integer(key), .integer(id)])
    }

    /// Forgets the basis of a row's change.
    func dropBasis(of entity: EntityMetadata, _ key: Int64) throws {
        guard entity.refusesConflicts else { return }
        try connection.execute("DELETE FROM \"_basis\" WHERE \"entity\" = ?1 AND \"sk\" = ?2", [.text(entity.name), .integer(key)])
    }
}
