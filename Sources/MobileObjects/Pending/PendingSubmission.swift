import MobileModel
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
        var submitted: Submitted = [:], open: [OpenReferences] = []
        for tree in forest.trees {
            var batch: Int64?
            try submit(tree, forest, &batch, &submitted, &open)
        }
        for references in open { try submit(references, &submitted) }
        return submitted
    }

    /// References of a new row to rows that the back end has after it alone: one reference of each cycle of new rows, and those to its own parts.
    ///
    /// **The create is sent without them, and an update with them follows when all rows are created**, if the references may be NULL. The row waits for both
    /// answers, as one that was changed after its submit. *If you break it*: the back end refuses the rows of a cycle for good.
    private struct OpenReferences {
        let row: RowID
        /// The positions of the references and of their mapped attributes.
        let positions: [Int]
    }

    /// Submits the references that the create of a row left out.
    private func submit(_ references: OpenReferences, _ submitted: inout Submitted) throws {
        let entity = metadata.storedEntities[references.row.entity], key = references.row.key
        guard var replay = try originalState(of: entity, key)?.replay else { return }
        replay.update(counter: try nextCounter(after: replay.counter))
        try setReplayState(replay, of: entity, key)
        try noteChanged(.only(Set(references.positions)), of: entity, key)
        try setFirstChange(replay.counter, of: entity, key)
        var batch: Int64?, none: [OpenReferences] = []
        try submitRow(references.row, &batch, &submitted, &none)
    }

    /// Returns the positions of the open references in the values of a new row that is submitted now.
    private func openReferences(of row: RowID, _ entity: EntityMetadata, _ content: [Value]) throws -> [Int] {
        let relationships = entity.references.map { entity.relationships[$0] }.filter {
            content[entity.attributes.count + ($0.referenceIndex ?? 0)].integer != nil
        }
        let open = try relationships.filter { relationship in
            let key = content[entity.attributes.count + (relationship.referenceIndex ?? 0)].integer ?? 0
            let target = RowID(entity: relationship.targetIndex, key: key)
            // A row that refers to itself by a key of its own needs no other one.
            return try target == row ? isKeyUnknown(entity, key) : isUnsubmittedCreate(target)
        }
        guard !open.isEmpty, entity.otherOperation == nil else { return [] }
        do { _ = try entity.defaultOperation(.update) } catch { return [] }
        let kept = Set(relationships.filter { one in !open.contains { $0.index == one.index } }.flatMap { $0.mapping.map(\.source) })
        return open.flatMap { relationship -> [Int] in
            let sources = relationship.mapping.map(\.source)
            let mayBeLeftOut = sources.allSatisfy { entity.attributes[$0].isNullable && !entity.primaryKey.contains($0) && !kept.contains($0) }
            return mayBeLeftOut ? sources + [entity.attributes.count + (relationship.referenceIndex ?? 0)] : []
        }
    }

    /// Walks once over the tree: the create or update of a row goes before its children, its delete after them.
    private func submit(
        _ row: RowID, _ forest: SubmissionForest, _ batch: inout Int64?, _ submitted: inout Submitted, _ open: inout [OpenReferences]
    ) throws {
        guard let node = forest.nodes[row] else { return }
        if node.firstChange != nil, !node.isDelete { try submitRow(row, &batch, &submitted, &open) }
        for child in forest.children(of: row) { try submit(child, forest, &batch, &submitted, &open) }
        if node.firstChange != nil, node.isDelete { try submitRow(row, &batch, &submitted, &open) }
    }

    private func submitRow(_ row: RowID, _ batch: inout Int64?, _ submitted: inout Submitted, _ open: inout [OpenReferences]) throws {
        let entity = metadata.storedEntities[row.entity]
        // A child of two parents was submitted with the other one already.
        guard let original = try originalState(of: entity, row.key), original.replay.needsSubmit else { return }
        var replay = original.replay
        let id = try nextCounter(after: replay.counter)
        let isDelete = replay.change == .delete
        let known = try content(entity.sql.originalTable, of: entity, row.key)
        var content = isDelete ? nil : try content(entity.sql.table, of: entity, row.key)
        let change = try change(for: original, entity, row.key), basis = try basis(of: entity, row.key)
        if change == .create, let values = content {
            let positions = try openReferences(of: row, entity, values)
            for position in positions { content?[position] = .null }
            if !positions.isEmpty { open.append(OpenReferences(row: row, positions: positions)) }
        }
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
