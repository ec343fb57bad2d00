import FaultInjection
import MobileCore
import Testing

/// Cursors and pages at their ends: places, numbers of rows, parameters and texts of every kind.
@Suite struct PagePlaceTests {
    private func withTable(_ body: (OpaquePointer) throws -> Void) throws {
        let core = try CorePool()
        try core.with(writer: true) { connection in
            try exec(connection, "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b)")
            try exec(connection, "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) INSERT INTO t SELECT i, i % 2, i FROM n")
            try body(connection)
        }
    }

    @Test func `a cursor skips within a page's order, and nothing at the end`() throws {
        try withTable { connection in
            let cursor = try TestCursor(["id"], from: "t", where: nil, orderedBy: [Term("a"), Term("id")])
            #expect(try cursor.page(connection, size: 2).rows == ["2", "4"])
            #expect(try cursor.skip(connection, 1) == 1)
            #expect(try cursor.page(connection, size: 2).rows == ["8", "1"])
            cursor.rewind(toEnd: true)
            #expect(try cursor.skip(connection, 1) == 0)
            #expect(try cursor.page(connection, size: 2, backwards: true).rows == ["7", "9"])
        }
    }

    @Test("NULLs of the last term stand where they are asked for", arguments: [(true, MC_NULLS_FIRST), (false, MC_NULLS_LAST)])
    func nulls(descending: Bool, nulls: mc_nulls) throws {
        try withTable { connection in
            let cursor = try TestCursor(["id"], from: "t", where: nil, orderedBy: [Term("id", descending: descending, nulls: nulls)])
            let ids = (1...9).map { "\($0)" }
            #expect(try cursor.all(connection, size: 4, backwards: false) == (descending ? ids.reversed() : ids))
        }
    }

    @Test func `a page of any number of rows has those that there are`() throws {
        try withTable { connection in
            let cursor = try TestCursor(["id"], from: "t", where: nil, orderedBy: [Term("b"), Term("id")])
            #expect(try cursor.page(connection, size: .max).rows.count == 9)
            #expect(#expect(throws: CoreError.self) { _ = try cursor.firstPage(connection, size: 0) }?.code == MC_ERROR_MISUSE)
            let wide = try TestCursor((0..<130).map { "b + \($0)" }, from: "t", where: nil, orderedBy: [Term("id")])
            #expect(try wide.firstPage(connection, size: 1).rows[0].hasSuffix("|129|130"))
        }
    }

    @Test func `parameters without names take values, and a value without a parameter is refused`() throws {
        try withTable { connection in
            let plain = try TestCursor(["id"], from: "t", where: "b <> ? AND b <> ?", orderedBy: [Term("id")], values: ["x", "y"])
            #expect(try plain.page(connection, size: 9).rows.count == 9)
            let more = try TestCursor(["id"], from: "t", where: nil, orderedBy: [Term("b"), Term("id")], values: ["x"])
            let error = #expect(throws: CoreError.self) { _ = try more.page(connection, size: 9) }
            #expect(error?.message == "cursor: there is a value 1, but no parameter for it")
            #expect(try more.skip(connection, 2) == 2)  // skipped rows have only their order's values
        }
    }

    @Test func `a value is bound from a cell that the page has`() throws {
        try withTable { connection in
            var made: UnsafeMutablePointer<mc_row_page>?, isAtEnd = false
            try CoreError.check { mc_row_page_create(&made, $0) }
            let page = made!
            defer { mc_row_page_free(page) }
            try withStatement(connection, "SELECT id, b FROM t WHERE id > coalesce(?1, 0)") { statement in
                try CoreError.check { mc_row_page_fill(page, statement, 2, 1000, &isAtEnd, $0) }
                try CoreError.check { mc_row_page_bind(page, 1, 1, statement, 1, $0) }
                for (row, column) in [(0, 2), (2, 0)] { #expect(mc_row_page_bind(page, row, column, statement, 1, nil) == MC_ERROR_MISUSE) }
            }
        }
    }

    /// A query that fails at its third row: the error belongs to the page with that row.
    private static let failsLate = "SELECT CASE id WHEN 3 THEN abs(-9223372036854775808 + (SELECT 0)) ELSE id END FROM t"

    @Test func `an error behind a full page waits for the next one, or comes at once without memory to wait`() throws {
        try withTable { connection in
            var made: UnsafeMutablePointer<mc_row_page>?, isAtEnd = false
            try CoreError.check { mc_row_page_create(&made, $0) }
            let page = made!
            defer { mc_row_page_free(page) }
            var statuses: Set<UInt32> = []
            for allocation in Int64(0)..<200 {
                try withStatement(connection, Self.failsLate) { statement in
                    fault_memory_fail_after(allocation, true)
                    let first = mc_row_page_fill(page, statement, 2, 1000, &isAtEnd, nil)
                    fault_memory_fail_after(-1, false)
                    statuses.insert(first.rawValue)
                    if first == MC_OK {
                        #expect(page.pointee.row_count == 2 && !isAtEnd)
                        var hasRow = true
                        let next =
                            allocation % 2 == 0
                            ? mc_row_page_fill(page, statement, 2, 1000, &isAtEnd, nil) : mc_statement_step(statement, &hasRow, nil)
                        #expect(next == MC_ERROR_SQLITE)
                    }
                    #expect(first == MC_OK || page.pointee.row_count == 0 && isAtEnd)
                }
            }
            #expect(statuses == [MC_OK.rawValue, MC_ERROR_SQLITE.rawValue, MC_ERROR_NO_MEMORY.rawValue])
        }
    }

    @Test(
        "values that SQLite makes when they are asked for are refused without memory", arguments: ["UTF-8", "UTF-16le"],
        ["SELECT zeroblob(9000), text FROM t", "SELECT text || 'x', text FROM t", "SELECT substr(text, 2, 3000), zeroblob(3) FROM t"])
    func values(encoding: String, sql: String) throws {
        let core = try CorePool { $0.journal = MC_JOURNAL_UNCHANGED }
        try core.with(writer: true) { connection in
            try exec(connection, "PRAGMA encoding = '\(encoding)'; CREATE TABLE t(text); INSERT INTO t VALUES (hex(zeroblob(2000)))")
            var failures = 0
            for allocation in Int64(0)... {
                var made: UnsafeMutablePointer<mc_row_page>?, isAtEnd = false
                try CoreError.check { mc_row_page_create(&made, $0) }
                let page = made!
                defer { mc_row_page_free(page) }
                var hasFailed = false
                try withStatement(connection, sql) { statement in
                    fault_memory_fail_after(allocation, false)
                    let status = mc_row_page_fill(page, statement, 2, 100_000, &isAtEnd, nil)
                    hasFailed = fault_memory_has_failed()
                    fault_memory_fail_after(-1, false)
                    #expect(status == MC_OK ? page.pointee.row_count == 1 : status == MC_ERROR_NO_MEMORY && hasFailed, "allocation \(allocation)")
                    failures += status == MC_OK ? 0 : 1
                }
                if !hasFailed { break }
            }
            #expect(failures > 0)
        }
    }

    @Test func `a cursor tells the places of its first and its last row, and a status to who does not ask why`() throws {
        try withTable { connection in
            let cursor = try TestCursor(["id"], from: "t", where: nil, orderedBy: [Term("id")])
            #expect(try cursor.page(connection, size: 4).rows == ["1", "2", "3", "4"])
            #expect(cursor.position(ofLast: false).map(\.value.integer) == [1] && cursor.position.map(\.value.integer) == [4])
            let wrong = try TestCursor(["id"], from: "nowhere", where: nil, orderedBy: [Term("id")])
            #expect(wrong.statuses(connection, size: 2) == [MC_ERROR_SQLITE, MC_ERROR_SQLITE])
        }
    }

    /// Bound values and saved positions that are longer than the initial memory of a row.
    @Test func `long values and long places are refused without memory`() throws {
        try withTable { connection in
            let long = String(repeating: "x", count: 3000)
            try exec(connection, "UPDATE t SET b = '\(long)' || id")
            do {
                let cursor = try TestCursor(
                    ["id"], from: "t", where: "b <> ?1 AND b <> ?2", orderedBy: [Term("b"), Term("id")], values: [long, long + "y"])
                var failures = 0
                for allocation in Int64(0)... {
                    cursor.rewind(toEnd: false)
                    fault_memory_fail_after(allocation, false)
                    let result = Result { try (cursor.page(connection, size: 4).rows + cursor.firstPage(connection, size: 2).rows) }
                    let hasFailed = fault_memory_has_failed()
                    fault_memory_fail_after(-1, false)
                    switch result {
                    case .success(let rows): #expect(rows == ["1", "2", "3", "4", "1", "2"])
                    case .failure(let error):
                        #expect((error as? CoreError)?.code == MC_ERROR_NO_MEMORY, "allocation \(allocation): \(error)")
                        failures += 1
                    }
                    if !hasFailed { break }
                }
                #expect(failures > 3)
            }
        }
    }
}
