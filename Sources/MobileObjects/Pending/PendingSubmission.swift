import MobileStore

/// The rows of a submitted tree.
struct SubmittedTree: Sendable {
    /// The new marks.
    var marks: [RowID: ReplayState] = [:]
    /// The rows that another writer has changed since objects in memory read them, as they are.
    var changed: [RowID: RowPage] = [:]
}

/// Submitting: pending changes go to the outbox, a whole composite tree at a time, in one batch.
extension Transaction {
    /// The marks of the rows that were submitted, before and after.
    typealias Submitted = [RowID: (before: ReplayState, after: ReplayState)]

    /// Submits the tree that a row belongs to, from its topmost composite parent on, after the trees of rows created here that it refers to. Skips
    /// changes that are the same since their last submit.
    /// - Parameter known: the marks with which objects in memory read rows of the tree.
    func submitTree(of entity: EntityMetadata, _ key: Int64, _ known: [RowID: ReplayState] = [:]) throws -> SubmittedTree {
        var tree = SubmittedTree()
        for (row, marks) in try submit([RowID(entity: entity.index, key: key)]) {
            tree.marks[row] = marks.after
            guard let read = known[row], !marks.before.isUnchanged(since: read) else { continue }
            let entity = metadata.storedEntities[row.entity]
            tree.changed[row] = try connection.page(entity.sql.byKey, [.integer(row.key)], size: 1)
        }
        return tree
    }

    /// Submits these rows with the trees that they belong to, in the order that ``SubmissionForest`` gives.
    func submit(_ rows: [RowID]) throws -> Submitted {
        let forest = try submissionForest(of: rows)
        var submitted: Submitted = [:]
        for tree in forest.trees {
            var batch: Int64?
            try submit(tree, forest, &batch, &submitted)
        }
        return submitted
    }

    /// Walks once over the tree: the create or update of a row goes before its children, its delete after them.
    private func submit(_ row: RowID, _ forest: SubmissionForest, _ batch: inout Int64?, _ submitted: inout Submitted) throws {
        guard let node = forest.nodes[row] else { return }
        if node.firstChange != nil, !node.isDelete { try submitRow(row, &batch, &submitted) }
        for child in forest.children(of: row) { try submit(child, forest, &batch, &submitted) }
        if node.firstChange != nil, node.isDelete { try submitRow(row, &batch, &submitted) }
    }

    private func submitRow(_ row: RowID, _ batch: inout Int64?, _ submitted: inout Submitted) throws {
        let entity = metadata.storedEntities[row.entity]
        // A child of two parents was submitted with the other one already.
        guard let original = try originalState(of: entity, row.key), original.replay.needsSubmit else { return }
        var replay = original.replay
        let id = try nextCounter(after: replay.counter)
        let isDelete = replay.change == .delete
        let known = try content(entity.sql.originalTable, of: entity, row.key)
        let content = isDelete ? nil : try content(entity.sql.table, of: entity, row.key)
        let change = try change(for: original, entity, row.key), basis = try basis(of: entity, row.key)
        let submission = Submission(
            entity: entity, key: row.key, id: id, batch: batch ?? id, change: change, content: content,
            original: original.server == .absent && !isDelete ? nil : known, changed: try changedValues(of: entity, row.key),
            operation: try entity.submittedOperation(change, original.operation, content ?? known ?? []), basis: change == .create ? nil : basis)
        if original.isImported { try noteImportedSince(of: entity, row.key) }
        try submission.write(in: self)
        try noteSubmission(id, of: entity, row.key)
        batch = submission.batch
        replay.submit(counter: id)
        try setReplayState(replay, of: entity, row.key)
        try connection.execute("UPDATE \(entity.sql.originalTable) SET \"_im\" = 0, \"_ch\" = '' WHERE \"_sk\" = ?1", [.integer(row.key)])
        submitted[row] = (original.replay, replay)
    }

    /// Returns the kind of change to send. A create becomes an update if it was changed while its answer is awaited, or if an answer to an older
    /// submission accepted it: a second create would make a second row.
    private func change(for original: OriginalState, _ entity: EntityMetadata, _ key: Int64) throws -> OutboxRecord.Change {
        if entity.otherOperation != nil { return .other }
        return switch original.replay.change {
        case .delete: .delete
        case .create: try original.server != .absent || hasUnansweredCreate(entity, key) ? .update : .create
        case .update, .parent, .none: .update
        }
    }
}
