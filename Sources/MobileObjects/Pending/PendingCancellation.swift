import MobileStore

/// Cancelling: the server's version of a row comes back, whether or not the change was submitted. An operation in the outbox stays there and is sent,
/// and its answer finds nothing pending. An operation that was certainly not done, because the server has deferred it, goes.
extension Transaction {
    /// Cancels the pending changes of a row and of its composite children. A row that was deleted with its parent comes back with it: alone it would
    /// have no owner.
    func cancelTree(of entity: EntityMetadata, _ key: Int64) throws {
        for owner in try owners(of: entity, key) {
            let parent = metadata.entities[owner.entity]
            if try originalState(of: parent, owner.key)?.replay.change == .delete { return try cancelTree(of: parent, owner.key) }
        }
        try cancel(RowID(entity: entity.index, key: key))
    }

    private func cancel(_ row: RowID) throws {
        let entity = metadata.storedEntities[row.entity], owners = try owners(of: entity, row.key)
        let original = try originalState(of: entity, row.key)
        let children = try children(of: entity, row.key, .pending)
        if let original {
            try withdrawDeferred(of: entity, row.key)
            try letGoOfSubmissions(of: entity, row.key)
            try restoreServerVersion(entity, row.key, original)
        }
        for child in children { try cancel(child) }
        // Its parent in the server's version may be another one, and children that came from elsewhere have gone back there.
        try updateMarks(of: [row] + owners + self.owners(of: entity, row.key))
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

    /// Cancels every pending row of an object, submitted or not.
    func cancelAll(_ entity: EntityMetadata) throws {
        for key in try pendingKeys(of: entity) {
            // A row may have been cancelled with its parent already.
            if try originalState(of: entity, key) != nil { try cancelTree(of: entity, key) }
        }
    }
}
