public import Foundation
import MobileStore

/// The severity of a log record; the numbers are the documented ones.
public enum LogLevel: Int, Sendable, Hashable, CaseIterable, Comparable {
    case trace = 1, debug, info, warn, error, fatal, off

    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }

    /// The name, TRACE to OFF, as in the documented line format.
    public var name: String { String(describing: self).uppercased() }
}

extension LogRecord {
    /// The codes of log records that this client makes, and of synchronization; those of the back end are HTTP status codes.
    public enum Code {
        /// Done.
        public static let success = 200
        /// Not done, or an error of the back end for which there is no other code.
        public static let failure = 500
        /// Made by this client about an object.
        public static let onObject = 9998
        /// Made by this client about the package.
        public static let onPackage = 9999
    }
}

/// One entry of the package's log: the server's report about an operation, or a report of this client to the server. It is a value; `save()` and
/// `delete()` write. SMP 2.3: `LogRecordImpl`, `SUPLogRecord`.
public struct LogRecord: Sendable, Identifiable {
    /// 0 until it is saved, then unique in this database.
    public internal(set) var messageID: Int64 = 0
    /// The same as ``messageID``.
    public var id: Int64 { messageID }
    /// The severity.
    public var level: LogLevel
    /// The code as an HTTP status code: 200 success, 401, 403, 404, 405, 412, 413, 424 (the creation of a row that is needed was rejected), 500; 9998
    /// and 9999 for records that this client made on an object or on the database.
    public var code: Int
    /// The back end's own code; nil where there is none.
    public var eisCode: String?
    /// A description for the user.
    public var message: String
    /// The modelled name of the object that it is about; otherwise the package's name.
    public var component: String
    /// The key of the row that it is about, in the form of ``Entity/keyToString()``; empty where it is about no row.
    public var entityKey: String
    /// `create`, `update`, `delete`, the modelled name of another operation, or empty.
    public var operation: String
    /// The id of the operation that it answers; empty for other records.
    public var requestID: String
    /// The time of the event; kept to the millisecond.
    public var timestamp: Date
    /// Whether it was made on this device, not by the server.
    public internal(set) var isFromClient: Bool
    /// Whether the server has accepted a later operation on the same row: what the record reports is repaired, and the record can be deleted.
    public internal(set) var isSettled = false

    let database: PackageDatabase

    /// The lowest id of records that are made here. Ids of the server's records are ids of operations, which never become so large.
    static let firstLocalID: Int64 = 1 << 62 | 1

    /// The documented line: level, code, eisCode, message, component, entityKey, operation, requestId, timestamp.
    public var line: String {
        [
            level.name, String(code), eisCode ?? "", message, component, entityKey, operation, requestID, ISO8601Text.text(timestamp),
        ].joined(separator: ", ")
    }

    /// Writes the record; a new one gets its ``messageID``.
    /// - Throws: ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public mutating func save() throws {
        let record = self
        messageID = try database.write("save a log record") { try $0.store(record) }
    }

    /// The same without blocking a cooperative thread.
    public mutating func save() async throws {
        let record = self
        messageID = try await database.write("save a log record") { try $0.store(record) }
    }

    /// Makes the record ready for the server. A record of this client is uploaded with the next synchronization. If the server sent the record and it
    /// was deleted here, the server is notified of the deletion and deletes it too. SMP 2.3: `submitPending` of the record.
    /// - Throws: ``ObjectError/Code/notSaved`` for a record that was never saved, ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func submitPending() throws {
        let id = try savedID()
        try database.write("submit a log record") { try $0.submitLogRecords(id) }
    }

    /// The same without blocking a cooperative thread.
    public func submitPending() async throws {
        let id = try savedID()
        try await database.write("submit a log record") { try $0.submitLogRecords(id) }
    }

    private func savedID() throws -> Int64 {
        guard messageID != 0 else { throw ObjectError(.notSaved, "submit of a new log record: save it first") }
        return messageID
    }

    /// Removes the record here; the client has to clean up handled records of operations. The server is notified of the deletion after
    /// `submitPending()`.
    /// - Throws: ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func delete() throws {
        let id = messageID
        try database.write("delete a log record") { try $0.deleteLogRecord(id) }
    }

    /// The same without blocking a cooperative thread.
    public func delete() async throws {
        let id = messageID
        try await database.write("delete a log record") { try $0.deleteLogRecord(id) }
    }
}

extension PackageDatabase {
    /// Returns all log records, the newest first. SMP 2.3: `getLogRecords:` of the database class.
    /// - Throws: ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func logRecords() throws -> [LogRecord] { try read { try self.logRecords($0, LogRecordSQL.all, []) } }

    /// The same without blocking a cooperative thread.
    public final func logRecords() async throws -> [LogRecord] { try await read { try self.logRecords($0, LogRecordSQL.all, []) } }

    /// Returns the keys, in the form of ``Entity/keyToString()``, of the rows of an object that have log records. Read once, they show without the
    /// database which objects of a list have one.
    /// - Throws: ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func keysWithLogRecords(of entity: EntityMetadata) throws -> Set<String> {
        Set(try read { try $0.texts(LogRecordSQL.keys, [.text(entity.serverName)]) })
    }

    /// The same without blocking a cooperative thread.
    public final func keysWithLogRecords(of entity: EntityMetadata) async throws -> Set<String> {
        Set(try await read { try $0.texts(LogRecordSQL.keys, [.text(entity.serverName)]) })
    }

    /// Makes a new log record about the package; `LogRecord.save()` writes it. SMP 2.3: `LogRecordImpl getInstance`.
    public final func newLogRecord(level: LogLevel, message: String) -> LogRecord {
        LogRecord(
            level: level, code: LogRecord.Code.onPackage, message: message, component: metadata.name, entityKey: "", operation: "", requestID: "",
            timestamp: environment.now(), isFromClient: true, database: self)
    }

    /// Marks the records that this client made for upload; they travel with the next synchronization of the group `system`.
    /// SMP 2.3: `submitLogRecords`.
    /// - Throws: ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func submitLogRecords() throws { try write("submit log records") { try $0.submitLogRecords() } }

    /// The same without blocking a cooperative thread.
    public final func submitLogRecords() async throws { try await write("submit log records") { try $0.submitLogRecords() } }

    /// Makes a record that the server sent, without writing it. A record without an id gets one of this database when it is written.
    package final func makeLogRecord(
        messageID: Int64 = 0, level: LogLevel, code: Int, eisCode: String?, message: String, component: String, entityKey: String,
        operation: String, requestID: String, timestamp: Date
    ) -> LogRecord {
        LogRecord(
            messageID: messageID, level: level, code: code, eisCode: eisCode, message: message, component: component, entityKey: entityKey,
            operation: operation, requestID: requestID, timestamp: timestamp, isFromClient: false, database: self)
    }

    final func logRecords(_ connection: Connection, _ sql: String, _ values: [Value]) throws -> [LogRecord] {
        try connection.rows(sql, values).map { row in
            let record = StoredRow(LogRecordColumn.allCases, row), time = try record.text(.timestamp)
            guard let timestamp = ISO8601Text.dateTime(time) else { throw record.damaged(.timestamp, .text(time), "a date and time") }
            return LogRecord(
                messageID: try record.integer(.messageID), level: try record.kind(.level), code: try record.int(.code),
                eisCode: try record.optionalText(.eisCode), message: try record.text(.message), component: try record.text(.component),
                entityKey: try record.text(.entityKey), operation: try record.text(.operation), requestID: try record.text(.requestID),
                timestamp: timestamp, isFromClient: try record.flag(.origin),
                isSettled: try record.flag(.isSettled), database: self)
        }
    }
}

extension Entity {
    /// Returns the log records about this row, the newest first: after a rejection they have the reason. SMP 2.3: `getLogRecords`.
    ///
    ///     for record in try customer.logRecords() where record.level >= .error {
    ///         print("\(customer.name): \(record.message)")
    ///     }
    ///
    /// - Throws: ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func logRecords() throws -> [LogRecord] {
        let values: [Value] = [.text(metadata.serverName), .text(keyToString())], package = package
        return try package.read { try package.logRecords($0, LogRecordSQL.ofRow, values) }
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) final func logRecords() async throws -> [LogRecord] {
        let values: [Value] = [.text(metadata.serverName), .text(keyToString())], package = package
        return try await package.read { try package.logRecords($0, LogRecordSQL.ofRow, values) }
    }

    /// Makes a new log record about this row; `LogRecord.save()` writes it. SMP 1.5.3: `newLogRecord:withMessage:`.
    ///
    ///     var record = customer.newLogRecord(level: .info, message: "called, nobody there")
    ///     try record.save()
    public final func newLogRecord(level: LogLevel, message: String) -> LogRecord {
        LogRecord(
            level: level, code: LogRecord.Code.onObject, message: message, component: metadata.serverName, entityKey: keyToString(),
            operation: metadata.otherOperation?.operation.name ?? "",
            requestID: "",
            timestamp: package.environment.now(), isFromClient: true, database: package)
    }
}

private enum LogRecordSQL {
    private static let columns = """
        SELECT "message_id", "level", "code", "eis_code", "message", "component", "entity_key", "operation", "request_id", "timestamp", "origin",
            "origin" = 0 AND "state" = 2
        FROM "_log_record" WHERE "state" < 3
        """
    static let keys = "SELECT DISTINCT \"entity_key\" FROM \"_log_record\" WHERE \"component\" = ?1 AND \"entity_key\" <> '' AND \"state\" < 3"
    static let all = columns + " ORDER BY \"timestamp\" DESC, \"message_id\" DESC"
    static let ofRow = columns + " AND \"component\" = ?1 AND \"entity_key\" = ?2 ORDER BY \"timestamp\" DESC, \"message_id\" DESC"
}

extension Transaction {
    /// Writes a record. A record with the id of an existing one replaces it, so a record that is sent twice exists once; a record that was deleted
    /// here remains deleted.
    @discardableResult
    package func store(_ record: LogRecord) throws -> Int64 {
        let id = record.messageID == 0 ? try PackageSettings(connection).next(.logRecord, atLeast: LogRecord.firstLocalID) : record.messageID
        try connection.execute(
            """
            INSERT INTO "_log_record" ("message_id", "level", "code", "eis_code", "message", "component", "entity_key", "operation",
                "request_id", "timestamp", "origin", "state") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 0)
            ON CONFLICT ("message_id") DO UPDATE SET "level" = excluded."level", "code" = excluded."code", "eis_code" = excluded."eis_code",
                "message" = excluded."message", "component" = excluded."component", "entity_key" = excluded."entity_key",
                "operation" = excluded."operation", "request_id" = excluded."request_id", "timestamp" = excluded."timestamp", "state" = 0
            WHERE "origin" = excluded."origin" AND "state" < 3
            """,
            [
                .integer(id), .integer(Int64(record.level.rawValue)), .integer(Int64(record.code)), Value(record.eisCode), .text(record.message),
                .text(record.component), .text(record.entityKey), .text(record.operation), .text(record.requestID),
                .text(ISO8601Text.text(record.timestamp)), .integer(record.isFromClient ? 1 : 0),
            ])
        return id
    }

    /// Marks the server's records about earlier operations on a row as settled: an operation of the row was accepted. So is a record about a failure of this
    /// operation: a back end that was restored has not kept that decision, and took the operation when it came again.
    func settleLogRecords(of entity: EntityMetadata, _ key: Int64, upTo operation: Int64) throws {
        try connection.execute(
            """
            UPDATE "_log_record" SET "state" = 2 WHERE "component" = ?1 AND "entity_key" = ?2 AND "origin" = 0 AND "state" = 0
                AND "request_id" <> '' AND CAST("request_id" AS INTEGER) + ("code" = ?4) <= ?3
            """, [.text(entity.serverName), .text(String(key)), .integer(operation), .integer(Int64(LogRecord.Code.success))])
    }

    fileprivate func submitLogRecords(_ id: Int64? = nil) throws {
        try connection.execute(
            "UPDATE \"_log_record\" SET \"state\" = 1 WHERE \"origin\" = 1 AND \"state\" = 0 AND (?1 IS NULL OR \"message_id\" = ?1)",
            [Value(id)])
        try connection.execute("UPDATE \"_log_record\" SET \"state\" = 4 WHERE \"message_id\" = ?1 AND \"state\" = 3", [Value(id)])
    }

    fileprivate func deleteLogRecord(_ id: Int64) throws {
        // The server's records keep a mark until the server is notified; the client's own are deleted at once.
        try connection.execute("DELETE FROM \"_log_record\" WHERE \"message_id\" = ?1 AND \"origin\" = 1", [.integer(id)])
        try connection.execute("UPDATE \"_log_record\" SET \"state\" = 3 WHERE \"message_id\" = ?1 AND \"state\" < 3", [.integer(id)])
    }
}
