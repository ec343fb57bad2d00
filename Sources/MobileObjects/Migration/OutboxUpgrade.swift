import Foundation
import MobileModel
import MobileStore

/// Rewrites the operations that were submitted under the old model, so that the server, which knows the new one, understands them: names, digits, and
/// values that are large now or are no longer. Ids, batches, order and the submitted values stay.
struct OutboxUpgrade {
    private let entities: [String: EntityUpgrade]
    private let connection: Connection
    private let store: Database

    init(_ entities: [EntityUpgrade], _ connection: Connection, _ store: Database) {
        self.entities = Dictionary(entities.map { ($0.old.name, $0) }) { first, _ in first }
        (self.connection, self.store) = (connection, store)
    }

    func run() throws {
        var last = Int64.min
        while let row = try connection.storedRow(
            [OutboxColumn.id, .entity, .key, .change, .attributes, .primaryKey, .references, .submitted, .changed, .original],
            "WHERE \"id\" > ?1 ORDER BY \"id\" LIMIT 1", [.integer(last)])
        {
            last = try row.integer(.id)
            guard let entity = entities[try row.text(.entity)] else { continue }
            try rewrite(try SubmittedOperationUpgrade(row, entity, connection, store))
        }
        try rewriteBases()
    }

    /// Rewrites the rows that pending changes are based on. Objects that no longer refuse conflicts have none.
    private func rewriteBases() throws {
        for row in try connection.storedRows([BasisColumn.entity, .key, .original, .row]) {
            let name = try row.value(.entity), key = try row.value(.key)
            guard let entity = entities[try row.text(.entity)] else { continue }
            let values = try [row.object(.original), row.optionalText(.row) == nil ? nil : row.object(.row)].map { object -> Value in
                guard let object else { return .null }
                return .text(JSONValue.object(try entity.compared(object, store)).description)
            }
            try connection.execute(
                entity.new.refusesConflicts
                    ? "UPDATE \"_basis\" SET \"original\" = ?3, \"row\" = ?4 WHERE \"entity\" = ?1 AND \"sk\" = ?2"
                    : "DELETE FROM \"_basis\" WHERE \"entity\" = ?1 AND \"sk\" = ?2", [name, key] + (entity.new.refusesConflicts ? values : []))
        }
    }

    private func rewrite(_ operation: SubmittedOperationUpgrade) throws {
        let attributes = try operation.attributes(), primaryKey = try operation.primaryKey(), submitted = try operation.submittedValues()
        try operation.renameLargeValues()
        try connection.execute(
            """
            UPDATE "_outbox" SET "entity" = ?2, "attributes" = ?3, "primary_key" = ?4, "refs" = ?5, "submitted" = ?6,
                "changed" = ?7, "original" = ?8 WHERE "id" = ?1
            """,
            [
                .integer(operation.id), .text(operation.entity.new.name), .text(JSONValue.object(attributes).description),
                .text(JSONValue.object(primaryKey).description), .text(JSONValue.object(operation.references).description), .text(submitted),
                operation.entity.moved(operation.changed).stored, .text(try operation.original()),
            ])
    }
}

extension EntityUpgrade {
    /// Returns values that the server compares with its row, under their new names and in their new form. Values that are large now are not compared.
    fileprivate func compared(_ values: JSONObject, _ store: Database) throws -> JSONObject {
        var result = JSONObject()
        for attribute in keptAttributes where !attribute.new.isLarge && !attribute.old.isLarge {
            guard let value = values[attribute.old.name] else { continue }
            result[attribute.new.name] = try ConvertedValue(attribute.conversion, attribute.new, store).json(value)
        }
        return result
    }
}

/// One operation of the outbox on its way to the new model.
private struct SubmittedOperationUpgrade {
    let id: Int64
    let entity: EntityUpgrade
    private let key: Int64
    private let change: OutboxRecord.Change
    let changed: ChangedValues
    private let oldAttributes: JSONObject
    private let oldKey: JSONObject
    private let oldReferences: JSONObject
    private let submitted: [Value]?
    private let oldOriginal: JSONObject?
    private let connection: Connection
    private let store: Database

    init(_ row: StoredRow<OutboxColumn>, _ entity: EntityUpgrade, _ connection: Connection, _ store: Database) throws {
        (self.entity, self.connection, self.store) = (entity, connection, store)
        id = try row.integer(.id)
        key = try row.integer(.key)
        change = try row.kind(.change)
        (oldAttributes, oldKey, oldReferences) = (try row.object(.attributes), try row.object(.primaryKey), try row.object(.references))
        let text = try row.text(.submitted)
        submitted = text.isEmpty ? nil : try SubmittedValues.values(text)
        changed = try row.changedValues(.changed)
        oldOriginal = try row.text(.original).isEmpty ? nil : row.object(.original)
    }

    /// Returns the row that the operation is based on. If the object refuses conflicts only now, it is the server's version as the device knows it; if that
    /// is not known any more, nothing is compared.
    func original() throws -> String {
        guard entity.new.refusesConflicts, change == .update || change == .delete else { return "" }
        if let oldOriginal { return JSONValue.object(try entity.compared(oldOriginal, store)).description }
        let known = try connection.first(
            "SELECT \(entity.new.sql.content.joined(separator: ", ")) FROM \(entity.new.sql.originalTable) WHERE \"_sk\" = ?1 AND \"_sv\" = 1",
            [.integer(key)])
        return JSONValue.object(try known.map { try entity.new.comparedValues($0, connection) } ?? [:]).description
    }

    /// Whether the operation sends all values: a create, and an update only where the changed values are not known.
    private var sendsEverything: Bool { change == .create || change == .update && changed == .all }

    private func converted(_ attribute: (old: AttributeMetadata, new: AttributeMetadata, conversion: ValueConversion)) -> ConvertedValue {
        ConvertedValue(attribute.conversion, attribute.new, store)
    }

    /// Returns the attributes in the order of the new model, with its new ones where the operation sends everything.
    func attributes() throws -> JSONObject {
        var result = JSONObject()
        for (index, new) in entity.new.attributes.enumerated() {
            guard let former = entity.formerPositions[index] else {
                if sendsEverything, !new.isLarge { result[new.name] = new.storage.json(new.storedDefault) }
                continue
            }
            let old = entity.old.attributes[former], conversion = entity.object.attributes[index].conversion
            switch conversion {
            case .intoRow: result[new.name] = try takeFromLargeValues(old, new)
            case .outOfRow: if let value = oldAttributes[old.name] { try giveToLargeValues(value, old, new) }
            case .none, .rescaled, .decimalText:
                if let value = oldAttributes[old.name] { result[new.name] = try ConvertedValue(conversion, new, store).json(value) }
            }
        }
        return result
    }

    func primaryKey() throws -> JSONObject {
        var result = JSONObject()
        for member in oldKey {
            guard let attribute = entity.keptAttributes.first(where: { $0.old.name == member.key }) else { continue }
            result[attribute.new.name] = try converted(attribute).json(member.value)
        }
        return result
    }

    /// The references of the operation. A removed relationship has no target: see ``UpgradeCheck``.
    var references: JSONObject {
        var result = JSONObject()
        for reference in entity.object.references {
            if let old = reference.old, let value = oldReferences[old] { result[reference.name] = value }
        }
        return result
    }

    /// Returns the row's values at the submit, attributes and references, as stored now.
    func submittedValues() throws -> String {
        guard let submitted else { return "" }
        let known = try connection.first(
            "SELECT \(entity.new.sql.content.joined(separator: ", ")) FROM \(entity.new.sql.originalTable) WHERE \"_sk\" = ?1", [.integer(key)])
        let values = try entity.formerPositions.enumerated().map { position, former -> Value in
            let isAttribute = position < entity.new.attributes.count
            guard let former, former < submitted.count else { return isAttribute ? entity.new.attributes[position].storedDefault : .null }
            guard isAttribute else { return submitted[former] }
            let attribute = entity.new.attributes[position], conversion = entity.object.attributes[position].conversion
            switch conversion {
            case .outOfRow: return try largeValue(of: attribute) ?? .null
            case .intoRow:
                // A value that was not changed is not sent with the operation: an import may have removed it since.
                guard let id = submitted[former].integer, try connection.hasLargeValue(id) else {
                    return submitted[former].isNull ? .null : known?[position] ?? .null
                }
                return try ConvertedValue(conversion, attribute, store).stored(.integer(id))
            case .none, .rescaled, .decimalText: return try ConvertedValue(conversion, attribute, store).stored(submitted[former])
            }
        }
        return SubmittedValues.text(values)
    }

    /// Renames values that stay large under another name.
    func renameLargeValues() throws {
        for attribute in entity.keptAttributes where attribute.new.isLarge && attribute.old.isLarge && attribute.old.name != attribute.new.name {
            try connection.execute(
                "UPDATE \"_outbox_large\" SET \"attribute\" = ?3 WHERE \"operation\" = ?1 AND \"attribute\" = ?2",
                [.integer(id), .text(attribute.old.name), .text(attribute.new.name)])
        }
    }

    // MARK: Large values

    /// Returns the large value that is sent under this name; nil where there is none.
    private func largeValue(of attribute: AttributeMetadata) throws -> Value? {
        try connection.first(
            "SELECT \"value\" FROM \"_outbox_large\" WHERE \"operation\" = ?1 AND \"attribute\" = ?2", [.integer(id), .text(attribute.name)])?[0]
    }

    /// Makes a large value that the operation carries one of its attributes; nil where it carries none, as in an update that did not change it.
    private func takeFromLargeValues(_ old: AttributeMetadata, _ new: AttributeMetadata) throws -> JSONValue? {
        guard let value = try largeValue(of: old) else { return change == .create ? .null : nil }
        try connection.execute(
            "DELETE FROM \"_outbox_large\" WHERE \"operation\" = ?1 AND \"attribute\" = ?2", [.integer(id), .text(old.name)])
        return new.storage.json(try ConvertedValue(.intoRow, new, store).stored(value))
    }

    /// Makes an attribute of the operation a large value that it carries.
    private func giveToLargeValues(_ value: JSONValue, _ old: AttributeMetadata, _ new: AttributeMetadata) throws {
        if value.isNull, change == .create { return }
        guard let stored = old.storage.attributeValue(value).flatMap({ old.storage.stored($0) }) else {
            throw ObjectError(.corrupt, "outbox: the content of a record is damaged")
        }
        try connection.execute(
            "INSERT INTO \"_outbox_large\" (\"operation\", \"attribute\", \"value\", \"original\") VALUES (?1, ?2, ?3, ?4)",
            [.integer(id), .text(new.name), try largeValue(for: stored, old, new), try originalLargeValue(new)])
    }

    /// Returns the large value with this content: that of the row where the row still has it.
    private func largeValue(for content: Value, _ old: AttributeMetadata, _ new: AttributeMetadata) throws -> Value {
        if content.isNull { return .null }
        let same = try connection.first(
            """
            SELECT n.\(entity.new.sql.attributeColumns[new.index]) FROM \(EntitySQL.quote(entity.tables[0].aside)) AS r
            JOIN \(entity.new.sql.table) AS n ON n."_sk" = r."_sk" WHERE r."_sk" = ?1 AND r.\(entity.old.sql.attributeColumns[old.index]) = ?2
            """, [.integer(key), content])
        if let same { return same[0] }
        let writer = try LargeValueWriter(in: store, unit: new.type == .bigString ? .scalars : .bytes)
        switch content {
        case .text(let text): try writer.write(text)
        case .blob(let bytes): try writer.write(bytes)
        default: break
        }
        return .integer(try writer.finish().id)
    }

    /// Returns the value that the server's version had at the submit; 0, which is not the id of any value, where an import has brought another since.
    private func originalLargeValue(_ new: AttributeMetadata) throws -> Value {
        let column = entity.new.sql.attributeColumns[new.index]
        let original = try connection.first(
            "SELECT \"_im\", \(column) FROM \(entity.new.sql.originalTable) WHERE \"_sk\" = ?1", [.integer(key)])
        guard let original, change != .create else { return .null }
        return original[0] == .integer(1) ? .integer(0) : original[1]
    }
}
