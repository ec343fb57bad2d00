import MobileStore
import TestSupport
import Testing

@Suite struct StatementTests {
    let directory: TemporaryDirectory
    let database: Database

    init() throws {
        directory = try TemporaryDirectory()
        database = try Database(directory.profile())
        try database.write { try $0.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)") }
    }

    @Test(
        "every value comes back as it went in",
        arguments: [
            .null, 0, -1, .integer(.min), .integer(.max), 0.5, .real(-0.0), .real(.infinity), "", "text", "\u{0}a😀", .blob([]), .blob([0, 255]),
        ] as [Value])
    func roundTrip(value: Value) throws {
        try database.write { try $0.execute("INSERT INTO t VALUES (1, ?)", [value]) }
        #expect(try database.read { try $0.first("SELECT v FROM t") } == [value])
    }

    @Test func `a list is the rows of one statement, and counts while it is lent`() throws {
        let bytes = Array("one\u{0}zwei ü".utf8), list = TextList(bytes, [0..<3, 4..<bytes.count, 2..<2, 0..<3], numbers: [7, 8, .max, 8])
        #expect(list.count == 4)
        try database.write { connection in
            let insert = try connection.statement("INSERT INTO t SELECT number, text || ?1 FROM \(TextList.table(2)) WHERE true ON CONFLICT (id) DO NOTHING")
            #expect(try insert.with(list, at: 2) { try insert.run(["!"]) } == 3)
            #expect(throws: StoreError.self) { try insert.run() }
            #expect(throws: StoreError.self) { try insert.with(list, at: 3) { Issue.record("there is no such parameter") } }
        }
        #expect(try database.read { try $0.rows("SELECT id, v FROM t ORDER BY id") } == [[7, "one!"], [8, "zwei ü!"], [.integer(.max), "!"]])
        try database.read { connection in
            let find = try connection.statement("SELECT l.number, t.id FROM \(TextList.table(1)) AS l CROSS JOIN t ON t.v = l.text || '!'")
            var found: [[Value]] = []
            try find.with(list, at: 1) { while try find.step() { found.append([find.value(0), find.value(1)]) } }
            #expect(found == [[7, 7], [8, 8], [.integer(.max), .integer(.max)], [8, 7]])
            // An error of the caller ends the run.
            #expect(throws: CancellationError.self) {
                try find.with(list, at: 1) {
                    _ = try find.step()
                    throw CancellationError()
                }
            }
            #expect(throws: StoreError.self) { _ = try find.step() }
            #expect(try !find.with(TextList([], [], numbers: []), at: 1) { try find.step() })
        }
    }

    @Test func `a statement is run many times, and tells its columns`() throws {
        let (names, sum) = try database.write { connection in
            let insert = try connection.statement("INSERT INTO t(v) VALUES (?)")
            for value in 1...10 { #expect(try insert.run([.integer(Int64(value))]) == 1) }
            #expect(connection.lastInsertedKey == 10)
            #expect(try connection.execute("UPDATE t SET v = v + 1 WHERE id > 5") == 5)
            #expect(connection.changes == 5)
            let select = try connection.statement("SELECT id, v AS \"the value\" FROM t WHERE id >= ?")
            try select.bind(1, at: 1)
            var sum: Int64 = 0
            while try select.step() { sum += select.integer(1) }
            return (select.columnNames, sum)
        }
        #expect(names == ["id", "the value"])
        #expect(sum == 60)
    }

    @Test func `a reset statement starts again with its values`() throws {
        try database.read { connection in
            let statement = try connection.statement("SELECT ?")
            try statement.bind("a", at: 1)
            #expect(try statement.step())
            statement.reset()
            #expect(try statement.step())
            #expect(statement.text(0) == "a")
            #expect(try !statement.step())
        }
    }

    @Test func `a wrong parameter, a wrong text and a change on a reader are errors that name them`() throws {
        try database.read { connection in
            let parameter = #expect(throws: StoreError.self) { try connection.execute("SELECT ?", [1, 2]) }
            #expect(parameter?.message == "\"SELECT ?\": there is no parameter 2, only 1")
            #expect(parameter?.code == .misuse)
            let text = #expect(throws: StoreError.self) { try connection.statement("SELECT * FROM u") }
            #expect(text?.message == "\"SELECT * FROM u\": no such table: u")
            #expect(text?.sqliteCode == 1)
            let change = #expect(throws: StoreError.self) { try connection.execute("DELETE FROM t") }
            #expect(change?.code == .readOnly)
        }
    }

    @Test func `a savepoint that throws is undone alone, also twice`() throws {
        struct Stop: Error {}
        try database.write { connection in
            try connection.execute("INSERT INTO t VALUES (1, 1)")
            for _ in 0..<2 {
                #expect(throws: Stop.self) {
                    try connection.savepoint {
                        try connection.execute("INSERT INTO t VALUES (2, 2)")
                        throw Stop()
                    }
                }
            }
            try connection.savepoint { try connection.execute("INSERT INTO t VALUES (3, 3)") }
        }
        #expect(try database.read { try $0.rows("SELECT id FROM t") } == [[1], [3]])
    }

    @Test func `a query that is read goes on after a savepoint inside of it was undone`() throws {
        struct Stop: Error {}
        try database.write { connection in
            try connection.execute("INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)")
            let select = try connection.statement("SELECT id FROM t ORDER BY id")
            var ids: [Int64] = []
            while try select.step() {
                ids.append(select.integer(0))
                try? connection.savepoint {
                    try connection.execute("UPDATE t SET v = 0")
                    throw Stop()
                }
            }
            #expect(ids == [1, 2, 3])
        }
    }
}
