import MobileStore
import TestSupport

/// Rows in the form that a device gets: imported into a new table, and read as JSON values.
enum Inflated {
    static func rows(_ data: [UInt8], columns: [String]) throws -> [[JSONValue]] {
        let directory = try TemporaryDirectory(), database = try Database(ConnectionProfile(path: directory.file("rows.db")))
        defer { try? database.close() }
        return try database.write { connection in
            let names = columns.map { "\"" + $0 + "\"" }.joined(separator: ", ")
            try connection.execute("CREATE TABLE incoming (\(names))")
            var options = ImportOptions()
            options.columnRules = [:]
            let importer = try connection.importer(into: "incoming", columns: columns, mode: .insert, options: options)
            try importer.push(data)
            try importer.finish()
            return try connection.rows("SELECT \(names) FROM incoming ORDER BY rowid").map { $0.map(json) }
        }
    }

    private static func json(_ value: Value) -> JSONValue {
        switch value {
        case .null: .null
        case .integer(let integer): .integer(integer)
        case .real(let double): JSONValue(double) ?? .null
        case .text(let text): .string(text)
        case .blob: .null
        }
    }
}
