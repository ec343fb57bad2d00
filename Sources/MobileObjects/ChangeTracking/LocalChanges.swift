import MobileModel
import MobileStore

/// Create, update and delete of one row: the row, its original state and the marks, in the transaction of the caller.
extension Transaction {
    /// Inserts a row and marks it as created.
    /// - Parameters:
    ///   - content: the stored values of attributes, then references.
    ///   - called: the operation, where it is not the plain create.
    func create(_ entity: EntityMetadata, _ key: Int64, _ content: [Value], by called: CalledOperation? = nil) throws -> ReplayState {
        if try connection.first(entity.sql.selectState, [.integer(key)]) != nil {
            throw ObjectError(.duplicateKey, "create of \(entity.name): surrogate key \(key) exists already")
        }
        try checkKeyIsFree("create", entity, key, content)
        let counter = try nextCounter()
        let replay = entity.isLocal ? ReplayState(serverCounter: counter) : ReplayState.created(counter: counter)
        try connection.execute(entity.sql.insert, [.integer(key)] + replay.columns + content)
        linkWaitingRows(to: entity)
        guard !entity.isLocal else {
            try keepCounter()
            return replay
        }
        try connection.execute(entity.sql.createOriginal, [.integer(key)] + replay.columns)
        try noteEdit(of: entity, key)
        if let called { try setOperation(called, of: entity, key) }
        try markOwners(of: entity, key)
        return replay
    }

    /// Writes changed values of a row that is unchanged since it was read, keeps the server's version at the first change, and marks the row
    /// as updated.
    /// - Parameters:
    ///   - read: the row's marks when it was read.
    ///   - changes: positions (attributes, then references) with their new values.
    ///   - called: the operation, where it is not the plain update.
    /// - Throws: ``ObjectError/Code/notFound`` when the row is gone, ``ObjectError/Code/stale`` when another writer came first or the row was
    ///   renumbered, ``ObjectError/Code/duplicateKey`` when another row has the modelled key that it would get,
    ///   ``ObjectError/Code/otherOperationPending``.
    func update(
        _ entity: EntityMetadata, _ key: Int64, readWith read: ReplayState, _ changes: [(index: Int, value: Value)], by called: CalledOperation? = nil
    ) throws -> ReplayState {
        if read.change == .create { try requireCurrentKey("update", entity, key) }
        let ownersBefore = try changes.contains { $0.index >= entity.attributes.count } ? owners(of: entity, key) : []
        try releaseLargeValues(of: entity, key)
        let replay = try noteUpdate(entity, key, readWith: read, changes, called)
        try checkNewKeyIsFree(entity, key, changes)
        try connection.execute(entity.sql.update(changes.lazy.map(\.index)), [.integer(key)] + replay.columns + changes.map(\.value))
        if changes.contains(where: { entity.primaryKey.contains($0.index) }) { linkWaitingRows(to: entity) }
        if !entity.isLocal {
            try markOwners(of: entity, key)
            let ownersNow = try ownersBefore.isEmpty ? [] : owners(of: entity, key)
            try updateMarks(of: ownersBefore.filter { !ownersNow.contains($0) })
        }
        return replay
    }

    /// Keeps the server's version of a row at its first change, and notes the changed values. Returns the row's new marks.
    private func noteUpdate(
        _ entity: EntityMetadata, _ key: Int64, readWith read: ReplayState, _ changes: [(index: Int, value: Value)], _ called: CalledOperation?
    ) throws -> ReplayState {
        let next = try nextCounter(after: read.counter)
        let changed = ChangedValues.only(Set(changes.lazy.map(\.index)))
        if !entity.isLocal {
            // Most rows have no earlier change and are still as they were read: one statement checks that and does the rest.
            var replay = ReplayState(serverCounter: read.counter, accepted: read.accepted)
            replay.update(counter: next)
            let values = [.integer(key)] + replay.columns + [changed.stored, .integer(read.counter)]
            if try connection.execute(entity.sql.keepOriginalOfUnchanged, values) == 1 {
                if let called { try setOperation(called, of: entity, key) }
                try noteEdit(of: entity, key)
                return replay
            }
        }
        guard var replay = try replayState(of: entity, key) else {
            try requireCurrentKey("update", entity, key)
            throw ObjectError(.notFound, "update of \(entity.name) \(key): there is no such row any more")
        }
        guard replay.isUnchanged(since: read) else {
            throw ObjectError(.stale, "update of \(entity.name) \(key): it was changed since this object read it; refresh and try again")
        }
        guard !entity.isLocal else {
            try keepCounter()
            return ReplayState(serverCounter: next)
        }
        try checkMayFollow(called, entity, key, replay)
        let before = replay, isFirst = !replay.change.isOwn
        replay.update(counter: next)
        let values = [.integer(key)] + replay.columns
        if isFirst {
            try connection.execute(entity.sql.keepOriginal, values + [changed.stored])
        } else {
            try connection.execute(entity.sql.setOriginalState, values)
            try noteChanged(changed, of: entity, key)
            if !before.needsSubmit { try setFirstChange(next, of: entity, key) }
        }
        try noteOperation(called, of: entity, key, before: before)
        try noteEdit(of: entity, key)
        return replay
    }

    /// Deletes a row with its composite children, these first. A row that the server does not know vanishes. For any other row, the marks
    /// stay in the original-state table.
    /// - Parameters:
    ///   - read: the row's marks when its object was read; nil where the row is deleted without an object, as a child of another one.
    ///   - called: the operation, where it is not the plain delete.
    /// - Returns: the row's marks; not pending when the row vanished.
    /// - Throws: ``ObjectError/Code/notFound`` when the row is gone, ``ObjectError/Code/stale`` when another writer came first.
    func delete(
        _ entity: EntityMetadata, _ key: Int64, readWith read: ReplayState? = nil, by called: CalledOperation? = nil
    ) throws -> ReplayState {
        guard var replay = try replayState(of: entity, key) else {
            throw ObjectError(.notFound, "delete of \(entity.name) \(key): there is no such row any more")
        }
        if let read, !replay.isUnchanged(since: read) {
            throw ObjectError(.stale, "delete of \(entity.name) \(key): it was changed since this object read it; refresh and try again")
        }
        let owners = try owners(of: entity, key)
        for child in try children(of: entity, key, .present) { _ = try delete(metadata.entities[child.entity], child.key) }
        try releaseLargeValues(of: entity, key)
        if try entity.isLocal || isUnknownToServer(entity, key, replay) {
            try vanish(entity, key)
            try updateMarks(of: owners)
            return ReplayState()
        }
        if called == nil { _ = try entity.defaultOperation(.delete) }
        let wasOwn = replay.change.isOwn
        replay.delete(counter: try nextCounter(after: replay.counter))
        let values = [.integer(key)] + replay.columns
        if wasOwn {
            try connection.execute(entity.sql.setOriginalState, values)
            // Changes from before the delete are no longer sent.
            try setFirstChange(replay.counter, of: entity, key)
        } else {
            try connection.execute(entity.sql.keepOriginal, values + [ChangedValues.nothing.stored])
        }
        if called != nil || wasOwn { try setOperation(called, of: entity, key) }
        try noteEdit(of: entity, key)
        // Where the server has no version, the row's own values stay, so that its parent is still known.
        let isUnknown = try wasOwn && originalState(of: entity, key)?.server != .present
        if isUnknown, !entity.sql.keepOwnValues.isEmpty { try connection.execute(entity.sql.keepOwnValues, [.integer(key)]) }
        try connection.execute(entity.sql.delete, [.integer(key)])
        try markOwners(of: entity, key)
        // From now on its parent is the parent of the server's version, which may be another one.
        try updateMarks(of: owners)
        return replay
    }

    /// Removes a row and its original state without a trace.
    func vanish(_ entity: EntityMetadata, _ key: Int64) throws {
        try releaseLargeValues(of: entity, key)
        try connection.execute(entity.sql.delete, [.integer(key)])
        guard !entity.isLocal else { return }
        try letGoOfSubmissions(of: entity, key)
        try dropOriginalState(of: entity, key)
    }

    /// Whether the row's create was never submitted, or all its submissions were rejected.
    private func isUnknownToServer(_ entity: EntityMetadata, _ key: Int64, _ replay: ReplayState) throws -> Bool {
        guard replay.change == .create, replay.submitted == 0, try originalState(of: entity, key)?.server == .absent else { return false }
        return try !hasUnansweredCreate(entity, key)
    }

    func takesKeyFromUnknownParent(_ entity: EntityMetadata, _ content: [Value]) throws -> Bool {
        for index in entity.references {
            let relationship = entity.relationships[index]
            guard relationship.mapping.contains(where: { entity.primaryKey.contains($0.source) }),
                let key = content[entity.attributes.count + (relationship.referenceIndex ?? 0)].integer
            else { continue }
            if try isKeyUnknown(metadata.entities[relationship.targetIndex], key) { return true }
        }
        return false
    }

    /// Whether the back end has yet to assign the modelled key of a row, or a part of it.
    func isKeyUnknown(_ entity: EntityMetadata, _ key: Int64) throws -> Bool {
        // An accepted row has no key before its group is synchronized.
        if entity.hasGeneratedKey, let content = try content(entity.sql.table, of: entity, key),
            entity.primaryKey.contains(where: { entity.attributes[$0].isGenerated && [.null, .integer(0)].contains(content[$0]) })
        {
            return true
        }
        guard try replayState(of: entity, key)?.change == .create, try originalState(of: entity, key)?.server == .absent else { return false }
        if entity.hasGeneratedKey { return true }
        guard let content = try content(entity.sql.table, of: entity, key) else { return false }
        return try takesKeyFromUnknownParent(entity, content)
    }

    /// Whether a create of the row waits for its answer.
    func hasUnansweredCreate(_ entity: EntityMetadata, _ key: Int64) throws -> Bool {
        try connection.first(
            "SELECT 1 FROM \"_outbox\" WHERE \"entity\" = ?1 AND \"sk\" = ?2 AND \"change\" = 'C' LIMIT 1",
            [.text(entity.name), .integer(key)]) != nil
    }
}
