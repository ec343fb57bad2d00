import MobileCore
import Testing

/// Arrays and objects in a column of any type: they are stored as text, and checked as strictly as other values.
@Suite struct ContainerTests {
    private func scan(_ json: String, chunk: Int = .max, depth: UInt32 = 0) -> Scan {
        Scan(Array(json.utf8), columns: [ScanColumn(name: "a"), ScanColumn(name: "b")], chunk: chunk, depth: depth)
    }

    @Test(
        "a value inside",
        arguments: [
            "true", "false", "null", "-1", "0", "0.5", "1", "2e5", "3", "4.25", "5E-3", "6", "7", "8", "9", "-0.0", #""""#, #""a\"\\\u00e9\b\r\f\/""#,
            "[]", "{}",
            "[ ]", "{ }", "[[],{},[1,[2]],\"x\"]", #"{"a":1,"b":{"c":[true,null]},"d":{}}"#, " [ 1 , 2 ] ", #"{ "a" : 1 , "b" : 2 }"#,
            #""\ud83d\ude00\uffff""#,
        ])
    func kept(value: String) {
        for container in ["[\(value)]", "{\"k\":\(value)}", "[1,\(value),{\"k\":\(value)}]"] {
            for chunk in [1, 2, 7, 1000] {
                let found = scan("[[\(container),1],[2,\(container)]]", chunk: chunk)
                #expect(found.rows == [[.text(container), .integer(1)], [.integer(2), .text(container)]], "\(found.message)")
            }
        }
    }

    @Test(
        "what is no JSON is refused where a whole message would be",
        arguments: [
            "tru", "nul1", "+1", "01", "-", "1.", "1e", "'x'", "\"\u{1}\"", #""\x""#, #""\u12g4""#, #""\ud800x""#, #""\ud800\u0041""#, "[1 2]",
            "[1,]", "{1}",
            #"{"a" 1}"#, #"{"a":}"#, #"{"a":1 "b"}"#, #"{"a":1,}"#, "[}", "{]", "x", "}", "\"\u{0}\"",
        ])
    func refused(value: String) {
        for text in ["[[[1,\(value)],1]]", "[[{\"k\":\(value)},1]]"] {
            var message: OpaquePointer?, error = mc_error()
            #expect(mc_message_read(text, text.utf8.count, nil, &message, &error) == MC_ERROR_JSON)
            for chunk in [1, 3, 1000] {
                let found = scan(text, chunk: chunk)
                #expect(found.code == MC_ERROR_JSON && found.offset == error.byte_offset, "\(text): \(found.message)")
            }
        }
    }

    @Test func `it is nested as deep as was allowed, and no deeper`() {
        func nested(_ levels: Int) -> String { "[[" + String(repeating: "[", count: levels) + String(repeating: "]", count: levels) + ",1]]" }
        #expect(scan(nested(10), depth: 10).code == MC_OK)
        #expect(scan(nested(11), depth: 10).code == MC_ERROR_LIMIT)
    }

    @Test func `a short value is read as it is at the end of a piece, where the careful way is taken`() {
        let columns = [
            ScanColumn(name: "a", type: MC_COLUMN_DECIMAL, precision: 12, scale: 2), ScanColumn(name: "a", type: MC_COLUMN_DECIMAL, precision: 18),
            ScanColumn(name: "a", type: MC_COLUMN_DECIMAL, precision: 18, scale: 12),
            ScanColumn(name: "a", type: MC_COLUMN_DECIMAL, precision: 30, scale: 4),
            ScanColumn(name: "a", type: MC_COLUMN_INTEGER), ScanColumn(name: "a", type: MC_COLUMN_REAL),
            ScanColumn(name: "a", type: MC_COLUMN_BOOLEAN),
            ScanColumn(name: "a"), ScanColumn(name: "a", type: MC_COLUMN_TEXT),
        ]
        for value in [
            "12.345", "123456789012.34", "0.000000001", "1", "-1", "-0.5", "1.5", "true", "false", "falsx", "falte", "trux", "1.", "123456789012345",
            "99999999999.5",
            "1234567890123456.5", "0.1234567890123456", "9999999999999999999", "1234567890123456789012345.6", "1e3", "-x", "01", "\"x\"", "\"\\n\"",
        ] {
            for column in columns {
                let pad = ScanColumn(name: "b", type: MC_COLUMN_TEXT)
                // The fast path requires enough further bytes.
                let text = Array("[[\(value),\"\(String(repeating: "0123456789abcdef", count: 4))\"]]".utf8)
                let whole = Scan(text, columns: [column, pad]), bytewise = Scan(text, columns: [column, pad], chunk: 1)
                #expect(whole == bytewise, "\(value) as \(column.type): \(whole.message), \(bytewise.message)")
            }
        }
    }

    @Test(
        "no date, time, moment or base64",
        arguments: [
            ("2026/05-17", MC_COLUMN_DATE), ("2026-05/17", MC_COLUMN_DATE), ("x026-05-17", MC_COLUMN_DATE), ("20x6-05-17", MC_COLUMN_DATE),
            ("2026-xx-17", MC_COLUMN_DATE),
            ("2026-00-17", MC_COLUMN_DATE), ("2026-05-00", MC_COLUMN_DATE), ("1900-02-29", MC_COLUMN_DATE), ("23-59:59", MC_COLUMN_TIME),
            ("23:59-59", MC_COLUMN_TIME),
            ("24:00:00", MC_COLUMN_TIME), ("2x:00:00", MC_COLUMN_TIME), ("2026-13-17T10:00:00Z", MC_COLUMN_DATE_TIME),
            ("2026-05-17T10:00:61Z", MC_COLUMN_DATE_TIME),
            ("2026-05-17 10:00:00Z", MC_COLUMN_DATE_TIME), ("2026-05-17T10:00:00.Z", MC_COLUMN_DATE_TIME), ("AQF=", MC_COLUMN_BLOB),
            ("AB==", MC_COLUMN_BLOB),
            ("AQ~D", MC_COLUMN_BLOB), ("A", MC_COLUMN_BLOB),
        ] as [(String, mc_column_type)])
    func forms(value: String, type: mc_column_type) {
        #expect(Scan(Array("[[\"\(value)\"]]".utf8), columns: [ScanColumn(name: "a", type: type)]).code == MC_ERROR_TYPE)
    }
}
