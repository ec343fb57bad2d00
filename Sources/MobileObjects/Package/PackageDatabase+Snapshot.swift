internal import MobileModel
internal import MobileStore

/// A snapshot is a database with the server's rows and the tokens that go with them, but without an owner. An application ships it, or fetches it
/// before its first synchronization, and puts it at the path of its database. The first device that opens such a file makes it its own.
extension PackageDatabase {
    /// Turns this database into a snapshot: removes the client id, granted keys, log records, settings and everything else that belongs to one client.
    /// Rows, tokens, synchronization parameters and personalization stay. Closes the database.
    /// - Throws: ``ObjectError/Code/misuse`` for a database with pending changes; it is unchanged then.
    package final func becomeSnapshot() throws {
        try write("become a snapshot") { transaction in
            let connection = transaction.connection
            let pending = metadata.storedEntities.filter { !$0.isLocal }.map(\.sql.originalTable) + ["\"_outbox\""]
            for table in pending where try connection.first("SELECT 1 FROM \(table) LIMIT 1") != nil {
                throw ObjectError(.misuse, "snapshot of \"\(databasePath)\": the database has changes that the server does not have")
            }
            for entity in metadata.storedEntities where entity.isLocal { try connection.execute("DELETE FROM \(entity.sql.table)") }
            for table in ["_outbox_large", "_accepted", "_basis", "_log_record", "_change_log", "_key_range"] {
                try connection.execute("DELETE FROM \(EntitySQL.quote(table))")
            }
            // The log records are those of one client, and so is the state of their group.
            try connection.execute("DELETE FROM \"_group\" WHERE \"name\" = 'system'")
            let kept = [PackageSettings.Name.package, .version, .model].map { "'\($0.rawValue)'" }.joined(separator: ", ")
            try connection.execute("DELETE FROM \"_settings\" WHERE \"name\" NOT IN (\(kept)) AND \"name\" NOT GLOB 'unseen.*'")
            try PackageSettings(connection).set(.clientID, .text(""))
        }
        // The free pages still contain the deleted rows.
        try vacuumDatabase()
        try closeConnection()
    }
}

extension PackageSettings {
    /// Makes the database that of a new client if it is a snapshot.
    func takeOver(_ environment: Environment) throws {
        guard try text(.clientID) == "" else { return }
        try set(.clientID, .text(environment.randomGUID()))
    }
}
