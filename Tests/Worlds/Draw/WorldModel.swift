/// The package model of a world, and its tables.
extension World {
    /// The text of the model file.
    package func model(version: Int) -> String {
        let objects = objects.indices.map { self.object($0, version: version) }
        return """
            {"format": 2, "name": "World", "version": "\(version).0", "backEnds": [{"name": "enterprise"}],
             "synchronizationGroups": [{"name": "default"}, {"name": "side"}], "objects": [\(objects.joined(separator: ",\n"))]}
            """
    }

    private func object(_ object: Int, version: Int) -> String {
        let model = objects[object], keys = keyColumns(object)
        let attributes = columns(object, version: version).map { column, type in
            let name = attribute(ofColumn: column, object, version: version)
            var members = "\"name\": \"\(name)\", \(type.modelled)"
            if name != column { members += ", \"was\": \"\(column)\"" }
            if isNullable(column, object) { members += ", \"nullable\": true" }
            if keys.contains(column), model.key == .generated { members += ", \"generated\": true" }
            return "{\(members)}"
        }
        var relationships = model.references.enumerated().map { index, reference in
            let columns = self.columns(ofReference: index, object).map(\.name)
            let mapping = zip(columns, keyColumns(reference.target)).map { "\"\($0)\": \"\($1)\"" }.joined(separator: ", ")
            let inverse = reference.hasInverse ? ", \"inverse\": \"\(Self.list(object, index))\"" : ""
            return """
                {"name": "\(Self.reference(index))", "target": "\(Self.name(reference.target))", "cardinality": "manyToOne", "mapping": {\(mapping)}\(inverse)}
                """
        }
        for (child, index, reference) in references(to: object) where reference.hasInverse {
            let composite = reference.isComposite ? ", \"composite\": true" : "", inverse = Self.reference(index)
            relationships.append(
                """
                {"name": "\(Self.list(child, index))", "target": "\(Self.name(child))", "cardinality": "oneToMany", "inverse": "\(inverse)"\(composite)}
                """)
        }
        var columnNames: [String] = []
        for (column, _) in columns(object, version: version) {
            let name = attribute(ofColumn: column, object, version: version)
            if name != column { columnNames.append("\"\(name)\": \"\(column)\"") }
        }
        let key = keys.map { "\"\($0)\"" }.joined(separator: ", ")
        return """
            {"name": "\(Self.name(object))", "attributes": [\(attributes.joined(separator: ", "))], "primaryKey": [\(key)],
             "relationships": [\(relationships.joined(separator: ", "))]\(parameters(object)), "synchronizationGroup": "\(model.isAside ? "side" : "default")",
             "operations": ["create", "update", "delete"], "conflicts": "\(model.refusesConflicts ? "refuse" : "lastWriter")",
             "binding": {"backEnd": "enterprise", "table": "\(Self.table(object))", "columns": {\(columnNames.joined(separator: ", "))}\(load(object))}}
            """
    }

    /// The relationship from a row to those that refer to it.
    static func list(_ child: Int, _ reference: Int) -> String { "list\(child)of\(reference)" }

    private func parameters(_ object: Int) -> String {
        switch objects[object].partition {
        case .all: ""
        case .region, .parent: #", "synchronizationParameters": [{"name": "region", "type": "string"}]"#
        case .bound: #", "synchronizationParameters": [{"name": "region", "type": "string", "userAttribute": "region", "attribute": "region"}]"#
        }
    }

    private func load(_ object: Int) -> String {
        let table = Self.table(object)
        switch objects[object].partition {
        case .all: return ""
        case .region, .bound: return ", \"load\": \"SELECT * FROM \(table) WHERE region = :region\""
        case .parent(let index):
            let target = objects[object].references[index].target
            let join = zip(columns(ofReference: index, object).map(\.name), keyColumns(target)).map { "c.\($0) = p.\($1)" }.joined(separator: " AND ")
            return ", \"load\": \"SELECT c.* FROM \(table) c JOIN \(Self.table(target)) p ON \(join) WHERE p.region = :region\""
        }
    }

    func isNullable(_ column: String, _ object: Int) -> Bool {
        let model = objects[object]
        if column == "made" { return true }
        if column.first == "a", let index = Int(column.dropFirst()) { return model.attributes[index].isNullable }
        guard let index = model.references.indices.first(where: { columns(ofReference: $0, object).contains { $0.name == column } }) else {
            return false
        }
        return model.references[index].isNullable
    }

    /// The tables with their triggers, and the ledger: a line for each row that is inserted, changed or deleted, by whom ever.
    /// - Parameter reusesKeys: whether the back end may give the key of the last row again after it was deleted.
    func tables(reusesKeys: Bool) -> String {
        var statements = [
            "CREATE TABLE ledger (seq INTEGER PRIMARY KEY, object INTEGER NOT NULL, change TEXT NOT NULL, tag TEXT NOT NULL, before TEXT, after TEXT)"
        ]
        for (object, model) in objects.enumerated() {
            let table = Self.table(object)
            var parts = columns(object, version: 1).map { "\($0) \($1.column)\(isNullable($0, object) ? "" : " NOT NULL")" }
            for (index, attribute) in model.attributes.enumerated() where !attribute.isIn(version: 1) {
                parts.append(
                    "a\(index) \(attribute.type.column)\(attribute.isNullable ? "" : " NOT NULL DEFAULT \(attribute.type.literal(attribute.type.pool[0]))")"
                )
            }
            parts += ["PRIMARY KEY (\(keyColumns(object).joined(separator: ", ")))"]
            if model.key == .generated { parts = ["id INTEGER PRIMARY KEY\(reusesKeys ? "" : " AUTOINCREMENT")"] + parts.dropFirst().dropLast() }
            for (index, reference) in model.references.enumerated() {
                let action = [.noAction: "", .cascade: " ON DELETE CASCADE", .setNull: " ON DELETE SET NULL"][reference.onDelete] ?? ""
                parts.append(
                    """
                    FOREIGN KEY (\(columns(ofReference: index, object).map(\.name).joined(separator: ", "))) \
                    REFERENCES \(Self.table(reference.target)) (\(keyColumns(reference.target).joined(separator: ", ")))\(action)
                    """)
            }
            statements.append("CREATE TABLE \(table) (\(parts.joined(separator: ", ")))")
            for (change, row) in [("INSERT", "new"), ("UPDATE", "new"), ("DELETE", "old")] {
                let before = change == "INSERT" ? "NULL" : "old.stamp", after = change == "DELETE" ? "NULL" : "new.stamp"
                statements.append(
                    """
                    CREATE TRIGGER \(table)_\(change) AFTER \(change) ON \(table)
                    BEGIN INSERT INTO ledger (object, change, tag, before, after) VALUES (\(object), '\(change)', \(row).tag, \(before), \(after)); END
                    """)
            }
            for trigger in model.triggers.sorted() {
                for change in ["INSERT", "UPDATE OF stamp"] { statements.append(self.trigger(trigger, change, table)) }
            }
        }
        return statements.joined(separator: ";\n")
    }

    /// Triggers act on rows that devices write: their stamps begin with a d.
    private func trigger(_ trigger: WorldObject.Trigger, _ change: String, _ table: String) -> String {
        let head = "CREATE TRIGGER \(table)_\(trigger.rawValue)_\(change.prefix(6))"
        func after(_ digit: String, _ body: String) -> String {
            "\(head) AFTER \(change) ON \(table) WHEN new.stamp LIKE '\(digit)' BEGIN \(body); END"
        }
        return switch trigger {
        case .compute: after("d%", "UPDATE \(table) SET made = 'made of ' || new.stamp WHERE tag = new.tag")
        case .refuse: "\(head) BEFORE \(change) ON \(table) WHEN new.stamp LIKE 'd%7' BEGIN SELECT RAISE(ABORT, 'no sevens'); END"
        case .move: after("d%5", "UPDATE \(table) SET region = 'south' WHERE tag = new.tag")
        case .archive: after("d%3", "DELETE FROM \(table) WHERE tag = new.tag")
        }
    }
}

extension ValueType {
    /// A value in canonical form as SQL text.
    func literal(_ value: String) -> String {
        switch self {
        case .int, .long, .boolean, .decimal, .double: value
        case .string, .date, .dateTime: "'\(value.replacing("'", with: "''"))'"
        }
    }
}
