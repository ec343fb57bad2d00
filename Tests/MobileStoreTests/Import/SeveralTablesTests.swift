import MobileStore
import TestSupport
import Testing

/// Several tables in one input: an object whose members are tables.
@Suite struct SeveralTablesTests {
    let directory: TemporaryDirectory
    let database: Database

    init() throws {
        directory = try TemporaryDirectory()
        database = try Database(directory.profile())
        try database.write { connection in
            _ = try connection.execute(
                """
                CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                CREATE TABLE item(parent INTEGER, line TEXT, amount INTEGER, PRIMARY KEY(parent, line)) WITHOUT ROWID;
                CREATE TABLE item_os(parent INTEGER, line TEXT, amount INTEGER, im INTEGER, PRIMARY KEY(parent, line));
                INSERT INTO customer VALUES (1, 'one'), (9, 'nine');
                INSERT INTO item VALUES (1, 'a', 10), (1, 'b', 20), (2, 'a', 30);
                INSERT INTO item_os(parent, line) VALUES (1, 'b'), (3, 'c')
                """)
        }
    }

    static var tables: [ImportTable] {
        var item = ImportTable("item", columns: ["parent", "line", "amount"])
        item.keyColumns = ["parent", "line"]
        item.pending = PendingProtection(originalTable: "item_os", assignments: [("im", 1)])
        var gone = ImportTable("item", member: "item gone", columns: ["line", "parent"], mode: .delete)
        gone.pending = PendingProtection(originalTable: "item_os", keyColumns: ["line", "parent"], assignments: [("im", 2)])
        return [ImportTable("customer", columns: ["id", "name"]), item, gone]
    }

    @discardableResult
    func importing(_ json: String, size: Int = .max, options: ImportOptions = ImportOptions()) throws -> ImportResult {
        let bytes = Array(json.utf8)
        return try database.write { connection in
            let importer = try connection.importer(into: Self.tables, options: options)
            for start in stride(from: 0, to: bytes.count, by: min(size, bytes.count)) {
                try importer.push(Array(bytes[start..<min(bytes.count, start + min(size, bytes.count))]))
            }
            return try importer.finish()
        }
    }

    func rows(_ sql: String) throws -> [[Value]] { try database.read { try $0.rows(sql) } }

    static let input = #"""
        { "customer" : [[1,"uno"],{"name":"two","id":2}], "item":[[1,"a",11],[1,"b",21],[3,"c",31],[4,"d",41]] ,
          "it\u0065m gone":[["a",2],["z",1],["b",1]], "customer":[], "customer":[[3,"three"]]}
        """#

    @Test(arguments: [1, 2, 3, 7, 64, 100_000], [ImportThreads.off, .on])
    func `every table gets its rows, in chunks of any size`(size: Int, threads: ImportThreads) throws {
        var options = ImportOptions()
        options.threads = threads
        let result = try importing(Self.input, size: size, options: options)
        #expect((result.rows, result.inserted, result.updated, result.diverted, result.deleted) == (10, 3, 2, 3, 1))
        #expect(try rows("SELECT * FROM customer") == [[1, "uno"], [2, "two"], [3, "three"], [9, "nine"]])
        #expect(try rows("SELECT * FROM item") == [[1, "a", 11], [1, "b", 20], [4, "d", 41]])
        #expect(try rows("SELECT * FROM item_os") == [[1, "b", 21, 2], [3, "c", 31, 1]])
    }

    @Test func `each row is told with its table, number, key and what became of it`() throws {
        var told: [ImportChange] = []
        var options = ImportOptions()
        options.changes = { told.append($0) }
        try importing(Self.input, options: options)
        let expected: [ImportChange] = [
            .init(table: 0, row: 1, kind: .updated, key: [1]), .init(table: 0, row: 2, kind: .inserted, key: [2]),
            .init(table: 1, row: 1, kind: .updated, key: [1, "a"]), .init(table: 1, row: 2, kind: .diverted, key: [1, "b"]),
            .init(table: 1, row: 3, kind: .diverted, key: [3, "c"]), .init(table: 1, row: 4, kind: .inserted, key: [4, "d"]),
            .init(table: 2, row: 1, kind: .deleted, key: ["a", 2]), .init(table: 2, row: 2, kind: .ignored, key: ["z", 1]),
            .init(table: 2, row: 3, kind: .diverted, key: ["b", 1]), .init(table: 0, row: 3, kind: .inserted, key: [3]),
        ]
        #expect(told == expected)
    }

    @Test(
        arguments: [
            (#"[[1,"x"]]"#, StoreError.Code.json, 0, "import of \"customer\", byte 0: expected '{' (an object of tables), found '['"),
            (#"{"customer":[[1,"x"]],"nobody":[]}"#, .type, 22, "import, byte 22: expected the name of a table that is imported, found \"nobody\""),
            (#"{"customer":[[1,"x"]],}"#, .json, 22, "import of \"customer\", byte 22: expected the name of a table, found '}'"),
            (#"{"customer" [[1,"x"]]}"#, .json, 12, "import of \"customer\", byte 12: expected ':', found '['"),
            (#"{"customer":{}}"#, .json, 12, "import of \"customer\", byte 12: expected '[' (an array of rows), found '{'"),
            (#"{"customer":[[1,"x"]] "item":[]}"#, .json, 22, "import of \"customer\", byte 22: expected ',' or '}', found '\"'"),
            (#"{"customer":[[1,"x"]],"it\u00zz":[]}"#, .json, 29, "import, byte 29: expected a hexadecimal digit, found 'z'"),
            (#"{"customer":[[1,"x"]]"#, .truncated, 21, "import of \"customer\", byte 21: the input ends in the middle"),
            (#"{1:[]}"#, .json, 1, "import of \"customer\", byte 1: expected the name of a table or '}', found '1'"),
            (#"{}x"#, .json, 2, "import of \"customer\", byte 2: expected nothing after the rows, found 'x'"),
        ] as [(String, StoreError.Code, Int64, String)])
    func `what is no such object is refused at the first byte that cannot be`(json: String, code: StoreError.Code, offset: Int64, message: String)
        throws
    {
        for size in [1, 5, 1000] {
            for threads in [ImportThreads.off, .on] {
                var options = ImportOptions()
                options.threads = threads
                let error = #expect(throws: StoreError.self) { try importing(json, size: size, options: options) }
                #expect(error?.code == code)
                #expect(error?.byteOffset == offset)
                #expect(error?.message == message)
            }
        }
        #expect(try rows("SELECT * FROM customer") == [[1, "one"], [9, "nine"]])
        #expect(try rows("SELECT * FROM item") == [[1, "a", 10], [1, "b", 20], [2, "a", 30]])
    }

    @Test func `an error names table and row of the table`() throws {
        let error = #expect(throws: StoreError.self) { try importing(#"{"item":[[5,"x",1],[6,"y",1]],"customer":[[5,"x"],[6,null]]}"#) }
        #expect(error?.code == .constraint)
        #expect(error?.row == 2)
        #expect(error?.message == #"import of "customer", row 2, byte 50: NOT NULL constraint failed: customer.name"#)
        #expect(try rows("SELECT count(*) FROM item") == [[3]])
    }

    @Test func `an empty object and tables that do not come change nothing`() throws {
        for json in ["{}", #"{"item":[]}"#] { #expect(try importing(json).rows == 0) }
        #expect(try rows("SELECT count(*) FROM item") == [[3]])
    }

    @Test func `tables that cannot be told apart, or none at all, are refused`() throws {
        try database.write { connection in
            let twice = #expect(throws: StoreError.self) { _ = try connection.importer(into: [Self.tables[0], Self.tables[0]]) }
            #expect(twice?.code == .misuse)
            let none = #expect(throws: StoreError.self) { _ = try connection.importer(into: []) }
            #expect(none?.code == .misuse)
            var keys = Self.tables[1]
            keys.pending?.keyColumns = ["parent"]
            let uneven = #expect(throws: StoreError.self) { _ = try connection.importer(into: [keys]) }
            #expect(uneven?.code == .misuse)
        }
    }
}
