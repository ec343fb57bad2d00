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
    }

    struct Reference {
        let columns: [String]
        let table: String
        /// The columns of the other table; empty for its primary key.
        let targets: [String]
    }

    /// The name in a binding.
    let name: String
    let columns: [Column]
    /// The columns of the primary key, in its order.
    let primaryKey: [String]
    let references: [Reference]
}

extension SQLEngine {
    /// Reads the descriptions of all tables, in the order of their names, without those of the server and of the engine.
    func describedTables() throws -> [DescribedTable] {
        try read { try $0.describedTables() }.filter { !$0.name.hasPrefix("mobile_") }
    }
}

extension SQLiteBackEndConnection {
    func describedTables() throws -> [DescribedTable] {
        let names = try texts("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name")
        return try names.map { table in
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
