internal import MobileStore

/// The tables of segments: see ``SegmentRun``. They can always be made again from the rows.
enum SegmentTables {
    static func statements(_ dialect: StateDialect) -> [String] {
        let ordered = dialect.ordered
        return [
            // A run of segments that was made at once: the live rows of a partition at version `until` (`since` is -1), or those of them that came or
            // changed after version `since`. shape: the columns of the rows. made: milliseconds since 1970; retired: the same, when another run took
            // its place.
            """
            CREATE TABLE IF NOT EXISTS _segment_run (
                partition BIGINT NOT NULL, run BIGINT NOT NULL, since BIGINT NOT NULL, until BIGINT NOT NULL, row_count BIGINT NOT NULL,
                shape TEXT NOT NULL, made BIGINT NOT NULL, retired BIGINT, PRIMARY KEY (partition, run))\(ordered)
            """,
            // name: the SHA-256 of the content. The row of the run is written last: segments without one are not in use yet, or never will be.
            """
            CREATE TABLE IF NOT EXISTS _segment (
                partition BIGINT NOT NULL, run BIGINT NOT NULL, number BIGINT NOT NULL, name TEXT NOT NULL, row_count BIGINT NOT NULL,
                length BIGINT NOT NULL, made BIGINT NOT NULL, content \(dialect.bytes) NOT NULL, PRIMARY KEY (partition, run, number))
            """,
            "CREATE INDEX IF NOT EXISTS _segment_name ON _segment (name)",
            // The version up to which tombstones of a partition have been removed.
            "CREATE TABLE IF NOT EXISTS _tombstone_horizon (partition BIGINT PRIMARY KEY, version BIGINT NOT NULL)\(ordered)",
            // Random bytes that all processes of a server share, by their purpose.
            "CREATE TABLE IF NOT EXISTS _secret (name TEXT PRIMARY KEY, content \(dialect.bytes) NOT NULL)\(ordered)",
        ]
    }

    /// The tables whose rows belong to a partition.
    static let ofPartitions = ["_segment_run", "_segment", "_tombstone_horizon"]
}

enum SegmentRunColumn: String, StoredColumn, CaseIterable {
    static let table = "_segment_run"
    case run
    case since
    case until
    case rows = "row_count"
    case made
    case retired
}

enum SegmentColumn: String, StoredColumn, CaseIterable {
    static let table = "_segment"
    case name
    case rows = "row_count"
    case length
}
