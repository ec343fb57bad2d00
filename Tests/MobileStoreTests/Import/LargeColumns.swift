import Foundation
import MobileStore
import TestSupport

/// A table of documents with two large columns, its original states, and the imports into it.
struct LargeColumns {
    let directory: TemporaryDirectory
    let database: Database

    static let columns = ["id", "title", "body", "picture", "pages"]
    static let rules: [String: JSONColumnRule] = [
        "id": JSONColumnRule(.integer), "title": JSONColumnRule(.text), "body": JSONColumnRule(.bigString),
        "picture": JSONColumnRule(.bigBinary), "pages": JSONColumnRule(.decimal(precision: 9, scale: 1)),
    ]

    init(_ change: (inout ConnectionProfile) -> Void = { _ in }) throws {
        directory = try TemporaryDirectory()
        database = try Database(directory.profile(change))
        try database.write { try Self.prepare($0) }
    }

    /// Makes the two tables.
    static func prepare(_ connection: Connection) throws {
        try connection.prepareLargeValues()
        try connection.execute(
            """
            CREATE TABLE doc(id INTEGER PRIMARY KEY, title TEXT CHECK (title <> 'forbidden'), body INTEGER, picture INTEGER, pages INTEGER);
            CREATE TABLE doc_os(id INTEGER PRIMARY KEY, title TEXT, body INTEGER, picture INTEGER, pages INTEGER, im INTEGER)
            """)
    }

    static func options(_ change: (inout ImportOptions) -> Void = { _ in }) -> ImportOptions {
        var options = ImportOptions()
        options.columnRules = rules
        options.pending = PendingProtection(originalTable: "doc_os", keyColumn: "id", assignments: [("im", 1)])
        change(&options)
        return options
    }

    /// Imports in chunks of `size` bytes.
    @discardableResult
    func importing(
        _ bytes: [UInt8], size: Int = .max, mode: ImportMode = .upsert, _ change: (inout ImportOptions) -> Void = { _ in }
    ) throws -> ImportResult {
        try database.write { try Self.importing(bytes, size: size, mode: mode, on: $0, change) }
    }

    static func importing(
        _ bytes: [UInt8], size: Int = .max, mode: ImportMode = .upsert, on connection: Connection, _ change: (inout ImportOptions) -> Void = { _ in }
    ) throws -> ImportResult {
        let importer = try connection.importer(into: "doc", columns: columns, mode: mode, options: options(change))
        var start = 0
        while start < bytes.count {
            let end = size < bytes.count - start ? start + size : bytes.count
            try importer.push(Array(bytes[start..<end]))
            start = end
        }
        return try importer.finish()
    }

    @discardableResult
    func importing(_ text: String, size: Int = .max, _ change: (inout ImportOptions) -> Void = { _ in }) throws -> ImportResult {
        try importing(Array(text.utf8), size: size, change)
    }

    /// Removes rows by a list of keys.
    func deleting(_ keys: String, _ change: (inout ImportOptions) -> Void = { _ in }) throws -> ImportResult {
        try database.write { connection in
            var options = ImportOptions()
            options.largeColumns = ["body", "picture"]
            change(&options)
            let importer = try connection.importer(into: "doc", columns: ["id"], mode: .delete, options: options)
            try importer.push(Array(keys.utf8))
            return try importer.finish()
        }
    }

    /// Reads the ids of a row's large values.
    func ids(_ key: Int64, in table: String = "doc") throws -> (body: Int64?, picture: Int64?) {
        let row = try database.read { try $0.first("SELECT body, picture FROM \(table) WHERE id = ?", [.integer(key)]) }
        return (row?[0].integer, row?[1].integer)
    }

    func text(_ id: Int64?) throws -> String? {
        guard let id else { return nil }
        let reader = try LargeValueReader(id, in: database)
        var text = ""
        while case let piece = try reader.text(upTo: 50_000), !piece.isEmpty { text += piece }
        return Int64(text.unicodeScalars.count) == reader.length ? text : nil
    }

    func bytes(_ id: Int64?) throws -> [UInt8]? {
        guard let id else { return nil }
        let reader = try LargeValueReader(id, in: database)
        var bytes: [UInt8] = []
        while case let piece = try reader.bytes(upTo: 50_000), !piece.isEmpty { bytes += piece }
        return bytes
    }

    /// Reads both tables, and the ids and the numbers of chunks of all values that can be opened.
    func content() throws -> [[Value]] {
        try database.read {
            try $0.rows(
                """
                SELECT id, title, body, picture, pages FROM doc UNION ALL SELECT id, title, body, picture, im FROM doc_os UNION ALL
                SELECT id, unit, length, bytes, (SELECT count(*) FROM _mc_chunk WHERE _mc_chunk.id >> 24 = _mc_value.id) FROM _mc_value WHERE state < 2
                """)
        }
    }

    func values() throws -> Int64? { try database.read { try $0.first("SELECT count(*) FROM _mc_value WHERE state = 1")?[0].integer } }

    static func picture(_ length: Int) -> [UInt8] { (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ ($0 >> 7)) } }

    static func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    /// Makes a text, plain and as JSON, with all parts that can be cut: characters of one to four bytes, escapes, pairs of surrogates.
    static func text(_ count: Int) -> (text: String, json: String) {
        let text = "a\"b\\ü\u{65E5}😀\n\t/", json = #"a\"b\\ü\u65e5\ud83d\uDE00\n\t\/"#
        return (String(repeating: text, count: count), String(repeating: json, count: count))
    }
}
