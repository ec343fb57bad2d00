internal import MobileStore

/// The data that a client keeps on the device: the tables of its database.
struct ClientStore: Sendable {
    let database: Database

    /// The version of the tables below.
    private static let version: Int64 = 1

    /// Creates the tables.
    /// - Throws: `StoreError`, also for a database of a newer version.
    init(_ database: Database) throws {
        self.database = database
        try database.write(label: "tables of the Worklight client") { connection in
            try connection.execute("CREATE TABLE IF NOT EXISTS wl_setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
            let version = try connection.first("SELECT value FROM wl_setting WHERE name = 'version'")?[0].text
            guard version == nil || version == String(Self.version) else {
                throw StoreError(.misuse, "the tables of the Worklight client have version \(version ?? ""), this program knows \(Self.version)")
            }
            try connection.execute("INSERT OR IGNORE INTO wl_setting VALUES ('version', ?)", [.text(String(Self.version))])
            try connection.execute(
                """
                CREATE TABLE IF NOT EXISTS wl_log (id INTEGER PRIMARY KEY, part INTEGER NOT NULL, entry TEXT NOT NULL);
                CREATE TABLE IF NOT EXISTS wl_result (
                    scope TEXT NOT NULL, adapter TEXT NOT NULL, procedure TEXT NOT NULL, parameters TEXT NOT NULL,
                    stored REAL NOT NULL, body BLOB NOT NULL, PRIMARY KEY (scope, adapter, procedure, parameters)) WITHOUT ROWID;
                CREATE TABLE IF NOT EXISTS wl_outbox (
                    id INTEGER PRIMARY KEY AUTOINCREMENT, adapter TEXT NOT NULL, procedure TEXT NOT NULL, parameters TEXT NOT NULL,
                    repeatable INTEGER NOT NULL, sent INTEGER NOT NULL, tag TEXT);
                """)
        }
    }

    /// A value that survives restarts.
    func setting(_ name: Setting) throws -> String? {
        try database.read { try $0.first("SELECT value FROM wl_setting WHERE name = ?", [.text(name.rawValue)])?[0].text }
    }

    /// Keeps a value; nil removes it.
    func set(_ name: Setting, _ value: String?) throws {
        try database.write { connection in
            guard let value else {
                try connection.execute("DELETE FROM wl_setting WHERE name = ?", [.text(name.rawValue)])
                return
            }
            try connection.execute("INSERT OR REPLACE INTO wl_setting VALUES (?, ?)", [.text(name.rawValue), .text(value)])
        }
    }

    enum Setting: String {
        /// The identifier of the device.
        case device
        /// The identifier of the last message of the remote disable realm that was shown.
        case message
        /// The value of the anonymous user's cookie.
        case persistentCookie
        /// The anti-XSRF value, for a client that shares its cookies.
        case instance
    }
}
