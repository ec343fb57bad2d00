internal import MobileModel
internal import MobileStore

extension PostgreSQLBackEndConnection {
    func foundTables(schemas: [String]) throws -> (tables: [FoundTable], omissions: [String]) {
        let path = try texts("SELECT CAST(unnest(current_schemas(false)) AS TEXT)"), read = schemas.isEmpty ? path : schemas
        let found = try rows(
            """
            SELECT CAST(c.oid AS BIGINT), CAST(c.relname AS TEXT), CAST(n.nspname AS TEXT), CAST(c.relkind AS TEXT),
                CAST(pg_catalog.pg_table_is_visible(c.oid) AS INTEGER)
            FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
                AND c.relname NOT IN (\(OwnTables.list))
                AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname = 'mobile_xid')
            ORDER BY c.relname, n.nspname
            """, [])
        var tables: [FoundTable] = [], omissions: [String] = [], others: [String: Int] = [:]
        for schema in schemas where try texts("SELECT CAST(nspname AS TEXT) FROM pg_catalog.pg_namespace WHERE nspname = ?1", [.text(schema)]).isEmpty
        {
            omissions.append("schema \"\(schema)\": there is none of this name")
        }
        for row in found {
            let schema = row[2].text ?? "", name = row[4].integer == 1 ? row[1].text ?? "" : "\(schema).\(row[1].text ?? "")"
            guard read.contains(schema) else {
                others[schema, default: 0] += 1
                continue
            }
            switch row[3].text {
            case "v", "m": omissions.append("view \"\(name)\": it has no primary key")
            case "f": omissions.append("foreign table \"\(name)\": it has no primary key")
            default: tables.append(FoundTable(name: name, sql: SQLText.quoted(schema) + "." + SQLText.quoted(row[1].text ?? ""), id: row[0]))
            }
        }
        for (schema, count) in others.sorted(by: { $0.key < $1.key }) {
            let reason = schemas.isEmpty ? "it is not on the search path" : "it was not named"
            omissions.append("schema \"\(schema)\" with \(count == 1 ? "1 table" : "\(count) tables"): \(reason); name it with --schema")
        }
        return (tables, omissions)
    }

    func described(_ found: FoundTable) throws -> DescribedTable {
        let hidden = try texts(
            """
            SELECT CAST(attname AS TEXT) FROM pg_catalog.pg_attribute
            WHERE attrelid = CAST(CAST(?1 AS BIGINT) AS OID) AND attnum > 0 AND NOT attisdropped
                AND NOT pg_catalog.has_column_privilege(attrelid, attnum, 'SELECT')
            """, [found.id])
        var table = DescribedTable(
            name: found.name, sql: found.sql, columns: try describedColumns(of: found.id), primaryKey: try keyColumns(of: found.id),
            references: try references(of: found.id))
        table.leaveOutColumns(unreadable: Set(hidden))
        table.checks = try checks(of: found.id) + domainChecks(of: found.id)
        if !table.checks.isEmpty { try describeChecks(of: &table, found.id) }
        try measureNumbers(of: &table)
        return table
    }

    /// Finds whether conditions mean to a device what they mean to the database.
    private func describeChecks(of table: inout DescribedTable, _ id: Value) throws {
        let isChanged = try rows(
            """
            SELECT 1 FROM pg_catalog.pg_class AS c WHERE c.oid = CAST(CAST(?1 AS BIGINT) AS OID) AND (c.relhasrules OR EXISTS (
                SELECT 1 FROM pg_catalog.pg_trigger AS t WHERE t.tgtype & 2 <> 0 AND NOT t.tgisinternal
                    AND (t.tgrelid = c.oid OR t.tgrelid IN (SELECT inhrelid FROM pg_catalog.pg_inherits WHERE inhparent = c.oid))))
            """, [id])
        table.checksWrittenValues = isChanged.isEmpty
        let otherTexts = try rows(
            """
            SELECT 1 FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_collation AS l ON l.oid = a.attcollation
            WHERE a.attrelid = CAST(CAST(?1 AS BIGINT) AS OID) AND NOT l.collisdeterministic
            """, [id])
        table.comparesBytes = otherTexts.isEmpty
    }

    private func checks(of table: Value) throws -> [DescribedTable.Check] {
        let found = try rows(
            """
            SELECT CAST(c.oid AS BIGINT), pg_catalog.pg_get_expr(c.conbin, c.conrelid), CAST(a.attname AS TEXT),
                CAST(NOT c.connoinherit AS INTEGER) FROM pg_catalog.pg_constraint AS c
            JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)
            WHERE c.contype = 'c' AND c.conrelid = CAST(CAST(?1 AS BIGINT) AS OID) ORDER BY c.conname, a.attnum
            """, [table])
        let groups = Dictionary(grouping: found) { $0[0].integer ?? 0 }.sorted { $0.key < $1.key }
        return groups.map { _, rows -> DescribedTable.Check in
            DescribedTable.Check(columns: rows.compactMap { $0[2].text }, sql: rows[0][1].text ?? "", isForAllRows: rows[0][3].integer == 1)
        }
    }

    /// The conditions of the domains of columns, those of domains below them included. They call the value VALUE, which becomes the column.
    private func domainChecks(of table: Value) throws -> [DescribedTable.Check] {
        try rows(
            """
            SELECT CAST(a.attname AS TEXT), CAST(pg_catalog.quote_ident(a.attname) AS TEXT), pg_catalog.pg_get_expr(c.conbin, 0)
            FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid CROSS JOIN \(Self.typeLevels)
            JOIN pg_catalog.pg_constraint AS c ON c.contype = 'c' AND c.contypid = ANY (base.domains)
            WHERE a.attrelid = CAST(CAST(?1 AS BIGINT) AS OID) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum, c.contypid, c.conname
            """, [table]
        ).map { row -> DescribedTable.Check in
            let condition = row[2].text ?? ""
            var sql = "", rest = condition[...]
            for token in TableChecks.tokens(of: condition, namesInBrackets: false) where token.quote == nil && token.text == "VALUE" {
                sql += rest[..<token.range.lowerBound] + (row[1].text ?? "")
                rest = rest[token.range.upperBound...]
            }
            return DescribedTable.Check(columns: [row[0].text ?? ""], sql: sql + rest)
        }
    }

    /// Finds the digits of the numbers whose columns take any number.
    private func measureNumbers(of table: inout DescribedTable) throws {
        let places = table.columns.indices.filter { table.columns[$0].declaredType == "numeric" }
        guard !places.isEmpty else { return }
        let names = places.map { SQLText.quoted(table.columns[$0].name) }
        let measures = names.map { name in
            let text = "trim(TRAILING '0' FROM split_part(CAST(abs(\(name)) AS TEXT), '.', 2))",
                finite = "CAST(\(name) AS TEXT) NOT IN ('NaN', 'Infinity', '-Infinity')"
            return """
                CAST(max(length(ltrim(split_part(CAST(abs(\(name)) AS TEXT), '.', 1), '0'))) FILTER (WHERE \(finite)) AS BIGINT), \
                CAST(max(length(\(text))) FILTER (WHERE \(finite)) AS BIGINT)
                """
        }
        let source = "SELECT \(names.joined(separator: ", ")) FROM \(table.sql) LIMIT \(measuredRows)"
        let found = try rows("SELECT \(measures.joined(separator: ", ")) FROM (\(source)) AS measured", []).first ?? []
        for (index, place) in places.enumerated() where found.count > 2 * index + 1 {
            guard let whole = found[2 * index].integer, let scale = found[2 * index + 1].integer else { continue }
            table.columns[place].digits = (Int(whole), Int(scale))
        }
    }

    private func describedColumns(of table: Value) throws -> [DescribedTable.Column] {
        try rows(
            """
            SELECT CAST(a.attname AS TEXT), pg_catalog.format_type(base.id, base.modifier), CAST(base.id AS BIGINT),
                CAST(a.attnotnull OR base.is_required AS INTEGER),
                CAST(a.attgenerated <> '' OR a.attidentity <> '' OR coalesce(pg_catalog.pg_get_expr(d.adbin, d.adrelid), '') LIKE 'nextval(%'
                    AS INTEGER),
                CASE a.attgenerated WHEN '' THEN coalesce(pg_catalog.pg_get_expr(d.adbin, d.adrelid), pg_catalog.pg_get_expr(t.typdefaultbin, 0)) END,
                (SELECT CAST(json_agg(e.enumlabel ORDER BY e.enumsortorder) AS TEXT) FROM pg_catalog.pg_enum AS e
                    WHERE e.enumtypid = base.id)
            FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid CROSS JOIN \(Self.typeLevels)
            LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
            WHERE a.attrelid = CAST(CAST(?1 AS BIGINT) AS OID) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
            """, [table]
        ).map { row in
            DescribedTable.Column(
                name: row[0].text ?? "", declaredType: row[1].text ?? "",
                affinity: BackEndTable.Affinity(typeID: UInt32(truncatingIfNeeded: row[2].integer ?? 0)), isNullable: row[3].integer == 0,
                isGenerated: row[4].integer == 1, defaultSQL: row[5].text,
                values: try row[6].text.flatMap { try JSONValue(parsing: $0).array }?.compactMap(\.string) ?? [])
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
            SELECT CAST(c.oid AS BIGINT), CASE WHEN pg_catalog.pg_table_is_visible(f.oid) THEN CAST(f.relname AS TEXT) ELSE n.nspname || '.' || f.relname END,
                CAST(a.attname AS TEXT), CAST(b.attname AS TEXT)
            FROM pg_catalog.pg_constraint AS c JOIN pg_catalog.pg_class AS f ON f.oid = c.confrelid
            JOIN pg_catalog.pg_namespace AS n ON n.oid = f.relnamespace
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
