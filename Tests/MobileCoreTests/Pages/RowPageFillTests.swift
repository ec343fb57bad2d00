import MobileCore
import Testing

/// A page of the core, through its C interface.
private final class Page {
    let page: UnsafeMutablePointer<mc_row_page>

    init() throws {
        var page: UnsafeMutablePointer<mc_row_page>?
        try CoreError.check { mc_row_page_create(&page, $0) }
        self.page = page!
    }

    deinit { mc_row_page_free(page) }

    func fill(_ statement: OpaquePointer, rows: Int = 100, bytes: Int = 1 << 20) throws -> Bool {
        var isAtEnd = false
        try CoreError.check { mc_row_page_fill(page, statement, rows, bytes, &isAtEnd, $0) }
        return isAtEnd
    }

    func type(_ row: Int, _ column: Int) -> mc_type { mc_type(mc_row_page_cell(page, row, column).pointee.type) }

    func integer(_ row: Int, _ column: Int) -> Int64 { mc_row_page_cell(page, row, column).pointee.value.integer }

    func text(_ row: Int, _ column: Int) -> [UInt8]? {
        var length = -1
        let text = mc_row_page_text(page, row, column, &length)
        return text.map { Array(UnsafeRawBufferPointer(start: $0, count: length)) }
    }

    func bytes(_ row: Int, _ column: Int) -> [UInt8] {
        let cell = mc_row_page_cell(page, row, column)
        return Array(UnsafeBufferPointer(start: mc_row_page_bytes(page, cell), count: Int(cell.pointee.length)))
    }
}

private let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250) SELECT i, 'row ' || i FROM n"

@Suite struct RowPageFillTests {
    @Test func `every type comes as it is stored, with zero bytes, invalid UTF-8 and empty values`() throws {
        let core = try CorePool()
        try core.with { (connection) throws in
            let sql = """
                SELECT NULL, 9223372036854775807, -1.5, 'text', x'0001ff', '', x'', 'a' || char(0) || 'b',
                    CAST(x'61ff62' AS TEXT), 1e999
                """
            let page = try Page()
            try withStatement(connection, sql) { (statement) throws in #expect(try page.fill(statement)) }
            #expect(page.page.pointee.row_count == 1)
            #expect(page.page.pointee.column_count == 10)
            #expect(
                (0..<10).map { page.type(0, $0) } == [
                    MC_TYPE_NULL, MC_TYPE_INTEGER, MC_TYPE_REAL, MC_TYPE_TEXT, MC_TYPE_BLOB, MC_TYPE_TEXT, MC_TYPE_BLOB, MC_TYPE_TEXT,
                    MC_TYPE_TEXT, MC_TYPE_REAL,
                ])
            #expect(page.integer(0, 1) == .max)
            #expect(mc_row_page_cell(page.page, 0, 2).pointee.value.real == -1.5)
            #expect(page.bytes(0, 3) == Array("text".utf8))
            #expect(page.bytes(0, 4) == [0, 1, 255])
            #expect(page.bytes(0, 5).isEmpty)
            #expect(page.bytes(0, 6).isEmpty)
            #expect(page.bytes(0, 7) == [0x61, 0, 0x62])
            #expect(page.bytes(0, 8) == [0x61, 0xFF, 0x62])
            let texts = (0..<10).map { page.text(0, $0) }
            #expect(texts == [nil, nil, nil, Array("text".utf8), nil, [], nil, [0x61, 0, 0x62], [0x61, 0xFF, 0x62], nil])
        }
    }

    @Test("a page has as many rows as asked for, and the next one goes on", arguments: [1, 7, 125, 249, 250, 251, 10_000])
    func rows(size: Int) throws {
        let core = try CorePool()
        try core.with { (connection) throws in
            let page = try Page()
            var next: Int64 = 1
            try withStatement(connection, numbers) { (statement) throws in
                var isAtEnd = false
                while !isAtEnd {
                    isAtEnd = try page.fill(statement, rows: size)
                    #expect(page.page.pointee.row_count == min(size, 250 - Int(next) + 1))
                    for row in 0..<page.page.pointee.row_count {
                        #expect(page.integer(row, 0) == next)
                        #expect(page.bytes(row, 1) == Array("row \(next)".utf8))
                        next += 1
                    }
                }
            }
            #expect(next == 251)
        }
    }

    @Test func `a page ends with the row that reaches the byte limit`() throws {
        let core = try CorePool()
        try core.with { (connection) throws in
            let page = try Page()
            try withStatement(connection, "SELECT zeroblob(1000) UNION ALL SELECT zeroblob(500) UNION ALL SELECT zeroblob(9)") { (statement) throws in
                #expect(try !page.fill(statement, bytes: 1))
                #expect(page.page.pointee.row_count == 1)
                #expect(try page.fill(statement, bytes: 517))
                #expect(page.page.pointee.row_count == 2)
            }
        }
    }

    @Test func `a page stays valid when its statement is reset and its connection given back`() throws {
        let core = try CorePool()
        let page = try Page()
        try core.with { (connection) throws in _ = try withStatement(connection, numbers) { try page.fill($0) } }
        #expect(try core.integer("SELECT 1") == 1)
        #expect(page.bytes(99, 1) == Array("row 100".utf8))
    }

    @Test func `an error is that of the page it is on, leaves it empty, and the statement can be run again`() throws {
        let core = try CorePool()
        try core.with { (connection) throws in
            let page = try Page()
            let sql = "WITH n(i) AS (VALUES (1), (2)) SELECT CASE i WHEN 2 THEN abs(-9223372036854775808) ELSE i END FROM n"
            try withStatement(connection, sql) { (statement) throws in
                #expect(try !page.fill(statement, rows: 1))
                let error = #expect(throws: CoreError.self) { _ = try page.fill(statement) }
                #expect(error?.message.hasSuffix("integer overflow") == true)
                #expect(page.page.pointee.row_count == 0)
                #expect(try !page.fill(statement, rows: 1))
                #expect(page.integer(0, 0) == 1)
            }
        }
    }

    @Test func `memory is reused, also for another number of columns`() throws {
        let core = try CorePool()
        try core.with { (connection) throws in
            let page = try Page()
            _ = try withStatement(connection, numbers) { try page.fill($0) }
            let memory = mc_row_page_memory(page.page)
            try withStatement(connection, "SELECT 1, 2, 3, 'four', x'05'") { (statement) throws in #expect(try page.fill(statement)) }
            #expect(mc_row_page_memory(page.page) == memory)
            #expect(page.integer(0, 2) == 3)
        }
    }

    @Test func `the values of a row go on as parameters`() throws {
        let core = try CorePool()
        try core.with { (connection) throws in
            let page = try Page()
            _ = try withStatement(connection, "SELECT NULL, 7, 0.5, 'a' || char(0), x'00'") { try page.fill($0) }
            try withStatement(connection, "SELECT ?1 IS NULL AND ?2 = 7 AND ?3 = 0.5 AND ?4 = 'a' || char(0) AND ?5 = x'00'") { (statement) throws in
                for column in 0..<5 { try CoreError.check { mc_row_page_bind(page.page, 0, column, statement, Int32(column + 1), $0) } }
                let result = try Page()
                _ = try result.fill(statement)
                #expect(result.integer(0, 0) == 1)
                let error = #expect(throws: CoreError.self) { try CoreError.check { mc_row_page_bind(page.page, 1, 0, statement, 1, $0) } }
                #expect(error?.code == MC_ERROR_MISUSE)
            }
        }
    }

    @Test func `a page of no rows is refused, a query without rows makes an empty one`() throws {
        let core = try CorePool()
        try core.with { (connection) throws in
            let page = try Page()
            try withStatement(connection, "SELECT 1 WHERE false") { (statement) throws in
                #expect(#expect(throws: CoreError.self) { _ = try page.fill(statement, rows: 0) }?.code == MC_ERROR_MISUSE)
                #expect(try page.fill(statement))
                #expect(page.page.pointee.row_count == 0)
            }
        }
    }
}
