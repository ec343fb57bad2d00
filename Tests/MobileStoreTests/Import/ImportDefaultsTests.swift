import MobileStore
import TestSupport
import Testing

/// The values of new rows in columns that an import does not bring, and values of every kind that it sets in addition to its columns.
@Suite struct ImportDefaultsTests {
    private let database: Database
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        database = try Database(directory.profile())
    }

    private func importing(_ json: String, _ table: ImportTable) throws {
        try database.write { connection in
            let importer = try connection.importer(into: [table])
            try importer.push(Array(json.utf8))
            _ = try importer.finish()
        }
    }

    @Test(
        "a column that is left out gets its default, whatever that is",
        arguments: [
            ("NULL", .null), ("7", 7), ("-1.5", -1.5), ("'plain'", "plain"), ("''", ""), ("'it''s'", "it's"), ("(1 + 1)", 2), ("x'00'", .blob([0])),
            ("+3", 3), ("TRUE", 1),
        ] as [(String, Value)])
    func defaults(expression: String, value: Value) throws {
        try database.write { _ = try $0.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, a DEFAULT \(expression), b)") }
        try importing(#"{"t":[[1,"x"]]}"#, ImportTable("t", columns: ["id", "b"]))
        #expect(try database.read { try $0.rows("SELECT id, a, b FROM t") } == [[1, value, "x"]])
    }

    @Test("new rows get what is set for them, beside defaults that are computed and those that are not", arguments: ["7", "(3 + 4)"])
    func onInsert(expression: String) throws {
        try database.write { _ = try $0.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, a DEFAULT \(expression), b, c, d)") }
        var table = ImportTable("t", columns: ["id", "b"])
        table.onInsert = [("c", .blob([0, 255])), ("d", "text")]
        try importing(#"{"t":[[1,"x"]]}"#, table)
        #expect(try database.read { try $0.rows("SELECT id, a, b, c, d FROM t") } == [[1, 7, "x", .blob([0, 255]), "text"]])
    }

    @Test func `a column that is named twice gets the value that comes first, and no constant`() throws {
        try database.write { _ = try $0.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, name)") }
        var table = ImportTable("t", columns: ["id", "name", "NAME"])
        try importing(#"{"t":[[1,"first","second"]]}"#, table)
        #expect(try database.read { try $0.rows("SELECT id, name FROM t") } == [[1, "first"]])
        table.onInsert = [("Name", "set")]
        let error = #expect(throws: StoreError.self) { try importing(#"{"t":[[2,"first","second"]]}"#, table) }
        #expect(error?.code == .misuse && error?.message.contains(#""Name" is a column of the rows"#) == true)
        #expect(try database.read { try $0.rows("SELECT id, name FROM t") } == [[1, "first"]])
    }

    @Test func `a constant for a column of the rows, or two for one column, is refused before anything changes`() throws {
        try database.write { connection in
            _ = try connection.execute(
                "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b); CREATE TABLE t_os(id INTEGER PRIMARY KEY, a, b); INSERT INTO t_os(id) VALUES (1)")
        }
        let constants: [([(String, Value)], String)] = [
            ([("A", 1)], "is a column of the rows"), ([("b", 1), ("B", 2)], "has two values for all rows"),
        ]
        for (constants, problem) in constants {
            var onInsert = ImportTable("t", columns: ["id", "a"]), pending = onInsert
            onInsert.onInsert = constants
            pending.pending = PendingProtection(originalTable: "t_os", assignments: constants)
            for table in [onInsert, pending] {
                let error = #expect(throws: StoreError.self) { try importing(#"{"t":[[1,"x"],[2,"y"]]}"#, table) }
                #expect(error?.code == .misuse && error?.message.contains(problem) == true)
            }
        }
        #expect(try database.read { try $0.rows("SELECT id, a FROM t UNION ALL SELECT id, a FROM t_os") } == [[1, .null]])
    }

    @Test func `original states take binary values, from rows and as constants`() throws {
        try database.write { connection in
            _ = try connection.execute(
                """
                CREATE TABLE t(id INTEGER PRIMARY KEY, data BLOB); CREATE TABLE t_os(id INTEGER PRIMARY KEY, data BLOB, mark BLOB);
                INSERT INTO t VALUES (1, x'09'); INSERT INTO t_os(id) VALUES (1)
                """)
        }
        var table = ImportTable("t", columns: ["id", "data"])
        table.columnRules["data"] = JSONColumnRule(.blob)
        table.pending = PendingProtection(originalTable: "t_os", assignments: [("mark", .blob([1, 2]))])
        try importing(#"{"t":[[1,"AP8="]]}"#, table)
        #expect(
            try database.read { try $0.rows("SELECT t.data, t_os.data, mark FROM t JOIN t_os USING (id)") } == [
                [.blob([9]), .blob([0, 255]), .blob([1, 2])]
            ])
    }

    @Test(
        "what the database refuses in the rows before comes first",
        arguments: [
            #"{"t":[[1,null],[2,}"#, #"{"t":[[1,null],[2,"x",3]]}"#, #"{"t":[[1,null]],x"#, #"{"t":[[1,null] x"#, #"{"t":[[1,null]],"t2":[[1,"x"]]}"#,
        ])
    func refusedFirst(json: String) throws {
        try database.write { _ = try $0.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, name NOT NULL)") }
        let error = #expect(throws: StoreError.self) {
            try database.write { connection in
                let importer = try connection.importer(
                    into: [ImportTable("t", columns: ["id", "name"]), ImportTable("t", member: "t2", columns: ["id", "name"])])
                try importer.push(Array(json.utf8))
                _ = try importer.finish()
            }
        }
        #expect(error?.code == .constraint && error?.row == 1)
    }

    @Test func `who asks for changes is told of rows with large values once`() throws {
        let large = try LargeColumns()
        let text = LargeColumns.text(20_000).json
        nonisolated(unsafe) var rows = 0
        try large.importing(#"[[1,"a","\#(text)",null,1],[2,"b","short",null,2]]"#, size: 50_000) { options in
            options.threads = .off
            options.changes = { _ in rows += 1 }
        }
        #expect(rows == 2)
    }
}
