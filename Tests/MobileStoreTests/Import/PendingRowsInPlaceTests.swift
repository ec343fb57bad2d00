import MobileStore
import TestSupport
import Testing

/// Pending rows stay in the table while an import of any size runs: what another table of the import, a callback or a constraint sees
/// does not depend on the number of rows.
@Suite struct PendingRowsInPlaceTests {
    let directory: TemporaryDirectory
    let database: Database
    let pending: [[Value]] = [
        [3, "mine", .null, .blob([0, 255]), 2], [7, "", 1.5, .text("a\u{0}b"), 2], [5_000_000_000, .null, -4, .blob([]), 1],
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

    @Test(arguments: [ImportMode.insert, .upsert])
    func `a large import leaves pending rows in place, in each moment`(mode: ImportMode) throws {
        var counts: Set<Int64> = []
        let many = (-5000 ... -1).map { "[\($0),\"many\"]" }.joined(separator: ",")
        let result = try withoutActuallyEscaping({ (count: Int64) in _ = counts.insert(count) }) { told in
            try database.write { connection in
                var options = ImportOptions()
                options.pending = PendingProtection(originalTable: "item_os", keyColumn: "id", assignments: [])
                options.progress = { _ in told(try connection.rows("SELECT count(*) FROM item WHERE pc > 0")[0][0].integer ?? -1) }
                let importer = try connection.importer(into: "item", columns: ["id", "name"], mode: mode, options: options)
                try importer.push(Array("[\(many),[1,\"one\"],[3,\"theirs\"],[4,\"four\"],[9,\"nine\"],[5000000000,\"theirs\"]]".utf8))
                return try importer.finish()
            }
        }
        #expect(counts == [3])
        #expect((result.rows, result.inserted, result.updated, result.diverted) == (5005, 5003, 0, 2))
        let others: [[Value]] = [[1, "one", .null, .null, 0], [4, "four", .null, .null, 0], [9, "nine", .null, .null, 0]]
        let rows = try database.read { try $0.rows("SELECT * FROM item WHERE id > 0 ORDER BY id") }
        #expect(rows == (pending + others).sorted { $0[0].integer ?? 0 < $1[0].integer ?? 0 })
    }
}
