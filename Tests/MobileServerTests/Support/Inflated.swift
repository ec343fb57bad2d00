import Foundation
import MobileStore

/// Rows as a device gets them: through the importer, into a table of its own, and out again as JSON values.
enum Inflated {
    static func rows(_ data: [UInt8], columns: [String]) throws -> [[JSONValue]] {
        let database = try Database(ConnectionProfile(path: FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path))
        defer {
            try? database.close()
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: database.path + suffix) }
        }
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
