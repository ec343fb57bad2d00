internal import MobileStore

/// The version of a partition up to which its tombstones have been removed. A client of an earlier version would never learn of those deletions, so the
/// object is sent to it from the start.
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

    /// Removes the tombstones up to a version.
    static func raise(_ partition: Int64, to version: Int64, in connection: any StateConnection) throws {
        try connection.execute(
            """
            INSERT INTO _tombstone_horizon (partition, version) VALUES (?1, ?2)
            ON CONFLICT (partition) DO UPDATE SET version = excluded.version WHERE _tombstone_horizon.version < excluded.version
            """, [.integer(partition), .integer(version)])
        try connection.execute(
            "DELETE FROM _row WHERE partition = ?1 AND deleted = 1 AND version <= ?2", [.integer(partition), .integer(version)])
        try connection.execute(
            """
            DELETE FROM _large WHERE partition = ?1
                AND NOT EXISTS (SELECT 1 FROM _row AS r WHERE r.partition = _large.partition AND r.sk = _large.sk)
            """, [.integer(partition)])
    }
}
