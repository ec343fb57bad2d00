/// The tables of the server's state that do not depend on a model, for both engines. Their names begin with an underscore.
///
/// Times are milliseconds since 1970, UTC.
enum StateTables {
    /// The statements that create the tables in an empty database.
    static func statements(_ dialect: StateDialect) -> [String] {
        accounts(dialect) + cache(dialect) + clients(dialect) + logs(dialect) + SegmentTables.statements(dialect) + EraTables.statements(dialect)
            + marks + refreshes(dialect) + [longMarks] + changedRows + quarantine(dialect) + identity(dialect)
    }

    private static func accounts(_ dialect: StateDialect) -> [String] {
        let ordered = dialect.ordered
        return [
            // A user without a password has an empty verifier. locked: an administrator has locked the user or device out.
            "CREATE TABLE _user (name TEXT PRIMARY KEY, verifier TEXT NOT NULL, locked BIGINT NOT NULL DEFAULT 0)\(ordered)",
            """
            CREATE TABLE _device (
                application TEXT NOT NULL, device TEXT NOT NULL, user_name TEXT NOT NULL, registered BIGINT NOT NULL,
                locked BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (application, device))\(ordered)
            """,
            "CREATE INDEX _device_user ON _device (user_name)",
        ] + access(dialect) + [
            // Only the SHA-256 of a token is kept. used: the time of the last use, to an hour.
            """
            CREATE TABLE _session (
                token \(dialect.bytes) PRIMARY KEY, user_name TEXT NOT NULL, application TEXT NOT NULL, device TEXT NOT NULL,
                began BIGINT NOT NULL, used BIGINT NOT NULL DEFAULT 0)\(ordered)
            """,
            "CREATE INDEX _session_device ON _session (application, device)", "CREATE INDEX _session_user ON _session (user_name)",
            "CREATE INDEX _session_used ON _session (used)", "CREATE INDEX _session_began ON _session (began)",
            // Activation codes as SHA-256; device: the device that has used it up.
            """
            CREATE TABLE _activation (
                user_name TEXT PRIMARY KEY, code \(dialect.bytes) NOT NULL, made BIGINT NOT NULL, application TEXT, device TEXT)\(ordered)
            """,
        ]
    }

    /// The rights of users: their roles, and the attributes that models bind parameters to. An attribute may have several values.
    static func access(_ dialect: StateDialect) -> [String] {
        [
            "CREATE TABLE IF NOT EXISTS _user_role (user_name TEXT NOT NULL, role TEXT NOT NULL, PRIMARY KEY (user_name, role))\(dialect.ordered)",
            """
            CREATE TABLE IF NOT EXISTS _user_attribute (
                user_name TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (user_name, name, value))\(dialect.ordered)
            """,
        ]
    }

    /// The columns with the marks of back ends (see ``RefreshMark``), and the time of the last comparison of all rows, in milliseconds since 1970.
    static let marks = [
        "ALTER TABLE _partition ADD COLUMN mark TEXT", "ALTER TABLE _partition ADD COLUMN compared BIGINT NOT NULL DEFAULT 0",
    ]

    /// The leases of refreshes that load all rows (see ``RefreshLease``), one row per package and back end. number: that of the last lease; held: whether
    /// it is in use; beat: rises while its holder lives; rekeyed: rises when a row gets another surrogate key than it had.
    static func refreshes(_ dialect: StateDialect) -> [String] {
        [
            """
            CREATE TABLE IF NOT EXISTS _refresh (
                package BIGINT NOT NULL, name TEXT NOT NULL, number BIGINT NOT NULL DEFAULT 0, beat BIGINT NOT NULL DEFAULT 0,
                held BIGINT NOT NULL DEFAULT 0, rekeyed BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (package, name))\(dialect.ordered)
            """
        ]
    }

    /// The table of marks that are too long for the partition's row (see ``RefreshMark``).
    static let longMarks = "CREATE TABLE IF NOT EXISTS _mark (partition BIGINT PRIMARY KEY, content TEXT NOT NULL)"

    /// The index of changed rows. Rows of a first load have the version 1; those that stay so are not in it, and a load does not write them there. An earlier
    /// release had all rows in an index. PostgreSQL takes the stronger lock for its removal: taken second, it deadlocks with a transaction that has read rows
    /// and writes some.
    static let changedRows = [
        "DROP INDEX IF EXISTS _row_version",
        "CREATE INDEX IF NOT EXISTS _row_changed ON _row (partition, version, deleted) WHERE \(PartitionChanges.isChanged())",
    ]

    /// The rows of back ends that their attributes cannot hold (see ``Quarantine``), by partition. name: that of the row (see ``UnfitRow``); noted: when the
    /// row was found so first. _quarantine_rest: the number of further rows that have no record.
    static func quarantine(_ dialect: StateDialect) -> [String] {
        [
            """
            CREATE TABLE IF NOT EXISTS _quarantine (
                partition BIGINT NOT NULL, name TEXT NOT NULL, object BIGINT NOT NULL, row_key TEXT NOT NULL, source TEXT NOT NULL, place TEXT NOT NULL,
                attribute TEXT NOT NULL, value TEXT NOT NULL, expected TEXT NOT NULL, noted BIGINT NOT NULL, PRIMARY KEY (partition, name))\(dialect.ordered)
            """,
            "CREATE INDEX IF NOT EXISTS _quarantine_object ON _quarantine (object, name)",
            "CREATE TABLE IF NOT EXISTS _quarantine_rest (partition BIGINT PRIMARY KEY, object BIGINT NOT NULL, row_count BIGINT NOT NULL)",
        ]
    }

    /// The common state of the versions of a package (see ``SharedIdentity``). _key_space: the number under which _key has the keys of an object, with the key attributes
    /// and the back end; none for an object that only an earlier release has served: its own number. _record_source: the package whose row of _back_end has
    /// the position in the record of a back end.
    static func identity(_ dialect: StateDialect) -> [String] {
        [
            """
            CREATE TABLE IF NOT EXISTS _key_space (
                object BIGINT PRIMARY KEY, space BIGINT NOT NULL, shape TEXT NOT NULL, back_end TEXT NOT NULL)
            """,
            "CREATE INDEX IF NOT EXISTS _key_space_space ON _key_space (space)",
            """
            CREATE TABLE IF NOT EXISTS _record_source (
                package BIGINT NOT NULL, name TEXT NOT NULL, source BIGINT NOT NULL, PRIMARY KEY (package, name))\(dialect.ordered)
            """,
        ]
    }

    /// The surrogate keys of rows. object: the key space; k: the row's key in the back end, as JSON (see KeyText), in the form in which the dialect keeps it.
    static func keys(_ dialect: StateDialect) -> [String] {
        [
            "CREATE TABLE _key (object BIGINT NOT NULL, k \(dialect.rowKey) NOT NULL, sk BIGINT NOT NULL, PRIMARY KEY (object, k))\(dialect.ordered)",
            "CREATE UNIQUE INDEX _key_sk ON _key (object, sk)",
        ]
    }

    /// The tables of cached rows, for all packages.
    static func cache(_ dialect: StateDialect) -> [String] {
        let ordered = dialect.ordered
        return [
            // epoch: the name of this life of the package's cache.
            "CREATE TABLE _package (id \(dialect.id), name TEXT NOT NULL UNIQUE, epoch TEXT NOT NULL)",
            "CREATE TABLE _object (id \(dialect.id), package BIGINT NOT NULL, name TEXT NOT NULL, shape TEXT NOT NULL, UNIQUE (package, name))",
            // The position up to which the processed operations of a back end have been read.
            """
            CREATE TABLE _back_end (package BIGINT NOT NULL, name TEXT NOT NULL, applied BIGINT NOT NULL, PRIMARY KEY (package, name))\(ordered)
            """,
            // next: the first unused surrogate key. Keys are never given twice.
            "CREATE TABLE _counter (name TEXT PRIMARY KEY, next BIGINT NOT NULL)\(ordered)",
        ] + keys(dialect) + [
            // The rows that one set of synchronization parameters selects. version: that of the last change; is_loaded: whether the rows were loaded.
            """
            CREATE TABLE _partition (
                id \(dialect.id), object BIGINT NOT NULL, parameters TEXT NOT NULL, version BIGINT NOT NULL DEFAULT 0,
                is_loaded BIGINT NOT NULL DEFAULT 0, UNIQUE (object, parameters))
            """,
            // version: the partition's version of the last change; since: that with which the row came. body: the row as it travels, empty if deleted.
            """
            CREATE TABLE _row (
                partition BIGINT NOT NULL, sk BIGINT NOT NULL, version BIGINT NOT NULL, since BIGINT NOT NULL, deleted BIGINT NOT NULL,
                body TEXT NOT NULL, PRIMARY KEY (partition, sk))\(ordered)
            """,
            "CREATE INDEX _row_sk ON _row (sk, partition)",
            // Large values as they were last seen. digest NULL: the value is NULL now.
            """
            CREATE TABLE _large (
                partition BIGINT NOT NULL, sk BIGINT NOT NULL, attribute BIGINT NOT NULL, digest \(dialect.bytes), length BIGINT,
                version BIGINT NOT NULL, PRIMARY KEY (partition, sk, attribute))\(ordered)
            """,
        ]
    }

    private static func clients(_ dialect: StateDialect) -> [String] {
        let ordered = dialect.ordered
        return [
            // One row per local database of a device: its owner and its subscription state.
            """
            CREATE TABLE _client (
                client TEXT NOT NULL, package BIGINT NOT NULL, user_name TEXT NOT NULL, state TEXT NOT NULL, PRIMARY KEY (client, package))\(ordered)
            """,
            """
            CREATE TABLE _key_range (
                package BIGINT NOT NULL, first BIGINT NOT NULL, last BIGINT NOT NULL, client TEXT NOT NULL, granted BIGINT NOT NULL,
                PRIMARY KEY (package, first))\(ordered)
            """,
            "CREATE INDEX _key_range_client ON _key_range (client, first)",
            // Rows that a client tried to create and that were rejected (see RejectedRows). operation: the create's id.
            """
            CREATE TABLE _rejected_row (
                package BIGINT NOT NULL, client TEXT NOT NULL, _sk BIGINT NOT NULL, operation BIGINT NOT NULL,
                PRIMARY KEY (package, client, _sk))\(ordered)
            """,
        ]
    }

    private static func logs(_ dialect: StateDialect) -> [String] {
        let ordered = dialect.ordered
        return [
            // One row per table of log records (see LogTable). row_count: includes logically deleted rows; retention: of clients' records.
            """
            CREATE TABLE _log_table (
                name TEXT PRIMARY KEY, package BIGINT NOT NULL, version BIGINT NOT NULL, row_count BIGINT NOT NULL, retention BIGINT)\(ordered)
            """,
            // The version up to which a client is known to have followed the deletions.
            "CREATE TABLE _log_client (log TEXT NOT NULL, client TEXT NOT NULL, confirmed BIGINT NOT NULL, PRIMARY KEY (log, client))\(ordered)",
            // Inquiries of an administrator that a device has not answered yet.
            """
            CREATE TABLE _inquiry (
                application TEXT NOT NULL, device TEXT NOT NULL, inquiry TEXT NOT NULL, asked BIGINT NOT NULL,
                PRIMARY KEY (application, device, inquiry))\(ordered)
            """,
            // Logs that devices have sent.
            """
            CREATE TABLE _domain_log (
                id \(dialect.id), application TEXT NOT NULL, device TEXT NOT NULL, user_name TEXT NOT NULL, package TEXT NOT NULL,
                inquiry TEXT NOT NULL, name TEXT NOT NULL, text TEXT NOT NULL, received BIGINT NOT NULL,
                UNIQUE (application, device, package, inquiry, name))
            """,
            // Documents of end-to-end traces, and the server's own lines about requests that carried a passport.
            """
            CREATE TABLE _trace (
                id \(dialect.id), passport TEXT NOT NULL, application TEXT NOT NULL, device TEXT NOT NULL, user_name TEXT NOT NULL,
                document TEXT NOT NULL, received BIGINT NOT NULL, UNIQUE (passport, application, device))
            """,
            "CREATE INDEX _trace_device ON _trace (application, device)",
            """
            CREATE TABLE _traced_request (
                id \(dialect.id), passport TEXT NOT NULL, application TEXT NOT NULL, device TEXT NOT NULL, line TEXT NOT NULL)
            """,
            "CREATE INDEX _traced_request_passport ON _traced_request (passport, application, device)",
            "CREATE INDEX _traced_request_device ON _traced_request (application, device)",
        ]
    }
}
