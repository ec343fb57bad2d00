/// The tables of every package database in addition to those of its objects.
///
/// **No table is WITHOUT ROWID, and a statement that empties one has `WHERE TRUE`.** Why: otherwise SQLite names no changed rows, and each
/// such commit would notify the observers of all objects.
enum FrameworkTables {
    /// The version of the framework's own tables and settings, in `user_version`. A file with a greater version was made by a newer release.
    /// 1: the model was not stored, and operations had no names and parameters. 2: some of the framework's
    /// tables were WITHOUT ROWID, and SQLite names no changed rows of those to observers. 3: the record of a
    /// submitted operation did not list its changed values. 4: it had no digest, and no deferrals. 5: it had no client id, and
    /// accepted operations were forgotten. 6: it had no original row, and there was no table of bases. 7: groups had no
    /// records. 8: accepted rows were not noted. 9: original states had no indexes of rows that leave others. 10: the current version.
    static let formatVersion: Int64 = 10

    static let logRecords = "_log_record"

    static let statements = [
        "CREATE TABLE \"_settings\" (\"name\" TEXT NOT NULL PRIMARY KEY, \"value\")",
        // One record per submitted operation, in the order of the ids, which is the order of the replay. `submitted`: the row's values at that
        // time. `changed`: the submitted ones among them (``ChangedValues``); empty if the row was cancelled since.
        // `imported`: 1 when an import has brought a version of the row between this submit and the row's next one.
        // `digest`: that of the content at the submit. `deferrals`: the number of times that the server has deferred it; then also the reason of the
        // last one, and the time of the next try in milliseconds since 1970. `original`: the row that the change is based on; empty where the object does
        // not refuse conflicts. `follows`: the submission of the row before this one; 0 for none. `client`: the client id under which it is sent; empty
        // for the present one of this database, see `takeNewIdentity`.
        """
        CREATE TABLE "_outbox" (
            "id" INTEGER PRIMARY KEY, "entity" TEXT NOT NULL, "sk" INTEGER NOT NULL, "change" TEXT NOT NULL, "operation" TEXT NOT NULL,
            "batch" INTEGER NOT NULL, "attributes" TEXT NOT NULL, "primary_key" TEXT NOT NULL, "refs" TEXT NOT NULL,
            "parameters" TEXT NOT NULL, "submitted" TEXT NOT NULL, "changed" TEXT NOT NULL,
            "imported" INTEGER NOT NULL, "digest" TEXT NOT NULL, "deferrals" INTEGER NOT NULL, "deferred_code" INTEGER,
            "deferred_message" TEXT, "next_try" INTEGER, "original" TEXT NOT NULL DEFAULT '',
            "follows" INTEGER NOT NULL DEFAULT 0, "client" TEXT NOT NULL DEFAULT '')
        """,
        "CREATE INDEX \"_outbox_row\" ON \"_outbox\" (\"entity\", \"sk\")",
        // The contents of accepted operations, for the case that a restored back end has lost them (see ``LostOperation``). `era`, `number`: the receipt.
        // `accepted`: milliseconds since 1970. `lost`: 1 lost, 2 lost and reported to the server.
        """
        CREATE TABLE "_accepted" (
            "id" INTEGER NOT NULL, "client" TEXT NOT NULL, "entity" TEXT NOT NULL, "sk" INTEGER NOT NULL, "change" TEXT NOT NULL,
            "operation" TEXT NOT NULL, "attributes" TEXT NOT NULL, "primary_key" TEXT NOT NULL, "refs" TEXT NOT NULL, "parameters" TEXT NOT NULL,
            "digest" TEXT NOT NULL, "era" TEXT NOT NULL, "number" INTEGER NOT NULL, "accepted" INTEGER NOT NULL, "lost" INTEGER NOT NULL,
            PRIMARY KEY ("id", "client"))
        """,
        "CREATE INDEX \"_accepted_era\" ON \"_accepted\" (\"era\", \"number\")",
        // The large values that are sent with an operation, and the ids of the server's version when the operation was submitted.
        """
        CREATE TABLE "_outbox_large" (
            "operation" INTEGER NOT NULL, "attribute" TEXT NOT NULL, "value" INTEGER, "original" INTEGER,
            PRIMARY KEY ("operation", "attribute"))
        """,
        "CREATE INDEX \"_outbox_large_value\" ON \"_outbox_large\" (\"value\")",
        // The rows that pending changes of objects that refuse conflicts are based on: see `EditBasis`. `refused`: 1 after a conflict; then also the back
        // end's row, or NULL if it is gone.
        """
        CREATE TABLE "_basis" (
            "entity" TEXT NOT NULL, "sk" INTEGER NOT NULL, "original" TEXT NOT NULL, "follows" INTEGER NOT NULL, "refused" INTEGER NOT NULL,
            "row" TEXT, PRIMARY KEY ("entity", "sk"))
        """,
        // `origin`: 0 the server, 1 this device. `state`: 0 as created, 1 to be uploaded, 2 uploaded (of the server: settled, because a later
        // operation on the row was accepted), 3 deleted here, 4 the deletion is to be uploaded.
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
        // `records`: how far the records of the back ends had come when the rows were read, see `SeenRecords`; NULL without any.
        "CREATE TABLE \"_group\" (\"name\" TEXT NOT NULL PRIMARY KEY, \"token\" TEXT, \"synchronized\" TEXT, \"records\" TEXT)",
        // Rows with accepted operations that no download of their group has confirmed, see `DecidedRows`.
        "CREATE TABLE \"_unconfirmed\" (\"sk\" INTEGER PRIMARY KEY, \"entity\" TEXT NOT NULL)",
        "CREATE TABLE \"_personalization\" (\"name\" TEXT NOT NULL PRIMARY KEY, \"value\" TEXT NOT NULL)",
        "CREATE TABLE \"_key_range\" (\"first\" INTEGER PRIMARY KEY, \"last\" INTEGER NOT NULL, \"next\" INTEGER NOT NULL)",
    ]
}
