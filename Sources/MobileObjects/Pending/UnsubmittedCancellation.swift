import MobileStore

/// Cancelling unsubmitted changes, and no others.
///
/// **A change that waits for an answer stays as it was submitted, also in flight below a cancelled parent.** Why: the answer is under way. A change
/// that is cancelled here would come back with the next import, or would not be marked as failed anywhere.
extension Transaction {
    /// Cancels a row that waits to be submitted, except for the marks of its parents. A row that was changed since its submit returns to the submitted
    /// values.
    func cancelUnsubmitted(_ row: RowID, _ touched: inout TouchedParents) throws {
        let entity = metadata.storedEntities[row.entity]
        // A row may have been cancelled with its parent already.
        guard let original = try originalState(of: entity, row.key), original.replay.needsSubmit else { return }
        let owners = try owners(of: entity, row.key)
        try expectFreeKey(entity, row.key)
        if original.replay.change == .delete, let parent = try owners.first(where: isDeleted) {
            // The row was deleted with its parent. The parent must come back first, or waits for an answer.
            try cancelUnsubmitted(parent, &touched)
            if try isDeleted(parent) { return }
        }
        if original.replay.submitted != 0 {
            try returnToSubmitted(entity, row.key, original)
        } else if original.server == .absent {
            // Its children cannot stay without it, submitted or not.
            try cancelTree(of: entity, row.key, &touched)
        } else {
            try letGoOfSubmissions(of: entity, row.key)
            try restoreServerVersion(entity, row.key, original)
            touched.add([row])
        }
        touched.add(owners)
        touched.add(try self.owners(of: entity, row.key))
    }

    private func isDeleted(_ row: RowID) throws -> Bool {
        try originalState(of: metadata.entities[row.entity], row.key)?.replay.change == .delete
    }

    /// Restores the row as it was submitted: the known server version, with the values that wait for an answer.
    private func returnToSubmitted(_ entity: EntityMetadata, _ key: Int64, _ original: OriginalState) throws {
        let id = original.replay.submitted
        guard
            let record = try connection.storedRow([OutboxColumn.submitted, .operation, .parameters], "WHERE \"id\" = ?1", [.integer(id)])
        else { throw ObjectError(.corrupt, "\(entity.name) \(key): its submission \(id) is not in the outbox") }
        let values = try SubmittedValues.values(record.text(.submitted))
        // A counter that was drawn is not drawn again, although no row has it any more.
        try keepCounter()
        try releaseLargeValues(of: entity, key)
        var replay = original.replay
        replay.returnToSubmitted(isCreate: original.server == .absent)
        if original.replay.change == .delete { try connection.execute(entity.sql.insert, [.integer(key)] + replay.columns + values) }
        let waiting = try unanswered(of: entity, key, besides: 0).reduce(ChangedValues.nothing) { $0.union($1.changed) }
        let submitted = original.server == .present ? waiting : .all
        let positions = submitted.positions(of: entity.sql.content.count).sorted()
        try connection.execute(entity.sql.update(positions), [.integer(key)] + replay.columns + positions.map { values[$0] })
        try takeFromOriginal(ChangedValues.all.subtracting(submitted, of: entity.sql.content.count), entity, key)
        try setReplayState(replay, of: entity, key)
        try returnBasis(toSubmission: id, of: entity, key)
        try connection.execute("UPDATE \(entity.sql.originalTable) SET \"_ch\" = '' WHERE \"_sk\" = ?1", [.integer(key)])
        try setOperation(entity.submittedCall(record), of: entity, key)
    }
}

extension EntityMetadata {
    /// Returns the operation that a record in the outbox calls by its name; nil for a plain create, update or delete.
    fileprivate func submittedCall(_ record: StoredRow<OutboxColumn>) throws -> CalledOperation? {
        let name = try record.text(.operation)
        guard !name.isEmpty else { return nil }
        let operation = try operation(named: name)
        let own = Set(operation.ownParameters.map(\.name))
        guard !own.isEmpty else { return nil }
        let given = try record.object(.parameters).members.filter { own.contains($0.key) }.map { ($0.key, $0.value) }
        return CalledOperation(name: name, kind: operation.kind, parameters: JSONObject(uniqueKeys: given))
    }
}
