import MobileCore
import MobileSQLite
import Testing

/// An export that is read row by row.
@Suite struct RowExportTests {
    private let core: CorePool

    init() throws { core = try CorePool() }

    private func withExport(
        _ sql: String, _ change: (inout mc_export_options) -> Void = { _ in }, _ body: (OpaquePointer) throws -> Void
    ) throws {
        try core.with { (connection) throws in
            try withStatement(connection, sql) { (statement) throws in
                var options = mc_export_options(
                    columns: nil, column_count: 0, format: MC_EXPORT_ARRAYS, deflate_level: 0, large: nil, pool: nil)
                change(&options)
                var rows: OpaquePointer?
                try CoreError.check { mc_export_open(mc_statement_sqlite(statement), &options, &rows, $0) }
                defer { mc_export_free(rows) }
                return try body(rows!)
            }
        }
    }

    /// Reads the next row: its values by their ends, and its text.
    private func next(_ rows: OpaquePointer) throws -> (values: [String], text: String)? {
        var row = mc_export_row(), hasRow = false
        try CoreError.check { mc_export_next_row(rows, &row, &hasRow, $0) }
        guard hasRow, let start = row.text, let ends = row.ends else {
            #expect(row.text == nil && row.length == 0 && row.ends == nil)
            return nil
        }
        let bytes = Array(UnsafeBufferPointer(start: start, count: row.length))
        var values: [String] = [], first = 0
        for column in 0..<row.column_count {
            values.append(String(decoding: bytes[first..<ends[column]], as: UTF8.self))
            first = ends[column] + 1
        }
        return (values, String(decoding: bytes, as: UTF8.self))
    }

    @Test func `each row comes by itself, with the ends of its values`() throws {
        let sql = "SELECT column1, column2, column3 FROM (VALUES (1, 'a,b', NULL), (-20, '', 0.5), (3, '[\"]', x'FF'))"
        try withExport(sql) { (rows) throws in
            var found: [(values: [String], text: String)] = []
            while let row = try next(rows) { found.append(row) }
            #expect(found.map(\.values) == [["1", #""a,b""#, "null"], ["-20", #""""#, "0.5"], ["3", #""[\"]""#, #""/w==""#]])
            #expect(found.map(\.text) == found.map { $0.values.joined(separator: ",") } && mc_export_rows(rows) == 3)
            let ends = try (next(rows), next(rows))
            #expect(ends.0 == nil && ends.1 == nil)
        }
    }

    @Test func `a value that cannot be written is named by its column, and the next row follows`() throws {
        try withExport("SELECT column1, column2, column3 FROM (VALUES (1, 2.5, 'a'), (7, 9e999, 'b'), (9, 9e999, 'c'), (8, 1.5, 'd'))") {
            (rows) throws in
            _ = try next(rows)
            #expect(mc_export_refused_column(rows) == 0)
            for _ in 0..<2 {
                #expect(#expect(throws: CoreError.self) { try next(rows) }?.code == MC_ERROR_TYPE)
                #expect(mc_export_refused_column(rows) == 2)
            }
            #expect(try next(rows)?.text == #"8,1.5,"d""#)
            #expect(mc_export_refused_column(rows) == 0)
            #expect(try next(rows) == nil && mc_export_rows(rows) == 2)
        }
    }

    /// The limits of a column.
    struct Limited: CustomTestStringConvertible {
        let type: mc_column_type, limit: mc_export_limit
        /// Values that the column gives, with their texts, and values that are refused.
        let given: [(sql: String, text: String)], refused: [String]

        var testDescription: String { "\(type) \(limit)" }

        init(
            _ type: mc_column_type, required: Bool = false, isSingle: Bool = false, integers: ClosedRange<Int64> = .min ... .max,
            length: ClosedRange<Int> = 0...Int.max, given: [(sql: String, text: String)], refused: [String]
        ) {
            self.type = type
            limit = mc_export_limit(
                required: required, is_single: isSingle, least: integers.lowerBound, greatest: integers.upperBound, shortest: length.lowerBound,
                longest: length.upperBound)
            (self.given, self.refused) = (given, refused)
        }
    }

    private static let limited = [
        Limited(MC_COLUMN_INTEGER, required: true, given: [("0", "0")], refused: ["NULL"]),
        Limited(MC_COLUMN_INTEGER, integers: -128...127, given: [("-128", "-128"), ("127", "127"), ("NULL", "null")], refused: ["-129", "128"]),
        Limited(MC_COLUMN_REAL, isSingle: true, given: [("3.4e38", "3.4e+38"), ("-3.4e38", "-3.4e+38")], refused: ["3.5e38", "-3.5e38", "1e300"]),
        Limited(MC_COLUMN_REAL, given: [("1e300", "1e+300")], refused: ["9e999"]),
        Limited(MC_COLUMN_TEXT, length: 0...3, given: [("'abc'", #""abc""#), ("'äöü'", #""äöü""#), ("''", #""""#)], refused: ["'abcd'", "'äöüß'"]),
        Limited(
            MC_COLUMN_TEXT, length: 1...1, given: [("'ä'", #""ä""#), ("'\u{1F34E}'", "\"\u{1F34E}\"")],
            refused: ["''", "'ab'", "CAST(x'C3' AS TEXT)"]),
        Limited(MC_COLUMN_BLOB, length: 0...2, given: [("x'0102'", #""AQI=""#), ("x''", #""""#)], refused: ["x'010203'"]),
        Limited(
            MC_COLUMN_DATE, given: [("'2024-02-29'", #""2024-02-29""#), ("NULL", "null")],
            refused: ["'2023-02-29'", "'31.12.2020'", "'2024-02-29 10:00'", "''", "5", "2.5"]),
        Limited(MC_COLUMN_TIME, given: [("'23:59:59'", #""23:59:59""#)], refused: ["'24:00:00'", "'10:00'", "'soon'"]),
        Limited(
            MC_COLUMN_DATE_TIME, given: [("'2024-02-29T10:00:00.123Z'", #""2024-02-29T10:00:00.123Z""#)],
            refused: ["'2024-02-29 10:00:00'", "'2024-02-30T10:00:00.123Z'", "'infinity'"]),
    ]

    @Test("a value beyond the limit of its column is refused, and the row after it is not", arguments: limited)
    func limits(column: Limited) throws {
        let values = column.given.map(\.sql) + column.refused + column.given.map(\.sql)
        var found: [String?] = []
        try withUnsafePointer(to: column.limit) { limit in
            let name = Array("value".utf8CString)
            try name.withUnsafeBufferPointer { name in
                let rules = [mc_column(name: name.baseAddress!, type: column.type, precision: 0, scale: 0, required: false)]
                try rules.withUnsafeBufferPointer { rules in
                    try withExport("VALUES " + values.map { "(\($0))" }.joined(separator: ", ")) {
                        ($0.columns, $0.column_count, $0.limits) = (rules.baseAddress, 1, limit)
                    } _: { (rows) throws in
                        for _ in values { found.append(try? next(rows)?.text) }
                        #expect(try next(rows) == nil)
                    }
                }
            }
        }
        let texts = column.given.map { Optional($0.text) }
        #expect(found == texts + column.refused.map { _ in nil } + texts)
    }

    @Test func `limits without types are refused`() throws {
        let error = withUnsafePointer(to: mc_export_limit()) { limit in
            #expect(throws: CoreError.self) {
                try withExport("SELECT 1") {
                    $0.limits = limit
                } _: { _ in
                }
            }
        }
        #expect(error?.code == MC_ERROR_MISUSE && error?.message == "export: limits of columns, without types")
    }

    @Test func `a long row is whole, and a query without rows has none`() throws {
        try withExport("SELECT 1, replace(hex(zeroblob(500000)), '0', 'x'), 2") { (rows) throws in
            let row = try #require(try next(rows))
            #expect(row.values[1].utf8.count == 1_000_002 && row.values[2] == "2")
            #expect(try next(rows) == nil)
        }
        try withExport("SELECT 1 WHERE 0") { (rows) throws in #expect(try next(rows) == nil) }
    }

    @Test func `rows and pieces are not mixed, and other forms have no single rows`() throws {
        var length = 0, bytes = [UInt8](repeating: 0, count: 100)
        try withExport("SELECT 1 UNION ALL SELECT 2") { (rows) throws in
            #expect(try next(rows)?.values == ["1"])
            #expect(mc_export_read(rows, &bytes, bytes.count, &length, nil) == MC_ERROR_MISUSE && length == 0)
        }
        for sql in ["SELECT 1 UNION ALL SELECT 2", "SELECT 1 WHERE 0"] {
            try withExport(sql) { (rows) throws in
                try CoreError.check { mc_export_read(rows, &bytes, 1, &length, $0) }
                #expect(throws: CoreError.self) { try next(rows) }
            }
        }
        try withExport("SELECT 1", { $0.deflate_level = 1 }) { (rows) throws in
            #expect(throws: CoreError.self) { try next(rows) }
        }
        try withExport("SELECT 1", { $0.format = MC_EXPORT_OBJECTS }) { (rows) throws in
            #expect(throws: CoreError.self) { try next(rows) }
        }
    }

    @Test func `a failure names its row; one that is not about a value ends the export`() throws {
        try withExport("SELECT column1 FROM (VALUES ('a'), (CAST(x'80' AS TEXT)), ('b'))") { (rows) throws in
            #expect(try next(rows)?.values == [#""a""#])
            let error = #expect(throws: CoreError.self) { try next(rows) }
            #expect(error?.code == MC_ERROR_CORRUPT && error?.message.contains("row 2") == true)
            #expect(try next(rows)?.values == [#""b""#])
        }
        try withExport("SELECT abs(column1) FROM (VALUES (1), (-9223372036854775808))") { (rows) throws in
            #expect(try next(rows)?.values == ["1"])
            #expect(throws: CoreError.self) { try next(rows) }
            var row = mc_export_row(), hasRow = true
            #expect(mc_export_next_row(rows, &row, &hasRow, nil) == MC_ERROR_MISUSE && !hasRow)
        }
    }
}
