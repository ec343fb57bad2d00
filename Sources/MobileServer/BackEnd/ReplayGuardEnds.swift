internal import MobileStore

/// The end of a client's entry in the replay guard, and of the record of its operations: when neither has changed for a long time.
///
/// A table of the same database notes the state of each client at a time. Clients whose state is still the same much later have gone.
enum ReplayGuardEnds {
    private static let table = """
        CREATE TABLE IF NOT EXISTS mobile_replay_seen (client TEXT NOT NULL PRIMARY KEY, settled BIGINT NOT NULL, last BIGINT NOT NULL, noted BIGINT NOT NULL)
        """

    /// The clients whose present state is not that of their note.
    private static let changed = """
        SELECT g.client, g.settled, coalesce(max(o.operation), 0) AS last FROM mobile_replay_guard AS g
        LEFT JOIN mobile_processed_operation AS o ON o.client = g.client LEFT JOIN mobile_replay_seen AS s ON s.client = g.client
        GROUP BY g.client, g.settled, s.settled, s.last HAVING s.settled IS NULL OR s.settled <> g.settled OR s.last <> coalesce(max(o.operation), 0)
        ORDER BY g.client LIMIT ?1
        """

    /// Removes clients whose state is older than `time`, and notes the state of those that have changed.
    /// - Parameter limit: the maximum number of clients.
    /// - Returns: the number of removed clients.
    static func remove(unchangedSince time: Int64, now: Int64, limit: Int, in connection: Connection) throws -> Int {
        _ = try connection.execute(table)
        let limit = Value.integer(Int64(limit))
        for row in try connection.rows(changed, [limit]) {
            _ = try connection.execute(
                """
                INSERT INTO mobile_replay_seen (client, settled, last, noted) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (client) DO UPDATE SET settled = excluded.settled, last = excluded.last, noted = excluded.noted
                """, row + [.integer(now)])
        }
        let gone = try connection.rows("SELECT client FROM mobile_replay_seen WHERE noted < ?1 ORDER BY client LIMIT ?2", [.integer(time), limit])
        for client in gone {
            for table in ["mobile_processed_operation", "mobile_replay_guard", "mobile_replay_seen"] {
                _ = try connection.execute("DELETE FROM \(table) WHERE client = ?1", client)
            }
        }
        return gone.count
    }
}
