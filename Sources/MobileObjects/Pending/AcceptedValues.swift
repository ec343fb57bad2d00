import MobileStore

/// What the outbox knew about an answered operation.
struct SettledRecord {
    let id: Int64
    let isCreate: Bool
    /// The row's values at the submit.
    let submitted: String
    /// Those of them that were submitted.
    let changed: ChangedValues
    /// An import has brought a version of the row since the submit.
    var isImported: Bool
}

/// What an acceptance says about the server's version of a row that stays pending.
///
/// **An import since the submit wins whole; else the version that is known is overlaid with the columns that were submitted, and with no others.**
/// Why: an update that changes nothing in the back end brings no row, and what the device knew of the other columns would be lost if the row's
/// values, which may be older, took their place.
extension Transaction {
    /// Brings the original state up to date, and the row where nothing of it is pending any more.
    func noteAccepted(_ record: SettledRecord, _ entity: EntityMetadata, _ key: Int64, _ original: OriginalState, _ counter: Int64) throws {
        // Of a delete, and of what was cancelled since, there is nothing to note.
        guard !record.changed.isEmpty else { return }
        try releaseLargeValues(of: entity, key)
        var assignments = ["\"_sc\" = ?2"], values: [Value] = [.integer(key), .integer(counter)]
        if !record.isImported {
            assignments.append("\"_sv\" = \(ServerVersion.present.rawValue)")
            // Where no version is known, all of the row is what the server has.
            let known = original.server == .present ? record.changed : .all
            for (index, value) in try SubmittedValues.values(record.submitted).enumerated() where known.contains(index) && !entity.isLarge(index) {
                values.append(value)
                assignments.append("\(entity.sql.content[index]) = ?\(values.count)")
            }
        }
        try connection.execute("UPDATE \(entity.sql.originalTable) SET \(assignments.joined(separator: ", ")) WHERE \"_sk\" = ?1", values)
        // Of a row that the server has deleted there is no version.
        guard !record.isImported || original.server == .present else { return }
        try keepSubmittedLargeValues(record, entity, key)
        if original.replay.change != .delete { try showServerVersion(entity, key, after: record) }
    }

    /// A row that stays pending takes the server's values where nothing of its own is pending: neither changed nor under way.
    private func showServerVersion(_ entity: EntityMetadata, _ key: Int64, after record: SettledRecord) throws {
        let pending = try unanswered(of: entity, key, besides: record.id).reduce(changedValues(of: entity, key)) { $0.union($1.changed) }
        let rest = ChangedValues.all.subtracting(pending, of: entity.sql.content.count)
        guard !rest.isEmpty else { return }
        try takeFromOriginal(rest, entity, key)
        try changeLogRecorder()?.updated(entity, key)
    }

    /// The row takes values of its original state.
    func takeFromOriginal(_ taken: ChangedValues, _ entity: EntityMetadata, _ key: Int64) throws {
        let columns = taken.positions(of: entity.sql.content.count).sorted().map { entity.sql.content[$0] }.joined(separator: ", ")
        guard !columns.isEmpty else { return }
        try connection.execute(
            """
            UPDATE \(entity.sql.table) SET (\(columns)) = (SELECT \(columns) FROM \(entity.sql.originalTable) AS o WHERE o."_sk" = ?1)
            WHERE "_sk" = ?1
            """, [.integer(key)])
    }

    /// An import has brought a version of the row since its last submit, and is noted with what waits for an answer before the next one.
    func noteImportedSince(of entity: EntityMetadata, _ key: Int64) throws {
        try connection.execute("UPDATE \"_outbox\" SET \"imported\" = 1 WHERE \"entity\" = ?1 AND \"sk\" = ?2", [.text(entity.name), .integer(key)])
    }

    /// A submitted large value becomes that of the server's version, unless an import brought another one since the submit. Of a create there was
    /// no version before: it has what was submitted, or NULL, whatever the row had when it was deleted here.
    func keepSubmittedLargeValues(_ record: SettledRecord, _ entity: EntityMetadata, _ key: Int64) throws {
        guard !entity.largeAttributes.isEmpty else { return }
        let rows = try connection.storedRows([OutboxLargeValueColumn.attribute, .value, .original], "WHERE \"operation\" = ?1", [.integer(record.id)])
        if record.isCreate && !record.isImported {
            let columns = entity.largeAttributes.map { "\(entity.sql.attributeColumns[$0]) = NULL" }.joined(separator: ", ")
            try connection.execute("UPDATE \(entity.sql.originalTable) SET \(columns) WHERE \"_sk\" = ?1", [.integer(key)])
        }
        for row in rows {
            let column = entity.sql.attributeColumns[try entity.attribute(named: row.text(.attribute)).index]
            let taken = try connection.execute(
                "UPDATE \(entity.sql.originalTable) SET \(column) = ?2 WHERE \"_sk\" = ?1 AND \(column) IS ?3",
                [.integer(key), row.value(.value), row.value(.original)])
            if taken > 0 { try rebase(row, record, entity, key) }
        }
    }

    /// Submissions that wait compare with the version that they will find: it is this device's own, and no import came between.
    private func rebase(_ large: StoredRow<OutboxLargeValueColumn>, _ record: SettledRecord, _ entity: EntityMetadata, _ key: Int64) throws {
        try connection.execute(
            """
            UPDATE "_outbox_large" SET "original" = ?1 WHERE "attribute" = ?2 AND "original" IS ?3
                AND "operation" IN (SELECT "id" FROM "_outbox" WHERE "entity" = ?4 AND "sk" = ?5 AND "id" > ?6)
            """,
            [
                large.value(.value), large.value(.attribute), large.value(.original), .text(entity.name), .integer(key), .integer(record.id),
            ])
    }
}
