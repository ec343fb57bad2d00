import Foundation
import MobileObjects
import MobileStore

/// The pending changes of a client database, each with its values and the reason why it waits. The types of the values are those of the model that
/// the database keeps of itself.
struct PendingReport {
    /// The pending change of one row.
    struct Change {
        /// A column that the change sets.
        struct Assignment {
            let column: String
            /// Nil for a new row.
            let old: ShownValue?
            /// Nil for a row that is deleted.
            let new: ShownValue?
        }

        let object: String
        let surrogateKey: Int64
        /// `create`, `update` or `delete`.
        let kind: String
        let assignments: [Assignment]
        let reason: String
    }

    let path: String
    let changes: [Change]

    /// - Throws: `StoreError` if the file cannot be read, ``NotAClientDatabase`` if it is another kind of database.
    init(path: String) throws {
        self.path = path
        // A database of a damaged or very old model has its pending changes, too: they are shown as they are stored.
        let metadata = try? PackageMetadata(storedIn: .inspecting(path))
        changes = try withInspectedDatabase(path) { database in
            try database.read { connection in
                let tables = try connection.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid").compactMap { $0[0].text }
                guard tables.contains("_settings"), tables.contains("_outbox") else { throw NotAClientDatabase(path: path) }
                return try tables.filter { tables.contains($0 + "_os") }.flatMap { table in
                    try Self.changes(of: table, metadata?.entities.first { $0.name == table }, connection)
                }
            }
        }
    }

    private static func changes(of object: String, _ metadata: EntityMetadata?, _ connection: Connection) throws -> [Change] {
        let all = try connection.rows("SELECT name FROM pragma_table_info(?1) ORDER BY cid", [.text(object)]).compactMap { $0[0].text }
        let columns = all.filter { !$0.hasPrefix("_") }
        func list(_ table: String) -> String { columns.map { ", \(table).\(quoted($0))" }.joined() }
        let rows = try connection.rows(
            """
            SELECT o."_sk", o."_pc", o."_rp", o."_rf"\(list("m"))\(list("o")) FROM \(quoted(object + "_os")) AS o
            LEFT JOIN \(quoted(object)) AS m ON m."_sk" = o."_sk" WHERE o."_pc" IN (1, 2, 3) ORDER BY o."_sk"
            """)
        func shown(_ column: String, _ value: Value) throws -> ShownValue {
            let attribute = metadata?.attributes.first { $0.column == column }
            return try ShownValue(value, of: attribute, connection)
        }
        return try rows.map { row in
            let key = row[0].integer ?? 0, kind = [1: "create", 2: "update", 3: "delete"][row[1].integer ?? 0] ?? "?"
            let new = row[4..<(4 + columns.count)], old = row[(4 + columns.count)...]
            let assignments = try zip(columns, zip(old, new)).compactMap { column, values -> Change.Assignment? in
                switch kind {
                case "create": values.1.isNull ? nil : .init(column: column, old: nil, new: try shown(column, values.1))
                case "delete": values.0.isNull ? nil : .init(column: column, old: try shown(column, values.0), new: nil)
                default: values.0 == values.1 ? nil : .init(column: column, old: try shown(column, values.0), new: try shown(column, values.1))
                }
            }
            return Change(
                object: object, surrogateKey: key, kind: kind, assignments: assignments,
                reason: try reason(object, key, isRejected: row[3].integer != 0, connection))
        }
    }

    /// The reason why a change waits: the server refused it, has deferred it or has not answered, or the application has not submitted it.
    private static func reason(_ object: String, _ key: Int64, isRejected: Bool, _ connection: Connection) throws -> String {
        if isRejected {
            let record = try connection.first(
                """
                SELECT "code", "message" FROM "_log_record" WHERE "component" = ?1 AND "entity_key" = ?2 AND "state" < 3
                ORDER BY "timestamp" DESC, "message_id" DESC LIMIT 1
                """, [.text(object), .text(String(key))])
            guard let record else { return "rejected by the server" }
            return "rejected by the server, code \(record[0].integer ?? 0): \(record[1].text ?? "")"
        }
        let operation = try connection.first(
            #"SELECT "id", "deferrals", "deferred_code", "deferred_message" FROM "_outbox" WHERE "entity" = ?1 AND "sk" = ?2 ORDER BY "id" DESC LIMIT 1"#,
            [.text(object), .integer(key)])
        guard let operation else { return "not submitted: waits for submitPending" }
        guard let code = operation[2].integer else { return "submitted as operation \(operation[0].integer ?? 0): waits for a synchronization" }
        return "deferred by the server \(Format.count(Int(operation[1].integer ?? 0), "time")), code \(code): \(operation[3].text ?? "")"
    }

    private static func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }

    /// The report as lines of text.
    var lines: [String] {
        guard !changes.isEmpty else { return ["\(path): nothing is pending"] }
        return ["\(path): \(Format.count(changes.count, "row")) pending"]
            + changes.flatMap { change in
                ["", "\(change.object) \(change.surrogateKey), \(change.kind): \(change.reason)"]
                    + change.assignments.map { "  \($0.column): " + [$0.old, $0.new].compactMap { $0?.text }.joined(separator: " -> ") }
            }
    }

    /// The report for scripts: an array of objects.
    var json: JSONValue {
        return .array(
            changes.map { change in
                var old = JSONObject(), new = JSONObject()
                for assignment in change.assignments {
                    if let value = assignment.old { old[assignment.column] = value.json }
                    if let value = assignment.new { new[assignment.column] = value.json }
                }
                return [
                    "object": .string(change.object), "surrogateKey": .integer(change.surrogateKey), "change": .string(change.kind),
                    "old": .object(old), "new": .object(new), "reason": .string(change.reason),
                ]
            })
    }
}
