import MobileStore

extension Connection {
    /// The entries that a query finds.
    func changeLogs(_ query: Query, _ metadata: PackageMetadata) throws -> [ChangeLog] {
        let statement = try RecordTable.changeLog(metadata).statement(query, in: metadata)
        return try rows(statement.sql, statement.values).map { row in
            ChangeLog(
                entityType: Int(row[0].integer ?? 0), entity: row[1].text ?? "", surrogateKey: row[2].integer ?? 0,
                operationType: row[3].text == "D" ? .delete : .update, rootEntityType: Int(row[4].integer ?? 0), rootEntity: row[5].text ?? "",
                rootSurrogateKey: row[6].integer ?? 0)
        }
    }
}

extension Transaction {
    /// The entries as they are with what this transaction has noted.
    func changeLogs(_ query: Query) throws -> [ChangeLog] {
        try changeRecorder?.write()
        return try connection.changeLogs(query, metadata)
    }

    /// Reads and deletes entries.
    func takeChangeLogs(_ query: Query) throws -> [ChangeLog] {
        let entries = try changeLogs(query)
        for entry in entries {
            try connection.execute(
                "DELETE FROM \"_change_log\" WHERE \"entity\" = ?1 AND \"sk\" = ?2", [.text(entry.entity), .integer(entry.surrogateKey)])
        }
        return entries
    }

    /// Deletes all entries, read or not.
    func deleteChangeLogs() throws {
        try changeRecorder?.write()
        try connection.execute("DELETE FROM \"_change_log\" WHERE TRUE")
    }

    func setLogsChanges(_ isOn: Bool) throws {
        try PackageSettings(connection).set(.changeLog, .integer(isOn ? 1 : 0))
        logsChanges = isOn
        onRollback { [unowned self] in logsChanges = nil }
    }
}
