import MobileModel
import MobileStore

/// Looks for the obstacles of an upgrade before any change: changes that the models exclude, and values of rows that have no place in the new model.
/// Rows that the server has may go; **changes that wait for the server may not**.
struct UpgradeCheck {
    private let upgrade: DatabaseUpgrade
    private var connection: Connection { upgrade.connection }

    init(_ upgrade: DatabaseUpgrade) { self.upgrade = upgrade }

    /// - Throws: ``ObjectError/Code/version`` that names every obstacle with its reason.
    func run() throws {
        var reasons = upgrade.model.changes.filter { $0.kind == .impossible }.map(\.description)
        // If the models do not fit at all, the rows give no further reasons.
        if reasons.isEmpty {
            for object in upgrade.model.removedObjects { reasons += try pending(of: try upgrade.old.entity(named: object.name)) }
            for entity in upgrade.entities {
                reasons += try values(of: entity)
                if !entity.old.isLocal { reasons += try pending(of: entity) + calls(of: entity) }
            }
        }
        guard !reasons.isEmpty else { return }
        let (old, new) = (upgrade.old, upgrade.new)
        throw ObjectError(
            .version,
            "\"\(upgrade.store.path)\": the database of \(old.name):\(old.version) cannot be opened with this model of \(new.name):\(new.version), and is left as it was: "
                + reasons.joined(separator: "; "))
    }

    private func count(_ sql: String, _ values: [Value] = []) throws -> Int64 { try connection.number(sql, values) }

    // MARK: Objects that are gone

    private func pending(of entity: EntityMetadata) throws -> [String] {
        guard !entity.isLocal else { return [] }
        let rows = try count("SELECT count(*) FROM \(entity.sql.originalTable)")
        let operations = try count("SELECT count(*) FROM \"_outbox\" WHERE \"entity\" = ?1", [.text(entity.name)])
        guard rows + operations > 0 else { return [] }
        return ["\(entity.name): it is removed, but \(rows) pending changes and \(operations) submitted operations of it wait for the server"]
    }

    // MARK: Values that do not fit

    private func values(of entity: EntityUpgrade) throws -> [String] {
        var reasons: [String] = []
        for (index, attribute) in entity.object.attributes.enumerated() {
            guard let former = entity.formerPositions[index], attribute.mustHaveValue || attribute.isShorter else { continue }
            let column = entity.old.sql.attributeColumns[former], place = "\(entity.new.name).\(attribute.new.name)"
            for table in entity.old.isLocal ? [entity.old.sql.table] : [entity.old.sql.table, entity.old.sql.originalTable] {
                // Where the server has no version of a row, its original state has no values.
                let known = table == entity.old.sql.originalTable ? " AND t.\"_sv\" <> 0" : ""
                if attribute.mustHaveValue {
                    let missing = try count("SELECT count(*) FROM \(table) AS t WHERE t.\(column) IS NULL\(known)")
                    if missing > 0 { reasons.append("\(place): it must have a value now, and \(missing) rows have none") }
                }
                if attribute.isShorter, let length = attribute.new.length {
                    let lengthOf =
                        entity.old.attributes[former].isLarge
                        ? "(SELECT v.\"length\" FROM \"_mc_value\" AS v WHERE v.\"id\" = t.\(column))" : "length(t.\(column))"
                    let longer = try count("SELECT count(*) FROM \(table) AS t WHERE \(lengthOf) > ?1", [.integer(Int64(length))])
                    if longer > 0 { reasons.append("\(place): at most \(length) long now, and \(longer) values are longer") }
                }
            }
        }
        return reasons
    }

    // MARK: Pending changes of removed values

    private func pending(of entity: EntityUpgrade) throws -> [String] {
        var reasons: [String] = []
        for attribute in entity.object.removedAttributes {
            let old = try entity.old.attribute(named: attribute.name)
            let rows = try changedRows(entity.old, old.index, isRelationship: false) { says(something: $0, for: old) }
            let operations = try operations(of: entity.old, that: old)
            if rows + operations > 0 {
                reasons.append(
                    "\(entity.new.name).\(attribute.name): it is removed, but values of it wait for the server in \(rows) pending changes and \(operations) submitted operations"
                )
            }
        }
        for name in entity.object.removedReferences {
            let position = entity.old.attributes.count + (try entity.old.relationship(named: name).referenceIndex ?? 0)
            let rows = try changedRows(entity.old, position, isRelationship: true) { !$0.isNull }
            let operations = try operations(of: entity.old, leadingTo: name, at: position)
            if rows + operations > 0 {
                reasons.append(
                    "\(entity.new.name).\(name): the relationship is removed, but \(rows) pending changes and \(operations) submitted operations of it wait for the server"
                )
            }
        }
        return reasons
    }

    /// Returns whether a value of a new row was set by the user.
    private func says(something value: Value, for attribute: AttributeMetadata) -> Bool {
        if value.isNull || value == attribute.storedDefault { return false }
        return attribute.isNullable || ![.integer(0), .real(0), .text(""), .blob([])].contains(value)
    }

    /// Returns the number of pending creates and updates that have changed the value at a position.
    private func changedRows(
        _ entity: EntityMetadata, _ position: Int, isRelationship: Bool, says: (Value) -> Bool
    ) throws -> Int {
        let column = entity.sql.content[position]
        let rows = try connection.rows(
            """
            SELECT o."_pc", o."_ch", r.\(column), o.\(column), o."_sv" FROM \(entity.sql.originalTable) AS o
            JOIN \(entity.sql.table) AS r ON r."_sk" = o."_sk"
            """)
        return try rows.count { row in
            let state = StoredRow([StateColumn.change, .changed], row, of: entity.sql.originalTable)
            // Submitted values are counted in the outbox. A create that is pending again has all of its attributes in the list.
            if case .only(let changed) = try state.changedValues(.changed), !changed.contains(position) { return false }
            return row[4] == .integer(ServerVersion.absent.rawValue) ? says(row[2]) : row[2] != row[3]
        }
    }

    private func operations(of entity: EntityMetadata, that attribute: AttributeMetadata) throws -> Int {
        var operations = Int(
            try count(
                """
                SELECT count(*) FROM "_outbox_large" AS l JOIN "_outbox" AS o ON o."id" = l."operation"
                WHERE o."entity" = ?1 AND l."attribute" = ?2
                """, [.text(entity.name), .text(attribute.name)]))
        for row in try connection.storedRows(
            [OutboxColumn.key, .attributes, .parameters], "WHERE \"entity\" = ?1", [.text(entity.name)])
        {
            let sent = try row.object(.attributes)
            guard let value = try sent[attribute.name] ?? (entity.otherOperation == nil ? nil : row.object(.parameters)[attribute.name]) else {
                continue
            }
            let stored = attribute.storage.attributeValue(value).flatMap { attribute.storage.stored($0) } ?? .null
            // An operation may send a value that the user has not set: a create and some updates send all of them, and an update repeats those of a create
            // whose answer was overtaken. Sending no value says something only where the server has one.
            if try says(something: stored, for: attribute) || serverHas(attribute, row.integer(.key), entity) { operations += 1 }
        }
        return operations
    }

    /// Returns whether the server's version of a pending row has a value of the attribute.
    private func serverHas(_ attribute: AttributeMetadata, _ key: Int64, _ entity: EntityMetadata) throws -> Bool {
        guard entity.otherOperation == nil else { return false }
        let column = entity.sql.content[attribute.index]
        let row = try connection.first("SELECT \(column) FROM \(entity.sql.originalTable) WHERE \"_sk\" = ?1 AND \"_sv\" = 1", [.integer(key)])
        return row.map { says(something: $0[0], for: attribute) } ?? false
    }

    /// Counts creates with a target in a relationship, and updates that changed the target.
    private func operations(of entity: EntityMetadata, leadingTo relationship: String, at position: Int) throws -> Int {
        try connection.storedRows([OutboxColumn.references, .change, .changed], "WHERE \"entity\" = ?1", [.text(entity.name)]).count { row in
            let isCreate = try row.kind(.change, of: OutboxRecord.Change.self) == .create
            guard !isCreate, case .only(let changed) = try row.changedValues(.changed) else {
                return try row.object(.references)[relationship] != nil
            }
            return changed.contains(position)
        }
    }

    /// Returns the calls by name, submitted or not, of operations that are gone or have other parameters now.
    private func calls(of entity: EntityUpgrade) throws -> [String] {
        guard entity.old.otherOperation == nil else { return [] }
        var names = try connection.texts(
            "SELECT DISTINCT \"operation\" FROM \"_outbox\" WHERE \"entity\" = ?1 AND \"operation\" <> ''", [.text(entity.old.name)])
        if try connection.first("SELECT 1 FROM pragma_table_info(?1) WHERE \"name\" = '_on'", [.text(entity.old.name + "_os")]) != nil {
            names += try connection.texts("SELECT DISTINCT \"_on\" FROM \(entity.old.sql.originalTable) WHERE \"_on\" <> ''")
        }
        let (before, now) = (entity.old.model.operations, entity.new.model.operations)
        return try plainChanges(of: entity)
            + Set(names).sorted().compactMap { name in
                let former = before.first { $0.name == name }, operation = now.first { $0.name == name }
                if let former, let operation, former.kind == operation.kind, former.takesTheSame(as: operation) { return nil }
                return "\(entity.new.name): its operation \(name) is \(operation == nil ? "removed" : "changed"), but calls of it wait for the server"
            }
    }

    /// Returns pending creates, updates and deletes that the new model has no operation for: they could not be submitted.
    private func plainChanges(of entity: EntityUpgrade) throws -> [String] {
        let kinds: [(OperationModel.Kind, PendingChange)] = [(.create, .create), (.update, .update), (.delete, .delete)]
        return try kinds.compactMap { kind, change in
            guard entity.old.model.defaultOperation(kind) != nil, entity.new.model.defaultOperation(kind) == nil else { return nil }
            let rows = try count("SELECT count(*) FROM \(entity.old.sql.originalTable) WHERE \"_pc\" = ?1", [.integer(Int64(change.rawValue))])
            return rows == 0 ? nil : "\(entity.new.name): it has no plain \(kind) any longer, but \(rows) of them are pending"
        }
    }
}
