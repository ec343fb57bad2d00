internal import MobileStore
internal import PostgreSQLClient

/// The versions of the server's tables in a PostgreSQL database.
enum PostgreSQLStateSchema {
    static let version: Int64 = 10

    /// Creates the tables in a database without them, and refuses a database of a later release. Of several processes that start together, one creates
    /// the tables.
    static func prepare(_ store: PostgreSQLStateStore) throws {
        do {
            try create(store)
        } catch let error as PostgreSQLError where error.code == .constraint {
            // Another process has created the same table at the same time: it is there now.
            try create(store)
        }
    }

    private static func create(_ store: PostgreSQLStateStore) throws {
        try store.write(label: "preparing the state") { connection in
            _ = try connection.execute("CREATE TABLE IF NOT EXISTS _state (version BIGINT NOT NULL)")
            let found = try connection.optionalNumber("SELECT max(version) FROM _state")
            if let found {
                guard (1...version).contains(found) else {
                    throw ServerError(
                        .cache, "state store \(store.name): expected an empty database or one of version 1 to \(version), found version \(found)")
                }
                try upgrade(connection, from: found)
                return
            }
            for statement in StateTables.statements(.postgreSQL) { try connection.execute(statement) }
            try connection.execute("INSERT INTO _state (version) VALUES (?1)", [.integer(version)])
        }
    }

    /// Adds the tables and columns that an earlier release did not have. Its processes may continue to run next to those of this one.
    private static func upgrade(_ connection: any StateConnection, from found: Int64) throws {
        guard found < version else { return }
        if found < 2 {
            for statement in StateTables.access(.postgreSQL) { try connection.execute(statement) }
        }
        if found < 3 {
            for statement in SegmentTables.statements(.postgreSQL) { try connection.execute(statement) }
        }
        if found < 4 {
            for statement in EraTables.statements(.postgreSQL) { try connection.execute(statement) }
            try EraTables.fill(connection, now: SystemEnvironment.milliseconds())
        }
        if found < 5 {
            for statement in StateTables.marks { try connection.execute(statement) }
        }
        if found < 6 {
            for statement in StateTables.refreshes(.postgreSQL) { try connection.execute(statement) }
        }
        if found < 7 { try connection.execute(StateTables.longMarks) }
        if found < 8 {
            for statement in StateTables.changedRows { try connection.execute(statement) }
        }
        if found < 9 {
            for statement in StateTables.quarantine(.postgreSQL) { try connection.execute(statement) }
        }
        if found < 10 {
            for statement in StateTables.identity(.postgreSQL) { try connection.execute(statement) }
        }
        try connection.execute("UPDATE _state SET version = ?1", [.integer(version)])
    }
}
