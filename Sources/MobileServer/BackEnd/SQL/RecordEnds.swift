internal import MobileStore

/// The end of a client's entry in the replay guard, and of the record of its operations: when neither has changed for a long time.
///
/// A table of the same database notes the state of each client at a time. Clients whose state is still the same much later have gone.
enum RecordEnds {
    static let table = "mobile_replay_seen"
    static let tableStatement = """
        CREATE TABLE mobile_replay_seen (client TEXT NOT NULL PRIMARY KEY, settled BIGINT NOT NULL, last BIGINT NOT NULL, noted BIGINT NOT NULL)
        """

    /// The clients whose present state is not that of their note.
    private static let changed = """
        SELECT g.client, g.settled, coalesce(max(o.operation), 0) AS last FROM mobile_replay_guard AS g
        LEFT JOIN mobile_processed_operation AS o ON o.client = g.client LEFT JOIN mobile_replay_seen AS s ON s.client = g.client
        GROUP BY g.client, g.settled, s.settled, s.last HAVING s.settled IS NULL OR s.settled <> g.settled OR s.last <> coalesce(max(o.operation), 0)
        ORDER BY g.client LIMIT ?1
        """

    /// Whether the present state of a client is still that of its note.
    private static let isUnchanged = """
        SELECT 1 FROM mobile_replay_seen AS s JOIN mobile_replay_guard AS g ON g.client = s.client AND g.settled = s.settled
        WHERE s.client = ?1 AND s.noted < ?2
            AND s.last = (SELECT coalesce(max(o.operation), 0) FROM mobile_processed_operation AS o WHERE o.client = s.client)
        """

    static func remove(unchangedSince time: Int64, now: Int64, limit: Int, in connection: any BackEndConnection) throws -> Int {
        let limit = Value.integer(Int64(limit))
        for row in try connection.rows(changed, [limit]) {
            try connection.execute(
                """
                INSERT INTO mobile_replay_seen (client, settled, last, noted) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (client) DO UPDATE SET settled = excluded.settled, last = excluded.last, noted = excluded.noted
                """, row + [.integer(now)])
        }
        var removed = 0
        for client in try connection.rows("SELECT client FROM mobile_replay_seen WHERE noted < ?1 ORDER BY client LIMIT ?2", [.integer(time), limit])
        {
            // The lock of a batch, see `raiseFloor`. A client that has come meanwhile stays.
            try connection.execute("UPDATE mobile_replay_guard SET settled = settled WHERE client = ?1", client)
            guard try connection.exists(isUnchanged, client + [.integer(time)]) else { continue }
            for table in [SQLOperationRecords.table, SQLOperationRecords.guardTable, table] {
                try connection.execute("DELETE FROM \(table) WHERE client = ?1", client)
            }
            removed += 1
        }
        return removed
    }
}

extension SQLOperationRecords {
    func removeClients(unchangedSince time: Int64, now: Int64, limit: Int) throws -> Int {
        try RecordEnds.remove(unchangedSince: time, now: now, limit: limit, in: connection)
    }
}
