import MobileCore
import TestSupport
import Testing

@Suite struct ColumnTypeTests {
    /// Scans one value in a column of one type.
    func scan(_ value: String, _ column: ScanColumn) -> Scan { Scan("[[\(value)]]", columns: [column]) }

    static let integer = ScanColumn(name: "a", type: MC_COLUMN_INTEGER)
    static let price = ScanColumn(name: "a", type: MC_COLUMN_DECIMAL, precision: 12, scale: 2)
    static let wide = ScanColumn(name: "a", type: MC_COLUMN_DECIMAL, precision: 30, scale: 10)
    static let real = ScanColumn(name: "a", type: MC_COLUMN_REAL)
    static let boolean = ScanColumn(name: "a", type: MC_COLUMN_BOOLEAN)
    static let string = ScanColumn(name: "a", type: MC_COLUMN_TEXT)
    static let blob = ScanColumn(name: "a", type: MC_COLUMN_BLOB)
    static let date = ScanColumn(name: "a", type: MC_COLUMN_DATE)
    static let time = ScanColumn(name: "a", type: MC_COLUMN_TIME)
    static let dateTime = ScanColumn(name: "a", type: MC_COLUMN_DATE_TIME)

    @Test(
        "a value becomes what its column's type says",
        arguments: [
            ("9223372036854775807", integer, .integer(.max)), ("-9223372036854775808", integer, .integer(.min)), ("-0", integer, .integer(0)),
            ("12.34", price, .integer(1234)), ("12", price, .integer(1200)), ("-0.5", price, .integer(-50)), ("1.2340e1", price, .integer(1234)),
            ("12.340000000000000000000000000", price, .integer(1234)), ("9999999999.99", price, .integer(999_999_999_999)),
            ("0e999", price, .integer(0)),
            ("1e9", price, .integer(100_000_000_000)), ("1200e-2", price, .integer(1200)),
            ("12345678901234567890.0123456789", wide, .text("12345678901234567890.0123456789")), ("-0.00", wide, .text("0")),
            ("1e3", wide, .text("1000")),
            ("0.50", wide, .text("0.5")), ("120.50", wide, .text("120.5")), ("1e-10", wide, .text("0.0000000001")), ("-5e-1", wide, .text("-0.5")),
            ("99999999999999999999", wide, .text("99999999999999999999")), ("12.5e1", wide, .text("125")),
            ("1", real, .real(1)), ("9007199254740993", real, .real(9007199254740992)), ("-0.0", real, .real(-0.0)), ("1e-400", real, .real(0)),
            ("true", boolean, .integer(1)), ("false", boolean, .integer(0)), (#""x""#, string, .text("x")), (#""""#, string, .text("")),
            (#""\uffff\ue000""#, string, .text("\u{FFFF}\u{E000}")),
            (#""""#, blob, .blob([])), (#""AQID""#, blob, .blob([1, 2, 3])), (#""\/w==""#, blob, .blob([255])), (#""AQI=""#, blob, .blob([1, 2])),
            (#""2026-05-17""#, date, .text("2026-05-17")), (#""2024-02-29""#, date, .text("2024-02-29")),
            (#""2000\u002d02-29""#, date, .text("2000-02-29")),
            (#""23:59:59""#, time, .text("23:59:59")),
            (#""2026-05-17T10:00:00""#, dateTime, .text("2026-05-17T10:00:00.000Z")),
            (#""2026-05-17T10:00:00Z""#, dateTime, .text("2026-05-17T10:00:00.000Z")),
            (#""2026-05-17T10:00:00.1Z""#, dateTime, .text("2026-05-17T10:00:00.100Z")),
            (#""2026-05-17T10:00:00.123456Z""#, dateTime, .text("2026-05-17T10:00:00.123Z")),
            (#""2026-05-17T10:00:00.1234""#, dateTime, .text("2026-05-17T10:00:00.123Z")),
            (#""2026-05-17T10:00:00.123Z""#, dateTime, .text("2026-05-17T10:00:00.123Z")), ("null", dateTime, .null),
            ("null", integer, .null), ("null", price, .null), ("null", string, .null),
        ] as [(String, ScanColumn, Cell)])
    func taken(value: String, column: ScanColumn, cell: Cell) {
        let scan = scan(value, column)
        #expect(scan.rows == [[cell]], "\(scan.message)")
    }

    @Test(
        "a value that does not fit is refused at its first byte, with what was expected and found",
        arguments: [
            ("9223372036854775808", integer, "expected an integer, found one beyond 64 bits"),
            ("1.0", integer, "expected an integer, found a number with a fraction or an exponent"),
            ("1e2", integer, "with a fraction or an exponent"),
            (#""1""#, integer, "expected an integer, found a string"), ("true", integer, "expected an integer, found true"),
            ("[1]", integer, "found an array"),
            ("12.345", price, "expected a decimal within the column's precision and scale"), ("10000000000", price, "precision and scale"),
            ("1e400", price, "precision and scale"), ("-10000000000", price, "precision and scale"),
            ("0.00000000000000000000000001", price, "precision and scale"),
            (#""12.34""#, price, "expected a number, found a string"),
            ("123456789012345678901", wide, "precision and scale"), ("1e-11", wide, "precision and scale"),
            ("1234567890123456789012345678901234567", wide, "precision and scale"), ("1e20", wide, "precision and scale"),
            ("1e309", real, "expected a number within the range of a double"), ("1e200000", real, "within the range of a double"),
            ("{}", real, "expected a number, found an object"),
            ("1", boolean, "expected true or false, found a number"), (#""true""#, boolean, "found a string"),
            ("1", string, "expected a string, found a number"),
            ("false", string, "expected a string, found false"), (#""AQI""#, blob, "expected a string in base64, found a string that is not"),
            (#""AQ=I""#, blob, "base64"), (#""AR==""#, blob, "base64"), (#""A===""#, blob, "base64"), (#""AQ I""#, blob, "base64"),
            ("7", blob, "found a number"),
            (#""2026-02-29""#, date, "expected a date (\"2026-05-17\"), found another string"), (#""1900-02-29""#, date, "date"),
            (#""2026-13-01""#, date, "date"), (#""2026-00-10""#, date, "date"), (#""2026-04-31""#, date, "date"), (#""2026-4-30""#, date, "date"),
            (#""2026-04-30 ""#, date, "date"), (#""20260430""#, date, "date"), (#""2026-04-00""#, date, "date"), (#""2026-04-3x""#, date, "date"),
            ("20260430", date, "found a number"), ("true", time, "found true"), (#""24:00:00""#, time, "expected a time"),
            (#""10:60:00""#, time, "expected a time"), (#""10:00:60""#, time, "expected a time"), (#""10:00""#, time, "expected a time"),
            (#""2026-05-17""#, dateTime, "expected a date and time in UTC"), (#""2026-05-17 10:00:00""#, dateTime, "in UTC"),
            (#""2026-05-17T10:00:00.""#, dateTime, "in UTC"), (#""2026-05-17T10:00:00+02:00""#, dateTime, "in UTC"),
            (#""2026-05-17T10:00:00.1x""#, dateTime, "in UTC"), (#""2026-05-17T10:00:00ZZ""#, dateTime, "in UTC"),
            (#""2026-05-17T25:00:00Z""#, dateTime, "in UTC"),
        ] as [(String, ScanColumn, String)])
    func refused(value: String, column: ScanColumn, message: String) {
        let scan = scan(value, column)
        #expect(scan.code == MC_ERROR_TYPE)
        #expect(scan.offset == 2)
        #expect(scan.row == 1)
        #expect(scan.message.contains(message), "\(scan.message)")
        #expect(scan.message.hasPrefix("import of \"rows\", row 1, column \"a\", byte 2: "))
    }

    @Test("null is refused where a value is required, and so is a member left out", arguments: ["[[null]]", "[{}]", "[{\"a\":null}]"])
    func required(text: String) {
        let scan = Scan(text, columns: [ScanColumn(name: "a", type: MC_COLUMN_TEXT, required: true)])
        #expect(scan.code == MC_ERROR_TYPE)
        #expect(scan.message.contains("column \"a\""))
    }

    @Test func `doubles are the nearest ones, ties to even`() {
        var numbers = [
            "0.1", "1e22", "1e23", "9007199254740993", "9007199254740992.5", "1.7976931348623157e308", "1.7976931348623158e308", "4.9e-324",
            "2.4703282292062327e-324",
            "2.4703282292062328e-324", "2.2250738585072011e-308", "123456789012345678901234567890", "0.000000000000000000000000000000123456789",
            "1.00000000000000011102230246251565404", "1.00000000000000011102230246251565405", "6.631236846766476e-316", "3.237883913302901e-319",
            "1" + String(repeating: "0", count: 308), "0." + String(repeating: "0", count: 400) + "1e400",
            String(repeating: "9", count: 900) + "e-850",
            "9007199254740993." + String(repeating: "0", count: 900) + "1", "1e-2147483648", "0e99999999999999999999",
        ]
        var random = SeededGenerator(seed: 7)
        for _ in 0..<3000 {
            let digits = String(random.next() >> UInt64.random(in: 0..<60, using: &random))
            let point = Int.random(in: 1...digits.count, using: &random)
            let exponent = Int.random(in: -330...320, using: &random)
            numbers.append("\(digits.prefix(point)).\(digits.dropFirst(point))0e\(exponent)")
        }
        for text in numbers {
            guard let expected = Double(text), expected.isFinite else { continue }
            #expect(scan(text, Self.real).rows == [[.real(expected)]], "\(text)")
            // Compared bit by bit: 0 and -0 are equal as numbers.
            guard case .real(let negative)? = scan("-" + text, Self.real).rows.first?.first else {
                Issue.record("-\(text) is no double")
                continue
            }
            #expect(negative.bitPattern == (-expected).bitPattern, "-\(text)")
        }
    }

    @Test func `what is written of a double reads back, and nothing shorter does`() {
        var random = SeededGenerator(seed: 11)
        var values = [
            0.1, 1.0 / 3, 1e21, 1e22, 123456.789, .leastNonzeroMagnitude, 2.2250738585072014e-308, .greatestFiniteMagnitude, 0.000001, 1e-7, 100,
            1e15, 1e16,
        ]
        for _ in 0..<3000 { values.append(Double(bitPattern: random.next())) }
        for _ in 0..<3000 { values.append(Double(Int64.random(in: -10_000_000...10_000_000, using: &random)) / 1000) }
        for value in values where value.isFinite {
            var text = [CChar](repeating: 0, count: Int(MC_JSON_DOUBLE_SIZE))
            let length = mc_json_double_to_text(value, &text)
            let written = String(decoding: text.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            #expect(Double(written) == value, "\(written)")
            // Swift's description is the shortest possible text; the number of significant digits must be the same.
            #expect(Self.significantDigits(written) == Self.significantDigits(value.description), "\(written), \(value)")
        }
        var text = [CChar](repeating: 0, count: Int(MC_JSON_DOUBLE_SIZE))
        #expect(mc_json_double_to_text(.infinity, &text) == 0)
        #expect(mc_json_double_to_text(.nan, &text) == 0)
    }

    private static func significantDigits(_ text: String) -> Int {
        let digits = text.prefix { $0 != "e" }.filter(\.isNumber).drop { $0 == "0" }
        return digits.reversed().drop { $0 == "0" }.count
    }
}
