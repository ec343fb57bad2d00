/// The package model of a world, and its tables.
extension World {
    /// The name of a device's package.
    func packageName(_ device: Int) -> String { devices.indices.contains(device) && devices[device].hasOtherPackage ? "Other" : "World" }

    /// The text of the model file.
    package func model(version: Int, name: String = "World") -> String {
        // No server knows of its rows, and it has no table of original states.
        let local = #"{"name": "Local", "local": true, "attributes": [{"name": "id", "type": "int"}], "primaryKey": ["id"]}"#
        let objects = objects.indices.map { self.object($0, version: version) } + [local]
        return """
            {"format": 2, "name": "\(name)", "version": "\(version).0", "backEnds": [{"name": "enterprise"}],
             "synchronizationGroups": [{"name": "default"}, {"name": "side"}, {"name": "far"}], "objects": [\(objects.joined(separator: ",\n"))]}
            """
    }

    private func object(_ object: Int, version: Int) -> String {
        let model = objects[object], keys = keyColumns(object)
        let attributes = columns(object, version: version).map { column, type in
            let name = attribute(ofColumn: column, object, version: version)
            var members = "\"name\": \"\(name)\", \(column == LongText.column ? LongText.modelled : type.modelled)"
            if name != column { members += ", \"was\": \"\(column)\"" }
            if isSearchable(column, object) { members += ", \"searchable\": true" }
            if isNullable(column, object) { members += ", \"nullable\": true" }
            if keys.contains(column), model.key == .generated { members += ", \"generated\": true" }
            return "{\(members)}"
        }
        var relationships = model.references.enumerated().map { index, reference in
            let columns = self.columns(ofReference: index, object).map(\.name)
            let mapping = zip(columns, keyColumns(reference.target)).map { "\"\($0)\": \"\($1)\"" }.joined(separator: ", ")
            let inverse = reference.hasInverse ? ", \"inverse\": \"\(Self.list(object, index))\"" : ""
            return """
                {"name": "\(Self.reference(index))", "target": "\(Self.name(reference.target))", "cardinality": "\(reference.isSingle ? "oneToOne" : "manyToOne")", "mapping": {\(mapping)}\(inverse)}
                """
        }
        for (child, index, reference) in references(to: object) where reference.hasInverse {
            let composite = reference.isComposite ? ", \"composite\": true" : "", inverse = Self.reference(index)
            relationships.append(
                """
                {"name": "\(Self.list(child, index))", "target": "\(Self.name(child))", "cardinality": "\(reference.isSingle ? "oneToOne" : "oneToMany")", "inverse": "\(inverse)"\(composite)}
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
             "relationships": [\(relationships.joined(separator: ", "))]\(parameters(object)), "synchronizationGroup": "\(model.group.rawValue)",
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
        if column == "made" || column == LongText.column { return true }
        if column.first == "a", let index = Int(column.dropFirst()) { return model.attributes[index].isNullable }
        guard let index = model.references.indices.first(where: { columns(ofReference: $0, object).contains { $0.name == column } }) else {
            return false
        }
        return model.references[index].isNullable
    }

    private func isSearchable(_ column: String, _ object: Int) -> Bool {
        guard column.first == "a", let index = Int(column.dropFirst()) else { return false }
        return objects[object].attributes[index].isSearchable
    }

    /// Whether other applications write values into the column that its attribute cannot hold.
    func isUnfit(_ column: String, _ object: Int) -> Bool {
        guard column.first == "a", let index = Int(column.dropFirst()) else { return false }
        return objects[object].attributes[index].getsUnfitValues
    }
}
