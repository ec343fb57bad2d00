internal import MobileStore

extension PostgreSQLBackEndConnection {
    /// Finds a table, also one with its schema before a point. Without a schema, the search path counts. A name in another case is found if no table has
    /// exactly this one.
    func table(named name: String) throws -> BackEndTable? {
        if let table = try table(named: name, schema: nil) { return table }
        // Both names may have points of their own.
        for point in name.indices where name[point] == "." {
            if let table = try table(named: String(name[name.index(after: point)...]), schema: String(name[..<point])) { return table }
        }
        return nil
    }

    private func table(named name: String, schema: String?) throws -> BackEndTable? {
        let found = try first(
            """
            SELECT CAST(n.nspname AS TEXT), CAST(c.relname AS TEXT), CAST(c.oid AS BIGINT)
            FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND lower(CAST(c.relname AS TEXT)) = lower(CAST(?1 AS TEXT))
                AND (CAST(?2 AS TEXT) IS NULL AND pg_catalog.pg_table_is_visible(c.oid) OR lower(CAST(n.nspname AS TEXT)) = lower(CAST(?2 AS TEXT)))
            ORDER BY c.relname <> CAST(?1 AS TEXT), n.nspname LIMIT 1
            """, [.text(name), Value(schema)])
        guard let found, let schema = found[0].text, let table = found[1].text else { return nil }
        return BackEndTable(
            name: table, sql: "\(SQLText.quoted(schema)).\(SQLText.quoted(table))", columns: try columns(ofTable: found[2]),
            constraints: try constraints(ofTable: found[2]), parts: try parts(ofTable: found[2]))
    }

    private func parts(ofTable id: Value) throws -> Set<String> {
        let found = try rows(
            """
            WITH RECURSIVE part AS (
                SELECT inhrelid FROM pg_catalog.pg_inherits WHERE inhparent = CAST(CAST(?1 AS BIGINT) AS OID)
                UNION SELECT i.inhrelid FROM part JOIN pg_catalog.pg_inherits AS i ON i.inhparent = part.inhrelid)
            SELECT CAST(c.relname AS TEXT) FROM part JOIN pg_catalog.pg_class AS c ON c.oid = part.inhrelid
            """, [id])
        return Set(found.compactMap { $0[0].text })
    }

    /// SQL for `base`, what the type `t` of the column `a` is made of: a domain may be one of another domain. It has the type that is not a domain, the lengths
    /// and digits, whether a level forbids NULL, and the domains.
    static let typeLevels = """
        LATERAL (
            WITH RECURSIVE level (id, kind, below, modifier, is_required) AS (
                SELECT t.oid, t.typtype, t.typbasetype, CASE t.typtype WHEN 'd' THEN t.typtypmod ELSE a.atttypmod END, t.typnotnull
                UNION ALL
                SELECT b.oid, b.typtype, b.typbasetype, CASE b.typtype WHEN 'd' THEN b.typtypmod ELSE level.modifier END, b.typnotnull
                FROM level JOIN pg_catalog.pg_type AS b ON b.oid = level.below WHERE level.kind = 'd')
            SELECT id, modifier, (SELECT bool_or(is_required) FROM level) AS is_required, (SELECT array_agg(id) FROM level WHERE kind = 'd') AS domains
            FROM level WHERE kind <> 'd'
        ) AS base
        """

    /// An identity that is GENERATED ALWAYS cannot be written either.
    private func columns(ofTable id: Value) throws -> [BackEndTable.Column] {
        try rows(
            """
            SELECT CAST(a.attname AS TEXT), CAST(base.id AS BIGINT),
                CAST(a.attgenerated <> '' OR a.attidentity = 'a' AS INTEGER), CAST(t.typcategory = 'A' AS INTEGER),
                CAST(a.atthasdef OR a.attidentity <> '' OR t.typdefault IS NOT NULL AS INTEGER),
                (SELECT CAST(json_agg(e.enumlabel ORDER BY e.enumsortorder) AS TEXT) FROM pg_catalog.pg_enum AS e
                    WHERE e.enumtypid = base.id),
                CASE WHEN b.typname IN ('float4', 'name', 'char', 'money')
                    OR b.typname IN ('timestamp', 'timestamptz', 'time', 'timetz') AND base.modifier BETWEEN 0 AND 2
                    OR b.typname = 'numeric' AND base.modifier >= 0 THEN pg_catalog.format_type(base.id, base.modifier) END
            FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid CROSS JOIN \(Self.typeLevels)
            JOIN pg_catalog.pg_type AS b ON b.oid = base.id
            WHERE a.attrelid = CAST(CAST(?1 AS BIGINT) AS OID) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
            """, [id]
        ).map { row in
            BackEndTable.Column(
                name: row[0].text ?? "",
                affinity: row[3].integer == 1 ? .array : BackEndTable.Affinity(typeID: UInt32(truncatingIfNeeded: row[1].integer ?? 0)),
                isGenerated: row[2].integer == 1, hasDefault: row[4].integer == 1,
                allowedValues: try row[5].text.flatMap { try JSONValue(parsing: $0).array }?.compactMap(\.string) ?? [], narrowType: row[6].text)
        }
    }

    /// Returns those of some types that are arrays.
    func arrayTypes(among types: Set<UInt32>) throws -> Set<UInt32> {
        let list = types.map { "\($0)" }.joined(separator: ", ")
        guard !list.isEmpty else { return [] }
        let found = try rows("SELECT CAST(oid AS BIGINT) FROM pg_catalog.pg_type WHERE typcategory = 'A' AND oid IN (\(list))", [])
        return Set(found.compactMap { $0[0].integer.map { UInt32(truncatingIfNeeded: $0) } })
    }

    /// The columns of constraints and of unique indexes, by name.
    private func constraints(ofTable id: Value) throws -> [String: [String]] {
        let found = try rows(
            """
            SELECT CAST(c.conname AS TEXT), CAST(a.attname AS TEXT) FROM pg_catalog.pg_constraint AS c
            JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)
            WHERE c.conrelid = CAST(CAST(?1 AS BIGINT) AS OID)
            UNION SELECT CAST(i.relname AS TEXT), CAST(a.attname AS TEXT) FROM pg_catalog.pg_index AS x
            JOIN pg_catalog.pg_class AS i ON i.oid = x.indexrelid
            JOIN pg_catalog.pg_attribute AS a ON a.attrelid = x.indrelid AND a.attnum = ANY (x.indkey)
            WHERE x.indrelid = CAST(CAST(?1 AS BIGINT) AS OID) AND x.indisunique
            """, [id])
        return Dictionary(grouping: found) { $0[0].text ?? "" }.mapValues { $0.compactMap { $0[1].text } }
    }
}

extension BackEndTable.Affinity {
    /// The kind of a type of PostgreSQL, by its number in `pg_type`. Types without a kind of their own are read and written as text.
    init(typeID: UInt32) {
        self =
            switch typeID {
            case 16: .boolean
            case 17: .blob
            case 20, 21, 23, 26: .integer
            case 700: .single
            case 701: .real
            case 1700: .numeric
            case 1082: .date
            // Not the time with a zone, which no attribute of times has.
            case 1083: .time
            case 1114: .timestamp
            case 1184: .timestampWithTimeZone
            default: .text
            }
    }
}
