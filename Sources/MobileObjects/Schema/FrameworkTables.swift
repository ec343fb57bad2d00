/// The tables that every package database has besides those of its objects.
enum FrameworkTables {
    static let logRecords = "_log_record"

    static let statements = [
        "CREATE TABLE \"_settings\" (\"name\" TEXT PRIMARY KEY, \"value\") WITHOUT ROWID",
        // One record per submitted operation, in the order of the ids, which is the order of the replay.
        """
        CREATE TABLE "_outbox" (
            "id" INTEGER PRIMARY KEY, "entity" TEXT NOT NULL, "sk" INTEGER NOT NULL, "change" TEXT NOT NULL, "operation" TEXT NOT NULL,
            "batch" INTEGER NOT NULL, "attributes" TEXT NOT NULL, "primary_key" TEXT NOT NULL, "refs" TEXT NOT NULL,
            "parameters" TEXT NOT NULL, "submitted" TEXT NOT NULL)
        """,
        "CREATE INDEX \"_outbox_row\" ON \"_outbox\" (\"entity\", \"sk\")",
        // The large values that travel with an operation, and the ids that the server's version had when it was submitted.
        """
        CREATE TABLE "_outbox_large" (
            "operation" INTEGER NOT NULL, "attribute" TEXT NOT NULL, "value" INTEGER, "original" INTEGER,
            PRIMARY KEY ("operation", "attribute")) WITHOUT ROWID
        """,
        "CREATE INDEX \"_outbox_large_value\" ON \"_outbox_large\" (\"value\")",
        // `origin`: 0 the server, 1 this device. `state`: 0 as the server has it, 1 to be submitted, 2 submitted, 3 deleted here.
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
            PRIMARY KEY ("entity", "sk")) WITHOUT ROWID
        """,
        "CREATE TABLE \"_subscription\" (\"id\" INTEGER PRIMARY KEY, \"entity\" TEXT NOT NULL, \"parameters\" TEXT NOT NULL)",
        "CREATE TABLE \"_group\" (\"name\" TEXT PRIMARY KEY, \"token\" TEXT, \"synchronized\" TEXT) WITHOUT ROWID",
        "CREATE TABLE \"_personalization\" (\"name\" TEXT PRIMARY KEY, \"value\" TEXT NOT NULL) WITHOUT ROWID",
        "CREATE TABLE \"_key_range\" (\"first\" INTEGER PRIMARY KEY, \"last\" INTEGER NOT NULL, \"next\" INTEGER NOT NULL)",
    ]
}
