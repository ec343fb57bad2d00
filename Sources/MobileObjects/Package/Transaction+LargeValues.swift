import MobileStore

/// A large value that a row has released.
struct ReleasedLargeValue: Hashable {
    let id: Int64
    /// The object of the value's row. A value is only ever used for one attribute of one row.
    let entity: Int
    let attribute: Int
    let key: Int64
}

extension Transaction {
    /// Remembers the large values of a row, and of its original state, before the row is changed. Those without a reference at the end of
    /// the transaction are removed in it.
    func releaseLargeValues(of entity: EntityMetadata, _ key: Int64) throws {
        guard !entity.largeAttributes.isEmpty else { return }
        let columns = entity.largeAttributes.map { entity.sql.attributeColumns[$0] }.joined(separator: ", ")
        for table in entity.isLocal ? [entity.sql.table] : [entity.sql.table, entity.sql.originalTable] {
            guard let values = try connection.first("SELECT \(columns) FROM \(table) WHERE \"_sk\" = ?1", [.integer(key)]) else { continue }
            for (attribute, value) in zip(entity.largeAttributes, values) {
                if let id = value.integer { release(id, entity, attribute, key) }
            }
        }
    }

    func release(_ id: Int64, _ entity: EntityMetadata, _ attribute: Int, _ key: Int64) {
        releasedLargeValues.insert(ReleasedLargeValue(id: id, entity: entity.index, attribute: attribute, key: key))
    }

    /// Remembers a value of a row until the commit, so that clean-ups leave it.
    func hold(_ value: LargeValue) {
        heldLargeValues.append(value)
        value.note(isSaved: true)
        onRollback { value.note(isSaved: false) }
    }

    /// Removes what was written and never saved: an application has discarded its object, or a download was cancelled before its import.
    private func removeAbandonedLargeValues() throws {
        // Those of the connection: an upgrade runs while the database is being opened.
        let values = connection.abandonedValues, abandoned = values.take()
        guard !abandoned.isEmpty else { return }
        onRollback { for id in abandoned { values.add(id) } }
        try connection.removeUnsaved(abandoned, metadata)
    }

    /// Removes the released values that neither the row, nor its original state, nor the outbox refers to.
    func removeReleasedLargeValues() throws {
        for value in releasedLargeValues where try !isReferred(value) { try connection.removeLargeValue(value.id) }
        releasedLargeValues = []
        try removeAbandonedLargeValues()
        guard sweepsLargeValues else { return }
        sweepsLargeValues = false
        try connection.removeUnreferencedValues(referencedBy: metadata.largeValueReferences)
    }

    private func isReferred(_ value: ReleasedLargeValue) throws -> Bool {
        let entity = metadata.entities[value.entity], column = entity.sql.attributeColumns[value.attribute]
        for table in entity.isLocal ? [entity.sql.table] : [entity.sql.table, entity.sql.originalTable] {
            let test = "SELECT 1 FROM \(table) WHERE \"_sk\" = ?1 AND \(column) = ?2"
            if try connection.first(test, [.integer(value.key), .integer(value.id)]) != nil { return true }
        }
        return try connection.first("SELECT 1 FROM \"_outbox_large\" WHERE \"value\" = ?1", [.integer(value.id)]) != nil
    }
}

extension Connection {
    /// Whether a complete large value has this id.
    func hasLargeValue(_ id: Int64) throws -> Bool {
        try first("SELECT 1 FROM \"_mc_value\" WHERE \"id\" = ?1 AND \"state\" = 1", [.integer(id)]) != nil
    }

    /// Removes large values that are in no column.
    func removeUnsaved(_ values: Set<Int64>, _ metadata: PackageMetadata) throws {
        for id in values.sorted() {
            let isReferred = try metadata.largeValueReferences.contains { table, column in
                let test = "SELECT 1 FROM \(EntitySQL.quote(table)) WHERE \(EntitySQL.quote(column)) = ?1 LIMIT 1"
                return try first(test, [.integer(id)]) != nil
            }
            if !isReferred { try removeLargeValue(id) }
        }
    }
}

extension PackageMetadata {
    /// All columns with ids of large values.
    var largeValueReferences: [(table: String, column: String)] {
        var references: [(table: String, column: String)] = [("_outbox_large", "value"), ("_outbox_large", "original")]
        for entity in entities {
            for index in entity.largeAttributes {
                references.append((entity.name, entity.attributes[index].name))
                if !entity.isLocal { references.append((entity.name + "_os", entity.attributes[index].name)) }
            }
        }
        return references
    }
}
