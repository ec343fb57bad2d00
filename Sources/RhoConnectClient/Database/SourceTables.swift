internal import MobileStore

/// Numbers models and keeps the tables of fixed schemas.
enum SourceTables {
    /// Finds or makes the row of a model, and its table.
    static func prepare(_ model: RhomModel.Definition, in connection: Connection) throws -> Source {
        guard !model.name.isEmpty, !model.name.contains(":") else {
            throw RhoConnectError(.runtime, "model \"\(model.name.prefix(80))\": a name is not empty and has no colon")
        }
        let source = Source(id: try number(of: model, in: connection), name: model.name, model: model)
        if case .fixedSchema(let schema) = model.modelType { try prepare(schema, of: source, in: connection) }
        return source
    }

    private static func number(of model: RhomModel.Definition, in connection: Connection) throws -> Int {
        let values: [Value] = [.text(model.name)]
        if let row = try connection.first("SELECT source_id, partition FROM sources WHERE name = ?1", values), let id = row[0].integer {
            guard row[1].text == model.partition.rawValue else {
                throw RhoConnectError(.runtime, "model \"\(model.name)\" is in partition \(row[1].text ?? ""), not in \(model.partition.rawValue)")
            }
            return Int(id)
        }
        let last = try connection.first("SELECT max(source_id) FROM sources WHERE partition = ?1", [.text(model.partition.rawValue)])
        let id = last?.first?.integer.map { Int($0) + 1 } ?? Source.firstID(of: model.partition)
        try connection.execute(
            "INSERT INTO sources (source_id, name, partition) VALUES (?1, ?2, ?3)", [Value(id), .text(model.name), .text(model.partition.rawValue)])
        return id
    }

    private static func prepare(_ schema: RhomSchema, of source: Source, in connection: Connection) throws {
        let name = source.name, columns = schema.properties.map(\.name)
        guard !RhomTables.names.contains(name.lowercased()), !name.lowercased().hasPrefix("sqlite_") else {
            throw RhoConnectError(.runtime, "model \"\(name)\": the table of this name belongs to the framework")
        }
        let reserved = ReservedNames.members.union(["id"])
        if columns.isEmpty || Set(columns.map { $0.lowercased() }).count < columns.count
            || columns.contains(where: { reserved.contains($0.lowercased()) })
        {
            throw RhoConnectError(.runtime, "model \"\(name)\": its schema needs columns with different names, none of them reserved")
        }
        let indexed = (schema.indexes.values.flatMap(\.self) + schema.uniqueIndexes.values.flatMap(\.self))
        if let unknown = indexed.first(where: { !columns.contains($0) }) {
            throw RhoConnectError(.runtime, "model \"\(name)\": an index names the column \"\(unknown)\", which does not exist")
        }
        let version = try connection.first("SELECT schema_version FROM sources WHERE source_id = ?1", [Value(source.id)])?.first?.text
        guard version != schema.version else { return }
        try rebuild(schema, of: source, hadTable: version != nil, in: connection)
    }

    /// Makes the table; one of another version gives its values of the columns that both have. The server then sends everything again.
    private static func rebuild(_ schema: RhomSchema, of source: Source, hadTable: Bool, in connection: Connection) throws {
        let table = source.name.quoted, old = "\(source.name) before".quoted
        var kept: [String] = []
        if hadTable {
            let existing = try connection.rows("SELECT name FROM pragma_table_info(?1)", [.text(source.name)]).compactMap(\.first?.text)
            kept = schema.properties.map(\.name).filter(existing.contains)
            try connection.execute("ALTER TABLE \(table) RENAME TO \(old)")
            for index in try connection.rows("SELECT name FROM pragma_index_list(?1) WHERE origin = 'c'", [.text("\(source.name) before")]) {
                try connection.execute("DROP INDEX \((index.first?.text ?? "").quoted)")
            }
        }
        let columns = schema.properties.map { "\($0.name.quoted) TEXT DEFAULT NULL" }
        try connection.execute("CREATE TABLE \(table) (object TEXT PRIMARY KEY NOT NULL, \(columns.joined(separator: ", "))) WITHOUT ROWID")
        if hadTable {
            if !kept.isEmpty {
                let names = (["object"] + kept).map(\.quoted).joined(separator: ", ")
                let filled = kept.map { "\($0.quoted) IS NOT NULL" }.joined(separator: " OR ")
                try connection.execute("INSERT INTO \(table) (\(names)) SELECT \(names) FROM \(old) WHERE \(filled)")
            }
            try connection.execute("DROP TABLE \(old)")
            try SourceRow.set("reset = 1, token = '', schema_token = ''", of: source.id, in: connection)
        }
        for (prefix, indexes) in [("INDEX", schema.indexes), ("UNIQUE INDEX", schema.uniqueIndexes)] {
            for (name, columns) in indexes.sorted(by: { $0.key < $1.key }) {
                try connection.execute(
                    "CREATE \(prefix) \("\(source.name) \(name)".quoted) ON \(table) (\(columns.map(\.quoted).joined(separator: ", ")))")
            }
        }
        try SourceRow.set("schema_version = ?1", [.text(schema.version)], of: source.id, in: connection)
    }
}
