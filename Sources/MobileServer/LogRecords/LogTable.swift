internal import MobileProtocol
internal import MobileStore

/// The table of the cache database with the log records of one version of a package: the server's own records, which are sent to the client that they
/// are about, and the records that clients have uploaded.
///
///     default_crm_1_0_logr_1        domain, package and version, logr, the package's number
///
/// A deleted record keeps its row with the mark `LOGICAL_DEL` until its client is known to have deleted it too. The client's token describes its
/// records, like all of its data. The version of its latest token is stored here as well, because it decides which rows can be removed.
struct LogTable: Sendable {
    let name: String
    /// The package's row in `_package`.
    let package: Int64

    private var table: String { SQLText.quoted(name) }

    /// Creates or finds the table of a package.
    static func open(package: Int64, identifier: String, domain: String, in connection: any StateConnection) throws -> LogTable {
        let prefix = "\(plain(domain))_\(plain(identifier))", end = "_logr_\(package)"
        // PostgreSQL cuts names to 63 bytes, those of the table's indexes as well. Earlier releases did not shorten the name.
        let names = [prefix + end, String(prefix.prefix(longestPrefix)) + end]
        for name in names where try connection.exists("SELECT 1 FROM _log_table WHERE name = ?1", [.text(name)]) {
            return LogTable(name: name, package: package)
        }
        let log = LogTable(name: names[1], package: package)
        try log.create(in: connection)
        return log
    }

    /// The maximum length of domain, package and version in a table's name, in bytes.
    private static let longestPrefix = 36

    /// Returns the text as part of a name: ASCII letters and digits, in lower case. Two texts may have the same result, because the number
    /// distinguishes the tables.
    private static func plain(_ text: String) -> String {
        String(text.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }

    private func create(in connection: any StateConnection) throws {
        _ = try connection.execute(
            """
            CREATE TABLE \(table) (
                id \(connection.dialect.id), client TEXT NOT NULL, message_id BIGINT NOT NULL, log_user TEXT NOT NULL, origin BIGINT NOT NULL,
                log_level BIGINT NOT NULL, code BIGINT NOT NULL, eis_code TEXT NOT NULL, message TEXT NOT NULL, component TEXT NOT NULL,
                entity_key TEXT NOT NULL, operation TEXT NOT NULL, request_id TEXT NOT NULL, log_timestamp TEXT NOT NULL,
                stored BIGINT NOT NULL, version BIGINT NOT NULL, LOGICAL_DEL BIGINT NOT NULL DEFAULT 0, UNIQUE (client, message_id))
            """)
        // Indexes for undelivered, old and removable records: these searches read no other rows, regardless of the size of the table.
        for (purpose, rows) in [
            ("version", "(client, version)"), ("stored", "(stored) WHERE LOGICAL_DEL = 0"),
            ("client_stored", "(client, origin, stored) WHERE LOGICAL_DEL = 0"), ("deleted", "(client, version) WHERE LOGICAL_DEL = 1"),
        ] { _ = try connection.execute("CREATE INDEX \(SQLText.quoted("\(name)_\(purpose)")) ON \(table) \(rows)") }
        _ = try connection.execute(
            "INSERT INTO _log_table (name, package, version, row_count) VALUES (?1, ?2, 0, 0)", [.text(name), .integer(package)])
    }

    // MARK: Counts

    /// Returns the version of the last change. Versions are never used twice, even if their rows are removed.
    func version(in connection: any StateConnection) throws -> Int64 {
        try connection.number("SELECT version FROM _log_table WHERE name = ?1", [.text(name)])
    }

    /// Returns the number of rows, including logically deleted ones.
    func rowCount(in connection: any StateConnection) throws -> Int64 {
        try connection.number("SELECT row_count FROM _log_table WHERE name = ?1", [.text(name)])
    }

    /// 100 years, in seconds.
    static let longestRetention: Int64 = 100 * 366 * 86_400

    /// Returns the time for which the records of clients are needed, in milliseconds; nil for no limit.
    func retention(in connection: any StateConnection) throws -> Int64? {
        guard let row = try connection.storedRow([LogTableListColumn.retention], "WHERE name = ?1", [.text(name)]),
            let retention = try row.optionalInteger(.retention)
        else { return nil }
        guard (0...Self.longestRetention * 1000).contains(retention) else { throw row.damaged(.retention, .integer(retention), "0 to 100 years") }
        return retention
    }

    func setRetention(_ retention: Int64?, in connection: any StateConnection) throws {
        _ = try connection.execute("UPDATE _log_table SET retention = ?2 WHERE name = ?1", [.text(name), Value(retention)])
    }

    private func nextVersion(in connection: any StateConnection) throws -> Int64 {
        try connection.number("UPDATE _log_table SET version = version + 1 WHERE name = ?1 RETURNING version", [.text(name)])
    }

    private func count(_ difference: Int, in connection: any StateConnection) throws {
        guard difference != 0 else { return }
        _ = try connection.execute("UPDATE _log_table SET row_count = row_count + ?2 WHERE name = ?1", [.text(name), .integer(Int64(difference))])
    }

    // MARK: Records

    /// The author of a record.
    enum Origin: Int64 {
        case server = 0, client = 1
    }

    /// Writes records of one client. An existing record of the server stays unchanged. An existing record of the client is replaced, unless it is
    /// deleted.
    func store(
        _ records: [LogRecordEntry], _ origin: Origin, client: String, user: String, now: Int64, in connection: any StateConnection
    ) throws {
        guard !records.isEmpty else { return }
        // A statement may write a record once: the first of the server, the last of the client.
        let byID = Dictionary(records.enumerated().map { ($0.element.messageId ?? 0, $0) }) { origin == .server ? $0 : $1 }
        let records = byID.values.sorted { $0.offset < $1.offset }.map(\.element)
        let version = try nextVersion(in: connection)
        var known = 0
        for start in stride(from: 0, to: records.count, by: Self.recordsPerStatement) {
            let portion = records[start..<min(start + Self.recordsPerStatement, records.count)]
            let ids = JSONValue.array(portion.map { .integer($0.messageId ?? 0) }).description
            known += Int(
                try connection.number(
                    "SELECT count(*) FROM \(table) WHERE client = ?1 AND message_id IN (\(connection.dialect.numbers("?2")))",
                    [.text(client), .text(ids)]))
            var values: [Value] = [.text(client), .text(user), .integer(origin.rawValue), .integer(now), .integer(version)]
            var rows: [String] = []
            for record in portion {
                let own: [Value] = [
                    .integer(record.messageId ?? 0), .integer(record.level.rawValue), .integer(record.code), .text(record.eisCode),
                    .text(record.message), .text(record.component), .text(record.entityKey), .text(record.operation), .text(record.requestId),
                    .text(record.timestamp),
                ]
                let places = own.indices.map { "?\(values.count + $0 + 1)" }.joined(separator: ", ")
                rows.append("(?1, ?2, ?3, ?4, ?5, \(places))")
                values += own
            }
            try connection.execute(
                """
                INSERT INTO \(table) AS known (client, log_user, origin, stored, version, message_id, log_level, code, eis_code, message, component,
                    entity_key, operation, request_id, log_timestamp)
                VALUES \(rows.joined(separator: ", "))
                ON CONFLICT (client, message_id) DO UPDATE SET log_level = excluded.log_level, code = excluded.code, eis_code = excluded.eis_code,
                    message = excluded.message, component = excluded.component, entity_key = excluded.entity_key, operation = excluded.operation,
                    request_id = excluded.request_id, log_timestamp = excluded.log_timestamp
                WHERE known.origin = 1 AND excluded.origin = 1 AND known.LOGICAL_DEL = 0
                """, values)
        }
        try count(records.count - known, in: connection)
    }

    /// A statement has a limited number of parameters. With a statement for each record, an upload with 10,000 rejected operations took longer in
    /// PostgreSQL than a transaction may take.
    private static let recordsPerStatement = 100

    /// Marks records of the server that their client has deleted.
    func markDeleted(_ messageIDs: [Int64], client: String, in connection: any StateConnection) throws {
        guard !messageIDs.isEmpty else { return }
        let ids = JSONValue.array(messageIDs.map { .integer($0) }).description
        try connection.execute(
            """
            UPDATE \(table) SET LOGICAL_DEL = 1, version = ?3
            WHERE client = ?1 AND message_id IN (\(connection.dialect.numbers("?2"))) AND origin = 0 AND LOGICAL_DEL = 0
            """, [.text(client), .text(ids), .integer(try nextVersion(in: connection))])
    }

    // MARK: Delivery

    static let columns = LogTableColumn.entry.map(\.rawValue).joined(separator: ", ")

    /// Selects the records that a client does not have: records of the server that are newer than a version, and all deletions since then.
    var deliveryStatement: String {
        """
        SELECT \(Self.columns) FROM \(table)
        WHERE client = ?1 AND version > ?2 AND (origin = 0 OR LOGICAL_DEL = 1) ORDER BY version, id
        """
    }

    /// - Parameters:
    ///   - version: the version that the client has.
    ///   - messageIDs: records that the client receives in any case, because their operations are being answered.
    func delivery(
        to client: String, since version: Int64, including messageIDs: [Int64], in connection: any StateConnection
    ) throws -> [LogRecordEntry] {
        var entries = try connection.rows(deliveryStatement, [.text(client), .integer(version)]).map(Self.entry)
        let known = Set(entries.map(\.messageId))
        for id in messageIDs where !known.contains(id) {
            let row = try connection.first(
                "SELECT \(Self.columns) FROM \(table) WHERE client = ?1 AND message_id = ?2", [.text(client), .integer(id)])
            if let row { entries.append(try Self.entry(row)) }
        }
        return entries
    }

    /// Returns the entry in a row whose first columns are ``columns``.
    static func entry(_ row: [Value]) throws -> LogRecordEntry {
        let record = StoredRow(LogTableColumn.entry, row)
        return try record.flag(.isDeleted) ? LogRecordEntry(deleted: record.integer(.messageID)) : content(record)
    }

    /// Returns the complete entry, whether it is deleted or not.
    private static func content(_ record: StoredRow<LogTableColumn>) throws -> LogRecordEntry {
        LogRecordEntry(
            messageId: try record.integer(.messageID), level: try record.kind(.level), code: try record.integer(.code),
            eisCode: try record.text(.eisCode), message: try record.text(.message), component: try record.text(.component),
            entityKey: try record.text(.entityKey), operation: try record.text(.operation), requestId: try record.text(.requestID),
            timestamp: try record.text(.timestamp))
    }

    /// Returns the records for the administrator, the newest first.
    func records(limit: Int, in connection: any StateConnection) throws -> [ServerAdministration.LogRecord] {
        try connection.rows(
            "SELECT \(Self.columns), client, log_user, origin, stored FROM \(table) ORDER BY stored DESC, id DESC LIMIT ?1",
            [.integer(Int64(max(0, limit)))]
        ).map { row in
            let record = StoredRow(LogTableColumn.allCases, row)
            return ServerAdministration.LogRecord(
                entry: try Self.content(record), client: try record.text(.client), user: try record.text(.user),
                isFromClient: try record.flag(.origin), stored: try record.integer(.stored), isDeleted: try record.flag(.isDeleted))
        }
    }

    /// Returns the version in the client's latest token.
    func confirmed(by client: String, in connection: any StateConnection) throws -> Int64 {
        try connection.optionalNumber("SELECT confirmed FROM _log_client WHERE log = ?1 AND client = ?2", [.text(name), .text(client)]) ?? 0
    }

    /// Stores the version that the client has.
    func confirm(_ version: Int64, by client: String, in connection: any StateConnection) throws {
        _ = try connection.execute(
            """
            INSERT INTO _log_client (log, client, confirmed) VALUES (?1, ?2, ?3)
            ON CONFLICT (log, client) DO UPDATE SET confirmed = excluded.confirmed WHERE _log_client.confirmed < excluded.confirmed
            """, [.text(name), .text(client), .integer(version)])
    }

    // MARK: Cleaning, a portion at a time

    /// A selection of records to be marked as deleted.
    enum Expired {
        /// All records that were stored in this period, in milliseconds since 1970.
        case stored(ClosedRange<Int64>)
        /// Records that clients uploaded, stored before a time; of one client, or of all.
        case uploaded(before: Int64, client: String?)
    }

    private func condition(_ expired: Expired) -> (sql: String, values: [Value]) {
        switch expired {
        case .stored(let range): ("stored BETWEEN ?2 AND ?3", [.integer(range.lowerBound), .integer(range.upperBound)])
        case .uploaded(let limit, let client?): ("client = ?3 AND origin = 1 AND stored < ?2", [.integer(limit), .text(client)])
        case .uploaded(let limit, nil): ("origin = 1 AND stored < ?2", [.integer(limit)])
        }
    }

    /// Whether there are records to mark.
    func hasAny(_ expired: Expired, in connection: any StateConnection) throws -> Bool {
        let condition = condition(expired)
        return try connection.first(
            "SELECT 1 FROM \(table) WHERE LOGICAL_DEL = 0 AND \(condition.sql) LIMIT ?1", [.integer(1)] + condition.values) != nil
    }

    /// Marks at most `limit` records.
    /// - Returns: the number of marked records.
    func mark(_ expired: Expired, limit: Int, in connection: any StateConnection) throws -> Int {
        let condition = condition(expired), version = try nextVersion(in: connection)
        return try connection.execute(
            """
            UPDATE \(table) SET LOGICAL_DEL = 1, version = \(version)
            WHERE id IN (SELECT id FROM \(table) WHERE LOGICAL_DEL = 0 AND \(condition.sql) LIMIT ?1)
            """, [.integer(Int64(limit))] + condition.values)
    }

    /// Removes deleted records that were stored before a time, also those of clients that have not followed.
    func removeAbandoned(before time: Int64, limit: Int, in connection: any StateConnection) throws -> Int {
        let removed = try connection.execute(
            "DELETE FROM \(table) WHERE id IN (SELECT id FROM \(table) WHERE LOGICAL_DEL = 1 AND stored < ?1 LIMIT ?2)",
            [.integer(time), .integer(Int64(limit))])
        try count(-removed, in: connection)
        return removed
    }

    /// Removes at most `limit` marked records whose client has deleted them as well, or is no longer subscribed.
    /// - Returns: the number of removed records.
    func removeMarked(limit: Int, in connection: any StateConnection) throws -> Int {
        let removed = try connection.execute(
            """
            DELETE FROM \(table) WHERE id IN (
                SELECT r.id FROM \(table) AS r
                LEFT JOIN _log_client AS c ON c.log = ?1 AND c.client = r.client
                LEFT JOIN _client AS k ON k.client = r.client AND k.package = ?2
                WHERE r.LOGICAL_DEL = 1 AND (c.confirmed >= r.version OR k.state = 'unsubscribed') LIMIT ?3)
            """, [.text(name), .integer(package), .integer(Int64(limit))])
        try count(-removed, in: connection)
        return removed
    }
}
