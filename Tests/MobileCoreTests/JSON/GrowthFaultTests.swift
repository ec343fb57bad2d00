import FaultInjection
import MobileCore
import Testing

/// The growth of a text buffer beyond its first 256 bytes. Texts of several lengths exceed this size with each kind of piece. The piece
/// that needs the missing memory must end the writing, and no memory may leak.
@Suite struct GrowthFaultTests {
    private func failEachAllocation(_ work: () -> (mc_status, [UInt8])) {
        let expected = work()
        #expect(expected.0 == MC_OK)
        var failures = 0
        let lost = leftOver {
            for allocation in Int64(0)... {
                fault_memory_fail_after(allocation, false)
                let found = work()
                let hasFailed = fault_memory_has_failed()
                fault_memory_fail_after(-1, false)
                #expect(found.0 == (hasFailed ? MC_ERROR_NO_MEMORY : MC_OK), "allocation \(allocation)")
                if !hasFailed {
                    #expect(found.1 == expected.1)
                    break
                }
                failures += 1
            }
        }
        #expect(failures > 0 && lost == 0)
    }

    /// Writes a piece. `shift`: the number of bytes before it.
    private func written(shift: Int, _ piece: (OpaquePointer) -> mc_status) -> (mc_status, [UInt8]) {
        var writer: OpaquePointer?
        var status = mc_json_writer_open(nil, &writer, nil)
        guard status == MC_OK else { return (status, []) }
        defer { mc_json_writer_free(writer) }
        status = mc_json_write_begin_array(writer!, nil)
        let first = String(repeating: "1", count: shift)
        if status == MC_OK, shift > 0 { status = mc_json_write_number(writer!, first, shift, nil) }
        for _ in 0..<300 where status == MC_OK { status = piece(writer!) }
        if status == MC_OK { status = mc_json_write_end(writer!, nil) }
        if status == MC_OK { status = mc_json_writer_finish(writer!, nil) }
        var length = 0
        let text = mc_json_writer_text(writer!, &length)
        return (status, Array(UnsafeBufferPointer(start: text, count: length)))
    }

    private func member(_ writer: OpaquePointer, _ key: String) -> mc_status {
        var status = mc_json_write_begin_object(writer, nil)
        for name in [key, key + "x"] where status == MC_OK {
            status = mc_json_write_key(writer, name, name.utf8.count, nil)
            if status == MC_OK { status = mc_json_write_boolean(writer, true, nil) }
        }
        return status == MC_OK ? mc_json_write_end(writer, nil) : status
    }

    @Test("values, commas and keys", arguments: 0..<12)
    func values(shift: Int) {
        let key = String(repeating: "k", count: 40), long = String(repeating: "x", count: 600)
        failEachAllocation { written(shift: shift) { mc_json_write_integer($0, 7, nil) } }
        failEachAllocation { written(shift: shift) { member($0, "k") } }
        failEachAllocation { written(shift: shift) { member($0, key) } }
        failEachAllocation { written(shift: shift) { mc_json_write_string($0, long, 600, nil) } }
    }

    @Test func `a long text that is all there is`() {
        let long = String(repeating: "x", count: 5000)
        failEachAllocation {
            var writer: OpaquePointer?
            var status = mc_json_writer_open(nil, &writer, nil)
            guard status == MC_OK else { return (status, []) }
            defer { mc_json_writer_free(writer) }
            status = mc_json_write_string(writer!, long, 5000, nil)
            return (status == MC_OK ? mc_json_writer_finish(writer!, nil) : status, [])
        }
    }

    /// Writes the rows of `sql`, in an export and as the rows of a page.
    private func exported(_ connection: OpaquePointer, _ sql: String, _ type: mc_column_type, _ count: Int) throws {
        try withStatement(connection, sql) { (statement) throws in
            let rules = "c".withCString { name in
                [mc_column](repeating: mc_column(name: name, type: type, precision: 18, scale: 0, required: false), count: count)
            }
            try rules.withUnsafeBufferPointer { (rules) throws in
                failEachAllocation {
                    var options = mc_export_options(
                        columns: rules.baseAddress, column_count: count, format: MC_EXPORT_ARRAYS, deflate_level: 0, large: nil, pool: nil)
                    var rows: OpaquePointer?, bytes = [UInt8](repeating: 0, count: 50_000), length = 0
                    var status = mc_export_open(mc_statement_sqlite(statement), &options, &rows, nil)
                    defer { mc_export_free(rows) }
                    if status == MC_OK { status = mc_export_read(rows!, &bytes, bytes.count, &length, nil) }
                    return (status, Array(bytes[..<length]))
                }
                mc_statement_reset(statement)
                var made: UnsafeMutablePointer<mc_row_page>?, isAtEnd = false
                try CoreError.check { mc_row_page_create(&made, $0) }
                let page = made!
                defer { mc_row_page_free(page) }
                try CoreError.check { mc_row_page_fill(page, statement, 10, 1 << 20, &isAtEnd, $0) }
                for shift in 0..<5 {
                    failEachAllocation { written(shift: shift) { mc_json_write_rows($0, page, rules.baseAddress, nil) } }
                }
            }
        }
    }

    @Test(
        "rows of an export and of a page",
        arguments: [
            // The comma, the bracket after a row, the bracket after all rows, the text between rows, the quote before a number.
            ("10", 300, 1), ("10", 127, 1), ("1", 127, 1), ("1", 127, 2),
        ])
    func rows(first: String, columns: Int, rows: Int) throws {
        let core = try CorePool()
        try core.with { connection in
            let row = "SELECT " + ([first] + [String](repeating: "1", count: columns - 1)).joined(separator: ", ")
            let sql = [String](repeating: row, count: rows).joined(separator: " UNION ALL ")
            try exported(connection, sql, MC_COLUMN_INTEGER, columns)
            try exported(connection, sql, MC_COLUMN_TEXT, columns)
            try exported(connection, sql, MC_COLUMN_DATE, columns)
        }
    }

    @Test(
        "values that SQLite has to put together",
        arguments: [("zeroblob(9000)", MC_COLUMN_BLOB), ("7 || 'x'", MC_COLUMN_TEXT)] as [(String, mc_column_type)])
    func madeBySQLite(value: String, type: mc_column_type) throws {
        let core = try CorePool()
        try core.with { try exported($0, "SELECT \(value)", type, 1) }
    }

    @Test func `a row of an export by itself`() throws {
        let core = try CorePool()
        try core.with { connection in
            try withStatement(connection, "SELECT 1, replace(hex(zeroblob(50000)), '0', 'x')") { (statement) throws in
                failEachAllocation {
                    var options = mc_export_options(
                        columns: nil, column_count: 0, format: MC_EXPORT_ARRAYS, deflate_level: 0, large: nil, pool: nil)
                    var rows: OpaquePointer?, row = mc_export_row(), hasRow = false
                    var status = mc_export_open(mc_statement_sqlite(statement), &options, &rows, nil)
                    defer { mc_export_free(rows) }
                    if status == MC_OK { status = mc_export_next_row(rows!, &row, &hasRow, nil) }
                    return (status, hasRow ? Array(UnsafeBufferPointer(start: row.text, count: row.length)) : [])
                }
            }
        }
    }

    @Test("the quotes of a large value", arguments: [(127, "1"), (126, "10")])
    func large(columns: Int, first: String) throws {
        let core = try CorePool()
        try core.prepareBlobs()
        let value = try core.writeBlob([])
        let forms = [mc_export_large](repeating: MC_EXPORT_LARGE_REFERENCE, count: columns) + [MC_EXPORT_LARGE_BASE64]
        let row = "SELECT " + ([first] + [String](repeating: "1", count: columns - 1) + ["\(value)"]).joined(separator: ", ")
        try core.with { connection in
            try withStatement(connection, row) { (statement) throws in
                forms.withUnsafeBufferPointer { forms in
                    failEachAllocation {
                        var options = mc_export_options(
                            columns: nil, column_count: 0, format: MC_EXPORT_ARRAYS, deflate_level: 0, large: forms.baseAddress, pool: core.pool)
                        var rows: OpaquePointer?, bytes = [UInt8](repeating: 0, count: 1000), length = 0
                        var status = mc_export_open(mc_statement_sqlite(statement), &options, &rows, nil)
                        defer { mc_export_free(rows) }
                        if status == MC_OK { status = mc_export_read(rows!, &bytes, bytes.count, &length, nil) }
                        return (status, Array(bytes[..<length]))
                    }
                }
            }
        }
    }
}
