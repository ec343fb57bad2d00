import FaultInjection
import MobileCore
import Testing

/// Rows without enough memory: in each test another part of a row is the first to need its own memory.
@Suite struct RowFaultTests {
    private static let longText = String(repeating: "long text ", count: 2000)

    @Test(
        "a row is refused without memory for any of its values",
        arguments: [
            (MC_COLUMN_ANY, #"[{"\u0061":1}]"#), (MC_COLUMN_DATE_TIME, #"[["2026-05-17T10:00:00"]]"#), (MC_COLUMN_BLOB, #"[["QUJD"]]"#),
            (MC_COLUMN_TEXT, #"[["\u00e9"]]"#), (MC_COLUMN_DECIMAL, "[[123456789012345678901234.5]]"), (MC_COLUMN_LARGE_TEXT, #"[["\u00e9"]]"#),
            (MC_COLUMN_LARGE_BLOB, #"[["QUJD"]]"#), (MC_COLUMN_LARGE_BLOB, #"[["\u0051UJD"]]"#),
            (MC_COLUMN_LARGE_TEXT, "[[\"\(longText)\"]]"), (MC_COLUMN_LARGE_TEXT, "[[\"\(longText)\\n\"]]"),
            (MC_COLUMN_LARGE_BLOB, "[[\"\(String(repeating: "QUJD", count: 5000))\"]]"),
            (MC_COLUMN_LARGE_BLOB, "[[\"\\u0051UJD\(String(repeating: "QUJD", count: 5000))\"]]"),
        ] as [(mc_column_type, String)], [Int.max, 7])
    func value(row: (type: mc_column_type, text: String), chunk: Int) {
        let column = ScanColumn(name: "a", type: row.type, precision: row.type == MC_COLUMN_DECIMAL ? 40 : 18, scale: 5)
        let lost = leftOver {
            for allocation in Int64(0)... {
                fault_memory_fail_after(allocation, false)
                let scan = Scan(row.text, columns: [column], chunk: chunk)
                let hasFailed = fault_memory_has_failed()
                fault_memory_fail_after(-1, false)
                #expect(scan.code == (hasFailed ? MC_ERROR_NO_MEMORY : MC_OK), "allocation \(allocation): \(scan.message)")
                if !hasFailed { break }
            }
        }
        #expect(lost == 0)
    }

    @Test("what stands before a value that comes in parts is kept, or refused without memory", arguments: [Int.max, 5000])
    func kept(chunk: Int) {
        let columns = [
            ScanColumn(name: "blob", type: MC_COLUMN_BLOB), ScanColumn(name: "text", type: MC_COLUMN_TEXT),
            ScanColumn(name: "first", type: MC_COLUMN_LARGE_TEXT), ScanColumn(name: "between", type: MC_COLUMN_TEXT),
            ScanColumn(name: "second", type: MC_COLUMN_LARGE_TEXT),
        ]
        let wide = String(repeating: "w", count: 70_000)
        let text = "[[\"QUJD\",\"\(wide)\",\"\(Self.longText)\",\"x\",\"\(Self.longText)\"]]"
        let whole = Scan(text, columns: columns, chunk: chunk)
        #expect(whole.code == MC_OK && whole.rows.last.map { Array($0.prefix(2)) } == [.blob([65, 66, 67]), .text(wide)], "\(whole.message)")
        let lost = leftOver {
            for allocation in Int64(0)... {
                fault_memory_fail_after(allocation, false)
                let scan = Scan(text, columns: columns, chunk: chunk)
                let hasFailed = fault_memory_has_failed()
                fault_memory_fail_after(-1, false)
                #expect(scan.code == (hasFailed ? MC_ERROR_NO_MEMORY : MC_OK), "allocation \(allocation): \(scan.message)")
                if !hasFailed { break }
            }
        }
        #expect(lost == 0)
    }

    /// Scans rows of several tables without using them.
    private func members(_ text: String, rowBytes: Int = 0, type: mc_column_type = MC_COLUMN_INTEGER) -> mc_status {
        var rows: OpaquePointer?
        let status = "a".withCString { name in
            var column = mc_column(name: name, type: type, precision: 0, scale: 0, required: false)
            return withUnsafePointer(to: &column) { column in
                var member = mc_rows_member(name: name, columns: column, column_count: 1)
                return withUnsafePointer(to: &member) { member in
                    var options = mc_rows_options(
                        name: nil, columns: nil, column_count: 0, members: member, member_count: 1, depth: 0, row_bytes: rowBytes, sink: nil,
                        context: nil)
                    return mc_rows_open(&options, &rows, nil)
                }
            }
        }
        guard status == MC_OK else { return status }
        defer { mc_rows_free(rows) }
        let pushed = mc_rows_push(rows!, text, text.utf8.count, nil)
        return pushed == MC_OK ? mc_rows_finish(rows!, nil) : pushed
    }

    @Test(
        "the name of a table ends where it can",
        arguments: [
            (#"{"a":[[1]]}"#, MC_OK), (#"{"\u0061":[[1]]}"#, MC_OK), (#"{"ab"#, MC_ERROR_TRUNCATED), (#"{"abcdefghijklmnop"#, MC_ERROR_LIMIT),
            (#"{"a":[[1]],"abcdefghijklmnopqrstuvwxyz":[]}"#, MC_ERROR_LIMIT), (#"{"a\x"#, MC_ERROR_JSON),
        ])
    func names(text: String, status: mc_status) {
        #expect(members(text, rowBytes: 12) == status)
    }

    @Test func `a name with escapes needs memory`() {
        let text = #"{"\u0061":[[1]]}"#
        let lost = leftOver {
            for allocation in Int64(0)... {
                fault_memory_fail_after(allocation, false)
                let status = members(text)
                let hasFailed = fault_memory_has_failed()
                fault_memory_fail_after(-1, false)
                #expect(status == (hasFailed ? MC_ERROR_NO_MEMORY : MC_OK))
                if !hasFailed { break }
            }
        }
        #expect(lost == 0)
    }

    @Test func `large values that nobody takes are read all the same`() {
        #expect(members("{\"a\":[[\"\(Self.longText)\"],[\"short\"]]}", type: MC_COLUMN_LARGE_TEXT) == MC_OK)
        #expect(members("{\"a\":[[\"\(Self.longText)\u{1}\"]]}", type: MC_COLUMN_LARGE_TEXT) == MC_ERROR_JSON)
    }
}
