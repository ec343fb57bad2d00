internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// The trigger log of a back end in SQLite: one table with the changes of all captured tables.
///
/// A place is the last entry: its number, which never repeats (AUTOINCREMENT), and its random stamp. In a file that was restored from a backup the
/// number has another stamp, or none.
struct SQLiteTriggerLog: TriggerLog {
    let connection: SQLiteBackEndConnection

    private static let operations = ["insert", "update", "delete"]

    // MARK: Reading

    func capture(of table: BackEndTable) throws -> TableCapture? {
        guard try connection.hasTable(TriggerLogName.captures),
            let row = try connection.first(
                "SELECT history, columns FROM mobile_capture WHERE name = ?1", [.text(table.name)])
        else { return nil }
        let triggers = try connection.first(
            "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE AND name IN (?2, ?3, ?4)",
            [.text(table.name)] + Self.operations.map { .text(Self.trigger($0, table.name)) })
        guard triggers?[0].integer == 3, let columns = try JSONValue(parsing: row[1].text ?? "").array else { return nil }
        // A table that was dropped and restored, with its triggers, is another one. SQLite numbers the changes of the schema, not the tables.
        let schema = try connection.first("PRAGMA schema_version")?[0].integer ?? 0
        return TableCapture(history: "\(row[0].text ?? "") \(schema)", columns: columns.compactMap(\.string))
    }

    func end() throws -> JSONValue? {
        guard let row = try connection.first("SELECT n, stamp FROM mobile_change ORDER BY n DESC LIMIT 1"), let number = row[0].integer,
            let stamp = row[1].integer
        else { return nil }
        // A text: the numbers of JSON have 53 bits for some readers.
        return ["n": .integer(number), "stamp": .string(String(stamp))]
    }

    /// Entries are removed from the lower end only. So the log has all entries above one that it still has.
    func isComplete(_ table: BackEndTable, _ capture: TableCapture, since place: JSONValue, pruned: Int64, end: JSONValue) throws -> Bool {
        guard let number = place["n"]?.integer, let stamp = place["stamp"]?.string.flatMap({ Int64($0) }) else { return false }
        return try connection.exists("SELECT 1 FROM mobile_change WHERE n = ?1 AND stamp = ?2", [.integer(number), .integer(stamp)])
    }

    func hasChanged(_ table: BackEndTable, since place: JSONValue) throws -> Bool {
        try connection.exists(
            "SELECT 1 FROM mobile_change WHERE n > ?1 AND name = ?2 COLLATE NOCASE LIMIT 1", [.integer(place["n"]?.integer ?? 0), .text(table.name)])
    }

    func keys(of object: SQLObject, _ capture: TableCapture, since place: JSONValue, limit: Int) throws -> [Value] {
        let key = object.keyExpression { attribute in
            let column = object.tableColumn(attribute)?.name ?? attribute
            let index = capture.columns.firstIndex { $0.caseInsensitivelyEquals(column) }
            return SQLColumn(sql: index.map { "k\($0 + 1)" } ?? "NULL", affinity: .blob)
        }
        return try connection.rows(
            "SELECT DISTINCT \(key) FROM mobile_change WHERE n > ?1 AND name = ?2 COLLATE NOCASE LIMIT \(limit)",
            [.integer(place["n"]?.integer ?? 0), .text(object.table.name)]
        ).map { $0[0] }
    }

    // MARK: Installing

    func obstacle(to table: BackEndTable) throws -> String? {
        let found = try connection.first(
            "SELECT type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' FROM sqlite_schema WHERE type IN ('table', 'view') AND name = ?1 COLLATE NOCASE",
            [.text(table.name)])
        return found?[0].integer == 1 ? nil : "a view or virtual table has no triggers for its changes"
    }

    func installation(of tables: [TableToCapture]) throws -> [String] {
        var statements = [
            "CREATE TABLE IF NOT EXISTS mobile_capture (name TEXT NOT NULL PRIMARY KEY COLLATE NOCASE, columns TEXT NOT NULL, history TEXT NOT NULL)",
            """
            CREATE TABLE IF NOT EXISTS mobile_change (
                n INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, stamp INTEGER NOT NULL DEFAULT (random()),
                at INTEGER NOT NULL DEFAULT (CAST(strftime('%s', 'now') AS INTEGER)))
            """,
        ]
        let present = try connection.texts("SELECT name FROM pragma_table_info('mobile_change') WHERE name GLOB 'k[0-9]*'").count
        let needed = tables.map(\.columns.count).max() ?? 0
        for number in stride(from: present + 1, through: max(needed, 1), by: 1) {
            statements.append("ALTER TABLE mobile_change ADD COLUMN k\(number)")
        }
        // A place is an entry, so the log is never empty.
        statements.append("INSERT INTO mobile_change (name) VALUES ('')")
        for table in tables { statements += installation(of: table) }
        return statements
    }

    private func installation(of capture: TableToCapture) -> [String] {
        let table = capture.table.name, numbers = capture.columns.indices.map { "k\($0 + 1)" }
        let target = "INSERT INTO mobile_change (" + (["name"] + numbers).joined(separator: ", ") + ")"
        func entry(_ row: String) -> String {
            ([SQLText.literal(table)] + capture.columns.map { "\(row).\(SQLText.quoted($0))" }).joined(separator: ", ")
        }
        let hasOtherKey = capture.columns.map { "OLD.\(SQLText.quoted($0)) IS NOT NEW.\(SQLText.quoted($0))" }.joined(separator: " OR ")
        let bodies = [
            "\(target) VALUES (\(entry("NEW")));",
            "\(target) VALUES (\(entry("NEW")));"
                + (capture.columns.isEmpty ? "" : "\n    \(target) SELECT \(entry("OLD")) WHERE \(hasOtherKey);"),
            "\(target) VALUES (\(entry("OLD")));",
        ]
        let columns = JSONValue.array(capture.columns.map { .string($0) }).description
        return [
            """
            INSERT INTO mobile_capture (name, columns, history) VALUES (\(SQLText.literal(table)), \(SQLText.literal(columns)), lower(hex(randomblob(16))))
                ON CONFLICT (name) DO UPDATE SET columns = excluded.columns, history = excluded.history
            """
        ]
            + zip(Self.operations, bodies).flatMap { operation, body in
                let trigger = SQLText.quoted(Self.trigger(operation, table))
                return [
                    "DROP TRIGGER IF EXISTS \(trigger)",
                    "CREATE TRIGGER \(trigger) AFTER \(operation.uppercased()) ON \(SQLText.quoted(table))\nBEGIN\n    \(body)\nEND",
                ]
            }
    }

    func removal(of tables: [BackEndTable]) throws -> [String] {
        let names = tables.map(\.name)
        let left =
            try connection.hasTable(TriggerLogName.captures)
            ? connection.texts("SELECT name FROM mobile_capture").filter { name in !names.contains { $0.caseInsensitivelyEquals(name) } } : []
        let triggers = names.flatMap { name in Self.operations.map { "DROP TRIGGER IF EXISTS \(SQLText.quoted(Self.trigger($0, name)))" } }
        guard !left.isEmpty else { return triggers + ["DROP TABLE IF EXISTS mobile_capture", "DROP TABLE IF EXISTS mobile_change"] }
        return triggers + names.map { "DELETE FROM mobile_capture WHERE name = \(SQLText.literal($0))" }
    }

    private static func trigger(_ operation: String, _ table: String) -> String { "\(TriggerLogName.changes)_\(operation)_\(table)" }

    /// The last entry stays: it is the place of those who have seen everything.
    func prune(before time: Int64) throws -> Int {
        guard try connection.hasTable(TriggerLogName.changes) else { return 0 }
        return try connection.execute(
            """
            DELETE FROM mobile_change WHERE n < (SELECT max(n) FROM mobile_change)
                AND n < coalesce((SELECT min(n) FROM mobile_change WHERE at >= ?1), (SELECT max(n) FROM mobile_change))
            """, [.integer(time)])
    }
}
