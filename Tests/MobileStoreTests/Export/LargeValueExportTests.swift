import MobileStore
import Testing

@Suite struct LargeValueExportTests {
    private func export(_ store: LargeValueStore, _ sql: String, _ forms: [Int: LargeValueForm], format: ExportFormat = .arrays) throws -> [UInt8] {
        try store.database.read { connection in
            let rows = try connection.exporter(sql, format: format, largeValues: forms)
            var text: [UInt8] = []
            while let chunk = try rows.nextChunk(maximum: 5000) { text += chunk }
            return text
        }
    }

    private func store(_ value: LargeValue, in store: LargeValueStore) throws {
        try store.database.write { try $0.execute("INSERT INTO t(picture) VALUES (?)", [.integer(value.id)]) }
    }

    @Test("a large value of bytes stands in line in base64, whatever its length", arguments: [0, 1, 2, 3, 10, 12_287, 12_288, 12_289, 100_000])
    func bytes(length: Int) throws {
        let store = try LargeValueStore()
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try self.store(store.write(bytes, chunkSize: 4096), in: store)
        try store.database.write { try $0.execute("INSERT INTO t(picture) VALUES (NULL)") }
        let text = try export(store, "SELECT id, picture, 'x' FROM t ORDER BY id", [1: .base64])
        let rows = try #require(try JSONValue(parsing: text).array)
        #expect(rows.count == 2 && rows[1] == [2, .null, "x"] && rows[0][2] == "x")
        try store.database.write { connection in
            try connection.execute("CREATE TABLE back(id INTEGER PRIMARY KEY, picture BLOB, x TEXT)")
            var options = ImportOptions()
            options.columnRules = ["picture": JSONColumnRule(.blob)]
            let importer = try connection.importer(into: "back", columns: ["id", "picture", "x"], mode: .insert, options: options)
            try importer.push(text)
            _ = try importer.finish()
            #expect(try connection.first("SELECT picture FROM back WHERE id = 1") == [.blob(bytes)])
        }
    }

    @Test("a large value of text stands in line as a string, whole characters at a time", arguments: ["", "ü", "a\"b\n", "long"])
    func text(text: String) throws {
        let value = text == "long" ? String(repeating: "日本語 \"quoted\" ü😀\n", count: 3000) : text
        let store = try LargeValueStore()
        try self.store(store.write(value, chunkSize: 4096), in: store)
        let exported = try export(store, "SELECT id, picture FROM t", [1: .text], format: .objects)
        #expect(try JSONValue(parsing: exported)[0]?["picture"] == .string(value))
    }

    @Test func `a large value is referred to by its id unless something else is said`() throws {
        let store = try LargeValueStore()
        let value = try store.write([1, 2, 3])
        try self.store(value, in: store)
        #expect(try export(store, "SELECT picture FROM t", [:]) == Array("[[\(value.id)]]".utf8))
        #expect(try export(store, "SELECT picture FROM t", [0: .reference]) == Array("[[\(value.id)]]".utf8))
    }

    @Test func `a value that is missing, or of the other kind, is an error`() throws {
        let store = try LargeValueStore()
        try self.store(store.write([1, 2, 3]), in: store)
        #expect(#expect(throws: StoreError.self) { try export(store, "SELECT picture FROM t", [0: .text]) }?.code == .type)
        #expect(#expect(throws: StoreError.self) { try export(store, "SELECT 4711", [0: .base64]) }?.code == .notFound)
        #expect(#expect(throws: StoreError.self) { try export(store, "SELECT 1", [1: .base64]) }?.code == .misuse)
    }
}
