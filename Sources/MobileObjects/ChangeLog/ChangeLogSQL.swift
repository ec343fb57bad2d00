import MobileStore

/// The change log as rows of its documented attributes. The table has the objects' names, because their numbers are positions in a model
/// that may change; an entry of an object that the model does not have any longer is none.
struct ChangeLogSQL {
    /// The attributes as a SELECT of named columns, to be read as they are or as the source of a query.
    let source: String

    init(_ metadata: PackageMetadata) {
        let numbers = metadata.entities.map { "WHEN \(EntitySQL.literal($0.name)) THEN \($0.entityType)" }.joined(separator: " ")
        func number(_ column: String) -> String { "CASE \(column) \(numbers.isEmpty ? "WHEN '' THEN 0" : numbers) END" }
        source = """
            SELECT \(number("\"entity\"")) AS "entityType", "entity", "sk" AS "surrogateKey", "change" AS "operationType",
                \(number("\"root_entity\"")) AS "rootEntityType", "root_entity" AS "rootEntity", "root_sk" AS "rootSurrogateKey"
            FROM "_change_log"
            """
    }

    /// The conditions of a filter with their values, to be joined by AND.
    static func conditions(_ filter: ChangeLogFilter) -> (sql: [String], values: [Value]) {
        var sql = ["\"entityType\" IS NOT NULL", "\"rootEntityType\" IS NOT NULL"], values: [Value] = []
        func add(_ column: String, _ value: Value?) {
            guard let value else { return }
            values.append(value)
            sql.append("\"\(column)\" = ?\(values.count)")
        }
        add("entityType", filter.entityType.map { .integer(Int64($0)) })
        add("operationType", filter.operationType.map { .text(String($0.rawValue)) })
        add("rootEntityType", filter.rootEntityType.map { .integer(Int64($0)) })
        add("rootSurrogateKey", filter.rootSurrogateKey.map { .integer($0) })
        return (sql, values)
    }
}

extension Connection {
    func changeLogs(_ filter: ChangeLogFilter, _ metadata: PackageMetadata) throws -> [ChangeLog] {
        let (conditions, values) = ChangeLogSQL.conditions(filter)
        let sql = """
            SELECT "entityType", "entity", "surrogateKey", "operationType", "rootEntityType", "rootEntity", "rootSurrogateKey"
            FROM (\(ChangeLogSQL(metadata).source)) WHERE \(conditions.joined(separator: " AND "))
            ORDER BY "entityType", "surrogateKey"
            """
        return try rows(sql, values).map { row in
            ChangeLog(
                entityType: Int(row[0].integer ?? 0), entity: row[1].text ?? "", surrogateKey: row[2].integer ?? 0,
                operationType: row[3].text == "D" ? .delete : .update, rootEntityType: Int(row[4].integer ?? 0), rootEntity: row[5].text ?? "",
                rootSurrogateKey: row[6].integer ?? 0)
        }
    }
}

extension Transaction {
    /// The entries as they are with what this transaction has noted.
    func changeLogs(_ filter: ChangeLogFilter) throws -> [ChangeLog] {
        try changeRecorder?.write()
        return try connection.changeLogs(filter, metadata)
    }

    /// Reads and deletes entries; with nil deletes all and reads none.
    func takeChangeLogs(_ filter: ChangeLogFilter?) throws -> [ChangeLog] {
        guard let filter else {
            try changeRecorder?.write()
            try connection.execute("DELETE FROM \"_change_log\"")
            return []
        }
        let entries = try changeLogs(filter)
        for entry in entries {
            try connection.execute(
                "DELETE FROM \"_change_log\" WHERE \"entity\" = ?1 AND \"sk\" = ?2", [.text(entry.entity), .integer(entry.surrogateKey)])
        }
        return entries
    }

    func setLogsChanges(_ isOn: Bool) throws {
        try PackageSettings(connection).set(.changeLog, .integer(isOn ? 1 : 0))
        logsChanges = isOn
        onRollback { [unowned self] in logsChanges = nil }
    }
}
