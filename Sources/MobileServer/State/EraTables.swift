internal import MobileStore

/// The tables and columns of the store's eras (see ``Eras``), and those that hold the ends of partitions.
enum EraTables {
    /// The statements that add them to the tables of an earlier release. Processes of that release continue with theirs.
    static func statements(_ dialect: StateDialect) -> [String] {
        [
            // One row per era, in their order. history: the engine's own name for the history of the data. low, high: the surrogate keys from low to
            // below high may have been granted in a life of this store that a restored backup has lost.
            """
            CREATE TABLE _era (
                id \(dialect.id), name TEXT NOT NULL UNIQUE, history TEXT NOT NULL, low BIGINT NOT NULL, high BIGINT NOT NULL, made BIGINT NOT NULL)
            """,
            // The first version that a partition had in an era. A partition gets its row when its version first changes there.
            """
            CREATE TABLE _partition_era (
                partition BIGINT NOT NULL, era TEXT NOT NULL, first BIGINT NOT NULL, PRIMARY KEY (partition, era))\(dialect.ordered)
            """,
            "CREATE INDEX _partition_era_first ON _partition_era (partition, first)",
            // digest: the partition's name in tokens. era: that of the version. used: the time of the last request for the partition, to a day.
            "ALTER TABLE _partition ADD COLUMN digest TEXT", "CREATE INDEX _partition_digest ON _partition (digest)",
            "ALTER TABLE _partition ADD COLUMN era TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE _partition ADD COLUMN used BIGINT NOT NULL DEFAULT 0", "CREATE INDEX _partition_used ON _partition (used)",
            "CREATE INDEX IF NOT EXISTS _row_deleted ON _row (partition, version) WHERE deleted = 1",
            "ALTER TABLE _traced_request ADD COLUMN noted BIGINT NOT NULL DEFAULT 0",
            // The fates of operations after a restore, or in the copy of a database. successor: the client id of the database that has reported it.
            """
            CREATE TABLE _reconciled (
                id \(dialect.id), package BIGINT NOT NULL, client TEXT NOT NULL, operation BIGINT NOT NULL, user_name TEXT NOT NULL,
                successor TEXT NOT NULL, object TEXT NOT NULL, sk BIGINT NOT NULL, fate TEXT NOT NULL, noted BIGINT NOT NULL,
                UNIQUE (package, client, operation, fate))
            """,
            // era: the back end's era of the position up to which its operations have been read.
            "ALTER TABLE _back_end ADD COLUMN era TEXT NOT NULL DEFAULT ''",
        ]
    }

    /// Gives names to the partitions of an earlier release.
    /// - Parameter now: milliseconds since 1970, UTC. From then on, the partitions have their full time without a subscriber.
    static func fill(_ connection: any StateConnection, now: Int64) throws {
        try connection.execute("UPDATE _partition SET used = ?1 WHERE used = 0", [.integer(now)])
        let rows = try connection.rows(
            "SELECT p.id, o.name, p.parameters FROM _partition AS p JOIN _object AS o ON o.id = p.object WHERE p.digest IS NULL")
        for row in rows {
            let digest = try PartitionParameters.digest(object: row[1].text ?? "", parameters: row[2].text ?? "")
            try connection.execute("UPDATE _partition SET digest = ?2 WHERE id = ?1", [row[0], .text(digest)])
        }
    }
}
