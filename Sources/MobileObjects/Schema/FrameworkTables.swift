import MobileStore

/// The tables that every package database has besides those of its objects.
///
/// **None is WITHOUT ROWID, and who empties one says `WHERE TRUE`.** Why: SQLite names no changed rows otherwise, and each such commit would
/// tell the observers of all objects.
enum FrameworkTables {
    static let logRecords = "_log_record"

    static let statements = [
        "CREATE TABLE \"_settings\" (\"name\" TEXT NOT NULL PRIMARY KEY, \"value\")",
        // One record per submitted operation, in the order of the ids, which is the order of the replay. `submitted`: the row's values as they were
        // then. `changed`: those of them that were submitted (``ChangedValues``); empty where the row was cancelled since.
        // `imported`: 1 when an import has brought a version of the row between this submit and the next one of it.
        """
        CREATE TABLE "_outbox" (
            "id" INTEGER PRIMARY KEY, "entity" TEXT NOT NULL, "sk" INTEGER NOT NULL, "change" TEXT NOT NULL, "operation" TEXT NOT NULL,
            "batch" INTEGER NOT NULL, "attributes" TEXT NOT NULL, "primary_key" TEXT NOT NULL, "refs" TEXT NOT NULL,
            "parameters" TEXT NOT NULL, "submitted" TEXT NOT NULL, "changed" TEXT NOT NULL,
            "imported" INTEGER NOT NULL)
        """,
        "CREATE INDEX \"_outbox_row\" ON \"_outbox\" (\"entity\", \"sk\")",
        // The large values that travel with an operation, and the ids that the server's version had when it was submitted.
        """
        CREATE TABLE "_outbox_large" (
            "operation" INTEGER NOT NULL, "attribute" TEXT NOT NULL, "value" INTEGER, "original" INTEGER,
            PRIMARY KEY ("operation", "attribute"))
        """,
        "CREATE INDEX \"_outbox_large_value\" ON \"_outbox_large\" (\"value\")",
        // `origin`: 0 the server, 1 this device. `state`: 0 as it was made, 1 to be uploaded, 2 uploaded, 3 deleted here, 4 the deletion is to
        // be uploaded.
        """
        CREATE TABLE "_log_record" (
            "message_id" INTEGER PRIMARY KEY, "level" INTEGER NOT NULL, "code" INTEGER NOT NULL, "eis_code" TEXT, "message" TEXT NOT NULL,
            "component" TEXT NOT NULL, "entity_key" TEXT NOT NULL, "operation" TEXT NOT NULL, "request_id" TEXT NOT NULL,
            "timestamp" TEXT NOT NULL, "origin" INTEGER NOT NULL, "state" INTEGER NOT NULL)
        """,
        "CREATE INDEX \"_log_record_row\" ON \"_log_record\" (\"component\", \"entity_key\")",
        """
        CREATE TABLE "_change_log" (
            "entity" TEXT NOT NULL, "sk" INTEGER NOT NULL, "change" TEXT NOT NULL, "root_entity" TEXT NOT NULL, "root_sk" INTEGER NOT NULL,
            PRIMARY KEY ("entity", "sk"))
        """,
        "CREATE TABLE \"_subscription\" (\"id\" INTEGER PRIMARY KEY, \"entity\" TEXT NOT NULL, \"parameters\" TEXT NOT NULL)",
        "CREATE TABLE \"_group\" (\"name\" TEXT NOT NULL PRIMARY KEY, \"token\" TEXT, \"synchronized\" TEXT)",
        "CREATE TABLE \"_personalization\" (\"name\" TEXT NOT NULL PRIMARY KEY, \"value\" TEXT NOT NULL)",
        "CREATE TABLE \"_key_range\" (\"first\" INTEGER PRIMARY KEY, \"last\" INTEGER NOT NULL, \"next\" INTEGER NOT NULL)",
    ]

    /// What records of older formats get in columns that they did not have, where NULL may not stand.
    private static let values: [String: [String: String]] = ["_outbox": ["parameters": "{}", "changed": "", "imported": "0"]]

    /// Makes tables and indexes that a database of an older format lacks, and those that it has in another form anew, with their rows.
    static func bringUpToDate(_ connection: Connection) throws {
        let present = Set(try connection.texts("SELECT \"sql\" FROM sqlite_schema WHERE \"sql\" IS NOT NULL"))
        for statement in statements where !present.contains(statement) && statement.hasPrefix("CREATE TABLE") {
            let name = String(statement.split(separator: "\"", maxSplits: 2)[1]), old = EntitySQL.quote(DatabaseUpgrade.aside + name)
            let before = try columns(of: name, connection)
            guard !before.isEmpty else {
                try connection.execute(statement)
                continue
            }
            for index in try connection.texts(
                "SELECT \"name\" FROM sqlite_schema WHERE \"type\" = 'index' AND \"tbl_name\" = ?1 AND \"sql\" IS NOT NULL", [.text(name)])
            { try connection.execute("DROP INDEX \(EntitySQL.quote(index))") }
            try connection.execute("ALTER TABLE \(EntitySQL.quote(name)) RENAME TO \(old)")
            try connection.execute(statement)
            let filled = try columns(of: name, connection).filter { before.contains($0) || values[name]?[$0] != nil }
            let list = filled.map(EntitySQL.quote).joined(separator: ", ")
            let from = filled.map { before.contains($0) ? EntitySQL.quote($0) : EntitySQL.literal(values[name]?[$0] ?? "") }
            try connection.execute("INSERT INTO \(EntitySQL.quote(name)) (\(list)) SELECT \(from.joined(separator: ", ")) FROM \(old)")
            try connection.execute("DROP TABLE \(old)")
        }
        let indexes = Set(try connection.texts("SELECT \"sql\" FROM sqlite_schema WHERE \"sql\" IS NOT NULL"))
        for statement in statements where !indexes.contains(statement) { try connection.execute(statement) }
    }

    private static func columns(of table: String, _ connection: Connection) throws -> [String] {
        try connection.texts("SELECT \"name\" FROM pragma_table_info(?1)", [.text(table)])
    }
}
