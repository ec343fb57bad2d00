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

    /// Returns a name for the history of this database: that of the server's data with the database itself, because one that was restored from a dump, or
    /// that has taken the name of another one, is another database. Needs an open transaction.
    ///
    /// The first call on a connection asks the server. This does not change under a connection that can write: a server changes its timeline only while it
    /// is a standby, and a database changes its name only without connections.
    /// - Throws: ``PostgreSQLError`` `.timeout`, `.connectionLost` and others. For a server without a history that can be read, such as one that only speaks
    ///   PostgreSQL's protocol, the name is that of the database alone.
    package func historyID() throws -> String {
        let session = try session()
        if let known = session.historyID { return known }
        let database = try first("SELECT CAST(oid AS BIGINT) FROM pg_database WHERE datname = current_database()")?.first?.integer ?? 0
        do {
            let isStandby = try first("SELECT CAST(pg_is_in_recovery() AS INTEGER)")?[0].integer != 0
            let found = try savepoint { try self.history() }
            let name = "\(found.systemIdentifier)/\(found.timeline)/\(database)"
            if !isStandby { session.historyID = name }
            return name
        } catch let error as PostgreSQLError where error.code == .undefinedObject || error.code == .permission {
            session.historyID = "\(database)"
            return "\(database)"
        }
    }
}
