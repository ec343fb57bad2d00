import MobileStore

/// The state of an answered operation, as the outbox kept it.
struct SettledRecord {
    let id: Int64
    let isCreate: Bool
    /// The row's values at the submit.
    let submitted: String
    /// The positions of the submitted values.
    let changed: ChangedValues
    /// Whether an import has brought a version of the row since the submit.
    var isImported: Bool
}

/// The effect of an acceptance on the server's version of a row that stays pending.
///
/// **An import since the submit wins whole. Otherwise the known version is overlaid with the submitted columns, and with no others.**
/// Why: an update that changes nothing in the back end brings no row. If all of the row's values, which may be older, replaced the known version, the
/// device would lose its version of the other columns.
extension Transaction {
    /// Updates the original state, and those values of the row that are not pending any more.
    func noteAccepted(_ record: SettledRecord, _ entity: EntityMetadata, _ key: Int64, _ original: OriginalState, _ counter: Int64) throws {
        // A delete, and a change that was cancelled since, leave nothing to note.
        guard !record.changed.isEmpty else { return }
        try releaseLargeValues(of: entity, key)
        var assignments = ["\"_sc\" = ?2"], values: [Value] = [.integer(key), .integer(counter)]
        if !record.isImported {
            assignments.append("\"_sv\" = \(ServerVersion.present.rawValue)")
            // Without a known version, the whole row is the server's version.
            let known = original.server == .present ? record.changed : .all
            for (index, value) in try SubmittedValues.values(record.submitted).enumerated() where known.contains(index) && !entity.isLarge(index) {
                values.append(value)
                assignments.append("\(entity.sql.content[index]) = ?\(values.count)")
            }
        }
        try connection.execute("UPDATE \(entity.sql.originalTable) SET \(assignments.joined(separator: ", ")) WHERE \"_sk\" = ?1", values)
        // A row that the server has deleted has no version.
        guard !record.isImported || original.server == .present else { return }
        try keepSubmittedLargeValues(record, entity, key)
        if original.replay.change != .delete { try showServerVersion(entity, key, after: record) }
    }

    /// Gives a row that stays pending the server's values where its own are not pending: neither changed nor under way.
    private func showServerVersion(_ entity: EntityMetadata, _ key: Int64, after record: SettledRecord) throws {
        let pending = try unanswered(of: entity, key, besides: record.id).reduce(changedValues(of: entity, key)) { $0.union($1.changed) }
        let rest = ChangedValues.all.subtracting(pending, of: entity.sql.content.count)
        guard !rest.isEmpty else { return }
        try takeFromOriginal(rest, entity, key)
        try changeLogRecorder()?.updated(entity, key)
    }

    /// Gives the row values of its original state.
    func takeFromOriginal(_ taken: ChangedValues, _ entity: EntityMetadata, _ key: Int64) throws {
        let columns = taken.positions(of: entity.sql.content.count).sorted().map { entity.sql.content[$0] }.joined(separator: ", ")
        guard !columns.isEmpty else { return }
        try connection.execute(
            """
            UPDATE \(entity.sql.table) SET (\(columns)) = (SELECT \(columns) FROM \(entity.sql.originalTable) AS o WHERE o."_sk" = ?1)
            WHERE "_sk" = ?1
            """, [.integer(key)])
    }

    /// Notes in the operations of a row that wait for an answer: an import has brought a version of the row since their submit.
    func noteImportedSince(of entity: EntityMetadata, _ key: Int64) throws {
        try connection.execute("UPDATE \"_outbox\" SET \"imported\" = 1 WHERE \"entity\" = ?1 AND \"sk\" = ?2", [.text(entity.name), .integer(key)])
    }

    /// Makes a submitted large value that of the server's version, unless an import brought another one since the submit. A create had no version
    /// before: it gets the submitted value or NULL, regardless of the value that the row had when it was deleted here.
    func keepSubmittedLargeValues(_ record: SettledRecord, _ entity: EntityMetadata, _ key: Int64) throws {
        guard !entity.largeAttributes.isEmpty else { return }
        let rows = try connection.storedRows(
            [OutboxLargeValueColumn.attribute, .value, .original], "WHERE \"operation\" = ?1", [.integer(record.id)])
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

    /// Makes waiting submissions compare with the version that they will find: it is this device's own, and no import came between.
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
