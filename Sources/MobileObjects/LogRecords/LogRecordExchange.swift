import MobileStore

extension LogRecord {
    /// The time in the form in which it is stored and sent: `YYYY-MM-DDTHH:MM:SS.sssZ`.
    package var timestampText: String { ISO8601Text.text(timestamp) }
}

/// Log records on their way to and from the server.
extension PackageDatabase {
    /// Returns records that wait for upload, and the server's records whose deletion has to be reported to it, by their ids.
    package final func submittedLogRecords(after id: Int64, limit: Int) throws -> [(record: LogRecord, isDeleted: Bool)] {
        try read { connection in
            try self.logRecords(connection, LogRecordExchange.submitted, [.integer(id), .integer(Int64(limit))])
        }.map { (record: $0, isDeleted: !$0.isFromClient) }
    }

    /// The id of the last record that waits; 0 when none waits.
    package final var lastSubmittedLogRecord: Int64 {
        get throws { try read { try $0.optionalNumber(LogRecordExchange.last) ?? 0 } }
    }
}

extension Transaction {
    /// Notes that the server has these records and knows of these deletions. A record that was changed here meanwhile waits for its own submission.
    package func uploaded(logRecords ids: [Int64]) throws {
        for id in ids {
            try connection.execute("UPDATE \"_log_record\" SET \"state\" = 2 WHERE \"message_id\" = ?1 AND \"state\" = 1", [.integer(id)])
            try connection.execute("DELETE FROM \"_log_record\" WHERE \"message_id\" = ?1 AND \"state\" = 4", [.integer(id)])
        }
    }

    /// Removes a record that the server has deleted. A record of this client that was changed since its upload stays: the server has not seen it.
    package func removeLogRecord(_ id: Int64) throws {
        try connection.execute(
            "DELETE FROM \"_log_record\" WHERE \"message_id\" = ?1 AND (\"origin\" = 0 OR \"state\" = 2)", [.integer(id)])
    }
}

private enum LogRecordExchange {
    static let last = "SELECT max(\"message_id\") FROM \"_log_record\" WHERE \"state\" IN (1, 4)"
    static let submitted = """
        SELECT "message_id", "level", "code", "eis_code", "message", "component", "entity_key", "operation", "request_id", "timestamp", "origin",
            "origin" = 0 AND "state" = 2
        FROM "_log_record" WHERE "state" IN (1, 4) AND "message_id" > ?1 ORDER BY "message_id" LIMIT ?2
        """
}
