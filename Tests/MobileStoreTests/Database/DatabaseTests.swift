import MobileStore
import TestSupport
import Testing

@Suite struct DatabaseTests {
    let directory: TemporaryDirectory
    let database: Database

    init() throws {
        directory = try TemporaryDirectory()
        database = try Database(directory.profile())
        try database.write { try $0.execute("CREATE TABLE \"t\"(\"id\" INTEGER PRIMARY KEY, \"name\" TEXT)") }
    }

    @Test func `a write that returns is committed, and its changes are counted`() throws {
        let changes = try database.write { connection in
            try connection.execute("INSERT INTO t VALUES (?, ?), (?, ?)", [1, "one", 2, .null])
        }
        #expect(changes == 2)
        #expect(try database.read { try $0.rows("SELECT * FROM t") } == [[1, "one"], [2, .null]])
    }

    @Test func `a write that throws leaves everything as it was`() throws {
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try database.write { connection in
                try connection.execute("INSERT INTO t VALUES (1, 'one')")
                throw Stop()
            }
        }
        #expect(try database.read { try $0.rows("SELECT * FROM t") }.isEmpty)
    }

    @Test func `a write inside of a write is undone alone when it throws`() throws {
        struct Stop: Error {}
        try database.write { outer in
            try outer.execute("INSERT INTO t VALUES (1, 'outer')")
            #expect(throws: Stop.self) {
                try database.write { inner in
                    try inner.execute("INSERT INTO t VALUES (2, 'inner')")
                    throw Stop()
                }
            }
            #expect(try database.read { try $0.rows("SELECT id FROM t") } == [[1]])
        }
        #expect(try database.read { try $0.rows("SELECT id FROM t") } == [[1]])
    }

    @Test func `a reader sees one state from its first statement on`() throws {
        try database.read { reader in
            #expect(try reader.first("SELECT count(*) FROM t") == [0])
            let other = try Database(directory.profile())
            try other.write { try $0.execute("INSERT INTO t VALUES (1, 'later')") }
            #expect(try reader.first("SELECT count(*) FROM t") == [0])
        }
        #expect(try database.read { try $0.first("SELECT count(*) FROM t") } == [1])
    }

    @Test func `a connection and a statement are worth nothing behind their closure`() throws {
        let (connection, statement) = try database.read { ($0, try $0.statement("SELECT 1")) }
        #expect(throws: StoreError.self) { try connection.execute("SELECT 1") }
        let error = #expect(throws: StoreError.self) { try statement.step() }
        #expect(error?.code == .misuse)
    }

    @Test func `async reads and writes do the same`() async throws {
        try await database.write { try $0.execute("INSERT INTO t VALUES (1, 'one')") }
        #expect(try await database.read { try $0.rows("SELECT name FROM t") } == [["one"]])
    }

    @Test func `after close everything throws closed`() throws {
        try database.close()
        let error = #expect(throws: StoreError.self) { try database.read { try $0.first("SELECT 1") } }
        #expect(error?.code == .closed)
        try database.close()
    }
}
