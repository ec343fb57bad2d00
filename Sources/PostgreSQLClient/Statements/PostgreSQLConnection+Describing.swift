/// A column of a statement's rows.
package struct PostgreSQLColumn: Sendable, Hashable {
    /// The name.
    package let name: String
    /// The number of its type in `pg_type`.
    package let typeID: UInt32
}

extension PostgreSQLConnection {
    /// Prepares a statement without running it, and keeps it for later calls.
    /// - Returns: the columns of its rows; none for a statement without rows.
    /// - Throws: ``PostgreSQLError`` `.syntax`, `.undefinedObject`, `.permission` and others.
    package func columns(of sql: String, deadline: ContinuousClock.Instant? = nil) throws(PostgreSQLError) -> [PostgreSQLColumn] {
        let session = try session()
        let statement = try session.prepared(sql, until: session.deadline(deadline))
        return zip(statement.columnNames, statement.columnTypes).map { PostgreSQLColumn(name: $0, typeID: $1) }
    }
}
