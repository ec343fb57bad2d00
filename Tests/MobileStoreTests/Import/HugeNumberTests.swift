import MobileStore
import TestSupport
import Testing

/// Numbers beyond the largest double. SQLite would make them infinite when it converts texts to numbers.
@Suite struct HugeNumberTests {
    static let digits = "1" + String(repeating: "0", count: 400)
    static let numbers = ["1e400", "-1e400", "1.5E+309", "1.7976931348623159e308", digits, "-" + digits]

    let directory: TemporaryDirectory
    let database: Database

    init() throws {
        directory = try TemporaryDirectory()
        database = try Database(directory.profile())
    }

    func importing(_ number: String, into declaration: String, _ rule: JSONColumnType, options: String = "") throws {
        try database.write { connection in
            _ = try connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v \(declaration)) \(options)")
            var options = ImportOptions()
            options.columnRules = ["v": JSONColumnRule(rule)]
            let importer = try connection.importer(into: "t", columns: ["id", "v"], options: options)
            try importer.push(Array("[[1,7],[2,\(number)]]".utf8))
            try importer.finish()
        }
    }

    @Test("their text is kept, and exported as a string", arguments: numbers, ["", "BLOB", "TEXT", "CLOB"])
    func kept(number: String, declaration: String) throws {
        try importing(number, into: declaration, .any)
        let json = try database.read { connection in
            #expect(try connection.rows("SELECT v FROM t WHERE id = 2") == [[.text(number)]])
            let rows = try connection.exporter("SELECT v FROM t WHERE id = 2")
            return String(decoding: try rows.nextChunk(maximum: 4096) ?? [], as: UTF8.self)
        }
        #expect(json == "[[\"\(number)\"]]")
    }

    @Test("a STRICT table's column of any type keeps their text too", arguments: numbers)
    func strict(number: String) throws {
        try importing(number, into: "ANY", .any, options: "STRICT")
        #expect(try database.read { try $0.rows("SELECT v FROM t WHERE id = 2") } == [[.text(number)]])
    }

    @Test(
        "where the table makes numbers of texts, they are an error and never infinite", arguments: numbers, ["ANY", "NUMERIC", "DOUBLE", "integer"])
    func refused(number: String, declaration: String) throws {
        let error = #expect(throws: StoreError.self) { try importing(number, into: declaration, .any) }
        #expect(error?.code == .type && error?.row == 2 && error?.byteOffset == 10)
        #expect(error?.message.hasSuffix("expected a number within the range of a double, found a larger one") == true, "\(error as Any)")
    }

    @Test("a column of doubles refuses them", arguments: numbers)
    func real(number: String) throws {
        let error = #expect(throws: StoreError.self) { try importing(number, into: "", .real) }
        #expect(error?.code == .type)
    }

    @Test("large numbers that a double can hold are stored as before", arguments: ["ANY", "NUMERIC"])
    func doubles(declaration: String) throws {
        try importing("123456789012345678901234567890", into: declaration, .any)
        #expect(try database.read { try $0.rows("SELECT typeof(v) FROM t WHERE id = 2") } == [["real"]])
    }
}
