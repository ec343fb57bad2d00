import MobileModel
import MobileStore

extension RecordTable {
    /// Makes the change log. Its table has the objects' names, because their numbers are positions in a model that may change. Entries of objects
    /// that the model does not have any longer are left out.
    static func changeLog(_ metadata: PackageMetadata) -> RecordTable {
        let names = metadata.entities.map { EntitySQL.literal($0.name) }
        let numbers = zip(names, metadata.entities).map { "WHEN \($0) THEN \($1.entityType)" }.joined(separator: " ")
        func number(_ column: String) -> String { numbers.isEmpty ? "NULL" : "CASE \(column) \(numbers) END" }
        let known = "IN (\(names.joined(separator: ", ")))"
        return RecordTable(
            "ChangeLog",
            [
                ("entityType", .int, number("\"entity\"")), ("entity", .string, "\"entity\""), ("surrogateKey", .long, "\"sk\""),
                ("operationType", .char, "\"change\""), ("rootEntityType", .int, number("\"root_entity\"")),
                ("rootEntity", .string, "\"root_entity\""), ("rootSurrogateKey", .long, "\"root_sk\""),
            ], from: "_change_log", where: "\"entity\" \(known) AND \"root_entity\" \(known)", order: [OrderTerm(sql: "c0"), OrderTerm(sql: "c2")])
    }
}

extension Connection {
    /// Returns the entries that a query finds.
    func changeLogs(_ query: Query, _ metadata: PackageMetadata) throws -> [ChangeLog] {
        let statement = try RecordTable.changeLog(metadata).statement(query, in: metadata)
        return try rows(statement.sql, statement.values).map { row in
            let entry = StoredRow(ChangeLogColumn.allCases, row), change = try entry.text(.change)
            guard let operation = ChangeLog.Operation.allCases.first(where: { String($0.rawValue) == change }) else {
                throw entry.damaged(.change, .text(change), "U or D")
            }
            return ChangeLog(
                entityType: try entry.int(.entityType), entity: try entry.text(.entity), surrogateKey: try entry.integer(.key),
                operationType: operation, rootEntityType: try entry.int(.rootEntityType), rootEntity: try entry.text(.rootEntity),
                rootSurrogateKey: try entry.integer(.rootKey))
        }
    }
}

extension Transaction {
    /// Returns the entries, including those that this transaction has noted.
    func changeLogs(_ query: Query) throws -> [ChangeLog] {
        try changeRecording.recorder?.write()
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
        try changeRecording.recorder?.write()
        try connection.execute("DELETE FROM \"_change_log\" WHERE TRUE")
    }

    func setLogsChanges(_ isOn: Bool) throws {
        try PackageSettings(connection).set(.changeLog, .integer(isOn ? 1 : 0))
        let recording = changeRecording
        recording.isOn = isOn
        onRollback { recording.isOn = nil }
    }
}
