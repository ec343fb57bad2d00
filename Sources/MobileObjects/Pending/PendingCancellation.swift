import MobileStore

/// Cancelling: the server's version of a row comes back, whether or not the change was submitted. An operation in the outbox stays there and is sent,
/// and its answer finds nothing pending. An operation that was certainly not done, because the server has deferred it, goes. A cancel that would bring back a
/// key which another row has by now is refused (``Transaction/expectFreeKey(_:_:)``).
extension Transaction {
    /// Cancels the pending changes of a row and of its composite children. A row that was deleted with its parent comes back with it: alone it would
    /// have no owner.
    func cancelTree(of entity: EntityMetadata, _ key: Int64) throws {
        var touched = TouchedParents()
        try cancelTree(of: entity, key, &touched)
        try updateMarks(of: touched.rows)
    }

    /// Does the same, except for the marks of the parents. If they were updated after each of n children, each time the database would look for one that
    /// is pending after all those that are not any more.
    func cancelTree(of entity: EntityMetadata, _ key: Int64, _ touched: inout TouchedParents) throws {
        for owner in try owners(of: entity, key) {
            let parent = metadata.entities[owner.entity]
            if try originalState(of: parent, owner.key)?.replay.change == .delete { return try cancelTree(of: parent, owner.key, &touched) }
        }
        try cancel(RowID(entity: entity.index, key: key), &touched)
    }

    private func cancel(_ row: RowID, _ touched: inout TouchedParents) throws {
        let entity = metadata.storedEntities[row.entity], owners = try owners(of: entity, row.key)
        let original = try originalState(of: entity, row.key)
        let children = try children(of: entity, row.key, .pending)
        if let original {
            try withdrawDeferred(of: entity, row.key)
            try letGoOfSubmissions(of: entity, row.key)
            try expectFreeKey(entity, row.key)
            try restoreServerVersion(entity, row.key, original)
        }
        for child in children { try cancel(child, &touched) }
        // Its parent in the server's version may be another one, and children that came from elsewhere have gone back there.
        touched.add([row] + owners)
        touched.add(try self.owners(of: entity, row.key))
    }

    /// Replaces a pending row with the server's version, or removes it where the server has none. The server has no rows of operations.
    func restoreServerVersion(_ entity: EntityMetadata, _ key: Int64, _ original: OriginalState) throws {
        guard original.server == .present, entity.otherOperation == nil else { return try vanish(entity, key) }
        try releaseLargeValues(of: entity, key)
        if original.replay.change == .delete {
            try connection.execute(entity.sql.restoreDeleted, [.integer(key), .integer(original.replay.accepted)])
        } else {
            if !entity.sql.restoreRow.isEmpty { try connection.execute(entity.sql.restoreRow, [.integer(key)]) }
            let restored = ReplayState(serverCounter: original.serverCounter, accepted: original.replay.accepted)
            try connection.execute(entity.sql.setState, [.integer(key)] + restored.columns)
        }
        try dropOriginalState(of: entity, key)
    }
}

/// The rows whose marks are updated at the end of a cancel, each once.
struct TouchedParents {
    private(set) var rows: [RowID] = []
    private var known: Set<RowID> = []

    mutating func add(_ more: [RowID]) { for row in more where known.insert(row).inserted { rows.append(row) } }
}
