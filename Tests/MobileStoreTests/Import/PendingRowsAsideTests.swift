import MobileStore
import TestSupport
import Testing

/// A large import sets pending rows at the end of a table aside while it adds rows before them. This must have no visible effect.
@Suite struct PendingRowsAsideTests {
    let directory: TemporaryDirectory
    let database: Database
    /// Rows with every kind of value, to check that each is restored exactly.
    let pending: [[Value]] = [
        [3, "mine", nil, .blob([0, 255]), 2], [7, "", 1.5, .text("a\u{0}b"), 2], [5_000_000_000, nil, -4, .blob([]), 1],
    ]

    init() throws {
        directory = try TemporaryDirectory()
        database = try Database(directory.profile())
        try database.write { connection in
            try connection.execute(
                """
                CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, amount, note, pc INTEGER NOT NULL DEFAULT 0);
                CREATE TABLE item_os(id INTEGER PRIMARY KEY, name TEXT)
                """)
            let row = try connection.statement("INSERT INTO item VALUES (?, ?, ?, ?, ?)")
            for values in pending { _ = try row.run(values) }
            try connection.execute("INSERT INTO item_os(id) SELECT id FROM item")
        }
    }

    /// Reads all rows except those of `many`.
    func table() throws -> [[Value]] { try database.read { try $0.rows("SELECT * FROM item WHERE id > 0 ORDER BY id") } }

    /// Rows before the pending ones, enough for these to be set aside.
    static let many = (-5000 ... -1).map { "[\($0),\"many\"]" }.joined(separator: ",")

    /// Imports the rows after `many`. `told` gets the number of pending rows in the table after each batch.
    @discardableResult
    func importing(_ rows: String, _ mode: ImportMode = .upsert, told: (Int) -> Void = { _ in }) throws -> ImportResult {
        try withoutActuallyEscaping(told) { told in
            try database.write { connection in
                var options = ImportOptions()
                options.pending = PendingProtection(originalTable: "item_os", keyColumn: "id", assignments: [])
                options.progress = { _ in told(Int(try connection.rows("SELECT count(*) FROM item WHERE pc > 0")[0][0].integer ?? -1)) }
                let importer = try connection.importer(into: "item", columns: ["id", "name"], mode: mode, options: options)
                try importer.push(Array("[\(Self.many),\(rows)".utf8))
                return try importer.finish()
            }
        }
    }

    @Test(arguments: [ImportMode.insert, .upsert])
    func `pending rows are as they were among the imported ones`(mode: ImportMode) throws {
        var left: [Int] = []
        let result = try importing(#"[1,"one"],[3,"theirs"],[4,"four"],[9,"nine"],[5000000000,"theirs"]]"#, mode) { left.append($0) }
        #expect((result.rows, result.inserted, result.updated, result.diverted) == (5005, 5003, 0, 2))
        #expect(left.first == 3 && left.last == 0, "\(left)")
        let others: [[Value]] = [[1, "one", nil, nil, 0], [4, "four", nil, nil, 0], [9, "nine", nil, nil, 0]]
        #expect(try table() == (pending + others).sorted { $0[0].integer ?? 0 < $1[0].integer ?? 0 })
    }

    @Test func `only those behind the last row that is not pending are set aside`() throws {
        try database.write { _ = try $0.execute("INSERT INTO item(id, name) VALUES (6, 'kept'), (8, 'kept')") }
        var left: [Int] = []
        #expect(try importing(#"[3,"theirs"],[4,"four"],[6,"six"],[7,"theirs"]]"#) { left.append($0) }.diverted == 2)
        #expect(left.first == 3 && left.last == 2, "\(left)")
        #expect(try table().map { $0[0] } == [3, 4, 6, 7, 8, 5_000_000_000])
        #expect(try table().filter { $0[4] != 0 } == pending)
    }

    @Test func `a small import leaves them where they are`() throws {
        var left: Set<Int> = []
        try database.write { connection in
            var options = ImportOptions()
            options.pending = PendingProtection(originalTable: "item_os", keyColumn: "id", assignments: [])
            options.progress = { _ in left.insert(Int(try connection.rows("SELECT count(*) FROM item WHERE pc > 0")[0][0].integer ?? -1)) }
            let importer = try connection.importer(into: "item", columns: ["id", "name"], options: options)
            try importer.push(Array("[\((10...20).map { "[\($0),\"few\"]" }.joined(separator: ","))".utf8))
            try importer.push(Array("\(String(repeating: " ", count: 100_000)),[21,\"few\"]]".utf8))
            try importer.finish()
        }
        #expect(left == [3])
    }

    @Test(arguments: [#"[1,"one"],[2,}"#, #"[1,"one"]"#])
    func `an import that fails brings them back`(json: String) throws {
        #expect(throws: StoreError.self) { try importing(json) }
        #expect(try table() == pending)
    }

    @Test func `an import that is not finished brings them back`() throws {
        try database.write { connection in
            var options = ImportOptions()
            options.pending = PendingProtection(originalTable: "item_os", keyColumn: "id", assignments: [])
            let importer = try connection.importer(into: "item", columns: ["id", "name"], options: options)
            try importer.push(Array("[\(Self.many),".utf8))
        }
        #expect(try table() == pending)
    }

    @Test func `a table with other rows, generated columns or foreign keys is filled as well`() throws {
        try database.write { connection in
            _ = try connection.execute("ALTER TABLE item ADD COLUMN shout TEXT AS (upper(name)) VIRTUAL; INSERT INTO item(id) VALUES (100)")
        }
        let result = try importing(#"[3,"theirs"],[100,"hundred"],[101,"more"]]"#)
        #expect((result.inserted, result.updated, result.diverted) == (5001, 1, 1))
        #expect(try database.read { try $0.rows("SELECT shout FROM item WHERE id >= 100 ORDER BY id") }.first?.first == "HUNDRED")
        #expect(try table().prefix(2).map { Array($0.prefix(5)) } == Array(pending.prefix(2)))
    }

    @Test func `a table of nothing but pending rows and generated columns is filled as well`() throws {
        try database.write { _ = try $0.execute("ALTER TABLE item ADD COLUMN shout TEXT AS (upper(name)) VIRTUAL") }
        #expect(try importing(#"[1,"one"],[3,"theirs"]]"#).inserted == 5001)
        #expect(try table().dropFirst().map { Array($0.prefix(5)) } == pending)
    }

    @Test func `children of a pending row are not cascaded away`() throws {
        let path = directory.file("children.db")
        let enforced = try Database(ConnectionProfile(path: path, foreignKeys: true))
        try enforced.write { connection in
            _ = try connection.execute(
                """
                CREATE TABLE parent(id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE parent_os(id INTEGER PRIMARY KEY, name TEXT);
                CREATE TABLE child(id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent ON DELETE CASCADE);
                INSERT INTO parent VALUES (2, 'mine'); INSERT INTO parent_os(id) VALUES (2); INSERT INTO child VALUES (1, 2);
                """)
            var options = ImportOptions()
            options.pending = PendingProtection(originalTable: "parent_os", keyColumn: "id", assignments: [])
            let importer = try connection.importer(into: "parent", columns: ["id", "name"], options: options)
            try importer.push(Array("[\(Self.many),[1,\"one\"],[2,\"theirs\"]]".utf8))
            _ = try importer.finish()
        }
        #expect(try enforced.read { try $0.rows("SELECT parent FROM child") } == [[2]])
        #expect(try enforced.read { try $0.rows("SELECT name FROM parent WHERE id > 0 ORDER BY id") } == [["one"], ["mine"]])
        try enforced.close()
    }

    @Test("many pending rows, and large ones, stay where they are", arguments: [(1100, 1), (5, 300_000), (1, 1_000_000)])
    func much(rows: Int, bytes: Int) throws {
        try database.write { connection in
            _ = try connection.execute("DELETE FROM item; DELETE FROM item_os")
            _ = try connection.execute(
                """
                WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
                INSERT INTO item(id, name, pc) SELECT i, hex(zeroblob(\(bytes))), 2 FROM n
                """)
            _ = try connection.execute("INSERT INTO item_os(id) SELECT id FROM item")
        }
        var left: Set<Int> = []
        let result = try importing(#"[1,"theirs"],[3000,"new"]]"#) { left.insert($0) }
        #expect(result.inserted == 5001 && result.diverted == 1)
        #expect(left == [rows])
        #expect(
            try database.read { try $0.rows("SELECT count(*), max(length(name)) FROM item WHERE pc > 0") } == [
                [.integer(Int64(rows)), .integer(Int64(bytes * 2))]
            ])
    }

    /// Counts read pages, because other tests share the memory: the row has 5,000 pages.
    @Test func `a pending row beyond the bound is not read`() throws {
        try database.write { connection in
            _ = try connection.execute("DELETE FROM item; DELETE FROM item_os")
            _ = try connection.execute("INSERT INTO item(id, name, pc) VALUES (1, hex(zeroblob(10000000)), 2); INSERT INTO item_os(id) VALUES (1)")
        }
        try database.close()
        let again = try Database(directory.profile())
        try again.write { connection in
            var options = ImportOptions()
            options.pending = PendingProtection(originalTable: "item_os", keyColumn: "id", assignments: [])
            let importer = try connection.importer(into: "item", columns: ["id", "name"], options: options)
            try importer.push(Array("[\(Self.many)]".utf8))
            try importer.finish()
        }
        let writer = try #require(again.connectionStatistics.first { $0.isWriter })
        #expect(writer.pages.misses < 500, "\(writer.pages)")
        try again.close()
    }
}
