internal import MobileModel
internal import MobileStore

/// A table of a back end, as a model needs it.
struct DescribedTable {
    struct Column {
        let name: String
        /// The type in the words of the engine.
        let declaredType: String
        let affinity: BackEndTable.Affinity
        let isNullable: Bool
        /// Whether the back end assigns the value of a new row.
        let isGenerated: Bool
        /// Characters of the longest value, for a text column whose declaration has no length; nil for others and without values.
        var longestText: Int?
        /// Whether a column of numbers has texts, which SQLite allows.
        var hasTexts = false
    }

    struct Reference {
        let columns: [String]
        let table: String
        /// The columns of the other table; empty for its primary key.
        let targets: [String]
    }

    /// The name in a binding.
    let name: String
    var columns: [Column]
    /// The columns of the primary key, in its order.
    let primaryKey: [String]
    /// Whether a row has no value in a column of the primary key, which SQLite allows.
    var hasRowsWithoutKey = false
    let references: [Reference]
}

extension SQLEngine {
    /// Reads the descriptions of all tables, in the order of their names, without those of the server and of the engine.
    func describedTables() throws -> [DescribedTable] {
        try read { connection in
            try connection.describedTables().filter { !$0.name.hasPrefix("mobile_") }.map { table in
                var table = table
                try connection.measureTexts(of: &table)
                return table
            }
        }
    }
}

extension SQLConnection {
    /// The rows of a table whose texts are measured: all rows of a large table take too long for a look at it.
    fileprivate static var measuredRows: Int { 100_000 }

    /// Finds the longest value of each text column whose declaration has no length.
    fileprivate func measureTexts(of table: inout DescribedTable) throws {
        let places = table.columns.indices.filter {
            table.columns[$0].affinity == .text && !table.columns[$0].declaredType.contains(where: \.isNumber)
        }
        guard !places.isEmpty else { return }
        let names = places.map { table.columns[$0].name.quotedName }
        let lengths = names.map { "CAST(max(length(CAST(\($0) AS TEXT))) AS BIGINT)" }.joined(separator: ", ")
        let source = "SELECT \(names.joined(separator: ", ")) FROM \(table.name.quotedName) LIMIT \(Self.measuredRows)"
        let found = try rows("SELECT \(lengths) FROM (\(source)) AS measured", [])
        for (place, length) in zip(places, found.first ?? []) { table.columns[place].longestText = length.integer.map(Int.init) }
    }
}

extension SQLiteBackEndConnection {
    func describedTables() throws -> [DescribedTable] {
        let names = try texts("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name")
        return try names.map { table in
            var described = try described(table)
            try findTexts(in: &described)
            let isNull = described.primaryKey.map { $0.quotedName + " IS NULL" }.joined(separator: " OR ")
            described.hasRowsWithoutKey =
                try !isNull.isEmpty && !rows("SELECT 1 FROM \(table.quotedName) WHERE \(isNull) LIMIT 1", []).isEmpty
            return described
        }
    }

    /// Finds the columns of numbers that have texts.
    private func findTexts(in table: inout DescribedTable) throws {
        let numbers = table.columns.indices.filter { [.integer, .real].contains(table.columns[$0].affinity) }
        guard !numbers.isEmpty else { return }
        let columns = numbers.map { table.columns[$0].name.quotedName }
        let source = "SELECT \(columns.joined(separator: ", ")) FROM \(table.name.quotedName) LIMIT \(Self.measuredRows)"
        let found = try rows("SELECT \(columns.map { "max(typeof(\($0)) = 'text')" }.joined(separator: ", ")) FROM (\(source))", [])
        for (index, isFound) in zip(numbers, found.first ?? []) { table.columns[index].hasTexts = isFound.integer == 1 }
    }

    private func described(_ table: String) throws -> DescribedTable {
        let columns = try rows("SELECT name, type, \"notnull\", pk, hidden FROM pragma_table_xinfo(?1)", [.text(table)])
        let key = columns.filter { $0[3].integer ?? 0 > 0 }.sorted { $0[3].integer ?? 0 < $1[3].integer ?? 0 }
        // Such a column is another name of the rowid, which SQLite assigns.
        let isRowID = key.count == 1 && key[0][1].text?.uppercased() == "INTEGER"
        return DescribedTable(
            name: table,
            columns: columns.map { row in
                // In capital letters: PostgreSQL's types are in small ones.
                let type = row[1].text?.uppercased() ?? "", isKey = row[3].integer ?? 0 > 0
                return DescribedTable.Column(
                    name: row[0].text ?? "", declaredType: type, affinity: BackEndTable.Affinity(declaredType: type),
                    isNullable: row[2].integer == 0 && !isKey, isGenerated: isKey && isRowID || row[4].integer ?? 0 >= 2)
            }, primaryKey: key.compactMap { $0[0].text }, references: try references(of: table))
    }

    private func references(of table: String) throws -> [DescribedTable.Reference] {
        let found = try rows("SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?1) ORDER BY id, seq", [.text(table)])
        return Dictionary(grouping: found) { $0[0].integer ?? 0 }.sorted { $0.key < $1.key }.map { _, rows in
            DescribedTable.Reference(
                columns: rows.compactMap { $0[2].text }, table: rows[0][1].text ?? "", targets: rows.compactMap { $0[3].text })
        }
    }
}

extension PostgreSQLBackEndConnection {
    /// Reads the tables of the first schema of the search path.
    func describedTables() throws -> [DescribedTable] {
        let tables = try rows(
            """
            SELECT CAST(c.oid AS BIGINT), CAST(c.relname AS TEXT) FROM pg_catalog.pg_class AS c
            JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname = current_schema() ORDER BY c.relname
            """, [])
        return try tables.map { table in
            DescribedTable(
                name: table[1].text ?? "", columns: try describedColumns(of: table[0]), primaryKey: try keyColumns(of: table[0]),
                references: try references(of: table[0]))
        }
    }

    private func describedColumns(of table: Value) throws -> [DescribedTable.Column] {
        try rows(
            """
            SELECT CAST(a.attname AS TEXT), pg_catalog.format_type(CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END,
                    CASE t.typtype WHEN 'd' THEN t.typtypmod ELSE a.atttypmod END),
                CAST(CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END AS BIGINT), CAST(a.attnotnull OR t.typnotnull AS INTEGER),
                CAST(a.attgenerated <> '' OR a.attidentity <> '' OR coalesce(pg_catalog.pg_get_expr(d.adbin, d.adrelid), '') LIKE 'nextval(%'
                    AS INTEGER)
            FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
            LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
            WHERE a.attrelid = CAST(CAST(?1 AS BIGINT) AS OID) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
            """, [table]
        ).map { row in
            DescribedTable.Column(
                name: row[0].text ?? "", declaredType: row[1].text ?? "",
                affinity: BackEndTable.Affinity(typeID: UInt32(truncatingIfNeeded: row[2].integer ?? 0)), isNullable: row[3].integer == 0,
                isGenerated: row[4].integer == 1)
        }
    }

    private func keyColumns(of table: Value) throws -> [String] {
        try texts(
            """
            SELECT CAST(a.attname AS TEXT) FROM pg_catalog.pg_constraint AS c
            CROSS JOIN LATERAL unnest(c.conkey) WITH ORDINALITY AS k (number, place)
            JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = k.number
            WHERE c.contype = 'p' AND c.conrelid = CAST(CAST(?1 AS BIGINT) AS OID) ORDER BY k.place
            """, [table])
    }

    private func references(of table: Value) throws -> [DescribedTable.Reference] {
        let found = try rows(
            """
            SELECT CAST(c.oid AS BIGINT), CAST(f.relname AS TEXT), CAST(a.attname AS TEXT), CAST(b.attname AS TEXT)
            FROM pg_catalog.pg_constraint AS c JOIN pg_catalog.pg_class AS f ON f.oid = c.confrelid
            CROSS JOIN LATERAL unnest(c.conkey, c.confkey) WITH ORDINALITY AS k (own, other, place)
            JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = k.own
            JOIN pg_catalog.pg_attribute AS b ON b.attrelid = c.confrelid AND b.attnum = k.other
            WHERE c.contype = 'f' AND c.conrelid = CAST(CAST(?1 AS BIGINT) AS OID) ORDER BY c.conname, k.place
            """, [table])
        var references: [Int64: [[Value]]] = [:], order: [Int64] = []
        for row in found {
            let id = row[0].integer ?? 0
            if references[id] == nil { order.append(id) }
            references[id, default: []].append(row)
        }
        return order.compactMap { references[$0] }.map { rows in
            DescribedTable.Reference(
                columns: rows.compactMap { $0[2].text }, table: rows[0][1].text ?? "", targets: rows.compactMap { $0[3].text })
        }
    }
}

extension String {
    /// The name in quotation marks.
    fileprivate var quotedName: String { "\"" + replacing("\"", with: "\"\"") + "\"" }
}
