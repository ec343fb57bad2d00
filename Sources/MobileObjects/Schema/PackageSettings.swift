import MobileStore

/// Values that the framework stores in the database, by name.
struct PackageSettings {
    enum Name: String {
        /// Name and version of the package.
        case package, version
        /// The model of the objects' tables, as JSON. A newer model is detected by comparison with it.
        case model
        /// Format 1: the statements that made the objects' tables.
        case schema
        /// The GUID of this database: the namespace of its operation ids.
        case clientID = "client_id"
        /// The name of this database in its mark, and the number of times that it was opened: see ``CopyNotice``.
        case mark, opened
        /// The last replay counter that is in no original state: see ``ReplayCounter``.
        case replayCounter = "replay_counter"
        /// The greatest id of an operation that was sent without an answer so far.
        case inDoubt = "in_doubt"
        /// The last key of the local key generator.
        case localKey = "local_key"
        /// The last id of a log record that was made here. No id is used twice, because the server keeps the uploaded record under it.
        case logRecord = "log_record"
        /// Whether the package is subscribed: 1.
        case subscribed
        /// Whether the change log is written: 1.
        case changeLog = "change_log"
    }

    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    func text(_ name: Name) throws -> String? { try row(name.rawValue)?.optionalText(.value) }
    func integer(_ name: Name) throws -> Int64? { try row(name.rawValue)?.optionalInteger(.value) }
    func set(_ name: Name, _ value: Value) throws { try set(named: name.rawValue, value) }

    func value(named name: String) throws -> Value? { try row(name)?.value(.value) }

    private func row(_ name: String) throws -> StoredRow<SettingColumn>? {
        try connection.storedRow([.value], "WHERE \"name\" = ?1", [.text(name)])
    }

    func set(named name: String, _ value: Value) throws {
        try connection.execute("INSERT OR REPLACE INTO \"_settings\" (\"name\", \"value\") VALUES (?1, ?2)", [.text(name), value])
    }

    /// The rows that the server holds back, by object; of all groups.
    var staleRows: [String: [Int64]] {
        get throws {
            let texts = try connection.texts(
                "SELECT \"value\" FROM \"_settings\" WHERE \"name\" > ?1 AND \"name\" < ?2",
                [.text(Self.stalePrefix), .text(Self.stalePrefix + "\u{10FFFF}")])
            return try texts.reduce(into: [:]) { rows, text in
                for member in try JSONValue(parsing: text).object ?? [:] {
                    rows[member.key, default: []] += member.value.array?.compactMap(\.integer) ?? []
                }
            }
        }
    }

    func setStaleRows(_ rows: [String: [Int64]], ofGroup group: String) throws {
        let name = Self.stalePrefix + group
        guard !rows.isEmpty else {
            try connection.execute("DELETE FROM \"_settings\" WHERE \"name\" = ?1", [.text(name)])
            return
        }
        let json = JSONValue.object(JSONObject(uniqueKeys: rows.sorted { $0.key < $1.key }.map { ($0.key, .array($0.value.map { .integer($0) })) }))
        try set(named: name, .text(json.description))
    }

    func forgetStaleRows() throws {
        try connection.execute(
            "DELETE FROM \"_settings\" WHERE \"name\" > ?1 AND \"name\" < ?2", [.text(Self.stalePrefix), .text(Self.stalePrefix + "\u{10FFFF}")])
    }

    /// The beginning of the names of settings with the rows of a group that the server holds back.
    private static let stalePrefix = "stale."

    /// Returns the key of a row that had another one before; nil for a key that was not given up.
    func renumberedKey(_ key: Int64) throws -> Int64? { try row(Self.renumberedPrefix + String(key))?.optionalInteger(.value) }

    /// Whether rows had other keys before.
    var hasRenumberedKeys: Bool {
        get throws {
            try connection.first(
                "SELECT 1 FROM \"_settings\" WHERE \"name\" >= ?1 AND \"name\" < ?2 LIMIT 1",
                [.text(Self.renumberedPrefix), .text(Self.renumberedPrefix + ":")]) != nil
        }
    }

    /// Notes the new keys of rows, also for the keys that they had even before.
    /// - Parameter table: a table with the columns `old` and `new`.
    func noteRenumbered(from table: String) throws {
        try connection.execute(
            """
            UPDATE "_settings" SET "value" = r."new" FROM \(table) AS r
            WHERE "name" >= ?1 AND "name" < ?2 AND "value" = r."old"
            """, [.text(Self.renumberedPrefix), .text(Self.renumberedPrefix + ":")])
        try connection.execute(
            "INSERT OR REPLACE INTO \"_settings\" (\"name\", \"value\") SELECT ?1 || \"old\", \"new\" FROM \(table)",
            [.text(Self.renumberedPrefix)])
        // A row has got a key back that it had before.
        try connection.execute("DELETE FROM \"_settings\" WHERE \"name\" = ?1 || \"value\"", [.text(Self.renumberedPrefix)])
    }

    /// The beginning of the names under which the former keys of rows are kept.
    private static let renumberedPrefix = "renumbered."

    /// Returns the attributes of an object that a newer model has added, and whose values the server has not sent yet.
    func unseenAttributes(of object: String) throws -> Set<String> {
        guard let text = try row(Self.unseenPrefix + object)?.optionalText(.value), let names = try? JSONValue(parsing: text).array else { return [] }
        return Set(names.compactMap(\.string))
    }

    /// Whether there are such attributes: not since the last upgrade was followed by a download of each group.
    var hasUnseenAttributes: Bool {
        get throws {
            try connection.first(
                "SELECT 1 FROM \"_settings\" WHERE \"name\" >= ?1 AND \"name\" < ?2 LIMIT 1", [.text(Self.unseenPrefix), .text("unseen/")]) != nil
        }
    }

    func setUnseenAttributes(_ names: Set<String>, of object: String) throws {
        guard !names.isEmpty else {
            return _ = try connection.execute("DELETE FROM \"_settings\" WHERE \"name\" = ?1", [.text(Self.unseenPrefix + object)])
        }
        try set(named: Self.unseenPrefix + object, .text(JSONValue.array(names.sorted().map { .string($0) }).description))
    }

    private static let unseenPrefix = "unseen."

    /// Takes the greater of `least` and one more than the last value, and stores it.
    func next(_ name: Name, atLeast least: Int64) throws -> Int64 {
        let next = try connection.first(
            """
            INSERT INTO "_settings" ("name", "value") VALUES (?1, ?2)
            ON CONFLICT ("name") DO UPDATE SET "value" = max("value" + 1, excluded."value") RETURNING "value"
            """, [.text(name.rawValue), .integer(least)])?.first?.integer
        guard let next else { throw ObjectError(.corrupt, "setting \"\(name.rawValue)\" is not a number") }
        return next
    }
}
