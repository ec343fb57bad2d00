import MobileStore

/// The mark `P`: a parent without its own change has it exactly while one of its composite children is pending, at any depth.
extension Transaction {
    /// Returns the composite parents of a row, from the row itself or, if it was deleted here, from its original state.
    func owners(of entity: EntityMetadata, _ key: Int64) throws -> [RowID] {
        guard !entity.owners.isEmpty else { return [] }
        let columns = entity.owners.map { entity.sql.referenceColumns[entity.relationships[$0].referenceIndex ?? 0] }.joined(separator: ", ")
        var row = try connection.first("SELECT \(columns) FROM \(entity.sql.table) WHERE \"_sk\" = ?1", [.integer(key)])
        if row == nil, !entity.isLocal {
            row = try connection.first("SELECT \(columns) FROM \(entity.sql.originalTable) WHERE \"_sk\" = ?1", [.integer(key)])
        }
        return zip(entity.owners, row ?? []).compactMap { relationship, value in
            value.integer.map { RowID(entity: entity.relationships[relationship].targetIndex, key: $0) }
        }
    }

    /// Marks the parents of a row that became pending, their parents, and so on. A parent that is pending already has marked its own.
    func markOwners(of entity: EntityMetadata, _ key: Int64) throws {
        for owner in try owners(of: entity, key) where try mark(owner) { try markOwners(of: metadata.entities[owner.entity], owner.key) }
    }

    /// - Returns: whether the row exists and had no mark.
    private func mark(_ parent: RowID) throws -> Bool {
        let entity = metadata.entities[parent.entity]
        guard var replay = try replayState(of: entity, parent.key), replay.change == .none else { return false }
        replay.markAsParent()
        try setReplayState(replay, of: entity, parent.key)
        return true
    }

    /// Updates the marks of these parents after their children became pending, stopped being pending, moved or left; then those of
    /// their own parents, as far as the marks change.
    func updateMarks(of owners: some Sequence<RowID>) throws {
        for owner in owners {
            let parent = metadata.storedEntities[owner.entity]
            guard !parent.composites.isEmpty, var replay = try replayState(of: parent, owner.key), !replay.change.isOwn else { continue }
            let before = replay
            if try hasPendingChildren(parent, owner.key) { replay.markAsParent() } else { replay.unmarkAsParent() }
            guard replay != before else { continue }
            try setReplayState(replay, of: parent, owner.key)
            try updateMarks(of: self.owners(of: parent, owner.key))
        }
    }

    /// Notes the current parents of all pending rows, once in a transaction. An import of this object may bring, move or remove parents of pending
    /// rows, and move the server's version of rows that were deleted here.
    func watchMarks(_ entity: EntityMetadata) throws {
        guard !closes(with: .marks), !entity.composites.isEmpty || !entity.owners.isEmpty else { return }
        let before = try parentsOfPendingRows()
        atEnd(.marks) { try $0.updateAllMarks(before: before) }
    }

    /// Updates the marks of all parents of pending rows, and of the former ones in `before`.
    func updateAllMarks(before: Set<RowID> = []) throws {
        let parents = try parentsOfPendingRows()
        for parent in parents { _ = try mark(parent) }
        try updateMarks(of: before.subtracting(parents))
    }

    /// Returns the parents of pending rows, at any height. Those of a row that is gone are not known.
    private func parentsOfPendingRows() throws -> Set<RowID> {
        var parents: Set<RowID> = []
        for entity in metadata.entities where !entity.owners.isEmpty {
            for key in try pendingKeys(of: entity) {
                var rows = [RowID(entity: entity.index, key: key)]
                while let row = rows.popLast() {
                    for owner in try owners(of: metadata.entities[row.entity], row.key) where parents.insert(owner).inserted { rows.append(owner) }
                }
            }
        }
        return parents
    }

    /// Whether a composite child is pending, including one that was deleted here.
    func hasPendingChildren(_ entity: EntityMetadata, _ key: Int64) throws -> Bool {
        for relationship in entity.composites {
            guard let (child, column) = childReference(entity.relationships[relationship]) else { continue }
            let tests = [
                "SELECT 1 FROM \(child.sql.table) WHERE \(column) = ?1 AND \"_pc\" <> 0 LIMIT 1",
                "SELECT 1 FROM \(child.sql.originalTable) WHERE \(column) = ?1 AND \"_pc\" = 3 LIMIT 1",
            ]
            for test in tests where try connection.first(test, [.integer(key)]) != nil { return true }
        }
        return false
    }

    /// Returns the object at the many end of a composite relationship and its column with the parent's key. The model's validation ensures that
    /// a composite relationship has an inverse.
    func childReference(_ relationship: RelationshipMetadata) -> (EntityMetadata, column: String)? {
        let child = metadata.entities[relationship.targetIndex]
        guard let inverse = relationship.inverseIndex, let reference = child.relationships[inverse].referenceIndex else { return nil }
        return (child, child.sql.referenceColumns[reference])
    }

    /// Returns the composite children of a row, in the order of the model's relationships and of their surrogate keys.
    /// - Parameter which: pending: those with a mark of any kind, including deleted ones; present: those with a row.
    func children(of entity: EntityMetadata, _ key: Int64, _ which: ChildSelection) throws -> [RowID] {
        var children: [RowID] = []
        for relationship in entity.composites {
            guard let (child, column) = childReference(entity.relationships[relationship]) else { continue }
            let sql =
                switch which {
                case .present: "SELECT \"_sk\" FROM \(child.sql.table) WHERE \(column) = ?1 ORDER BY \"_sk\""
                case .pending:
                    """
                    SELECT "_sk" FROM \(child.sql.table) WHERE \(column) = ?1 AND "_pc" <> 0
                    UNION SELECT "_sk" FROM \(child.sql.originalTable) WHERE \(column) = ?1 AND "_pc" = 3 ORDER BY 1
                    """
                }
            children += try connection.keys(sql, [.integer(key)]).map { RowID(entity: child.index, key: $0) }
        }
        return children
    }

    enum ChildSelection { case pending, present }
}
