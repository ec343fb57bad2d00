internal import MobileStore

/// The tables of the cache database that do not depend on a model. Their names begin with an underscore; an object's tables are named after package
/// and object (see ``ObjectPlan``).
enum CacheSchema {
    static let version: Int64 = 3

    /// Opens the file of a cache.
    /// - Parameter configuration: provides the path of the file, the connection timeout, and the clock.
    static func open(_ configuration: ServerConfiguration, createsFile: Bool) throws -> Database {
        let path = configuration.cachePath
        var profile = ConnectionProfile(path: path, pageSize: 8192)
        profile.cacheSize = .megabytes(32)
        profile.maxConnections = 8
        profile.createsFile = createsFile
        profile.connectionTimeout = configuration.connectionTimeout
        // Grants and sessions are promises: they are on the disk before they are answered.
        profile.synchronous = .full
        do {
            let database = try Database(profile)
            do { try prepare(database, now: configuration.clock()) } catch {
                try database.close()
                throw error
            }
            return database
        } catch let error as StoreError {
            throw ServerError(.cache, "cache \(path): \(error.message)", cause: error)
        }
    }

    /// Creates the tables in a new file, adds those that a file of an earlier release lacks, and refuses a file of a later release.
    /// - Parameter now: milliseconds since 1970, UTC.
    static func prepare(_ database: Database, now: Int64) throws {
        try database.write(label: "preparing the cache") { connection in
            let found = try connection.number("PRAGMA user_version")
            if found == 0, try connection.first("SELECT 1 FROM sqlite_schema") == nil {
                _ = try connection.execute(tables)
            } else if !(1...version).contains(found) {
                throw ServerError(
                    .cache,
                    "cache \(database.path): expected a new file or one of schema version 1 to \(version), found version \(found); name another file"
                )
            }
            if found < 2 { _ = try connection.execute(tablesOfVersion2) }
            if found < 3 {
                _ = try connection.execute(changesOfVersion3)
                // Earlier releases did not record the time of use: from now on these sessions have their full idle time.
                _ = try connection.execute("UPDATE _session SET used = ?1", [.integer(now)])
            }
            _ = try connection.execute(additions)
        }
    }

    private static let tables = """
        -- One row per package. Each detected change gets the next version; surrogate keys are never given twice.
        CREATE TABLE _package (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE, epoch TEXT NOT NULL, version INTEGER NOT NULL DEFAULT 0,
            next_key INTEGER NOT NULL);
        CREATE TABLE _object (
            id INTEGER PRIMARY KEY, package INTEGER NOT NULL, name TEXT NOT NULL, shape TEXT NOT NULL, UNIQUE (package, name));
        -- The position up to which the processed operations of a back end have been read.
        CREATE TABLE _back_end (package INTEGER NOT NULL, name TEXT NOT NULL, applied INTEGER NOT NULL, PRIMARY KEY (package, name)) WITHOUT ROWID;
        -- The rows that one set of synchronization parameters selects. loaded: 0 until the first load.
        CREATE TABLE _partition (
            id INTEGER PRIMARY KEY, object INTEGER NOT NULL, parameters TEXT NOT NULL, loaded INTEGER NOT NULL DEFAULT 0,
            UNIQUE (object, parameters));
        -- Large values as they were last seen. digest NULL: the value is NULL now.
        CREATE TABLE _large (
            object INTEGER NOT NULL, _sk INTEGER NOT NULL, attribute INTEGER NOT NULL, digest BLOB, length INTEGER, version INTEGER NOT NULL,
            PRIMARY KEY (object, _sk, attribute)) WITHOUT ROWID;
        CREATE TABLE _user (name TEXT PRIMARY KEY, verifier TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE _device (
            application TEXT NOT NULL, device TEXT NOT NULL, user TEXT NOT NULL, registered INTEGER NOT NULL,
            PRIMARY KEY (application, device)) WITHOUT ROWID;
        -- Only the SHA-256 of a token is kept.
        CREATE TABLE _session (
            token BLOB PRIMARY KEY, user TEXT NOT NULL, application TEXT NOT NULL, device TEXT NOT NULL, began INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX _session_device ON _session (application, device);
        -- One row per local database of a device: its owner and its subscription state.
        CREATE TABLE _client (
            client TEXT NOT NULL, package INTEGER NOT NULL, user TEXT NOT NULL, state TEXT NOT NULL, PRIMARY KEY (client, package)) WITHOUT ROWID;
        CREATE TABLE _key_range (
            package INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, client TEXT NOT NULL, granted INTEGER NOT NULL,
            PRIMARY KEY (package, first)) WITHOUT ROWID;
        """

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
        PRAGMA user_version = 2;
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
        PRAGMA user_version = 3;
        """

    /// Additions that an earlier release of the same version neither needs nor is disturbed by. Each file that lacks them gets them.
    private static let additions = """
        CREATE INDEX IF NOT EXISTS _key_range_client ON _key_range (client, first);
        -- Rows that a client tried to create and that were rejected (see RejectedRows). operation: the create's id.
        CREATE TABLE IF NOT EXISTS _rejected_row (
            package INTEGER NOT NULL, client TEXT NOT NULL, _sk INTEGER NOT NULL, operation INTEGER NOT NULL, PRIMARY KEY (package, client, _sk))
            WITHOUT ROWID;
        """
}
