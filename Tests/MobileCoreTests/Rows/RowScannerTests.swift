import MobileCore
import Testing

@Suite struct RowScannerTests {
    static let columns = [ScanColumn(name: "id"), ScanColumn(name: "näme"), ScanColumn(name: "c")]

    /// Rows of all kinds, with every element that a chunk's end could cut.
    static let text = """
         [ [1,"Harbour Foods",null] ,\n[-2, "say \\"x\\" \\u00fc\\ud83d\\ude00\\n 東京 and a tail that is longer than sixteen bytes",true],
        {"n\\u00e4me":"by name","id":12345678901234567890 , "c":-1.25e-3},{},[0.1,[1,{"x":[null]}],{"a":"b"}],["",-0,1e22]\t]\r\n
        """

    @Test("the size of the chunks changes nothing", arguments: [1, 2, 3, 5, 7, 16, 17, 31, 64, 100])
    func chunks(size: Int) {
        let whole = Scan(Self.text, columns: Self.columns)
        #expect(whole.code == MC_OK)
        #expect(
            whole.rows == [
                [.integer(1), .text("Harbour Foods"), .null],
                [.integer(-2), .text("say \"x\" ü😀\n 東京 and a tail that is longer than sixteen bytes"), .integer(1)],
                [.text("12345678901234567890"), .text("by name"), .real(-0.00125)],
                [.null, .null, .null],
                [.real(0.1), .text("[1,{\"x\":[null]}]"), .text("{\"a\":\"b\"}")],
                [.text(""), .integer(0), .real(1e22)],
            ])
        #expect(Scan(Self.text, columns: Self.columns, chunk: size) == whole)
    }

    @Test func `rows that fill many chunks and batches come in their order`() {
        let rows = (0..<5000).map { "[\($0),\"\(String(repeating: "w", count: $0 % 90))\",\($0).5]" }
        let text = "[" + rows.joined(separator: ",") + "]"
        let whole = Scan(text, columns: Self.columns)
        #expect(whole.rows.count == 5000)
        #expect(whole.rows.enumerated().allSatisfy { $1[0] == .integer(Int64($0)) && $1[2] == .real(Double($0) + 0.5) })
        for size in [1, 1000, 16384, 20000, 65536] { #expect(Scan(text, columns: Self.columns, chunk: size) == whole) }
    }

    @Test func `text that is cut anywhere is truncated there, and nowhere else`() {
        let bytes = Array(Self.text.utf8)
        let end = bytes.lastIndex(of: UInt8(ascii: "]"))!
        for length in 0...end {
            let scan = Scan(Array(bytes[..<length]), columns: Self.columns, chunk: 13)
            #expect(scan.code == MC_ERROR_TRUNCATED)
            #expect(scan.offset == Int64(length))
        }
        #expect(Scan(Array(bytes[...end]), columns: Self.columns).code == MC_OK)
    }

    @Test(
        "what is no array of rows is refused at its first impossible byte, whatever the chunks",
        arguments: [
            ("{}", 0, nil, "expected '[' (an array of rows), found '{'"), ("x", 0, nil, "expected '['"),
            ("[1]", 1, nil, "expected a row or ']', found '1'"),
            ("[[1,2,3],]", 9, nil, "expected a row, found ']'"), ("[[1,2,3] [", 9, nil, "expected ',' or ']', found '['"),
            ("[] []", 3, nil, "expected nothing after the rows, found '['"), ("[[1,2,3]]}", 9, nil, "expected nothing after the rows"),
            ("[[1,,3]]", 4, 1, "column \"näme\", byte 4: expected a value, found ','"), ("[[1 2,3]]", 4, 1, "expected ',', found '2'"),
            ("[[1,2,nul]]", 9, 1, "expected null, true or false, found ']'"), ("[[1,2,3],[1,01,3]]", 13, 2, "no digit after a leading 0"),
            ("[[1,\"a\u{1}\",3]]", 6, 1, "found byte 0x01"), ("[[1,\"\\q\",3]]", 6, 1, "expected an escape"),
            ("[[1,\"\\ud83d\u{0}\",3]]", 11, 1, "expected the low surrogate of the pair, found byte 0x00"),
            ("[[1,2,3 x]]", 8, 1, "expected ']', found 'x'"),
            ("[{\"id\"1}]", 6, 1, "expected ':', found '1'"), ("[{\"id\":1 \"c\":2}]", 9, 1, "expected ',' or '}', found '\"'"),
            ("[{\"id\":1,}]", 9, 1, "expected a key, found '}'"), ("[{id:1}]", 2, 1, "expected a key or '}', found 'i'"),
            ("[{\"id\":1,\"\\u0069d\":2}]", 9, 1, #"expected each column once, found "\u0069d" twice"#),
            ("[[1,[1,2},3]]", 8, 1, "expected ',' or ']', found '}'"), ("[[1,{\"a\":1,},3]]", 11, 1, "expected a key, found '}'"),
            ("[[1,-,3]]", 5, 1, "expected a digit, found ','"), ("[[1,1.,3]]", 6, 1, "expected a digit"), ("[[1,1e+,3]]", 7, 1, "expected a digit"),
            ("[[+1,2,3]]", 2, 1, "expected a value, found '+'"), ("[[.5,2,3]]", 2, 1, "expected a value"), ("[[1,'a',3]]", 4, 1, "expected a value"),
            ("[[1,NaN,3]]", 4, 1, "expected a value, found 'N'"), ("[[1,2,3]]\u{0}", 9, nil, "found byte 0x00"),
            ("\u{FEFF}[]", 0, nil, "found byte 0xEF"),
        ] as [(String, Int64, Int64?, String)])
    func malformed(text: String, offset: Int64, row: Int64?, message: String) {
        let whole = Scan(text, columns: Self.columns)
        #expect(whole.code == MC_ERROR_JSON)
        #expect(whole.offset == offset)
        #expect(whole.row == row)
        #expect(whole.message.contains(message), "\(whole.message)")
        for size in 1...text.utf8.count { #expect(Scan(text, columns: Self.columns, chunk: size) == whole) }
    }

    @Test(
        "rows that do not fit their columns are refused where it shows",
        arguments: [
            ("[[1,2]]", 5, "column \"c\", byte 5: expected a value for each column, found the end of the row"),
            ("[[]]", 2, "column \"id\", byte 2: expected a value for each column"),
            ("[[1,2,3,4]]", 7, "expected the end of the row, found more values than columns"),
            ("[{\"x\":1}]", 2, #"expected the name of a column, found "x""#),
        ])
    func misfits(text: String, offset: Int64, message: String) {
        let whole = Scan(text, columns: Self.columns)
        #expect(whole.code == MC_ERROR_TYPE)
        #expect(whole.offset == offset)
        #expect(whole.message.contains(message), "\(whole.message)")
        for size in 1...text.utf8.count { #expect(Scan(text, columns: Self.columns, chunk: size) == whole) }
    }

    @Test func `invalid UTF-8 is refused at its first impossible byte, wherever it lies`() {
        let cases: [([UInt8], Int64)] = [
            ([0x80], 0), ([0xC0, 0x80], 0), ([0xC3, 0x28], 1), ([0xE0, 0x9F, 0xBF], 1), ([0xED, 0xA0, 0x80], 1), ([0xE2, 0x82, 0x28], 2),
            ([0xF0, 0x8F, 0xBF, 0xBF], 1), ([0xF4, 0x90, 0x80, 0x80], 1), ([0xF5, 0x80], 0), ([0xFF], 0), ([0xF0, 0x9F, 0x98, 0x28], 3),
        ]
        for (sequence, offset) in cases {
            for padding in [0, 1, 15, 16, 33] {
                let prefix = Array("[[1,\"".utf8) + Array(repeating: UInt8(ascii: "a"), count: padding)
                let bytes = prefix + sequence + Array("\",3]]".utf8)
                let whole = Scan(bytes, columns: Self.columns)
                #expect(whole.code == MC_ERROR_JSON)
                #expect(whole.offset == Int64(prefix.count) + offset, "\(sequence) after \(padding)")
                for size in [1, 2, 3] { #expect(Scan(bytes, columns: Self.columns, chunk: size) == whole) }
            }
        }
    }

    @Test func `nesting and rows have limits, and the limit's place does not depend on the chunks`() {
        let deep = "[[1," + String(repeating: "[", count: 40) + "1" + String(repeating: "]", count: 40) + ",3]]"
        let scan = Scan(deep, columns: Self.columns)
        #expect(scan.code == MC_ERROR_LIMIT)
        #expect(scan.offset == Int64(4 + 32))
        #expect(Scan(deep, columns: Self.columns, depth: 40).code == MC_OK)
        #expect(Scan(deep, columns: Self.columns, depth: 39).offset == Int64(4 + 39))
        #expect(Scan(deep, columns: Self.columns, depth: 1025).code == MC_ERROR_MISUSE)

        let long = "[[1,2,3],[1,\"" + String(repeating: "x", count: 100_000) + "\",3]]"
        for size in [1, 999, 16384, .max] {
            let scan = Scan(long, columns: Self.columns, chunk: size, rowBytes: 1000)
            #expect(scan.code == MC_ERROR_LIMIT)
            #expect(scan.offset == Int64(9 + 1000))
            #expect(scan.row == 2)
            #expect(scan.rows.count == 1)
            #expect(Scan(long, columns: Self.columns, chunk: size).code == MC_OK)
        }
        // An error before the limit is reported, not the limit.
        #expect(Scan("[[1,\"\u{1}" + long, columns: Self.columns, rowBytes: 1000).offset == 5)
    }

    @Test func `options out of range are refused`() {
        #expect(Scan("[]", columns: []).code == MC_ERROR_MISUSE)
        #expect(Scan("[]", columns: Array(repeating: ScanColumn(name: "a"), count: 2)).code == MC_ERROR_MISUSE)
        #expect(Scan("[]", columns: (0..<2001).map { ScanColumn(name: "\($0)") }).code == MC_ERROR_MISUSE)
        #expect(Scan("[]", columns: (0..<2000).map { ScanColumn(name: "\($0)") }).code == MC_OK)
        #expect(Scan("[]", columns: [ScanColumn(name: "a")], rowBytes: 1_000_000_001).code == MC_ERROR_MISUSE)
        #expect(Scan("[]", columns: [ScanColumn(name: "a", type: MC_COLUMN_DECIMAL, precision: 5, scale: 6)]).code == MC_ERROR_MISUSE)
        #expect(Scan("[]", columns: [ScanColumn(name: "a", type: MC_COLUMN_DECIMAL, precision: 1001)]).code == MC_ERROR_MISUSE)
        #expect(Scan("[]", columns: [ScanColumn(name: "a", type: mc_column_type(12))]).code == MC_ERROR_MISUSE)
    }

    @Test func `a wide row is read by its names in any order`() {
        let columns = (0..<500).map { ScanColumn(name: "column\($0)") }
        let members = (0..<500).reversed().map { "\"column\($0)\":\($0)" }
        let scan = Scan("[{\(members.joined(separator: ","))}]", columns: columns, chunk: 1000)
        #expect(scan.rows == [(0..<500).map { .integer($0) }])
    }
}
