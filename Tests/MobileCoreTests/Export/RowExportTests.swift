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

    @Test func `a value that cannot be written is named by its column, and its row stays readable`() throws {
        try withExport("SELECT column1, column2, column3 FROM (VALUES (1, 2.5, 'a'), (7, 9e999, 'b'))") { (rows) throws in
            _ = try next(rows)
            #expect(mc_export_refused_column(rows) == 0)
            #expect(throws: CoreError.self) { try next(rows) }
            #expect(mc_export_refused_column(rows) == 2)
            #expect(#expect(throws: CoreError.self) { try next(rows) }?.code == MC_ERROR_MISUSE)
        }
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

    @Test func `a failure names its row, and ends the export`() throws {
        try withExport("SELECT column1 FROM (VALUES ('a'), (CAST(x'80' AS TEXT)), ('b'))") { (rows) throws in
            #expect(try next(rows)?.values == [#""a""#])
            let error = #expect(throws: CoreError.self) { try next(rows) }
            #expect(error?.code == MC_ERROR_CORRUPT && error?.message.contains("row 2") == true)
            var row = mc_export_row(), hasRow = true
            #expect(mc_export_next_row(rows, &row, &hasRow, nil) == MC_ERROR_MISUSE && !hasRow)
        }
        try withExport("SELECT abs(column1) FROM (VALUES (1), (-9223372036854775808))") { (rows) throws in
            #expect(try next(rows)?.values == ["1"])
            #expect(throws: CoreError.self) { try next(rows) }
        }
    }
}
