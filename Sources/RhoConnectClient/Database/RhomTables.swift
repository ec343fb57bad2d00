internal import MobileStore

/// The tables of the local database. Their names, and those of the columns that the original clients have too, are the original ones.
enum RhomTables {
    /// The version in `user_version`.
    static let version = 2
    /// The names that a model with a fixed schema cannot have.
    static let names: Set<String> = ["client_info", "sources", "object_values", "changed_values"]

    /// Finds the objects of a condition.
    static let valueIndex = "CREATE INDEX object_values_value ON object_values (source_id, attrib, value)"

    static let statements = [
        // One row. token, token_sent: the push pin that the server has. reset: the server must forget what this client has. bulksync_state: NULL never
        // used, 0 to do, 2 files left, 1 done. last_object: the last generated id.
        """
        CREATE TABLE client_info (
            id INTEGER PRIMARY KEY CHECK (id = 1), client_id TEXT NOT NULL DEFAULT '', session TEXT, user_name TEXT, server TEXT, token TEXT,
            token_sent INTEGER NOT NULL DEFAULT 0, reset INTEGER NOT NULL DEFAULT 0, bulksync_state INTEGER, last_object INTEGER NOT NULL DEFAULT 0)
        """,
        "INSERT INTO client_info (id) VALUES (1)",
        // token: that of the last committed page. schema_token: that of a page which reported a new schema, acknowledged by the application's decision.
        // awaits_page: 1 from the first query to the end of the data: the server may have a page that is not committed here. reset: as above, for this model.
        // errors: those of committed pages that were not yet reported. search: the parameters of a search in progress.
        // last_search: the token of the last search that has a page committed here.
        """
        CREATE TABLE sources (
            source_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, partition TEXT NOT NULL, token TEXT NOT NULL DEFAULT '',
            schema_token TEXT NOT NULL DEFAULT '', awaits_page INTEGER NOT NULL DEFAULT 0, schema_version TEXT, metadata TEXT,
            blob_attribs TEXT NOT NULL DEFAULT '', reset INTEGER NOT NULL DEFAULT 0, errors TEXT, search TEXT,
            search_token TEXT NOT NULL DEFAULT '', last_search TEXT NOT NULL DEFAULT '', last_updated INTEGER,
            last_inserted_size INTEGER NOT NULL DEFAULT 0, last_deleted_size INTEGER NOT NULL DEFAULT 0,
            last_sync_duration INTEGER NOT NULL DEFAULT 0, last_sync_success INTEGER NOT NULL DEFAULT 0)
        """,
        """
        CREATE TABLE object_values (
            source_id INTEGER NOT NULL, object TEXT NOT NULL, attrib TEXT NOT NULL, value TEXT NOT NULL,
            PRIMARY KEY (source_id, object, attrib)) WITHOUT ROWID
        """,
        valueIndex,
        // uncertain: the row of a create whose upload had no answer. failed: the server refused the create. tries: end pages without its link.
        """
        CREATE TABLE changed_values (
            id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, object TEXT NOT NULL, attrib TEXT NOT NULL, value TEXT,
            update_type TEXT NOT NULL, sent INTEGER NOT NULL DEFAULT 0, uncertain INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0,
            tries INTEGER NOT NULL DEFAULT 0)
        """,
        "CREATE INDEX changed_values_object ON changed_values (source_id, object)",
        "CREATE INDEX changed_values_sent ON changed_values (source_id, sent)",
    ]

    /// Creates the tables in an empty database.
    static func create(in connection: Connection) throws {
        let found = try connection.first("PRAGMA user_version")?.first?.integer ?? 0
        guard found != version else { return }
        if found == 1 {
            // The last query of the earlier release may have lost its answer, also one after a success, in a process that was killed.
            try connection.execute("ALTER TABLE sources ADD COLUMN awaits_page INTEGER NOT NULL DEFAULT 0")
            try connection.execute("ALTER TABLE sources ADD COLUMN last_search TEXT NOT NULL DEFAULT ''")
            try connection.execute("UPDATE sources SET awaits_page = 1")
        } else {
            guard found == 0, try connection.first("SELECT 1 FROM sqlite_schema LIMIT 1") == nil else {
                throw RhoConnectError(.runtime, "the database has version \(found) of its tables; this release reads the versions 1 and \(version)")
            }
            for statement in statements { try connection.execute(statement) }
        }
        try connection.execute("PRAGMA user_version = \(version)")
    }
}
