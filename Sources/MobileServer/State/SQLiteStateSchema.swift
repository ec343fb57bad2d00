internal import MobileStore

/// The versions of the server's tables in an SQLite file. An object's tables are named after package and object (see ``ObjectPlan``).
enum SQLiteStateSchema {
    static let version: Int64 = 14

    /// Refuses a file that is not the server's: before it is opened as one, which would change its journal mode.
    static func check(_ database: Database) throws {
        _ = try database.read { try foundVersion($0, path: database.path) }
    }

    /// Returns the version of the tables; nil for an empty file.
    private static func foundVersion(_ connection: Connection, path: String) throws -> Int64? {
        let found = try connection.number("PRAGMA user_version")
        if found == 0, try connection.first("SELECT 1 FROM sqlite_schema") == nil { return nil }
        guard (1...version).contains(found) else {
            throw ServerError(
                .cache,
                "cache \(path): expected a new file or one of schema version 1 to \(version), found version \(found); name another file")
        }
        return found
    }

    /// Creates the tables in a new file, adds those that a file of an earlier release lacks, and refuses a file of a later release.
    /// - Parameter now: milliseconds since 1970, UTC.
    static func prepare(_ database: Database, now: Int64) throws {
        try database.write(label: "preparing the cache") { connection in
            if let found = try foundVersion(connection, path: database.path) {
                try upgrade(connection, from: found, now: now)
            } else {
                for statement in StateTables.statements(.sqlite) { _ = try connection.execute(statement) }
            }
            _ = try connection.execute("PRAGMA user_version = \(version)")
        }
    }

    private static func upgrade(_ connection: Connection, from found: Int64, now: Int64) throws {
        if found < 2 { _ = try connection.execute(tablesOfVersion2) }
        if found < 3 {
            _ = try connection.execute(changesOfVersion3)
            // Earlier releases did not record the time of use: from now on these sessions have their full idle time.
            _ = try connection.execute("UPDATE _session SET used = ?1", [.integer(now)])
        }
        if found < 4 {
            _ = try connection.execute(changesOfVersion4)
            try moveCache(connection)
        }
        if found < 5 {
            for statement in StateTables.access(.sqlite) { _ = try connection.execute(statement) }
        }
        if found < 6 {
            for statement in SegmentTables.statements(.sqlite) { _ = try connection.execute(statement) }
        }
        if found < 7 {
            for statement in EraTables.statements(.sqlite) { _ = try connection.execute(statement) }
            try EraTables.fill(SQLiteStateConnection(connection: connection), now: now)
        }
        if found < 8 {
            for statement in StateTables.marks { _ = try connection.execute(statement) }
        }
        if found < 9 {
            for statement in StateTables.refreshes(.sqlite) { _ = try connection.execute(statement) }
        }
        if found < 10 { _ = try connection.execute(StateTables.longMarks) }
        if found < 11 {
            for statement in StateTables.changedRows { _ = try connection.execute(statement) }
        }
        if found < 12 { try convertKeys(connection) }
        if found < 13 {
            for statement in StateTables.quarantine(.sqlite) { _ = try connection.execute(statement) }
        }
        if found < 14 {
            for statement in StateTables.identity(.sqlite) { _ = try connection.execute(statement) }
        }
    }

    /// Brings the keys of rows, which were texts, to the form in which they are kept now.
    private static func convertKeys(_ connection: Connection) throws {
        _ = try connection.execute("DROP INDEX _key_sk; ALTER TABLE _key RENAME TO _key_11")
        for statement in StateTables.keys(.sqlite) { _ = try connection.execute(statement) }
        let kept = StateDialect.sqlite.keptKey("k")
        // In the order of the new table.
        _ = try connection.execute("INSERT INTO _key (object, k, sk) SELECT object, \(kept) AS kept, sk FROM _key_11 ORDER BY object, kept")
        _ = try connection.execute("DROP TABLE _key_11")
    }

    private static let tablesOfVersion2 = """
        -- One row per table of log records (see LogTable). row_count: includes logically deleted rows; retention: of clients' records, in
        -- milliseconds.
        CREATE TABLE _log_table (
            name TEXT PRIMARY KEY, package INTEGER NOT NULL, version INTEGER NOT NULL, row_count INTEGER NOT NULL, retention INTEGER) WITHOUT ROWID;
        -- The version up to which a client is known to have followed the deletions.
        CREATE TABLE _log_client (log TEXT NOT NULL, client TEXT NOT NULL, confirmed INTEGER NOT NULL, PRIMARY KEY (log, client)) WITHOUT ROWID;
        -- Inquiries of an administrator that a device has not answered yet.
        CREATE TABLE _inquiry (
            application TEXT NOT NULL, device TEXT NOT NULL, inquiry TEXT NOT NULL, asked INTEGER NOT NULL,
            PRIMARY KEY (application, device, inquiry)) WITHOUT ROWID;
        -- Logs that devices have sent.
        CREATE TABLE _domain_log (
            id INTEGER PRIMARY KEY, application TEXT NOT NULL, device TEXT NOT NULL, user TEXT NOT NULL, package TEXT NOT NULL, inquiry TEXT NOT NULL,
            name TEXT NOT NULL, text TEXT NOT NULL, received INTEGER NOT NULL, UNIQUE (application, device, package, inquiry, name));
        -- Documents of end-to-end traces, and the server's own lines about requests that carried a passport.
        CREATE TABLE _trace (
            id INTEGER PRIMARY KEY, passport TEXT NOT NULL, application TEXT NOT NULL, device TEXT NOT NULL, user TEXT NOT NULL,
            document TEXT NOT NULL, received INTEGER NOT NULL, UNIQUE (passport, application, device));
        CREATE INDEX _trace_device ON _trace (application, device);
        CREATE TABLE _traced_request (
            id INTEGER PRIMARY KEY, passport TEXT NOT NULL, application TEXT NOT NULL, device TEXT NOT NULL, line TEXT NOT NULL);
        CREATE INDEX _traced_request_passport ON _traced_request (passport, application, device);
        CREATE INDEX _traced_request_device ON _traced_request (application, device);
        """

    private static let changesOfVersion3 = """
        -- used: the time of a session's last use, to an hour. locked: an administrator has locked the user or device out.
        ALTER TABLE _session ADD COLUMN used INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX _session_user ON _session (user);
        CREATE INDEX _session_used ON _session (used);
        CREATE INDEX _session_began ON _session (began);
        ALTER TABLE _user ADD COLUMN locked INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE _device ADD COLUMN locked INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX _device_user ON _device (user);
        -- Activation codes as SHA-256; device: the device that has used it up. A user without a password has an empty verifier.
        CREATE TABLE _activation (
            user TEXT PRIMARY KEY, code BLOB NOT NULL, made INTEGER NOT NULL, application TEXT, device TEXT) WITHOUT ROWID;
        """

    private static let changesOfVersion4 = """
        CREATE INDEX IF NOT EXISTS _key_range_client ON _key_range (client, first);
        CREATE TABLE IF NOT EXISTS _rejected_row (
            package INTEGER NOT NULL, client TEXT NOT NULL, _sk INTEGER NOT NULL, operation INTEGER NOT NULL, PRIMARY KEY (package, client, _sk))
            WITHOUT ROWID;
        -- PostgreSQL returns the name of the database role for a column `user` without quotes.
        ALTER TABLE _device RENAME COLUMN user TO user_name;
        ALTER TABLE _session RENAME COLUMN user TO user_name;
        ALTER TABLE _activation RENAME COLUMN user TO user_name;
        ALTER TABLE _client RENAME COLUMN user TO user_name;
        ALTER TABLE _domain_log RENAME COLUMN user TO user_name;
        ALTER TABLE _trace RENAME COLUMN user TO user_name;
        """

    /// Moves the packages' surrogate keys from tables of their own to the common ones. The rows are loaded again, under a new epoch.
    private static func moveCache(_ connection: Connection) throws {
        for table in ["_package", "_object", "_back_end"] { _ = try connection.execute("ALTER TABLE \(table) RENAME TO \(table)_3") }
        _ = try connection.execute("DROP TABLE _partition; DROP TABLE _large")
        for statement in StateTables.cache(.sqlite) { _ = try connection.execute(statement) }
        _ = try connection.execute(
            """
            INSERT INTO _package (id, name, epoch) SELECT id, name, lower(hex(randomblob(12))) FROM _package_3;
            INSERT INTO _object (id, package, name, shape) SELECT id, package, name, shape FROM _object_3;
            INSERT INTO _back_end (package, name, applied) SELECT package, name, applied FROM _back_end_3;
            INSERT INTO _counter (name, next) SELECT 'surrogate key', max(next_key) FROM _package_3 HAVING max(next_key) IS NOT NULL;
            """)
        let insert = try connection.statement("INSERT INTO _key (object, k, sk) VALUES (?1, \(StateDialect.sqlite.keptKey("?2")), ?3)")
        for row in try connection.rows("SELECT o.id, p.name || '/' || o.name FROM _object AS o JOIN _package AS p ON p.id = o.package") {
            let table = row[1].text ?? ""
            let keys = try connection.statement("SELECT k, _sk FROM \(SQLText.quoted(table + "/keys"))")
            while try keys.step() { _ = try insert.run([row[0], .text(KeyText(keys.value(0)).text), keys.value(1)]) }
            keys.reset()
            for old in [table, table + "/keys"] { _ = try connection.execute("DROP TABLE \(SQLText.quoted(old))") }
        }
        _ = try connection.execute("DROP TABLE _package_3; DROP TABLE _object_3; DROP TABLE _back_end_3")
    }
}
