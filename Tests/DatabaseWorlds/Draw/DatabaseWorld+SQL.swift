/// The statements that make a database.
extension DatabaseWorld {
    private func quoted(_ name: String) -> String { NamePool.quoted(name) }

    /// The name of a table in statements, with its schema.
    func name(_ table: Int) -> String {
        (tables[table].options.contains(.otherSchema) ? "sales." : "") + quoted(tables[table].name)
    }

    /// The type of a column.
    func type(_ column: DatabaseColumn) -> ColumnType { ColumnType.of(column.type, engine) }

    /// The tables, in their order, with all that belongs to them; no rows.
    var schema: [String] {
        var statements: [String] = []
        for table in tables {
            for column in table.columns {
                for statement in type(column).prelude where !statements.contains(statement) { statements.append(statement) }
            }
        }
        if tables.contains(where: { $0.options.contains(.otherSchema) }) { statements.append("CREATE SCHEMA sales") }
        for index in tables.indices { statements += create(index) }
        if engine == .postgreSQL {
            for index in tables.indices {
                for reference in tables[index].references { statements.append("ALTER TABLE \(name(index)) ADD \(foreignKey(reference, of: index))") }
            }
        }
        for index in tables.indices { statements += triggers(index) }
        if tables.contains(where: { $0.options.contains(.foreignCollation) }) {
            // As a program leaves it that brought a collation of its own.
            statements += [
                "PRAGMA writable_schema = ON", "UPDATE sqlite_schema SET sql = replace(sql, 'COLLATE NOCASE', 'COLLATE house_order')",
                "PRAGMA writable_schema = RESET",
            ]
        }
        return statements + rights
    }

    /// An insert of a row with values for some columns; all where `columns` is nil.
    func insert(_ row: [String], into index: Int, columns: [Int]? = nil, returning: String? = nil) -> String {
        let table = tables[index], hasIdentity = table.columns.contains { $0.made == .identityAlways }
        let places = (columns ?? Array(table.columns.indices)).filter { !table.columns[$0].isComputed }
        let names = places.map { quoted(table.columns[$0].name) }.joined(separator: ", ")
        let values = places.map { row[$0] }.joined(separator: ", ")
        let override = hasIdentity && columns == nil ? " OVERRIDING SYSTEM VALUE" : ""
        let body = places.isEmpty ? " DEFAULT VALUES" : " (\(names))\(override) VALUES (\(values))"
        return "INSERT INTO \(name(index))" + body + (returning.map { " RETURNING \($0)" } ?? "")
    }

    /// The condition for the row of the world's own key values.
    func condition(_ row: [String], of index: Int) -> String {
        tables[index].key.map { "\(quoted(tables[index].columns[$0].name)) = \(row[$0])" }.joined(separator: " AND ")
    }

    // MARK: Parts

    private func create(_ index: Int) -> [String] {
        let table = tables[index]
        var parts = table.columns.indices.map { declaration($0, of: table) }
        let isInline =
            engine == .sqlite && table.key.count == 1 && (table.columns[table.key[0]].made == .serial || table.options.contains(.descendingKey))
        if !table.key.isEmpty, !isInline {
            parts.append("PRIMARY KEY (\(list(table.key, of: table)))")
        }
        if engine == .sqlite { parts += table.references.map { foreignKey($0, of: index) } }
        var end = ""
        if engine == .sqlite {
            end = [table.options.contains(.withoutRowID) ? "WITHOUT ROWID" : "", table.options.contains(.strict) ? "STRICT" : ""].filter {
                !$0.isEmpty
            }
            .joined(separator: ", ")
        }
        if table.options.contains(.partitions) { end = "PARTITION BY HASH (\(list([table.key[0]], of: table)))" }
        var statements = ["CREATE TABLE \(name(index)) (\(parts.joined(separator: ", ")))" + (end.isEmpty ? "" : " " + end)]
        if table.options.contains(.partitions) {
            for rest in 0..<2 {
                statements.append(
                    "CREATE TABLE part_\(index)_\(rest) PARTITION OF \(name(index)) FOR VALUES WITH (MODULUS 2, REMAINDER \(rest))")
            }
        }
        if table.options.contains(.inheritance) { statements.append("CREATE TABLE heir_\(index) (extra text) INHERITS (\(name(index)))") }
        if table.options.contains(.view) { statements.append("CREATE VIEW seen_\(index) AS SELECT * FROM \(name(index))") }
        return statements
    }

    private func list(_ columns: [Int], of table: DatabaseTable) -> String { columns.map { quoted(table.columns[$0].name) }.joined(separator: ", ") }

    private func declaration(_ place: Int, of table: DatabaseTable) -> String {
        let column = table.columns[place], name = quoted(column.name)
        var parts = [name]
        if column.made == .serial, engine == .postgreSQL {
            parts.append("serial")
        } else if column.made == .given, isPlainNumber(place, of: table) {
            parts.append("INT")
        } else if !type(column).sql.isEmpty {
            parts.append(type(column).sql)
        }
        if engine == .sqlite, column.made == .serial {
            parts.append("PRIMARY KEY" + (table.options.contains(.autoincrement) ? " AUTOINCREMENT" : ""))
        } else if engine == .sqlite, table.options.contains(.descendingKey), table.key == [place] {
            parts.append("PRIMARY KEY DESC")
        }
        if !column.isNullable { parts.append("NOT NULL") }
        if table.options.contains(.foreignCollation), column.type == .texts, !table.key.contains(place) { parts.append("COLLATE NOCASE") }
        if let value = column.defaultValue { parts.append("DEFAULT " + value) }
        switch column.made {
        case .given, .serial: break
        case .identityAlways: parts.append("GENERATED ALWAYS AS IDENTITY")
        case .identityByDefault: parts.append("GENERATED BY DEFAULT AS IDENTITY")
        case .stored, .virtual:
            let source = table.columns.firstIndex { !$0.isMade } ?? 0
            let expression = engine == .sqlite ? "'made of ' || quote(\(quoted(table.columns[source].name)))" : computed(source, of: table)
            parts.append("GENERATED ALWAYS AS (\(expression)) \(column.made == .stored ? "STORED" : "VIRTUAL")")
        }
        if column.isUnique { parts.append("UNIQUE") }
        if let value = column.excluded {
            let others = ColumnType.of(column.type, engine).values.filter { $0 != value }.joined(separator: ", ")
            let condition = column.isListed == true ? "IN (\(others))" : "<> \(value)"
            parts.append("CONSTRAINT \(quoted("no_\(place)_\(table.name)")) CHECK (\(name) \(condition))")
        }
        return parts.joined(separator: " ")
    }

    /// A key `INTEGER` is another name of the number of the row in SQLite; a key `INT` is not.
    private func isPlainNumber(_ place: Int, of table: DatabaseTable) -> Bool {
        engine == .sqlite && table.key == [place] && table.columns[place].type == .integers
            && table.options.isDisjoint(with: [.withoutRowID, .descendingKey])
    }

    /// PostgreSQL takes immutable functions only.
    private func computed(_ source: Int, of table: DatabaseTable) -> String {
        let name = quoted(table.columns[source].name)
        return "'made of ' || CASE WHEN \(name) IS NULL THEN 'nothing' ELSE 'something' END"
    }

    private func foreignKey(_ reference: DatabaseReference, of index: Int) -> String {
        "FOREIGN KEY (\(list(reference.columns, of: tables[index]))) REFERENCES \(name(reference.table)) (\(list(reference.targets, of: tables[reference.table])))"
            + " ON DELETE \(reference.onDelete.rawValue)"
    }

    /// The text of a trigger that refuses.
    static let refusal = "a clerk may not write off this much"

    private func triggers(_ index: Int) -> [String] {
        let table = tables[index]
        var statements: [String] = []
        if table.options.contains(.refusingTrigger),
            let place = table.columns.firstIndex(where: {
                type($0).isComparable && !$0.isMade && !table.key.contains(table.columns.firstIndex(of: $0) ?? 0)
            })
        {
            let column = "NEW." + quoted(table.columns[place].name), value = type(table.columns[place]).values.last ?? "NULL"
            if engine == .sqlite {
                statements.append(
                    "CREATE TRIGGER refuse_\(index) BEFORE UPDATE ON \(name(index)) WHEN \(column) = \(value) BEGIN SELECT RAISE(ABORT, \(NamePool.literal(Self.refusal))); END"
                )
            } else {
                statements.append(
                    """
                    CREATE FUNCTION refuse_\(index)() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF \(column) = \(value) THEN \
                    RAISE EXCEPTION \(NamePool.literal(Self.refusal)); END IF; RETURN NEW; END $$
                    """)
                statements.append("CREATE TRIGGER refuse BEFORE UPDATE ON \(name(index)) FOR EACH ROW EXECUTE FUNCTION refuse_\(index)()")
            }
        }
        if table.options.contains(.computingTrigger),
            let place = table.columns.firstIndex(where: { $0.type == .texts && !$0.isMade && $0.excluded == nil && !$0.isUnique }),
            !table.key.contains(place)
        {
            let column = quoted(table.columns[place].name)
            if engine == .sqlite {
                let key = table.key.map { "\(quoted(table.columns[$0].name)) IS NEW.\(quoted(table.columns[$0].name))" }.joined(separator: " AND ")
                statements.append(
                    "CREATE TRIGGER compute_\(index) AFTER INSERT ON \(name(index)) BEGIN UPDATE \(name(index)) SET \(column) = 'computed' WHERE \(key.isEmpty ? "false" : key); END"
                )
            } else {
                statements.append(
                    "CREATE FUNCTION compute_\(index)() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.\(column) := 'computed'; RETURN NEW; END $$")
                statements.append("CREATE TRIGGER compute BEFORE INSERT ON \(name(index)) FOR EACH ROW EXECUTE FUNCTION compute_\(index)()")
            }
        }
        return statements
    }

    /// Whether the server is another user of PostgreSQL than the owner of the tables.
    var hasClerk: Bool { tables.contains { !$0.options.isDisjoint(with: [.hiddenTable, .hiddenColumn]) } }

    /// The rights of that user.
    private var rights: [String] {
        guard hasClerk else { return [] }
        var statements = [
            "GRANT ALL ON SCHEMA public TO clerk", "GRANT ALL ON ALL TABLES IN SCHEMA public TO clerk",
            "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO clerk",
        ]
        if tables.contains(where: { $0.options.contains(.otherSchema) }) {
            statements += [
                "GRANT ALL ON SCHEMA sales TO clerk", "GRANT ALL ON ALL TABLES IN SCHEMA sales TO clerk",
                "GRANT ALL ON ALL SEQUENCES IN SCHEMA sales TO clerk",
            ]
        }
        for (index, table) in tables.enumerated() {
            if table.options.contains(.hiddenTable) { statements.append("REVOKE ALL ON \(name(index)) FROM clerk") }
            if table.options.contains(.hiddenColumn), table.columns.count > 1 {
                let others = table.columns.indices.dropLast(), list = list(Array(others), of: table)
                statements += [
                    "REVOKE ALL ON \(name(index)) FROM clerk",
                    "GRANT SELECT (\(list)), INSERT (\(list)), UPDATE (\(list)), DELETE ON \(name(index)) TO clerk".replacing(
                        ", DELETE ON", with: " ON"), "GRANT DELETE ON \(name(index)) TO clerk",
                ]
            }
        }
        return statements
    }
}

/// The database as SQL, for people.
extension DatabaseWorld: CustomStringConvertible {
    package var description: String {
        var lines = schema
        for (index, table) in tables.enumerated() {
            lines += table.rows.map { insert($0, into: index) }
            lines += table.laterRows.map { insert($0, into: index) + " -- after the first synchronization" }
            for (place, row) in table.newRows.enumerated() {
                let values =
                    place == 0
                    ? "(\(table.required(engine).map { "\(table.columns[$0].name) = \(row[$0])" }.joined(separator: ", ")))"
                    : "(\(row.joined(separator: ", ")))"
                lines.append("-- the device creates in \(name(index)): \(values)")
            }
            for change in table.changes {
                lines.append("-- the device sets in \(name(index)), row \(change.row): \(table.columns[change.column].name) = \(change.value)")
            }
            if let row = table.deleted { lines.append("-- the device deletes in \(name(index)): row \(row)") }
        }
        return lines.map { $0.contains("-- the device") ? $0 : $0 + ";" }.joined(separator: "\n")
    }
}
