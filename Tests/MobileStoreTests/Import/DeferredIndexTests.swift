import MobileStore
import TestSupport
import Testing

/// An import that fills a table makes its indexes at the end; this must have no visible effect.
@Suite struct DeferredIndexTests {
    let directory: TemporaryDirectory
    let database: Database

    init() throws {
        directory = try TemporaryDirectory()
        database = try Database(directory.profile())
        try database.write { connection in
            _ = try connection.execute(
                """
                CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, code TEXT UNIQUE, amount INTEGER);
                CREATE INDEX by_name ON item(name COLLATE NOCASE);
                CREATE INDEX "by ""amount"" most" ON item(amount) WHERE amount > 10;
                CREATE UNIQUE INDEX both ON item(name, code)
                """)
        }
    }

    static func rows(_ numbers: ClosedRange<Int>) -> [UInt8] {
        Array("[\(numbers.map { "[\($0),\"name \($0 * 7919 % 1000)\",\"c\($0)\",\($0)]" }.joined(separator: ","))".utf8)
    }

    /// Imports, and returns the numbers of indexes that the table has after a batch, in the import's own transaction.
    func importing(_ input: [UInt8], _ change: (inout ImportOptions) -> Void = { _ in }) throws -> Set<Int> {
        var seen: Set<Int> = []
        try database.write { connection in
            var options = ImportOptions()
            options.progress = { _ in
                seen.insert(
                    Int(try connection.rows("SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")[0][0].integer ?? -1))
            }
            change(&options)
            let importer = try connection.importer(into: "item", columns: ["id", "name", "code", "amount"], options: options)
            try importer.push(input)
            try importer.finish()
        }
        return seen
    }

    func schema() throws -> [[Value]] { try database.read { try $0.rows("SELECT name, sql FROM sqlite_schema ORDER BY name") } }

    @Test func `a table that is filled has its indexes again, and they are whole`() throws {
        let before = try schema()
        #expect(try importing(Self.rows(1...12_000) + Array("]".utf8)) == [3, 1])
        #expect(try schema() == before)
        try database.read { (connection) throws in
            #expect(try connection.rows("PRAGMA integrity_check") == [["ok"]])
            #expect(try connection.rows("SELECT count(*) FROM item INDEXED BY by_name WHERE name = 'NAME 1' COLLATE NOCASE") == [[12]])
            #expect(try connection.rows("SELECT count(*) FROM item INDEXED BY \"by \"\"amount\"\" most\" WHERE amount > 10") == [[11_990]])
        }
    }

    @Test func `a small import, a table with many rows, and commits on the way leave the indexes alone`() throws {
        #expect(try importing(Self.rows(1...3000) + Array("]".utf8)) == [3])
        #expect(try importing(Self.rows(3001...12_000) + Array("]".utf8)) { $0.commits = .rows(4000) } == [3])
        #expect(try importing(Self.rows(12_001...18_000) + Array("]".utf8)) == [3])
        #expect(try database.read { try $0.rows("PRAGMA integrity_check") } == [["ok"]])
    }

    @Test func `an import that fails brings them back`() throws {
        let before = try schema()
        let input = Self.rows(1...9000)
        for end in [",[1,2]]", ",[9001,\"x\",\"c1\",2]]", ""] {
            #expect(throws: StoreError.self) { try importing(input + Array(end.utf8)) }
            #expect(try schema() == before)
            #expect(try database.read { try $0.rows("SELECT count(*) FROM item") } == [[0]])
        }
    }

    @Test func `an index that a running statement reads stays, and the import goes on`() throws {
        try database.write { connection in
            _ = try connection.execute("INSERT INTO item VALUES (-1, 'a', 'x', 20), (-2, 'b', 'y', 30)")
            let reading = try connection.statement("SELECT name FROM item INDEXED BY by_name ORDER BY name COLLATE NOCASE")
            _ = try reading.step()
            let importer = try connection.importer(into: "item", columns: ["id", "name", "code", "amount"])
            try importer.push(Self.rows(1...9000) + Array("]".utf8))
            #expect(try importer.finish().inserted == 9000)
        }
        #expect(try schema().count == 5)
        #expect(try database.read { try $0.rows("PRAGMA integrity_check") } == [["ok"]])
    }

    @Test func `an index that cannot be made again fails the import, and everything is as it was`() throws {
        try database.write { _ = try $0.execute("CREATE INDEX by_size ON item(abs(amount))") }
        let before = try schema()
        let input = Self.rows(1...9000) + Array(",[9001,\"x\",\"c9001\",-9223372036854775808]]".utf8)
        let error = #expect(throws: StoreError.self) { try importing(input) }
        #expect(error?.message.contains("its indexes: integer overflow") == true, "\(error as Any)")
        #expect(try schema() == before)
        #expect(try database.read { try $0.rows("SELECT count(*) FROM item") } == [[0]])
    }

    @Test func `a table with large columns and pending rows has its indexes again as well`() throws {
        let large = try LargeColumns()
        try large.database.write { _ = try $0.execute("CREATE INDEX by_title ON doc(title); INSERT INTO doc_os(id) VALUES (-1)") }
        let rows = (1...6000).map { "[\($0),\"t\($0)\",null,null,1]" }.joined(separator: ",")
        let result = try large.importing("[\(rows),[-1,\"theirs\",\"text\",null,1]]") { $0.threads = .off }
        #expect(result.inserted == 6000 && result.diverted == 1)
        #expect(try large.database.read { try $0.rows("SELECT count(*) FROM doc INDEXED BY by_title WHERE title > ''") } == [[6000]])
    }

    /// Two indexes serve the query. Only the statistics show that one finds 3 rows and the other one half of the table.
    @Test func `the planner's statistics are as they were, and plans with them`() throws {
        let directory = try TemporaryDirectory()
        let database = try Database(directory.profile())
        try database.write { connection in
            _ = try connection.execute(
                """
                CREATE TABLE fact(id INTEGER PRIMARY KEY, code INTEGER, kind INTEGER);
                CREATE INDEX "by ""code"" alone" ON fact(code); CREATE INDEX by_kind ON fact(kind);
                CREATE TABLE other(id INTEGER PRIMARY KEY, x); CREATE INDEX by_x ON other(x); INSERT INTO other VALUES (1, 2);
                WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO fact SELECT -i, i / 3, i % 2 FROM n;
                ANALYZE
                """)
        }
        let query = "SELECT id FROM fact WHERE kind = 1 AND code = 500"
        func plan(_ connection: Connection) throws -> String? { try connection.rows("EXPLAIN QUERY PLAN \(query)")[0][3].text }
        func statistics() throws -> [[Value]] {
            let tables = try database.read { try $0.rows("SELECT name FROM sqlite_schema WHERE name LIKE 'sqlite_stat%' ORDER BY 1") }
            return try tables.flatMap { table in try database.read { try $0.rows("SELECT * FROM \(table[0].text ?? "") ORDER BY 1, 2, 3") } }
        }
        let before = try statistics()
        #expect(before.count >= 3)
        try database.write { connection in
            #expect(try plan(connection)?.contains("code") == true)
            let importer = try connection.importer(into: "fact", columns: ["id", "code", "kind"])
            try importer.push(Array("[\((1...9000).map { "[\($0),\($0 / 3),\($0 % 2)]" }.joined(separator: ","))]".utf8))
            try importer.finish()
            #expect(try plan(connection)?.contains("code") == true, "on the connection that imported")
        }
        #expect(try statistics() == before)
        #expect(try database.read { try plan($0) }?.contains("code") == true)
        try database.close()
        let again = try Database(directory.profile())
        #expect(try again.read { try plan($0) }?.contains("code") == true)
        try again.close()
    }
}
