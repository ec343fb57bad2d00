import MobileStore
import TestSupport
import Testing

@Suite struct RowPageTests {
    let directory: TemporaryDirectory
    let database: Database

    init() throws {
        directory = try TemporaryDirectory()
        database = try Database(directory.profile { $0.maxConnections = 1 })
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
                let expected: [Value] = [.integer(next), .integer(next << 33), 1.5, .text("text \(next) ü"), .blob([0, 1, 2]), .null]
                #expect(row.values == expected)
                next += 1
            }
        }
        #expect(sizes == [100, 100, 50])
    }

    private func utf8Length(_ row: Row, _ column: Int) -> Int? {
        guard let text = row.utf8(column) else { return nil }
        return text.count
    }

    @Test func `values are looked at where they lie`() throws {
        var pages = try database.pages("SELECT 'grün', x'00ff', NULL, 7, CAST(x'61ff' AS TEXT), ''")
        let page = try #require(try pages.next())
        let row = page[0]
        #expect(utf8Length(row, 0) == 5)
        #expect(row.withBytes(0) { $0.byteCount } == 5)
        #expect(row.withBytes(1) { unsafe $0.unsafeLoad(fromByteOffset: 1, as: UInt8.self) } == 255)
        for column in [2, 3] {
            #expect(row.withBytes(column) { $0.byteCount } == 0)
            #expect(utf8Length(row, column) == nil)
        }
        #expect(utf8Length(row, 4) == nil)
        #expect(row.withBytes(4) { $0.byteCount } == 2)
        #expect(row.string(4) == "a\u{FFFD}")
        #expect(row.string(5) == "")
        #expect(utf8Length(row, 5) == 0)
    }

    @Test func `a getter of another type converts numbers, and finds nothing in the rest`() throws {
        var pages = try database.pages("SELECT 7, -2.9, '12', x'3132', NULL, 1e300")
        let row = try #require(try pages.next())[0]
        #expect((0..<6).map { row.integer($0) } == [7, -2, 0, 0, 0, .max])
        #expect((0..<6).map { row.real($0) } == [7, -2.9, 0, 0, 0, 1e300])
        #expect((0..<6).map { row.string($0) } == ["7", "-2.9", "12", "12", nil, "1e+300"])
        #expect((0..<6).map { row.blob($0) } == [nil, nil, [49, 50], [49, 50], nil, nil])
        #expect((0..<6).map { row.type($0) } == [.integer, .real, .text, .blob, .null, .real])
        #expect(row.isNull(4) && !row.isNull(0))
    }

    @Test func `a page outlives its query, its database and the next page`() throws {
        var kept: [RowPage] = []
        do {
            let database = try Database(directory.profile())
            var pages = try database.pages("SELECT id, t FROM t ORDER BY id", size: 50)
            while let page = try pages.next() { kept.append(page) }
            try database.close()
        }
        #expect(kept.map(\.count) == [50, 50, 50, 50, 50])
        #expect(kept.flatMap { $0.map { $0.string(1) } } == (1...250).map { "text \($0) ü" })
        #expect(kept[0].columnNames == ["id", "t"])
        #expect(kept[0][0].column(named: "t") == 1)
    }

    @Test func `the memory of a page is used again when nothing refers to it`() throws {
        var pages = try database.pages("SELECT id, t FROM t ORDER BY id", size: 10)
        var memory: Set<Int> = []
        while let page = try pages.next() { memory.insert(page.memory.bytes) }
        #expect(memory.count <= 2)
    }

    @Test func `the reader goes back behind the last page, after an error, and when the pages go away`() throws {
        do {
            var pages = try database.pages("SELECT id FROM t", size: 250)
            #expect(try pages.next()?.count == 250)
            #expect(try database.read(timeout: .zero) { try $0.first("SELECT 1") } == [1])
            #expect(try pages.next() == nil)
        }
        do {
            var pages = try database.pages("SELECT CASE id WHEN 2 THEN abs(-9223372036854775808) ELSE id END FROM t", size: 1)
            #expect(try pages.next()?.count == 1)
            #expect(throws: StoreError.self) { try pages.next() }
            #expect(try database.read(timeout: .zero) { try $0.first("SELECT 1") } == [1])
        }
        do {
            var pages = try database.pages("SELECT id FROM t", size: 1)
            #expect(try pages.next()?.count == 1)
        }
        #expect(try database.read(timeout: .zero) { try $0.first("SELECT 1") } == [1])
    }

    @Test func `all pages show one state of the database`() throws {
        var pages = try database.pages("SELECT id FROM t", size: 100)
        var count = try pages.next()?.count ?? 0
        try database.write { try $0.execute("DELETE FROM t") }
        while let page = try pages.next() { count += page.count }
        #expect(count == 250)
    }

    @Test func `a query is continued behind a row by its key`() throws {
        let ids = try database.read { connection in
            let sql = "SELECT id, t FROM t WHERE id % 2 = ?1 AND (?2 IS NULL OR id > ?2) ORDER BY id LIMIT 40"
            var ids: [Int64] = []
            var page = try connection.page(sql, [0], size: 40)
            while let last = page.last {
                ids += page.map { $0.integer(0) }
                page = try connection.page(sql, [0], after: last, keys: [0], size: 40)
            }
            return ids
        }
        #expect(ids == Array(stride(from: 2, through: 250, by: 2)))
    }

    @Test func `pages of no rows, wrong SQL and too many values are refused at once`() throws {
        #expect(#expect(throws: StoreError.self) { _ = try database.pages("SELECT 1", size: 0) }?.code == .misuse)
        #expect(#expect(throws: StoreError.self) { _ = try database.pages("SELEC 1") }?.code == .sqlite)
        #expect(#expect(throws: StoreError.self) { _ = try database.pages("SELECT 1", [1]) }?.code == .misuse)
        #expect(try database.read(timeout: .zero) { try $0.first("SELECT 1") } == [1])
    }
}
