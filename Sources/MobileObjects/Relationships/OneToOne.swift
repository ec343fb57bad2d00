import MobileModel
import MobileStore

/// One-to-one relationships: each end has one other end. **A row that takes an end takes it from the former row**, in the same transaction and
/// regardless of whether that one was ever read. The released row:
/// - stays where the mapped attributes may be null: its reference and these become NULL, and it is updated;
/// - is deleted with its children where they may not be null and it is a part (composite), which cannot be without an owner;
/// - otherwise stays unchanged: the save fails, and the application decides about the row.
struct ReleasedRow: Sendable {
    let row: RowID
    /// Position of the relationship that was cut, in the row's object.
    let relationship: Int
    let replay: ReplayState
    let isDeleted: Bool
}

extension EntityMetadata {
    /// Returns the mapped attributes that become NULL with the reference; nil where one of them must have a value.
    fileprivate func clearedAttributes(_ relationship: RelationshipMetadata) -> [Int]? {
        let sources = relationship.mapping.map(\.source)
        return sources.allSatisfy { attributes[$0].isNullable && !primaryKey.contains($0) } ? sources : nil
    }
}

extension Transaction {
    /// Takes an end of a one-to-one relationship from every other row that refers to it.
    /// - Parameters:
    ///   - own: the row that takes it; 0 for a new one.
    ///   - kept: rows that already have another end in memory, and are written next.
    /// - Throws: ``ObjectError/Code/missingValue`` where one of the rows cannot be without it; and as an update.
    func release(
        _ relationship: RelationshipMetadata, of entity: EntityMetadata, to key: Int64, for own: Int64, keeping kept: Set<Int64>
    ) throws -> [ReleasedRow] {
        guard relationship.isOneToOne, let reference = relationship.referenceIndex else { return [] }
        let others = try connection.keys(
            "SELECT \"_sk\" FROM \(entity.sql.table) WHERE \(entity.sql.referenceColumns[reference]) = ?1 AND \"_sk\" <> ?2 ORDER BY \"_sk\"",
            [.integer(key), .integer(own)])
        return try others.filter { !kept.contains($0) }.compactMap { other in
            try release(relationship, of: entity, other, from: key)
        }
    }

    /// Cuts a row's one-to-one relationship; returns nil where it already leads elsewhere.
    /// - Parameter key: the key of the other end.
    func release(_ relationship: RelationshipMetadata, of entity: EntityMetadata, _ row: Int64, from key: Int64) throws -> ReleasedRow? {
        guard let reference = relationship.referenceIndex, let read = try replayState(of: entity, row),
            try content(entity.sql.table, of: entity, row)?[entity.attributes.count + reference].integer == key
        else { return nil }
        let id = RowID(entity: entity.index, key: row)
        if let cleared = entity.clearedAttributes(relationship) {
            _ = try entity.defaultOperation(.update)
            let changes = (cleared + [entity.attributes.count + reference]).map { (index: $0, value: Value.null) }
            let replay = try update(entity, row, readWith: read, changes)
            return ReleasedRow(row: id, relationship: relationship.index, replay: replay, isDeleted: false)
        }
        guard relationship.leadsToOwner else {
            throw ObjectError(
                .missingValue,
                "save of \(entity.name): \(metadata.entities[relationship.targetIndex].name) \(key) has \(entity.name) \(row), which cannot be without "
                    + "one; delete it, or give it another one first")
        }
        return ReleasedRow(row: id, relationship: relationship.index, replay: try delete(entity, row), isDeleted: true)
    }
}

extension Entity {
    /// Sets the other end of a one-to-one relationship. The other end holds the reference.
    final func setPartner<T: Entity>(_ partner: T?, _ index: Int) {
        // A save of this object releases the row in the database, so it must be known.
        _ = readLazily(index) { try loadedChildren(index, as: T.self) }
        letGo(of: index, except: partner)
        let list = childList(index)
        list.loaded = []
        list.removeAdded()
        guard let partner else { return }
        partner.leaveFormerPartner(for: self, metadata.relationships[index].inverseIndex)
        addChild(partner, to: index)
    }

    /// Separates the objects in memory at the other end from this object.
    final func letGo(of index: Int, except kept: Entity?) {
        guard let list = attachments?.children[index], let inverse = metadata.relationships[index].inverseIndex else { return }
        if let kept { list.formers.removeAll { $0.isSameRow(as: kept) } }
        for former in list.present where !(kept.map { former.isSameRow(as: $0) } ?? false) {
            list.addFormer(former)
            if former.isLinked(to: self, inverse) { former.link(to: nil, key: 0, inverse) }
        }
    }

    /// Removes this object, which gets another partner, from its former partner, if that one is in memory.
    final func leaveFormerPartner(for partner: Entity?, _ index: Int?) {
        guard let index, metadata.relationships[index].isOneToOne, let former = knownParent(index), former !== partner,
            let inverse = metadata.relationships[index].inverseIndex, let list = former.attachments?.children[inverse]
        else { return }
        list.loaded?.removeAll { $0 === self }
        list.removeAdded(self)
        list.addFormer(self)
    }

    private final func isLinked(to partner: Entity, _ index: Int) -> Bool {
        if let known = knownParent(index) { return known === partner }
        guard let reference = metadata.relationships[index].referenceIndex, !isByAttributes(reference) else { return false }
        return partner.surrogateKey != 0 && references[reference] == partner.surrogateKey
    }

    /// Returns whether this object was given the other end in memory, and is not saved.
    final func isPartner(of other: Entity, _ index: Int) -> Bool {
        guard let reference = metadata.relationships[index].referenceIndex else { return false }
        return dirty.contains(metadata.attributeCount + reference) && knownParent(index) === other
    }

    /// Returns whether the object already has another end.
    final func hasPartner(_ index: Int) -> Bool {
        guard let reference = metadata.relationships[index].referenceIndex else { return false }
        return knownParent(index) != nil || references[reference] != 0
    }

    /// Applies the release of this object's row by the save of another object.
    final func applyReleased(_ released: ReleasedRow) {
        replay = released.replay
        guard !released.isDeleted else {
            presence = .deleted
            dirty.removeAll()
            return
        }
        let relationship = metadata.relationships[released.relationship]
        isLoading = true
        defer { isLoading = false }
        // Unsaved changes in memory stay.
        for attribute in relationship.mapping.map(\.source) where !dirty.contains(attribute) { try? setValue(.null, ofAttribute: attribute) }
        guard let reference = relationship.referenceIndex, !hasPartner(relationship.index) else { return }
        dirty.remove(metadata.attributes.count + reference)
        for attribute in relationship.mapping.map(\.source) where value(ofAttribute: attribute).isNull { dirty.remove(attribute) }
    }
}
