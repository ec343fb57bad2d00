import MobileStore

/// The rows that a save writes: those of an object and of its composite children, parents before children. The plan is made from objects in
/// their own isolation and performed on a thread of the store. Then its results are applied to the objects. So two threads never
/// touch the same object, and no thread blocks.
struct SavePlan: Sendable {
    /// One row to write.
    struct Row: Sendable {
        let entity: EntityMetadata
        let isNew: Bool
        /// The surrogate key; 0: take one from the key generator.
        var key: Int64
        /// The marks of the row when the object read it.
        let read: ReplayState
        /// All attributes and references of a new row, the changed ones of another row; by position.
        var changes: [(index: Int, value: Value)]
        /// References to new rows of this plan: position of the reference, position in the plan.
        var newParents: [(reference: Int, row: Int)] = []
        /// References that are being set. Their mapped attributes are filled.
        var setReferences: [Int] = []
        /// References that their attributes decide, with the values of these in the object; by position of the reference.
        var byAttributes: [(reference: Int, values: [AttributeValue])] = []
        /// Those of them that lead to objects which were read as rows that the server did not have.
        var referencesToUnsent: [Int] = []
        /// Rows of the same object whose one-to-one relationships already lead elsewhere, in memory.
        var keptPartners: Set<Int64> = []
        /// The operation, where it was called by its name.
        var operation: CalledOperation?
    }

    /// A row that an object released in memory. Its one-to-one relationship to that object is cut.
    struct Release: Sendable {
        let entity: EntityMetadata
        let key: Int64
        let relationship: RelationshipMetadata
        let owner: Int64
    }

    /// The result of writing a row.
    struct Result: Sendable {
        let key: Int64
        let replay: ReplayState
        /// Attributes that were filled from the parent.
        let filled: [(index: Int, value: Value)]
        /// Reference keys that were not known before.
        let references: [(index: Int, key: Int64)]
    }

    /// The result of the plan.
    struct Outcome: Sendable {
        /// The results of the rows, in their order.
        var results: [Result] = []
        /// Rows that had to release an end of a one-to-one relationship.
        var released: [ReleasedRow] = []
    }

    var rows: [Row] = []
    var releases: [Release] = []

    var isEmpty: Bool { rows.isEmpty && releases.isEmpty }

    func perform(in transaction: Transaction) throws -> Outcome {
        var outcome = Outcome()
        for release in releases {
            let released = try transaction.release(release.relationship, of: release.entity, release.key, from: release.owner)
            if let released { outcome.released.append(released) }
        }
        for row in rows {
            var row = row
            var references: [(index: Int, key: Int64)] = []
            for parent in row.newParents {
                references.append((parent.reference, outcome.results[parent.row].key))
                row.set(row.entity.attributes.count + parent.reference, .integer(outcome.results[parent.row].key))
            }
            references += try followRenumberedParents(&row, transaction)
            try row.checkLargeValues(transaction)
            let filled = try fillFromParents(&row, transaction)
            references += try followAttributes(&row, transaction)
            outcome.released += try takePartners(row, transaction)
            if row.isNew {
                let key = try row.key != 0 ? row.key : transaction.newSurrogateKey(for: row.entity)
                try row.checkIsComplete()
                let replay = try transaction.create(row.entity, key, row.changes.map(\.value), by: row.operation)
                outcome.results.append(Result(key: key, replay: replay, filled: filled, references: references))
            } else {
                let replay = try transaction.update(row.entity, row.key, readWith: row.read, row.changes, by: row.operation)
                outcome.results.append(Result(key: row.key, replay: replay, filled: filled, references: references))
            }
        }
        return outcome
    }

    /// Sets references to parents that were renumbered since their objects were read.
    private func followRenumberedParents(_ row: inout Row, _ transaction: Transaction) throws -> [(index: Int, key: Int64)] {
        var followed: [(index: Int, key: Int64)] = []
        guard transaction.database.hasRenumberedRows else { return followed }
        for index in row.referencesToUnsent {
            let position = row.entity.attributes.count + index
            guard let key = row.value(position)?.integer, let current = try transaction.connection.renumberedKey(key) else { continue }
            row.set(position, .integer(current))
            followed.append((index, current))
        }
        return followed
    }

    /// Leads references to the rows that their attributes name.
    private func followAttributes(_ row: inout Row, _ transaction: Transaction) throws -> [(index: Int, key: Int64)] {
        var followed: [(index: Int, key: Int64)] = []
        for (reference, values) in row.byAttributes {
            let relationship = row.entity.relationships[row.entity.references[reference]]
            let key = try transaction.key(ofReference: relationship, row.keyParts(relationship, values))
            row.set(row.entity.attributes.count + reference, key.map { .integer($0) } ?? .null)
            if key != nil { row.setReferences.append(reference) }
            followed.append((reference, key ?? 0))
        }
        return followed
    }

    /// Releases the former rows of the one-to-one relationships that are being set.
    private func takePartners(_ row: Row, _ transaction: Transaction) throws -> [ReleasedRow] {
        try row.setReferences.flatMap { index -> [ReleasedRow] in
            guard let key = row.value(row.entity.attributes.count + index)?.integer else { return [] }
            let relationship = row.entity.relationships[row.entity.references[index]]
            return try transaction.release(relationship, of: row.entity, to: key, for: row.key, keeping: row.keptPartners)
        }
    }

    /// Fills attributes that the model maps to those of a parent that is being set. A key that the parent's back end has yet to assign
    /// is not filled here; the server fills it when it replays the parent's create.
    private func fillFromParents(_ row: inout Row, _ transaction: Transaction) throws -> [(index: Int, value: Value)] {
        var filled: [(index: Int, value: Value)] = []
        for index in row.setReferences {
            let relationship = row.entity.relationships[row.entity.references[index]]
            guard let key = row.value(row.entity.attributes.count + index)?.integer else {
                filled += row.clearMapped(relationship)
                continue
            }
            guard !relationship.mapping.isEmpty else { continue }
            let parent = transaction.metadata.entities[relationship.targetIndex]
            guard let content = try transaction.content(parent.sql.table, of: parent, key) else {
                throw ObjectError(
                    .notFound, "save of \(row.entity.name): its \(relationship.name), \(parent.name) \(key), does not exist")
            }
            guard try !transaction.isKeyUnknown(parent, key) else { continue }
            for pair in relationship.mapping where !content[pair.target].isNull {
                row.set(pair.source, content[pair.target])
                filled.append((pair.source, content[pair.target]))
            }
        }
        return filled
    }
}

extension SavePlan.Row {
    /// The values that name the other row of a relationship: those that are being written, and the object's.
    fileprivate func keyParts(_ relationship: RelationshipMetadata, _ values: [AttributeValue]) -> [AttributeValue] {
        zip(relationship.keySources ?? [], values).map { source, value in
            self.value(source).flatMap { entity.attributes[source].storage.attributeValue($0) } ?? value
        }
    }

    func value(_ index: Int) -> Value? { changes.first { $0.index == index }?.value }

    mutating func set(_ index: Int, _ value: Value) {
        if let position = changes.firstIndex(where: { $0.index == index }) {
            changes[position].value = value
        } else {
            changes.append((index, value))
        }
    }

    /// Clears the mapped attributes of a cleared reference, as far as they may be null and were not set themselves. Otherwise the server
    /// would find the parent by them.
    mutating func clearMapped(_ relationship: RelationshipMetadata) -> [(index: Int, value: Value)] {
        guard !isNew else { return [] }
        let cleared = relationship.mapping.map(\.source).filter { index in
            entity.attributes[index].isNullable && !entity.primaryKey.contains(index) && value(index) == nil
        }
        for index in cleared { set(index, .null) }
        return cleared.map { ($0, .null) }
    }

    /// Checks that the large values to be written still exist. A row with the id of a value that is gone could be neither read nor sent.
    fileprivate func checkLargeValues(_ transaction: Transaction) throws {
        for attribute in entity.largeAttributes {
            guard let id = value(attribute)?.integer, try !transaction.connection.hasLargeValue(id) else { continue }
            throw ObjectError(
                .invalidValue,
                "save of \(entity.name): the value that was written to \(entity.attributes[attribute].name) is gone, with a transaction that was rolled back or a connection that was closed; write the value again"
            )
        }
    }

    /// OPS-21: every attribute that must have a value has one.
    func checkIsComplete() throws {
        for attribute in entity.attributes where !attribute.isNullable && !attribute.isLarge && !attribute.isGenerated {
            guard changes[attribute.index].value.isNull else { continue }
            throw ObjectError(.missingValue, "create of \(entity.name): \(attribute.name) has no value")
        }
    }
}
