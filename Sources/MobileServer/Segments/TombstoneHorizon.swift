internal import MobileStore

/// The version of a partition up to which its tombstones may have been removed. A client of an earlier version would never learn of those deletions, so
/// the object is sent to it from the start.
enum TombstoneHorizon {
    /// Returns the horizon of a partition; ``SegmentRun/beginning`` while it has all tombstones.
    static func version(of partition: Int64, in connection: any StateConnection) throws -> Int64 {
        try connection.optionalNumber("SELECT version FROM _tombstone_horizon WHERE partition = ?1", [.integer(partition)]) ?? SegmentRun.beginning
    }

    /// Whether one of the partitions of a client has lost tombstones that the client needs.
    /// - Parameter delivered: the partitions of the client with their versions.
    static func isAbove(_ delivered: [Int64: Int64], in connection: any StateConnection) throws -> Bool {
        guard !delivered.isEmpty else { return false }
        let pairs = delivered.sorted { $0.key < $1.key }.map { JSONValue.array([.integer($0.key), .integer($0.value)]) }
        return try connection.exists(
            """
            SELECT 1 FROM (\(connection.dialect.pairs("?1"))) AS d JOIN _tombstone_horizon AS h ON h.partition = d.key AND h.version > d.value LIMIT 1
            """, [.text(JSONValue.array(pairs).description)])
    }

    /// Notes that tombstones up to a version may be gone.
    static func note(_ version: Int64, of partition: Int64, in connection: any StateConnection) throws {
        try connection.execute(
            """
            INSERT INTO _tombstone_horizon (partition, version) VALUES (?1, ?2)
            ON CONFLICT (partition) DO UPDATE SET version = excluded.version WHERE _tombstone_horizon.version < excluded.version
            """, [.integer(partition), .integer(version)])
    }

    /// Removes the tombstones up to a version.
    static func raise(_ partition: Int64, to version: Int64, in connection: any StateConnection) throws {
        try note(version, of: partition, in: connection)
        while try remove(upTo: version, of: partition, limit: portion, in: connection) == portion {}
    }

    /// The number of tombstones that one statement removes.
    private static let portion = 10_000

    /// Removes up to `limit` tombstones of a partition, and keeps the newest ones.
    /// - Parameter kept: the number of tombstones that the partition keeps.
    /// - Returns: the number of removed tombstones.
    static func keepNewest(_ kept: Int64, of partition: Int64, limit: Int, in connection: any StateConnection) throws -> Int {
        // The lock of the partition's row orders the processes.
        _ = try connection.first("SELECT id FROM _partition WHERE id = ?1" + connection.dialect.lock, [.integer(partition)])
        let newest = try connection.optionalNumber(
            "SELECT version FROM _row WHERE partition = ?1 AND deleted = 1 ORDER BY version DESC LIMIT 1 OFFSET ?2",
            [.integer(partition), .integer(kept)])
        if let newest { try note(newest, of: partition, in: connection) }
        return try remove(upTo: version(of: partition, in: connection), of: partition, limit: limit, in: connection)
    }

    private static func remove(upTo version: Int64, of partition: Int64, limit: Int, in connection: any StateConnection) throws -> Int {
        // A refresh may bring one of these rows back while this waits for it: the outer condition looks at the row as it is then.
        let rows = try connection.rows(
            """
            DELETE FROM _row WHERE partition = ?1 AND deleted = 1 AND version <= ?2 AND sk IN (
                SELECT sk FROM _row WHERE partition = ?1 AND deleted = 1 AND version <= ?2 ORDER BY version, sk LIMIT ?3)
            RETURNING sk
            """, [.integer(partition), .integer(version), .integer(Int64(limit))])
        let keys = JSONValue.array(rows.compactMap { $0[0].integer.map { .integer($0) } }).description
        try connection.execute(
            "DELETE FROM _large WHERE partition = ?1 AND sk IN (\(connection.dialect.numbers("?2")))", [.integer(partition), .text(keys)])
        return rows.count
    }
}
