import MobileStore
import Testing

@Suite struct RowPageTests {
    let directory: TemporaryDirectory
    let database: Database

    init() throws {
        directory = try TemporaryDirectory()
        database = try Database(directory.profile())
        try database.write { connection in
            try connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, i, r, t, b, n)")
            let insert = try connection.statement("INSERT INTO t VALUES (?, ?, ?, ?, ?, NULL)")
            for id in 1...250 { try insert.run([.integer(Int64(id)), .integer(Int64(id) << 33), 1.5, "text \(id) ü", .blob([0, 1, 2])]) }
        }
    }

    @Test func `pages hold every row in order, with every type`() throws {
        var pages = try database.pages("SELECT * FROM t ORDER BY id", size: 100)
        var next: Int64 = 1
        var sizes: [Int] = []
        while let page = try pages.next() {
            sizes.append(page.count)
            for row in page {
                #expect(row.integer(0) == next)
                #expect(row.integer(1) == next << 33)
                #expect(row.real(2) == 1.5)
                #expect(row.string(3) == "text \(next) ü")
                #expect(row.blob(4) == [0, 1, 2])
                #expect(row.isNull(5))
                next += 1
            }
        }
        #expect(sizes == [100, 100, 50])
    }
}
