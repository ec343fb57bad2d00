internal import MobileCrypto
internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// The trigger log of a back end in PostgreSQL: one table of changes for each captured table, with columns of the same types.
///
/// An entry has the number of its transaction, and a place is a snapshot of transactions. So a transaction that commits after others with higher numbers
/// is not missed. A place also names the life of the database: the server's history, the database and the table of captures; and the life of a log the
/// captured table. They change when a backup of any of them is restored in one of the usual ways.
struct PostgreSQLTriggerLog: TriggerLog {
    let connection: PostgreSQLBackEndConnection

    private static let operations = ["insert", "update", "delete", "truncate"]
    private static let isLater =
        "mobile_xid >= txid_snapshot_xmin(CAST(?1 AS txid_snapshot)) AND NOT txid_visible_in_snapshot(mobile_xid, CAST(?1 AS txid_snapshot))"

    // MARK: Reading

    func capture(of table: BackEndTable) throws -> TableCapture? {
        guard try connection.hasTable(TriggerLogName.captures),
            let row = try connection.first(
                """
                SELECT history || ' ' || CAST(CAST(to_regclass(name) AS OID) AS TEXT), columns, pruned FROM mobile_capture WHERE name = ?1
                """, [.text(table.sql)])
        else { return nil }
        let triggers = try connection.first(
            """
            SELECT count(*) FROM pg_catalog.pg_trigger WHERE tgrelid = to_regclass(CAST(?1 AS TEXT)) AND tgenabled IN ('O', 'A')
                AND tgname IN ('mobile_change_insert', 'mobile_change_update', 'mobile_change_delete', 'mobile_change_truncate')
            """, [.text(table.sql)])
        guard triggers?[0].integer == 4, let columns = try JSONValue(parsing: row[1].text ?? "").array else { return nil }
        return TableCapture(history: row[0].text ?? "", columns: columns.compactMap(\.string), pruned: row[2].integer ?? 0)
    }

    func end() throws -> JSONValue? {
        guard let position = try connection.position(),
            let captures = try connection.optionalNumber("SELECT CAST(CAST(to_regclass('mobile_capture') AS OID) AS BIGINT)")
        else { return nil }
        return ["snapshot": .string(position.state), "life": .string("\(position.historyID) \(captures)")]
    }

    /// Entries that were pruned before the place was taken are those of transactions that it knows. Later ones are known if all transactions up to the last
    /// pruned one had ended.
    func isComplete(_ table: BackEndTable, _ capture: TableCapture, since place: JSONValue, pruned: Int64, end: JSONValue) throws -> Bool {
        guard let snapshot = place["snapshot"]?.string, let life = place["life"], life == end["life"] else { return false }
        guard capture.pruned != pruned else { return true }
        return try connection.exists(
            "SELECT 1 WHERE CAST(?2 AS BIGINT) < txid_snapshot_xmin(CAST(?1 AS txid_snapshot))", [.text(snapshot), .integer(capture.pruned)])
    }

    func hasChanged(_ table: BackEndTable, since place: JSONValue) throws -> Bool {
        try connection.exists("SELECT 1 FROM \(try log(of: table)) WHERE \(Self.isLater) LIMIT 1", [.text(place["snapshot"]?.string ?? "")])
    }

    func keys(of object: SQLObject, _ capture: TableCapture, since place: JSONValue, limit: Int) throws -> [Value] {
        let key = object.keyExpression { attribute in
            let column = object.column(attribute)
            let isThere = object.tableColumn(attribute).map { capture.columns.contains($0.name) } ?? false
            return isThere ? column : SQLColumn(sql: "CAST(NULL AS TEXT)", affinity: .text)
        }
        return try connection.rows(
            "SELECT DISTINCT \(key) FROM \(try log(of: object.table)) WHERE \(Self.isLater) LIMIT \(limit)",
            [.text(place["snapshot"]?.string ?? "")]
        ).map { $0[0] }
    }

    // MARK: Installing

    /// Statements on a partition or a child table do not run the triggers of its parent.
    func obstacle(to table: BackEndTable) throws -> String? {
        let found = try connection.first(
            """
            SELECT CAST(c.relkind AS TEXT), CAST(c.relispartition AS INTEGER),
                CAST(EXISTS (SELECT 1 FROM pg_catalog.pg_inherits AS i WHERE i.inhparent = c.oid OR i.inhrelid = c.oid) AS INTEGER)
            FROM pg_catalog.pg_class AS c WHERE c.oid = to_regclass(CAST(?1 AS TEXT))
            """, [.text(table.sql)])
        guard found?[0].text == "r" else { return "a view, foreign or partitioned table has no triggers for all of its changes" }
        return found?[1].integer == 0 && found?[2].integer == 0
            ? nil : "a partition, or a table that inherits, has no triggers for all of its changes"
    }

    func installation(of tables: [TableToCapture]) throws -> [String] {
        let schema = try schema()
        return [
            """
            CREATE TABLE IF NOT EXISTS \(schema).mobile_capture (
                name TEXT PRIMARY KEY, columns TEXT NOT NULL, history TEXT NOT NULL, pruned BIGINT NOT NULL DEFAULT 0)
            """
        ] + (try tables.flatMap { try installation(of: $0, schema) })
    }

    private func installation(of capture: TableToCapture, _ schema: String) throws -> [String] {
        let table = capture.table.sql, log = try log(of: capture.table)
        let columns = capture.columns.map(SQLText.quoted).joined(separator: ", ")
        func insert(_ rows: String...) -> String {
            guard !capture.columns.isEmpty else { return "INSERT INTO \(log) DEFAULT VALUES" }
            return "INSERT INTO \(log) (\(columns)) " + rows.map { "SELECT \(columns) FROM \($0)" }.joined(separator: " UNION ")
        }
        let rows = [
            "insert": "REFERENCING NEW TABLE AS mobile_new", "update": "REFERENCING OLD TABLE AS mobile_old NEW TABLE AS mobile_new",
            "delete": "REFERENCING OLD TABLE AS mobile_old",
        ]
        let names = JSONValue.array(capture.columns.map { .string($0) }).description
        let own = (["CAST(0 AS BIGINT) AS mobile_xid", "now() AS mobile_at"] + capture.columns.map(SQLText.quoted)).joined(separator: ", ")
        return [
            "DROP TABLE IF EXISTS \(log)", "CREATE TABLE \(log) AS SELECT \(own) FROM \(table) WITH NO DATA",
            """
            ALTER TABLE \(log) ALTER COLUMN mobile_xid SET DEFAULT txid_current(), ALTER COLUMN mobile_xid SET NOT NULL,
                ALTER COLUMN mobile_at SET DEFAULT now(), ALTER COLUMN mobile_at SET NOT NULL
            """, "CREATE INDEX ON \(log) (mobile_xid)",
            """
            CREATE OR REPLACE FUNCTION \(log)() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $mobile$
            BEGIN
                IF TG_OP = 'INSERT' THEN \(insert("mobile_new"));
                ELSIF TG_OP = 'UPDATE' THEN \(insert("mobile_old", "mobile_new"));
                ELSIF TG_OP = 'DELETE' THEN \(insert("mobile_old"));
                ELSE INSERT INTO \(log) DEFAULT VALUES;
                END IF;
                RETURN NULL;
            END $mobile$
            """,
        ]
            + Self.operations.flatMap { operation in
                [
                    "DROP TRIGGER IF EXISTS mobile_change_\(operation) ON \(table)",
                    """
                    CREATE TRIGGER mobile_change_\(operation) AFTER \(operation.uppercased()) ON \(table) \(rows[operation] ?? "")
                        FOR EACH STATEMENT EXECUTE FUNCTION \(log)()
                    """,
                ]
            } + [
                """
                INSERT INTO \(schema).mobile_capture (name, columns, history)
                    VALUES (\(SQLText.literal(table)), \(SQLText.literal(names)), md5(CAST(random() AS TEXT) || CAST(clock_timestamp() AS TEXT)))
                    ON CONFLICT (name) DO UPDATE SET columns = excluded.columns, history = excluded.history, pruned = 0
                """
            ]
    }

    func removal(of tables: [BackEndTable]) throws -> [String] {
        guard try connection.hasTable(TriggerLogName.captures) else { return [] }
        let names = tables.map(\.sql)
        let left = try connection.texts("SELECT name FROM mobile_capture").filter { !names.contains($0) }
        let logs = try tables.flatMap { table in
            let log = try log(of: table)
            return Self.operations.map { "DROP TRIGGER IF EXISTS mobile_change_\($0) ON \(table.sql)" }
                + ["DROP FUNCTION IF EXISTS \(log)()", "DROP TABLE IF EXISTS \(log)"]
        }
        let schema = try schema()
        guard !left.isEmpty else { return logs + ["DROP TABLE IF EXISTS \(schema).mobile_capture"] }
        return logs + names.map { "DELETE FROM \(schema).mobile_capture WHERE name = \(SQLText.literal($0))" }
    }

    func prune(before time: Int64) throws -> Int {
        guard try connection.hasTable(TriggerLogName.captures) else { return 0 }
        var count = 0
        for row in try connection.rows("SELECT name FROM mobile_capture ORDER BY name" + StateDialect.postgreSQL.lock) {
            let log = try log(named: row[0].text ?? ""), isOld = "mobile_at < to_timestamp(CAST(?1 AS DOUBLE PRECISION))"
            guard let last = try connection.first("SELECT max(mobile_xid) FROM \(log) WHERE \(isOld)", [.integer(time)])?[0].integer else { continue }
            count += try connection.execute("DELETE FROM \(log) WHERE \(isOld)", [.integer(time)])
            try connection.execute(
                "UPDATE mobile_capture SET pruned = ?2 WHERE name = ?1 AND pruned < CAST(?2 AS BIGINT)", [row[0], .integer(last)])
        }
        return count
    }

    // MARK: Names

    /// The schema of the log, quoted; where there is none, the first one of the search path.
    private func schema() throws -> String {
        let found = try connection.first(
            """
            SELECT CAST(coalesce((SELECT n.nspname FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
                WHERE c.oid = to_regclass('mobile_capture')), current_schema()) AS TEXT)
            """)
        return SQLText.quoted(found?[0].text ?? "public")
    }

    private func log(of table: BackEndTable) throws -> String { try log(named: table.sql) }

    /// The table of a table's changes. A digest keeps it apart from others, because PostgreSQL cuts names at 63 bytes.
    private func log(named table: String) throws -> String {
        let stem = table.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? String($0) : "_" }.joined().prefix(30)
        let digest = Array(try SHA256.digest(of: table).prefix(4)).hexadecimal
        return "\(try schema()).\(SQLText.quoted("\(TriggerLogName.changes)\(stem)_\(digest)"))"
    }
}
