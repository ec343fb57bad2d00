internal import MobileStore

/// The ends of partitions: one without a subscriber is removed after a time.
extension Partition {
    /// The time between two notes of the use of a partition, in milliseconds.
    static let useInterval: Int64 = 86_400_000

    /// The tables with rows of partitions, apart from their own.
    static let tables = ["_row", "_large", "_partition_era", "_mark", "_quarantine", "_quarantine_rest"] + SegmentTables.ofPartitions

    /// Notes that partitions were requested. Each request within a day of the last note writes nothing.
    static func noteUse(of partitions: [Partition], now: Int64, in connection: any StateConnection) throws {
        for partition in partitions where partition.used <= now - useInterval {
            // A process of an earlier release gives a new partition no name.
            try connection.execute(
                "UPDATE _partition SET used = ?2, digest = ?3 WHERE id = ?1", [.integer(partition.id), .integer(now), .text(partition.digest)])
        }
    }

    /// Returns partitions that were not requested since a time, the longest unused first.
    static func unused(since time: Int64, limit: Int, in connection: any StateConnection) throws -> [Int64] {
        try connection.rows("SELECT id FROM _partition WHERE used < ?1 ORDER BY used LIMIT ?2", [.integer(time), .integer(Int64(limit))])
            .compactMap { $0[0].integer }
    }

    /// Removes up to `limit` rows of a partition that was not requested since a time, and with the last ones the partition itself. The caller begins an
    /// era afterwards if it is gone, so that a token of it never holds for a later partition with the same parameters.
    /// - Returns: the number of removed rows, whether the partition is gone, and the names of its segments then.
    static func remove(
        _ id: Int64, unusedSince time: Int64, limit: Int, in connection: any StateConnection
    ) throws -> (rows: Int, isGone: Bool, segments: [String]) {
        // Locked, so that no request takes it meanwhile.
        let row = try connection.first(
            "SELECT id FROM _partition WHERE id = ?1 AND used < ?2" + connection.dialect.lock, [.integer(id), .integer(time)])
        guard row != nil else { return (0, false, []) }
        let rows = try connection.execute(
            "DELETE FROM _row WHERE partition = ?1 AND sk IN (SELECT sk FROM _row WHERE partition = ?1 LIMIT ?2)",
            [.integer(id), .integer(Int64(limit))])
        guard rows < limit else {
            // A request that comes now loads the partition again: no process knows this era, and no token or segment reaches the horizon.
            let version = try connection.number(
                "UPDATE _partition SET is_loaded = 0, era = ?2 WHERE id = ?1 RETURNING version", [.integer(id), .text(removedEra)])
            try TombstoneHorizon.note(version + 1, of: id, in: connection)
            return (rows, false, [])
        }
        let segments = try connection.texts("SELECT name FROM _segment WHERE partition = ?1", [.integer(id)])
        for table in tables { try connection.execute("DELETE FROM \(table) WHERE partition = ?1", [.integer(id)]) }
        try connection.execute("DELETE FROM _partition WHERE id = ?1", [.integer(id)])
        return (rows, true, segments)
    }

    /// The era of a partition whose removal has begun. No store has an era of this name.
    private static let removedEra = "-"
}
