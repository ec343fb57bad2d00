import MobileStore
import TestSupport
import Testing

@Suite struct BulkExporterTests {
    let directory: TemporaryDirectory
    let database: Database

    init() throws {
        directory = try TemporaryDirectory()
        database = try Database(directory.profile())
    }

    func export(
        _ sql: String, _ values: [Value] = [], _ format: ExportFormat = .arrays, types: [JSONColumnType] = [], piece: Int = 65536
    ) throws -> String {
        try database.read { connection in
            let rows = try connection.exporter(sql, values, format: format, types: types)
            var text: [UInt8] = []
            while let chunk = try rows.nextChunk(maximum: piece) {
                #expect(chunk.count <= piece)
                text += chunk
            }
            return String(decoding: text, as: UTF8.self)
        }
    }

    @Test func `rows are arrays or objects`() throws {
        let sql = "SELECT column1 AS id, column2 AS \"a \"\"name\" FROM (VALUES (1,'x'),(2,NULL))"
        #expect(try export(sql) == "[[1,\"x\"],\n[2,null]]")
        #expect(try export(sql, [], .objects) == "[{\"id\":1,\"a \\\"name\":\"x\"},\n{\"id\":2,\"a \\\"name\":null}]")
        #expect(try export(sql, [], .objects, piece: 1) == export(sql, [], .objects))
        #expect(try export("SELECT 1 WHERE 0") == "[]")
    }

    @Test(
        "a value is written by its storage, and escapes what JSON must",
        arguments: [
            (.integer(.max), "9223372036854775807"), (.integer(.min), "-9223372036854775808"), (.real(0.1), "0.1"), (.real(3), "3.0"),
            (.real(1e300), "1e+300"), (.text("Zürich \"東京\" 😀\n\t\u{1}\\"), #""Zürich \"東京\" 😀\n\t\u0001\\""#), (.blob([]), #""""#),
            (.blob([0xFF]), #""/w==""#), (.blob([1, 2]), #""AQI=""#), (.blob([1, 2, 3]), #""AQID""#), (.null, "null"),
        ] as [(Value, String)])
    func values(value: Value, text: String) throws {
        #expect(try export("SELECT ?", [value]) == "[[\(text)]]")
    }

    @Test(
        "a value is written by the type of its column",
        arguments: [
            (.integer(1234), .decimal(precision: 12, scale: 2), "12.34"), (.integer(-5), .decimal(precision: 12, scale: 2), "-0.05"),
            (.integer(1200), .decimal(precision: 12, scale: 2), "12"), (.integer(0), .decimal(precision: 12, scale: 2), "0"),
            (.integer(.min), .decimal(precision: 18, scale: 18), "-9.223372036854775808"),
            (.text("123456789012345678901.5"), .decimal(precision: 40, scale: 5), "123456789012345678901.5"),
            (.integer(1), .boolean, "true"), (.integer(0), .boolean, "false"), (.integer(7), .real, "7.0"), (.integer(7), .text, #""7""#),
            (.text("ab"), .blob, #""YWI=""#), (.integer(7), .integer, "7"), (.null, .boolean, "null"),
        ] as [(Value, JSONColumnType, String)])
    func typedValues(value: Value, type: JSONColumnType, text: String) throws {
        #expect(try export("SELECT ?", [value], types: [type]) == "[[\(text)]]")
    }

    @Test(
        "what a type cannot write is an error with row and column",
        arguments: [
            (.text("x"), .integer), (.text("x"), .decimal(precision: 40, scale: 5)), (.real(1), .boolean), (.text("1"), .real),
            (.real(.infinity), .any), (.real(1), .decimal(precision: 5, scale: 1)),
        ] as [(Value, JSONColumnType)])
    func refused(value: Value, type: JSONColumnType) {
        let error = #expect(throws: StoreError.self) { try export("SELECT 1 AS a UNION ALL SELECT ?", [value], types: [type]) }
        #expect(error?.code == .type)
        #expect(error?.message.contains("column \"a\"") == true)
    }

    @Test func `text that is not UTF-8 is an error, not a different text`() {
        let error = #expect(throws: StoreError.self) { try export("SELECT 7 AS a, CAST(x'61FF' AS TEXT) AS b") }
        #expect(error?.code == .corrupt)
        #expect(error?.row == 1)
        #expect(error?.message == #"export, row 1, column "b": expected text in UTF-8, found other bytes"#)
    }

    @Test func `what cannot be opened says why`() {
        #expect(throws: StoreError.self) { try export("SELECT 1 AS a, 2 AS a", [], .objects) }
        #expect(throws: StoreError.self) { try export("SELECT 1 AS a", [], types: [.any, .any]) }
        #expect(throws: StoreError.self) { try export("CREATE TABLE x(y)") }
        #expect(throws: StoreError.self) { try database.read { _ = try $0.exporter("SELECT 1", compression: .zlib(level: 10)) } }
    }

    @Test func `an export that outlives its closure ends`() throws {
        let rows = try database.read { try $0.exporter("SELECT 1") }
        let error = #expect(throws: StoreError.self) { try rows.nextChunk() }
        #expect(error?.code == .misuse)
    }

    @Test("what is exported is imported again, plain and deflated, in pieces of any size", arguments: [1, 7, 100, 65536])
    func roundTrip(piece: Int) throws {
        try database.write { connection in
            try connection.execute(
                "CREATE TABLE a(id INTEGER PRIMARY KEY, r REAL, t TEXT, b TEXT); CREATE TABLE b(id INTEGER PRIMARY KEY, r REAL, t TEXT, b TEXT)"
            )
            for key in 1...500 {
                try connection.execute(
                    "INSERT INTO a VALUES (?,?,?,?)",
                    [.integer(Int64(key) << 40), .real(1 / Double(key)), .text("Zürich \"\(key)\"\n😀"), key % 3 == 0 ? .null : .text("x")])
            }
        }
        for compression in [ExportCompression.none, .zlib, .zlib(level: 9)] {
            try database.write { connection in
                try connection.execute("DELETE FROM b")
                let source = try connection.exporter("SELECT * FROM a ORDER BY id", compression: compression)
                let target = try connection.importer(into: "b", columns: ["id", "r", "t", "b"], mode: .insert)
                while let chunk = try source.nextChunk(maximum: piece) { try target.push(chunk) }
                #expect(try target.finish().inserted == 500)
                #expect(source.rows == 500)
                #expect(try connection.rows("SELECT * FROM a EXCEPT SELECT * FROM b").isEmpty)
            }
        }
    }
}
