import FaultInjection
import MobileCore
import TestSupport
import Testing

/// The core's cursor over random tables and orders, compared to SQLite's own LIMIT and OFFSET.
@Suite struct CursorTests {
    @Test("pages by key are what LIMIT and OFFSET give, in both directions", arguments: 1...24)
    func samePages(seed: Int) throws {
        var numbers = SeededGenerator(seed: UInt64(seed))
        let core = try CorePool { options in
            if seed % 4 == 0 {
                options.page_size = seed % 8 == 0 ? 65536 : 1024
                options.cache_bytes = max(options.cache_bytes, Int64(options.page_size))
            }
            if seed % 3 == 0 { options.cache_bytes = 10 * 65536 }
        }
        try core.with(writer: true) { connection in
            try RandomTable.make(connection, &numbers)
            for _ in 0..<8 {
                let order = RandomTable.order(&numbers)
                let condition = ["id % 2 = 0", "a IS NOT NULL AND b < 3", "id IN (SELECT id FROM t WHERE a = b)", nil].randomElement(using: &numbers)!
                let columns = ["quote(id)", "quote(a)", "quote(b)", "quote(upper(c))"]
                let expected = try reference(connection, columns, condition, order)
                let size = Int.random(in: 1...40, using: &numbers)
                let cursor = try TestCursor(columns, from: "t", where: condition, orderedBy: order)
                #expect(try cursor.all(connection, size: size, backwards: false) == expected, "\(order)")
                #expect(try cursor.all(connection, size: size, backwards: true) == expected, "\(order) backwards")
                let first = try cursor.firstPage(connection, size: size)
                #expect(first.rows == Array(expected.prefix(size)) && first.isAtEnd == (expected.count <= size), "\(order) by a select")
                let skip = Int.random(in: 0...(expected.count + 3), using: &numbers)
                cursor.rewind(toEnd: false)
                #expect(try cursor.skip(connection, skip) == min(skip, expected.count))
                #expect(try cursor.rest(connection, size: size) == expected.dropFirst(skip).map { $0 })
            }
        }
    }

    /// Returns all rows in the order, each as one text.
    private func reference(_ connection: OpaquePointer, _ columns: [String], _ condition: String?, _ order: [Term]) throws -> [String] {
        let terms = order.map { "\($0.expression)\($0.descending ? " DESC" : "")\($0.nullsSQL)" }.joined(separator: ", ")
        let text = columns.joined(separator: " || '|' || ")
        return try texts(connection, "SELECT \(text) FROM t WHERE \(condition ?? "true") ORDER BY \(terms) LIMIT -1 OFFSET 0")
    }

    @Test func `a page begins behind the last row seen, whatever has come and gone`() throws {
        let core = try CorePool()
        try core.with(writer: true) { connection in
            try exec(connection, "CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (10), (20), (30), (40)")
            let cursor = try TestCursor(["id"], from: "t", where: nil, orderedBy: [Term("id")])
            #expect(try cursor.page(connection, size: 2).rows == ["10", "20"])
            try exec(connection, "DELETE FROM t WHERE id = 20; INSERT INTO t VALUES (5), (25)")
            #expect(try cursor.page(connection, size: 2).rows == ["25", "30"])
            #expect(try cursor.page(connection, size: 2, backwards: true).rows == ["5", "10"])
        }
    }

    @Test func `the end is told with the last page, and an empty page stands behind it`() throws {
        let core = try CorePool()
        try core.with(writer: true) { connection in
            try exec(connection, "CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2), (3), (4)")
            let cursor = try TestCursor(["id"], from: "t", where: nil, orderedBy: [Term("id")])
            let first = try cursor.page(connection, size: 2), second = try cursor.page(connection, size: 2),
                third = try cursor.page(connection, size: 2)
            #expect(!first.isAtEnd && second.isAtEnd && third.isAtEnd)
            #expect(second.rows == ["3", "4"] && third.rows.isEmpty)
            #expect(try cursor.page(connection, size: 3, backwards: true).rows == ["2", "3", "4"])
        }
    }

    @Test(
        "a statement fills its page by itself only where its program proves that it may",
        arguments: [
            (["id", "a"], nil, ["id"], true), (["id", "a"], "a > 1", ["id"], true), (["id", "c"], nil, ["a", "id"], true),
            (["id"], nil, ["a", "id"], true), (["id", "CASE WHEN a > 1 THEN 'x' ELSE b END"], nil, ["id"], true),
            (["id", "a"], nil, ["b", "id"], false), (["id", "a"], "b IN (1, 2, 3, 4)", ["id"], false),
            (["id"], "EXISTS (SELECT 1 FROM t u WHERE u.a = t.b)", ["id"], false),
            (["id"], "b IN (1, 2)", ["id"], true), (["id"], "a = 1 OR a = 2", ["id"], false),
        ] as [([String], String?, [String], Bool)])
    func proof(columns: [String], condition: String?, order: [String], fills: Bool) throws {
        let core = try CorePool()
        try core.with(writer: true) { connection in
            try exec(connection, "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, c); CREATE INDEX t_a ON t(a)")
            try exec(connection, "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20) INSERT INTO t SELECT i, i % 5, i % 3, i FROM n")
            let cursor = try TestCursor(columns, from: "t", where: condition, orderedBy: order.map { Term($0) })
            let before = mc_connection_statement_statistics(connection)
            #expect(try cursor.page(connection, size: 3).rows.count == 3)
            // If SQLite refuses the filling statement, or its program has no proof, the plain statement is prepared as well.
            #expect(mc_connection_statement_statistics(connection).misses - before.misses == (fills ? 1 : 2))
        }
    }

    @Test func `a schema that changes between two pages changes the plan and not the rows`() throws {
        let core = try CorePool()
        try core.with(writer: true) { connection in
            try exec(connection, "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b); CREATE INDEX t_a ON t(a)")
            try exec(connection, "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) INSERT INTO t SELECT i, i % 7, i FROM n")
            let order = [Term("a"), Term("id")]
            let expected = try texts(connection, "SELECT b FROM t ORDER BY a, id")
            for change in ["DROP INDEX t_a", "CREATE INDEX t_a ON t(a)", "ANALYZE", "DROP INDEX t_a; CREATE INDEX t_b ON t(b)"] {
                let cursor = try TestCursor(["b"], from: "t", where: nil, orderedBy: order)
                let first = try cursor.page(connection, size: 10).rows + cursor.page(connection, size: 10).rows
                try exec(connection, change)
                #expect(try first + cursor.rest(connection, size: 10) == expected, "\(change)")
            }
        }
    }

    @Test func `values decide a plan of their own, which nobody has looked at`() throws {
        let core = try CorePool()
        try core.with(writer: true) { connection in
            try exec(connection, "CREATE TABLE t(id INTEGER PRIMARY KEY, c TEXT COLLATE NOCASE); CREATE INDEX t_c ON t(c)")
            try exec(connection, "INSERT INTO t VALUES (1, 'b'), (2, 'aX'), (3, 'ay'), (4, 'AZ'), (5, 'c'), (6, 'a')")
            let cursor = try TestCursor(["id"], from: "t", where: "c LIKE ?1", orderedBy: [Term("id")], values: ["a%"])
            #expect(try cursor.rest(connection, size: 2) == ["2", "3", "4", "6"])
        }
    }

    @Test func `a window function cannot be a condition, and is read row by row`() throws {
        let core = try CorePool()
        try core.with { connection in
            let cursor = try TestCursor(["value", "count(*) OVER ()"], from: "json_each('[3,1,2]')", where: nil, orderedBy: [Term("value")])
            #expect(try cursor.page(connection, size: 3).rows == ["1|3", "2|3", "3|3"])
        }
    }

    @Test func `a page of 200 columns is read as well`() throws {
        let core = try CorePool()
        try core.with { connection in
            let columns = ["value"] + (0..<199).map { "value * \($0)" }
            let cursor = try TestCursor(columns, from: "json_each('[3,1,2]')", where: nil, orderedBy: [Term("value")])
            #expect(
                try cursor.rest(connection, size: 2).map { $0.hasPrefix("1|0|1|2") || $0.hasPrefix("2|0|2|4") || $0.hasPrefix("3|0|3|6") } == [
                    true, true, true,
                ])
        }
    }

    @Test func `what is wrong is told, and leaves the cursor where it was`() throws {
        let core = try CorePool()
        try core.with(writer: true) { connection in
            try exec(connection, "CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2), (3), (4)")
            #expect(throws: CoreError.self) { try TestCursor([], from: "t", where: nil, orderedBy: [Term("id")]) }
            #expect(throws: CoreError.self) { try TestCursor(["id"], from: "t", where: nil, orderedBy: []) }
            let wrong = try TestCursor(["missing"], from: "t", where: nil, orderedBy: [Term("id")])
            #expect(#expect(throws: CoreError.self) { try wrong.page(connection, size: 1) }?.message.contains("no such column: missing") == true)
            let tooMany = try TestCursor(["id"], from: "t", where: nil, orderedBy: [Term("id")], values: ["1"])
            #expect(#expect(throws: CoreError.self) { try tooMany.page(connection, size: 1) }?.code == MC_ERROR_MISUSE)
            let failing = try TestCursor(
                ["CASE id WHEN 3 THEN abs(-9223372036854775808 + (SELECT 0)) ELSE id END"], from: "t", where: nil, orderedBy: [Term("id")])
            #expect(try failing.page(connection, size: 2).rows == ["1", "2"])
            for _ in 0..<2 {
                #expect(#expect(throws: CoreError.self) { try failing.page(connection, size: 2) }?.message.hasSuffix("integer overflow") == true)
            }
            try exec(connection, "DELETE FROM t WHERE id = 3")
            #expect(try failing.page(connection, size: 2).rows == ["4"])
            #expect(#expect(throws: CoreError.self) { try failing.page(connection, size: 0) }?.code == MC_ERROR_MISUSE)
        }
    }

    @Test func `a cursor goes on at a place that was noted before`() throws {
        let core = try CorePool()
        try core.with(writer: true) { connection in
            try exec(connection, "CREATE TABLE t(id INTEGER PRIMARY KEY, a, r REAL)")
            try exec(connection, "INSERT INTO t VALUES (1, x'00', 0.5), (2, NULL, 1.5), (3, 'x', NULL), (4, '', 1e300), (5, x'', 2)")
            let order = [Term("a", descending: true), Term("r"), Term("id")]
            let cursor = try TestCursor(["id"], from: "t", where: nil, orderedBy: order)
            let expected = try texts(connection, "SELECT id FROM t ORDER BY a DESC, r, id")
            #expect(cursor.position.isEmpty)
            for row in 0..<4 {
                #expect(try cursor.page(connection, size: 1).rows == [expected[row]])
                let other = try TestCursor(["id"], from: "t", where: nil, orderedBy: order)
                try other.seek(cursor.position)
                #expect(try other.rest(connection, size: 10) == expected.dropFirst(row + 1).map { $0 })
            }
            #expect(#expect(throws: CoreError.self) { try cursor.seek([mc_value()]) }?.code == MC_ERROR_MISUSE)
        }
    }
}
