/// The history that a server's data belongs to. A copy that goes its own way, by promotion of a standby or recovery from a backup to an earlier time,
/// has another timeline; a server that was set up again has another system identifier.
package struct PostgreSQLHistory: Sendable, Hashable {
    /// The number that the server received when it was set up.
    package let systemIdentifier: Int64
    /// The number of the timeline, from 1.
    package let timeline: Int64
}

extension PostgreSQLConnection {
    /// Reads the history of the server's data. A copy of the data folder, started without recovery, has the same one.
    /// - Throws: ``PostgreSQLError`` `.undefinedObject` (a server that only speaks PostgreSQL's protocol), `.permission`, `.timeout` and others.
    package func history(deadline: ContinuousClock.Instant? = nil) throws(PostgreSQLError) -> PostgreSQLHistory {
        // On a primary the name of the present log file begins with the timeline; the last checkpoint may be from before a promotion.
        let sql = """
            SELECT system_identifier, CASE WHEN pg_is_in_recovery() THEN (SELECT timeline_id FROM pg_control_checkpoint())
            ELSE CAST(CAST('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS bit(32)) AS bigint) END FROM pg_control_system()
            """
        guard let row = try first(sql, deadline: deadline), let identifier = row[0].integer, let timeline = row[1].integer else {
            throw PostgreSQLError(.other, "the server reports no system identifier and timeline")
        }
        return PostgreSQLHistory(systemIdentifier: identifier, timeline: timeline)
    }
}
