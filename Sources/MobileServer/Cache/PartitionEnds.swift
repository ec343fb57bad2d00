internal import MobileStore

/// The ends of partitions: the time after which one without a subscriber is removed, and the horizon below which deletions are forgotten.
extension Partition {
    /// The time between two notes of the use of a partition, in milliseconds.
    static let useInterval: Int64 = 86_400_000

    /// The tables with rows of partitions, apart from their own.
    static let tables = ["_row", "_large", "_partition_era"]

    /// Notes that partitions were requested. Each request within a day of the last note writes nothing.
    static func noteUse(of partitions: [Partition], now: Int64, in connection: any StateConnection) throws {
        for partition in partitions where partition.used <= now - useInterval {
            try connection.execute("UPDATE _partition SET used = ?2 WHERE id = ?1", [.integer(partition.id), .integer(now)])
        }
    }

    /// Returns partitions that were not requested since a time, the longest unused first.
    static func unused(since time: Int64, limit: Int, in connection: any StateConnection) throws -> [Int64] {
        try connection.rows("SELECT id FROM _partition WHERE used < ?1 ORDER BY used LIMIT ?2", [.integer(time), .integer(Int64(limit))])
            .compactMap { $0[0].integer }
    }

    /// Removes up to `limit` rows of a partition that was not requested since a time, and with the last ones the partition itself. The caller begins an
    /// era afterwards if it is gone, so that a token of it never holds for a later partition with the same parameters.
    /// - Returns: the number of removed rows, and whether the partition is gone.
    static func remove(
        _ id: Int64, unusedSince time: Int64, limit: Int, in connection: any StateConnection
    ) throws -> (rows: Int, isGone: Bool) {
        // Locked, so that no request takes it meanwhile.
        let row = try connection.first(
            "SELECT id FROM _partition WHERE id = ?1 AND used < ?2" + connection.dialect.lock, [.integer(id), .integer(time)])
        guard row != nil else { return (0, false) }
        let rows = try connection.execute(
            "DELETE FROM _row WHERE partition = ?1 AND sk IN (SELECT sk FROM _row WHERE partition = ?1 LIMIT ?2)",
            [.integer(id), .integer(Int64(limit))])
        guard rows < limit else {
            // A request that comes now loads the partition again: no process knows this era, and no token reaches the horizon.
            try connection.execute(
                "UPDATE _partition SET is_loaded = 0, horizon = version + 1, era = ?2 WHERE id = ?1", [.integer(id), .text(removedEra)])
            return (rows, false)
        }
        for table in tables { try connection.execute("DELETE FROM \(table) WHERE partition = ?1", [.integer(id)]) }
        try connection.execute("DELETE FROM _partition WHERE id = ?1", [.integer(id)])
        return (rows, true)
    }

    /// The era of a partition whose removal has begun. No store has an era of this name.
    private static let removedEra = "-"

    /// Forgets up to `limit` deletions of a partition, and keeps the newest ones. A token below the forgotten ones does not hold any longer.
    /// - Returns: the number of forgotten deletions.
    static func forgetDeletions(of id: Int64, kept: Int64, limit: Int, in connection: any StateConnection) throws -> Int {
        let row = try connection.first("SELECT horizon FROM _partition WHERE id = ?1" + connection.dialect.lock, [.integer(id)])
        guard let known = row?[0].integer else { return 0 }
        let newest = try connection.optionalNumber(
            "SELECT version FROM _row WHERE partition = ?1 AND deleted = 1 ORDER BY version DESC LIMIT 1 OFFSET ?2", [.integer(id), .integer(kept)])
        let horizon = max(known, newest ?? 0)
        if horizon > known { try connection.execute("UPDATE _partition SET horizon = ?2 WHERE id = ?1", [.integer(id), .integer(horizon)]) }
        let values: [Value] = [.integer(id), .integer(horizon), .integer(Int64(limit))]
        let old = "SELECT sk FROM _row WHERE partition = ?1 AND deleted = 1 AND version <= ?2 ORDER BY version, sk LIMIT ?3"
        try connection.execute("DELETE FROM _large WHERE partition = ?1 AND sk IN (\(old))", values)
        return try connection.execute("DELETE FROM _row WHERE partition = ?1 AND sk IN (\(old))", values)
    }
}
