import MobileStore

/// References by value: their attributes name a row that is not on the device. The server finds it. If it comes to the device first, the reference leads
/// to it from then on, so that lists, queries and the order of submission know it. If the row goes again, the reference is by value again.
///
/// **The rows that wait for a key are found by that key**, with an index that holds rows with references by value and no others. Why: a save costs the same for
/// any number of them, and what another process has written is found as well. An import, which brings any number of rows, looks at all that wait, once.
extension Transaction {
    /// Returns the row that the parts of a key name; nil where there is none, or the back end has yet to assign its key.
    func key(ofReference relationship: RelationshipMetadata, _ parts: [AttributeValue]) throws -> Int64? {
        let target = metadata.entities[relationship.targetIndex]
        var values: [Value] = []
        for (part, index) in zip(parts, target.primaryKey) {
            let storage = target.attributes[index].storage
            guard let value = storage.stored(storage.meant(part)), !value.isNull else { return nil }
            values.append(value)
        }
        guard let key = try connection.first(target.sql.keyExists, values)?.first?.integer, try !isKeyUnknown(target, key) else { return nil }
        return key
    }

    /// Lets references by value lead to new rows of an object, before the commit.
    /// - Parameter key: the row that is new, or has got another key; nil (default) for any number of them.
    func linkWaitingRows(to target: EntityMetadata, _ key: Int64? = nil) {
        let new = attachment { NewRows() }
        if let key { new.rows.insert(RowID(entity: target.index, key: key)) } else { new.objects.insert(target.index) }
        guard !closes(with: .references) else { return }
        atEnd(.references) { try $0.linkWaitingRows(to: new) }
    }

    /// The objects that have got rows in a transaction, and single rows of others.
    private final class NewRows {
        var objects: Set<Int> = []
        var rows: Set<RowID> = []
    }

    private func linkWaitingRows(to new: NewRows) throws {
        for target in new.objects.sorted() {
            for (entity, relationship) in metadata.references(to: target) { try link(entity, relationship) }
        }
        for row in new.rows.filter({ !new.objects.contains($0.entity) }).sorted(by: { $0.key < $1.key }) {
            let references = metadata.references(to: row.entity).filter { $0.1.keySources != nil }, target = metadata.storedEntities[row.entity]
            guard !references.isEmpty, let content = try content(target.sql.table, of: target, row.key) else { continue }
            let values = target.primaryKey.map { content[$0] }
            for (entity, relationship) in references { try link(entity, relationship, to: row.key, values) }
        }
    }

    /// Links the rows of an object that wait for a row with the key of one row.
    private func link(_ entity: EntityMetadata, _ relationship: RelationshipMetadata, to row: Int64, _ values: [Value]) throws {
        guard let waiting = entity.waitingForRow(relationship), let sources = relationship.keySources else { return }
        let isNamed = sources.enumerated().map { "\(entity.sql.attributeColumns[$0.element]) = ?\($0.offset + 1)" }.joined(separator: " AND ")
        let keys = try connection.keys("SELECT \"_sk\" FROM \(entity.sql.table) WHERE \(isNamed) AND \(waiting) ORDER BY \"_sk\"", values)
        guard try !keys.isEmpty && !isKeyUnknown(metadata.storedEntities[relationship.targetIndex], row) else { return }
        for key in keys { try link(key, entity, relationship, to: row) }
    }

    /// Links all rows of an object that wait for one that is there. The pending rows lead to them, and not the rows of the other object, which may be many.
    private func link(_ entity: EntityMetadata, _ relationship: RelationshipMetadata) throws {
        guard let waiting = entity.waitingForRow(relationship, "c.") else { return }
        let target = metadata.storedEntities[relationship.targetIndex]
        let equal = zip(relationship.keySources ?? [], target.primaryKey).map {
            "t.\(target.sql.attributeColumns[$1]) = c.\(entity.sql.attributeColumns[$0])"
        }
        let pending = entity.isLocal ? "" : "\(entity.sql.originalTable) AS o CROSS JOIN ",
            isPending = entity.isLocal ? "" : "c.\"_sk\" = o.\"_sk\" AND "
        let found = try connection.rows(
            """
            SELECT c."_sk", min(t."_sk") FROM \(pending)\(entity.sql.table) AS c CROSS JOIN \(target.sql.table) AS t
            WHERE \(isPending)\(waiting) AND \(equal.joined(separator: " AND ")) GROUP BY 1
            """)
        for row in found {
            guard let key = row[0].integer, let found = row[1].integer, try !isKeyUnknown(target, found) else { continue }
            try link(key, entity, relationship, to: found)
        }
    }

    private func link(_ key: Int64, _ entity: EntityMetadata, _ relationship: RelationshipMetadata, to row: Int64) throws {
        guard let reference = relationship.referenceIndex else { return }
        let column = entity.sql.referenceColumns[reference]
        try connection.execute("UPDATE \(entity.sql.table) SET \(column) = ?2 WHERE \"_sk\" = ?1", [.integer(key), .integer(row)])
        if !entity.isLocal { try markOwners(of: entity, key) }
    }

    /// Lets references to a row that goes wait for a row with its key. A row whose key the back end has yet to assign is not named by any attributes.
    func letReferencesWait(for target: EntityMetadata, _ key: Int64) throws {
        let references = metadata.references(to: target.index).filter { $0.1.keySources != nil }
        guard !references.isEmpty, try !isKeyUnknown(target, key) else { return }
        var count = 0
        for (entity, relationship) in references {
            guard let sources = relationship.keySources, let reference = relationship.referenceIndex else { continue }
            let column = entity.sql.referenceColumns[reference], named = sources.map { " AND \(entity.sql.attributeColumns[$0]) IS NOT NULL" }
            let isPending = entity.isLocal ? "" : " AND \"_pc\" IN (1, 2)"
            count += try connection.execute(
                "UPDATE \(entity.sql.table) SET \(column) = NULL WHERE \(column) = ?1\(isPending)\(named.joined())", [.integer(key)])
        }
        // Another row may have the key already, as one that was created next to the delete of this one.
        guard count > 0, let content = try content(target.sql.table, of: target, key) ?? content(target.sql.originalTable, of: target, key) else {
            return
        }
        let values = target.primaryKey.map { content[$0] } + [.integer(key)]
        if let other = try connection.first(target.sql.keyExistsElsewhere, values)?.first?.integer { linkWaitingRows(to: target, other) }
    }
}

extension PackageMetadata {
    /// The relationships whose rows refer to those of an object.
    func references(to target: Int) -> [(EntityMetadata, RelationshipMetadata)] {
        storedEntities.flatMap { entity in
            entity.references.map { (entity, entity.relationships[$0]) }.filter { $0.1.targetIndex == target }
        }
    }
}
