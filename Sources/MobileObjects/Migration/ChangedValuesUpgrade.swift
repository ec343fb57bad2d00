import MobileStore

/// Formats up to 3 had one list of changed values per row, from its first change to the end, and an empty one for all values. Since format 4 the list
/// of submitted values is stored with the submission, and the row's list has the values changed since: see ``ChangedValues``.
struct ChangedValuesUpgrade {
    private let entity: EntityMetadata
    private let connection: Connection

    /// - Parameter entity: the object in the model that the database was made from.
    init(_ entity: EntityMetadata, _ connection: Connection) { (self.entity, self.connection) = (entity, connection) }

    func run() throws {
        let table = entity.sql.originalTable
        let rows = try connection.rows("SELECT \"_sk\", \"_rp\", \"_ch\" FROM \(table) WHERE \"_pc\" IN (1, 2)")
        for row in rows {
            let listed = try StoredRow([StateColumn.key, .submitted, .changed], row, of: table).changedValues(.changed),
                known = listed.isEmpty ? ChangedValues.all : listed
            for operation in try operations(of: row[0]) { try setChanged(sent(by: operation, known), ofOperation: operation.value(.id)) }
            let since = try changedSince(submission: row[1], known, of: row[0])
            try connection.execute("UPDATE \(table) SET \"_ch\" = ?2 WHERE \"_sk\" = ?1", [row[0], since.stored])
        }
    }

    private func operations(of key: Value) throws -> [StoredRow<OutboxColumn>] {
        try connection.storedRows([.id, .change, .attributes], "WHERE \"entity\" = ?1 AND \"sk\" = ?2", [.text(entity.name), key])
    }

    private func setChanged(_ changed: ChangedValues, ofOperation id: Value) throws {
        try connection.execute("UPDATE \"_outbox\" SET \"changed\" = ?2 WHERE \"id\" = ?1", [id, changed.stored])
    }

    /// Returns the values that an operation sends. An update names them; only references do not show whether they were changed.
    private func sent(by operation: StoredRow<OutboxColumn>, _ known: ChangedValues) throws -> ChangedValues {
        let change = try operation.kind(.change, of: OutboxRecord.Change.self)
        guard change == .update else { return change == .delete ? .nothing : .all }
        let attributes = try operation.object(.attributes)
        if entity.attributes.allSatisfy({ $0.isLarge || attributes[$0.name] != nil }) { return .all }
        let large = Set(
            try connection.storedRows([OutboxLargeValueColumn.attribute], "WHERE \"operation\" = ?1", [operation.value(.id)]).map {
                try $0.text(.attribute)
            })
        let sent = entity.attributes.filter { attributes[$0.name] != nil || large.contains($0.name) }.map(\.index)
        let references = entity.attributes.count..<entity.sql.content.count
        return .only(Set(sent).union(references.filter { known.contains($0) }))
    }

    /// Returns the values of a submitted row that differ from the submission.
    private func changedSince(submission id: Value, _ known: ChangedValues, of key: Value) throws -> ChangedValues {
        let found = try connection.storedRow([OutboxColumn.submitted], "WHERE \"id\" = ?1", [id])
        guard let text = try found?.text(.submitted), !text.isEmpty else { return known }
        let submitted = try SubmittedValues.values(text)
        let content = try connection.first("SELECT \(entity.sql.content.joined(separator: ", ")) FROM \(entity.sql.table) WHERE \"_sk\" = ?1", [key])
        guard let content, content.count == submitted.count else { return known }
        return .only(Set(content.indices.filter { known.contains($0) && content[$0] != submitted[$0] }))
    }
}
