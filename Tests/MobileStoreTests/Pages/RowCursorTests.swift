import MobileStore
import Testing

@Suite struct RowCursorTests {
    let cities: Cities
    var database: Database { cities.database }

    init() throws { cities = try Cities() }

    private let byName = PageQuery(
        ["id", "\"name\""], from: "city", where: "id <> ?1", orderedBy: [.init("name", descending: true), .init("id")], [13])

    private func all(_ sql: String) throws -> [Int64] {
        try database.read { try $0.rows(sql).map { $0[0].integer ?? 0 } }
    }

    @Test func `pages by key hold every row once, in order, forwards and backwards`() throws {
        let expected = try all("SELECT id FROM city WHERE id <> 13 ORDER BY name DESC, id")
        let cursor = try RowCursor(byName, size: 40)
        var ids: [Int64] = []
        while let page = try database.read({ try cursor.next(in: $0) }) {
            #expect(page.columnCount == 2 && page.columnNames == ["id", "name"])
            #expect(page.allSatisfy { $0.count == 2 && $0.string(1) == "city \($0.integer(0) % 10)" })
            ids += page.map { $0.integer(0) }
        }
        #expect(ids == expected)
        #expect(cursor.position == nil)
        var back: [Int64] = []
        while let page = try database.read({ try cursor.previous(in: $0) }) { back = page.map { $0.integer(0) } + back }
        #expect(back == expected)
    }

    @Test func `a cursor skips, notes its place and goes on there`() throws {
        let expected = try all("SELECT id FROM city WHERE id <> 13 ORDER BY name DESC, id")
        let cursor = try RowCursor(byName, size: 10)
        try database.read { connection in
            #expect(try cursor.skip(100, in: connection) == 100)
            #expect(try cursor.next(in: connection)?.map { $0.integer(0) } == Array(expected[100..<110]))
            let position = try #require(cursor.position)
            #expect(position == [.text("city \(expected[109] % 10)"), .integer(expected[109])])
            let other = try RowCursor(byName, size: 500)
            try other.seek(to: position)
            #expect(try other.next(in: connection)?.map { $0.integer(0) } == Array(expected[110...]))
            #expect(other.isAtEnd)
            #expect(try cursor.skip(1000, in: connection) == 139)
            #expect(try cursor.next(in: connection) == nil)
            cursor.rewind()
            try cursor.setValues([14])
            #expect(try cursor.next(in: connection)?.first?.integer(0) == 9)
        }
        #expect(#expect(throws: StoreError.self) { try cursor.seek(to: [1]) }?.code == .misuse)
    }

    @Test func `values of every type are places`() throws {
        try database.write { connection in
            try connection.execute(
                "CREATE TABLE v(id INTEGER PRIMARY KEY, v); INSERT INTO v(v) VALUES (NULL), (7), (0.5), ('x'), (''), (x'00'), (x'')")
        }
        let query = PageQuery(["v"], from: "v", orderedBy: [.init("v", nulls: .last), .init("id", descending: true)])
        let expected = try database.read { try $0.rows("SELECT v FROM v ORDER BY v NULLS LAST, id DESC").map { $0[0] } }
        let cursor = try RowCursor(query, size: 1)
        var values: [Value] = []
        while let page = try database.read({ try cursor.next(in: $0) }) {
            values.append(page[0].value(0))
            try cursor.seek(to: try #require(cursor.position))
        }
        #expect(values == expected)
    }

    @Test("pages as an asynchronous sequence hold every row, with reading ahead and without", arguments: [true, false])
    func asynchronous(readsAhead: Bool) async throws {
        let expected = try all("SELECT id FROM city WHERE id <> 13 ORDER BY name DESC, id")
        let pages = database.pages(byName, size: 30, readsAhead: readsAhead)
        var ids: [Int64] = [], kept: [RowPage] = []
        for try await page in pages {
            ids += page.map { $0.integer(0) }
            kept.append(page)
        }
        #expect(ids == expected)
        #expect(kept.map(\.count) == [30, 30, 30, 30, 30, 30, 30, 30, 9])
        #expect(kept.flatMap { $0.map { $0.integer(0) } } == expected, "a page stays as it was while others are read")
        var rows = 0
        for try await row in pages.rows where row.string(1) == "city 3" { rows += 1 }
        #expect(rows == 24)
    }

    @Test func `pages are read although no reader is free ahead of time`() async throws {
        let single = try Database(cities.directory.profile { $0.maxConnections = 1 })
        let other = try single.pages("SELECT id FROM city", size: 1)
        let pages = Task { [byName] in
            var count = 0
            for try await page in single.pages(byName, size: 100) { count += page.count }
            return count
        }
        var holder: RowPages? = consume other
        _ = try holder?.next()
        holder = nil
        #expect(try await pages.value == 249)
    }

    @Test func `an error comes on the page that it is on, also ahead of time`() async throws {
        let query = PageQuery(["CASE id WHEN 25 THEN abs(-9223372036854775808 + (SELECT 0)) ELSE id END"], from: "city", orderedBy: [.init("id")])
        var count = 0
        let error = await #expect(throws: StoreError.self) {
            for try await page in database.pages(query, size: 10) { count += page.count }
        }
        #expect(error?.message.hasSuffix("integer overflow") == true)
        #expect(count == 20)
    }

    @Test func `what cannot be paged is refused`() throws {
        #expect(#expect(throws: StoreError.self) { _ = try RowCursor(PageQuery([], from: "city", orderedBy: [.init("id")])) }?.code == .misuse)
        #expect(#expect(throws: StoreError.self) { _ = try RowCursor(PageQuery(["id"], from: "city", orderedBy: [])) }?.code == .misuse)
        #expect(#expect(throws: StoreError.self) { _ = try RowCursor(byName, size: 0) }?.code == .misuse)
        let wrong = try RowCursor(PageQuery(["id"], from: "town", orderedBy: [.init("id")]))
        let error = #expect(throws: StoreError.self) { try database.read { _ = try wrong.next(in: $0) } }
        #expect(error?.message.hasSuffix("no such table: town") == true)
        let outside = try database.read { $0 }
        #expect(#expect(throws: StoreError.self) { _ = try wrong.next(in: outside) }?.code == .misuse)
    }
}
