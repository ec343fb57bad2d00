import Foundation
import MobileStore

/// The contents of a client database, read from its tables alone: an object is a table with an original-state table next to it.
struct ClientDatabaseReport {
    /// Pending changes of one object.
    struct Entity {
        let name: String
        let rows: Int
        /// The numbers by letter: C, U, D, P.
        let pending: [Character: Int]
        let submitted: Int
        let failed: Int
        /// Whether the object exists only on the client: it never has pending changes.
        let isLocal: Bool
    }

    let path: String
    let settings: Database.Settings
    let package: String
    let clientID: String
    let isSubscribed: Bool
    let entities: [Entity]
    let outbox: [[Value]]
    let outboxCount: Int
    let logRecords: [[Value]]
    let logRecordCount: Int
    let groups: [[Value]]
    let subscriptions: [[Value]]
    /// The surrogate keys of rows that are earlier versions, by object: the server holds the present ones back.
    let staleRows: [(object: String, keys: [Int64])]
    let fileSpace: Database.FileSpace
    /// The largest first. Empty if SQLite was built without `dbstat`.
    let tableSpace: [Database.TableSpace]

    /// The number of lines after which lists are cut.
    static let listedLines = 20

    /// - Throws: `StoreError` if the file cannot be read, ``NotAClientDatabase`` if it is another kind of database.
    init(path: String) throws {
        let facts: Facts
        (facts, settings, fileSpace, tableSpace) = try withInspectedDatabase(path) { database in
            let facts = try database.read { connection in try Facts(connection, path: path) }
            return (facts, database.settings, try database.fileSpace(), try database.tableSpaceWhereKnown())
        }
        self.path = path
        (package, clientID, isSubscribed) = (facts.package, facts.clientID, facts.isSubscribed)
        (entities, outbox, outboxCount) = (facts.entities, facts.outbox, facts.outboxCount)
        (logRecords, logRecordCount) = (facts.logRecords, facts.logRecordCount)
        (groups, subscriptions, staleRows) = (facts.groups, facts.subscriptions, facts.staleRows)
    }
}

/// A database that this framework did not make.
struct NotAClientDatabase: Error, CustomStringConvertible {
    let path: String
    var description: String { "\"\(path)\" is not a client database: it has no table of settings; for a back end or a server's cache use sqlite3" }
}

/// The framework's own settings of a client database.
private enum SettingColumn: String, StoredColumn {
    static let table = "_settings"
    case name, value
}

/// The values that are read in one snapshot.
private struct Facts {
    let package: String
    let clientID: String
    let isSubscribed: Bool
    let entities: [ClientDatabaseReport.Entity]
    let outbox, logRecords, groups, subscriptions: [[Value]]
    let staleRows: [(object: String, keys: [Int64])]
    let outboxCount, logRecordCount: Int

    init(_ connection: Connection, path: String) throws {
        let tables = try connection.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid").compactMap { $0[0].text }
        guard tables.contains("_settings"), tables.contains("_outbox") else { throw NotAClientDatabase(path: path) }
        let settings = Dictionary(
            try connection.storedRows([SettingColumn.name, .value]).map { (try $0.text(.name), try $0.value(.value)) }, uniquingKeysWith: { $1 })
        package = "\(settings["package"]?.text ?? "?"):\(settings["version"]?.text ?? "?")"
        clientID = settings["client_id"]?.text ?? "?"
        isSubscribed = settings["subscribed"]?.integer == 1
        var stale: [String: [Int64]] = [:]
        for (name, value) in settings where name.hasPrefix("stale.") {
            for member in (try? JSONValue(parsing: value.text ?? ""))?.object ?? [:] {
                stale[member.key, default: []] += member.value.array?.compactMap(\.integer) ?? []
            }
        }
        staleRows = stale.sorted { $0.key < $1.key }.map { ($0.key, $0.value.sorted()) }

        let originals = Set(tables.filter { $0.hasSuffix("_os") })
        entities = try tables.filter { !$0.hasPrefix("_") && !$0.hasPrefix("sqlite_") && !originals.contains($0) }.map { name in
            try Self.entity(name, isLocal: !originals.contains(name + "_os"), connection)
        }
        let limit = Value.integer(Int64(ClientDatabaseReport.listedLines))
        outboxCount = try Self.count(#"SELECT count(*) FROM "_outbox""#, connection)
        outbox = try connection.rows(
            #"SELECT "id", "entity", "sk", "change", "operation", "batch", length("attributes") FROM "_outbox" ORDER BY "id" LIMIT ?1"#, [limit])
        logRecordCount = try Self.count(#"SELECT count(*) FROM "_log_record""#, connection)
        logRecords = try connection.rows(
            #"SELECT "timestamp", "code", "component", "entity_key", "message" FROM "_log_record" ORDER BY "timestamp" DESC, "message_id" DESC LIMIT ?1"#,
            [limit])
        groups = try connection.rows(#"SELECT "name", "synchronized" FROM "_group" WHERE "synchronized" IS NOT NULL ORDER BY "name""#)
        subscriptions = try connection.rows(#"SELECT "entity", "parameters" FROM "_subscription" ORDER BY "id" LIMIT ?1"#, [limit])
    }

    private static func entity(_ name: String, isLocal: Bool, _ connection: Connection) throws -> ClientDatabaseReport.Entity {
        func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }
        let rows = try count("SELECT count(*) FROM \(quoted(name))", connection)
        guard !isLocal else { return .init(name: name, rows: rows, pending: [:], submitted: 0, failed: 0, isLocal: true) }
        let original = quoted(name + "_os")
        var pending: [Character: Int] = [:]
        for (letter, change) in [("C", 1), ("U", 2), ("D", 3)] as [(Character, Int64)] {
            pending[letter] = Int(try connection.number(#"SELECT count(*) FROM \#(original) WHERE "_pc" = ?1"#, [.integer(change)]))
        }
        pending["P"] = try count(#"SELECT count(*) FROM \#(quoted(name)) WHERE "_pc" = 4"#, connection)
        return .init(
            name: name, rows: rows, pending: pending.filter { $0.value > 0 },
            submitted: try count(#"SELECT count(*) FROM \#(original) WHERE "_rp" <> 0"#, connection),
            failed: try count(#"SELECT count(*) FROM \#(original) WHERE "_rf" <> 0"#, connection), isLocal: false)
    }

    private static func count(_ sql: String, _ connection: Connection) throws -> Int { Int(try connection.number(sql)) }
}
