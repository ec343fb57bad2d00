internal import MobileProtocol
internal import MobileStore

/// The table of a back end that guards against operations that arrive late: for each client the floor of its operations.
///
/// **An operation below the floor is never done.** Its client has stored the result, so this is a duplicate that was under way for longer than its
/// successors. The record of its outcome may be gone already, and cannot show that.
///
/// **Each batch locks the row of its client first**, in its own transaction. In a back end that several processes write at a time, this lock puts the
/// batches of one client into an order.
///
/// The statements are those that SQLite and PostgreSQL have in common.
enum ReplayGuard {
    static let tableName = "mobile_replay_guard"

    static let table = "CREATE TABLE mobile_replay_guard (client TEXT NOT NULL PRIMARY KEY, settled BIGINT NOT NULL)"

    /// Makes the row of a client if there is none, raises its floor to `settled`, and locks it until the end of the transaction. A floor never sinks.
    /// - Returns: the floor: operations with lower ids are settled.
    static func raiseFloor(of client: String, to settled: Int64, in connection: Connection) throws -> Int64 {
        // Where the floor stays, nothing is written: after a write all rows of the back end are compared with the cache.
        let raised = try connection.first(
            """
            INSERT INTO mobile_replay_guard (client, settled) VALUES (?1, ?2)
            ON CONFLICT (client) DO UPDATE SET settled = excluded.settled WHERE excluded.settled > mobile_replay_guard.settled
            RETURNING settled
            """, [.text(client), .integer(settled)])
        let row = try raised ?? connection.first("SELECT settled FROM mobile_replay_guard WHERE client = ?1", [.text(client)])
        guard let floor = row?.first?.integer else {
            throw Rejection(
                ResultCode.unavailable, "the server cannot read which operations are settled", detail: "table \(tableName), client \(client)")
        }
        return floor
    }
}
