import MobileStore

/// Submitting: what is pending goes to the outbox, a whole composite tree at a time, in one batch.
extension Transaction {
    /// The marks of the rows that were submitted.
    typealias Submitted = [RowID: ReplayState]

    /// Submits the tree that a row belongs to, from its topmost composite parent on. What was submitted before and not changed since is
    /// left alone.
    func submitTree(of entity: EntityMetadata, _ key: Int64) throws -> Submitted {
        var submitted: Submitted = [:]
        var root = RowID(entity: entity.index, key: key), seen: Set<RowID> = [root]
        while let owner = try owners(of: metadata.storedEntities[root.entity], root.key).first(where: { !seen.contains($0) }),
            try exists(owner)
        {
            seen.insert(owner)
            root = owner
        }
        var batch: Int64?
        try submit(root, &batch, &submitted)
        return submitted
    }

    private func exists(_ row: RowID) throws -> Bool {
        let entity = metadata.storedEntities[row.entity]
        if try replayState(of: entity, row.key) != nil { return true }
        return try originalState(of: entity, row.key) != nil
    }

    /// One walk over the tree: the create or update of a row before its children, its delete after them.
    private func submit(_ row: RowID, _ batch: inout Int64?, _ submitted: inout Submitted) throws {
        let entity = metadata.storedEntities[row.entity]
        let original = try originalState(of: entity, row.key)
        if let original, original.replay.change != .delete { try submitRow(entity, row, original, &batch, &submitted) }
        for child in try children(of: entity, row.key, .pending) { try submit(child, &batch, &submitted) }
        if let original, original.replay.change == .delete { try submitRow(entity, row, original, &batch, &submitted) }
    }

    private func submitRow(
        _ entity: EntityMetadata, _ row: RowID, _ original: OriginalState, _ batch: inout Int64?, _ submitted: inout Submitted
    ) throws {
        var replay = original.replay
        guard replay.needsSubmit else { return }
        let id = try nextCounter(after: replay.counter)
        let isDelete = replay.change == .delete
        let known = try content(entity.sql.originalTable, of: entity, row.key)
        let content = isDelete ? nil : try content(entity.sql.table, of: entity, row.key)
        let change = try change(for: original, entity, row.key)
        let submission = Submission(
            entity: entity, key: row.key, id: id, batch: batch ?? id, change: change, content: content,
            original: original.server == .absent && !isDelete ? nil : known, changed: try changedValues(of: entity, row.key),
            operation: try entity.submittedOperation(change, original.operation, content ?? known ?? []))
        try submission.write(in: self)
        batch = submission.batch
        replay.submit(counter: id)
        try setReplayState(replay, of: entity, row.key)
        try connection.execute("UPDATE \(entity.sql.originalTable) SET \"_im\" = 0, \"_ch\" = '' WHERE \"_sk\" = ?1", [.integer(row.key)])
        submitted[row] = replay
    }

    /// A create that was changed while its answer is awaited, or that an answer to an older submission accepted, is sent as an update: a
    /// second create would make a second row.
    private func change(for original: OriginalState, _ entity: EntityMetadata, _ key: Int64) throws -> OutboxRecord.Change {
        if entity.otherOperation != nil { return .other }
        return switch original.replay.change {
        case .delete: .delete
        case .create: try original.server != .absent || hasUnansweredCreate(entity, key) ? .update : .create
        case .update, .parent, .none: .update
        }
    }

    /// Submits every pending row of an object.
    func submitAll(_ entity: EntityMetadata) throws {
        for key in try pendingKeys(of: entity) { _ = try submitTree(of: entity, key) }
    }

    /// The keys of rows with a pending change of their own, and of parents of such, in order.
    func pendingKeys(of entity: EntityMetadata) throws -> [Int64] {
        guard !entity.isLocal else { return [] }
        return try connection.rows("SELECT \"_sk\" FROM \(entity.sql.originalTable) ORDER BY \"_sk\"").compactMap { $0[0].integer }
    }
}
