import MobileCore
import TestSupport

/// A term of an order.
struct Term: CustomStringConvertible {
    let expression: String
    let descending: Bool
    let nulls: mc_nulls

    init(_ expression: String, descending: Bool = false, nulls: mc_nulls = MC_NULLS_AS_SQLITE) {
        (self.expression, self.descending, self.nulls) = (expression, descending, nulls)
    }

    var nullsSQL: String { nulls == MC_NULLS_FIRST ? " NULLS FIRST" : nulls == MC_NULLS_LAST ? " NULLS LAST" : "" }
    var description: String { expression + (descending ? " DESC" : "") + nullsSQL }
}

/// A cursor of the core, and a select of the same query. A row is the text of its values, separated by bars.
final class TestCursor {
    private let cursor: OpaquePointer
    private let select: OpaquePointer
    private let texts = Texts()
    private let values: [mc_value]
    private let page: UnsafeMutablePointer<mc_row_page>
    private let termCount: Int

    /// `values`: texts.
    init(_ columns: [String], from source: String, where condition: String?, orderedBy order: [Term], values: [String] = []) throws {
        var made: OpaquePointer?, select: OpaquePointer?
        var page: UnsafeMutablePointer<mc_row_page>?
        let texts = texts
        let columnTexts = columns.map { UnsafePointer(texts.copy($0)) } + [UnsafePointer(texts.copy(""))]
        let terms =
            order.map { mc_order_term(expression: texts.copy($0.expression), descending: $0.descending, nulls: $0.nulls) } + [
                mc_order_term(expression: texts.copy(""), descending: false, nulls: MC_NULLS_AS_SQLITE)
            ]
        try columnTexts.withUnsafeBufferPointer { columnTexts in
            try terms.withUnsafeBufferPointer { terms in
                var query = mc_cursor_query(
                    columns: columnTexts.baseAddress!, column_count: columns.count, source: texts.copy(source),
                    condition: condition.map { UnsafePointer(texts.copy($0)) }, order: terms.baseAddress!, order_count: order.count)
                try CoreError.check { mc_cursor_create(&query, &made, $0) }
                do { try CoreError.check { mc_page_select_create(&query, &select, $0) } } catch {
                    mc_cursor_free(made)
                    throw error
                }
            }
        }
        cursor = made!
        self.select = select!
        do { try CoreError.check { mc_row_page_create(&page, $0) } } catch {
            mc_cursor_free(made)
            mc_page_select_free(select)
            throw error
        }
        self.page = page!
        termCount = order.count
        let bound = values.map { value in
            var bound = mc_value()
            bound.kind = UInt8(MC_VALUE_TEXT.rawValue)
            bound.length = UInt32(value.utf8.count)
            bound.value.bytes = UnsafePointer(texts.copy(value))
            return bound
        }
        self.values = bound
        try CoreError.check { mc_cursor_set_values(cursor, bound, bound.count, $0) }
    }

    deinit {
        mc_row_page_free(page)
        mc_cursor_free(cursor)
        mc_page_select_free(select)
    }

    func page(_ connection: OpaquePointer, size: Int, bytes: Int = 1 << 20, backwards: Bool = false) throws -> (rows: [String], isAtEnd: Bool) {
        var isAtEnd = false
        let read = backwards ? mc_cursor_previous : mc_cursor_next
        try CoreError.check { read(cursor, connection, page, size, bytes, &isAtEnd, $0) }
        return (rows, isAtEnd)
    }

    /// Returns the first rows, by the select.
    func firstPage(_ connection: OpaquePointer, size: Int) throws -> (rows: [String], isAtEnd: Bool) {
        var isAtEnd = false
        try CoreError.check { mc_page_select_fill(select, connection, values, values.count, page, size, 1 << 20, &isAtEnd, $0) }
        return (rows, isAtEnd)
    }

    /// Returns the status of the next page and of the first page, both read without an error argument.
    func statuses(_ connection: OpaquePointer, size: Int) -> [mc_status] {
        var isAtEnd = false
        return [
            mc_cursor_next(cursor, connection, page, size, 1 << 20, &isAtEnd, nil),
            mc_page_select_fill(select, connection, values, values.count, page, size, 1 << 20, &isAtEnd, nil),
        ]
    }

    private var rows: [String] {
        (0..<page.pointee.row_count).map { row in
            (0..<page.pointee.column_count).map { text(mc_row_page_cell(page, row, $0)) }.joined(separator: "|")
        }
    }

    /// Returns all rows from one end to the other, in the query's order. The last page must report the end.
    func all(_ connection: OpaquePointer, size: Int, backwards: Bool) throws -> [String] {
        rewind(toEnd: backwards)
        return try rest(connection, size: size, backwards: backwards)
    }

    func rest(_ connection: OpaquePointer, size: Int, backwards: Bool = false) throws -> [String] {
        var rows: [String] = []
        while true {
            let (page, isAtEnd) = try page(connection, size: size, backwards: backwards)
            rows = backwards ? page + rows : rows + page
            if isAtEnd { return rows }
            precondition(page.count == size, "a page before the end is full")
        }
    }

    func rewind(toEnd: Bool) { mc_cursor_rewind(cursor, toEnd) }

    func skip(_ connection: OpaquePointer, _ count: Int) throws -> Int {
        var skipped: Int64 = 0
        try CoreError.check { mc_cursor_skip(cursor, connection, Int64(count), &skipped, $0) }
        return Int(skipped)
    }

    /// The place of the last row; valid until the cursor is used again.
    var position: [mc_value] { position(ofLast: true) }

    func position(ofLast isLast: Bool) -> [mc_value] {
        (0...termCount).compactMap { term in
            var value = mc_value()
            return mc_cursor_position(cursor, isLast, term, &value) ? value : nil
        }
    }

    func seek(_ position: [mc_value]) throws {
        try CoreError.check { mc_cursor_seek(cursor, position, position.count, $0) }
    }

    private func text(_ cell: UnsafePointer<mc_cell>) -> String {
        let bytes = { [page] in Array(UnsafeBufferPointer(start: mc_row_page_bytes(page, cell), count: Int(cell.pointee.length))) }
        switch mc_type(cell.pointee.type) {
        case MC_TYPE_INTEGER: return "\(cell.pointee.value.integer)"
        case MC_TYPE_REAL: return "\(cell.pointee.value.real)"
        case MC_TYPE_TEXT: return String(decoding: bytes(), as: UTF8.self)
        case MC_TYPE_BLOB: return "X'" + bytes().map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined() + "'"
        default: return "NULL"
        }
    }

    /// C texts that live as long as the object.
    private final class Texts {
        private var texts: [UnsafeMutableBufferPointer<CChar>] = []

        deinit { for text in texts { text.deallocate() } }

        func copy(_ string: String) -> UnsafeMutablePointer<CChar> {
            let text = UnsafeMutableBufferPointer<CChar>.allocate(capacity: string.utf8.count + 1)
            _ = text.initialize(from: string.utf8CString)
            texts.append(text)
            return text.baseAddress!
        }
    }
}

/// Returns the first column of all rows, as text.
func texts(_ connection: OpaquePointer, _ sql: String) throws -> [String] {
    try withStatement(connection, sql) { (statement) throws in
        var rows: [String] = []
        var hasRow = false
        while true {
            try CoreError.check { mc_statement_step(statement, &hasRow, $0) }
            guard hasRow else { return rows }
            var length = 0
            let text = mc_statement_column_text(statement, 0, &length)
            rows.append(String(decoding: UnsafeRawBufferPointer(start: text, count: length), as: UTF8.self))
        }
    }
}

/// A table with ties, NULLs and every type, and orders over it.
enum RandomTable {
    static func make(_ connection: OpaquePointer, _ numbers: inout SeededGenerator) throws {
        let schemas = [
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b REAL, c TEXT COLLATE NOCASE)",
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, c)",
            "CREATE TABLE t(id TEXT PRIMARY KEY, a INTEGER NOT NULL, b, c TEXT) WITHOUT ROWID",
        ]
        let indexes = ["t(a)", "t(a, b)", "t(a DESC, c)", "t(c)", "t(b, a, c)", "t(lower(c), a)", "t(a) WHERE a IS NOT NULL"]
        let schema = schemas.randomElement(using: &numbers)!
        try exec(connection, schema)
        for number in 0..<Int.random(in: 0...3, using: &numbers) {
            try exec(connection, "CREATE INDEX i\(number) ON \(indexes.randomElement(using: &numbers)!)")
        }
        let mixed = schema.contains("a, b, c") ? ["NULL", "x'00ff'", "'x'", "1e300", "-5"] : schema.contains("NOT NULL") ? ["4"] : ["NULL", "NULL"]
        for id in 0..<Int.random(in: 0...160, using: &numbers) {
            let a = Bool.random(using: &numbers) ? "\(Int.random(in: -2...4, using: &numbers))" : mixed.randomElement(using: &numbers)!
            let b = ["NULL", "1", "0.5", "-7", "2.0"].randomElement(using: &numbers)!
            let c = ["NULL", "'a'", "'A'", "'b'", "''", "'ä'", "'Ab'"].randomElement(using: &numbers)!
            try exec(connection, "INSERT INTO t VALUES (\(schema.hasSuffix("ROWID") ? "'k\(id)'" : "\(id * 3)"), \(a), \(b), \(c))")
        }
        if Bool.random(using: &numbers) { try exec(connection, "ANALYZE") }
    }

    static func order(_ numbers: inout SeededGenerator) -> [Term] {
        let expressions = [
            "a", "b", "c", "c COLLATE NOCASE", "c COLLATE BINARY", "lower(c)", "a + b", "ifnull(a, 7)", "length(c)", "a IS NULL OR b > 1",
        ]
        let nulls = [MC_NULLS_AS_SQLITE, MC_NULLS_AS_SQLITE, MC_NULLS_FIRST, MC_NULLS_LAST]
        let terms = (0..<Int.random(in: 0...3, using: &numbers)).map { _ in
            Term(expressions.randomElement(using: &numbers)!, descending: .random(using: &numbers), nulls: nulls.randomElement(using: &numbers)!)
        }
        return terms + [Term("id", descending: .random(using: &numbers))]
    }
}
