/// The type of an attribute, with values that are worth a try. All are written as SQL writes them; ``canonical(_:)`` gives one form to what back end and
/// device show.
package enum ValueType: String, Codable, CaseIterable, Sendable {
    case string, char, byte, short, int, long, integer, boolean, decimal, wideDecimal, longDecimal, float, double, date, time, dateTime, binary,
        largeBinary

    /// The members of the model.
    var modelled: String {
        switch self {
        case .string: #""type": "string", "length": 60"#
        case .decimal: #""type": "decimal", "precision": 12, "scale": 3"#
        case .wideDecimal: #""type": "decimal", "precision": 18, "scale": 2"#
        case .longDecimal: #""type": "decimal", "precision": 20, "scale": 4"#
        case .binary: #""type": "binary", "length": 40"#
        case .largeBinary: #""type": "bigBinary""#
        default: "\"type\": \"\(rawValue)\""
        }
    }

    /// The type of the column in SQLite.
    var column: String {
        switch self {
        case .string, .char: "TEXT"
        case .byte, .short, .int, .long, .integer: "INTEGER"
        case .boolean: "BOOLEAN"
        case .decimal, .wideDecimal, .longDecimal: "NUMERIC"
        case .float, .double: "REAL"
        case .date: "DATE"
        case .time: "TIME"
        case .dateTime: "DATETIME"
        case .binary, .largeBinary: "BLOB"
        }
    }

    /// Values at the limits and in the middle, in canonical form.
    var pool: [String] {
        switch self {
        case .string: ["", "plain", "Äpfel 🍎 it's \"new\"", "line\nbreak\ttab", "O'Neill; --", "nul"]
        case .char: ["x", "Ä", "🍎", "'"]
        case .byte: ["0", "127", "-128"]
        case .short: ["0", "32767", "-32768"]
        case .int: ["0", "-1", "2147483647", "-2147483648", "42"]
        case .long, .integer: ["0", "9223372036854775807", "-9223372036854775808", "9007199254740993"]
        case .boolean: ["0", "1"]
        // A later version of the first one has the values of both.
        case .decimal, .longDecimal: ["0", "12.5", "-999999999.999", "0.001"]
        case .wideDecimal: ["0", "9999999999999999.99", "-1234567890123456.78", "0.01"]
        case .float: ["0.0", "1.5", "-3.4028235e+38", "0.1"]
        case .double: ["0.0", "1.5", "-1e+300", "0.1"]
        case .date: ["1970-01-01", "9999-12-31", "2024-02-29", "0001-01-01"]
        case .time: ["00:00:00", "12:30:15", "23:59:59"]
        case .dateTime: ["1970-01-01 00:00:00.000", "2038-01-19 03:14:08.123", "2024-02-29 23:59:59.999"]
        case .binary: LargeContent.all.map(\.name).filter { LargeContent.count($0) <= 40 }
        case .largeBinary: LargeContent.all.map(\.name)
        }
    }

    /// One form for each value: without zeros at the end of a fraction, times with milliseconds.
    package func canonical(_ text: String) -> String {
        switch self {
        case .string, .char, .byte, .short, .int, .long, .integer, .date, .time: return text
        case .boolean: return ["true", "t"].contains(text) ? "1" : ["false", "f"].contains(text) ? "0" : text
        case .decimal, .wideDecimal, .longDecimal: return Self.withoutZeros(text)
        case .float: return Double(text).map { "\(Float($0))" } ?? text
        case .double: return Double(text).map { "\($0)" } ?? text
        case .dateTime:
            var text = text.replacing("T", with: " ")
            if text.hasSuffix("Z") { text.removeLast() }
            guard text.utf8.count >= 19 else { return text }
            if text.utf8.count == 19 { text += "." }
            return text + String(repeating: "0", count: max(0, 23 - text.utf8.count))
        case .binary, .largeBinary: return text.hasPrefix("\\x") ? LargeContent.name(ofHexadecimal: text.dropFirst(2)) : text
        }
    }

    /// Values that the attribute cannot hold, as SQL.
    var unfitValues: [String] {
        switch self {
        case .string: ["x'61ff62'", "'\(String(repeating: "long ", count: 20))'"]
        case .char: ["'two'", "''"]
        case .byte: ["300", "'many'"]
        case .short: ["70000", "'many'"]
        case .int: ["3000000000", "'many'", "1.5"]
        case .long, .integer: ["'many'", "9.5"]
        case .boolean: ["'maybe'"]
        case .decimal: ["12345678901234.5", "'cheap'"]
        case .wideDecimal, .longDecimal: ["'cheap'"]
        case .float, .double: ["'none'"]
        case .date: ["'31.12.2020'"]
        case .time: ["'25:00'"]
        case .dateTime: ["'soon'"]
        case .binary: ["zeroblob(50)"]
        case .largeBinary: []
        }
    }

    /// Whether an attribute of this type can hold the value of a column.
    func canHold(_ text: String) -> Bool {
        func isNumber(_ integers: Int, _ fractions: Int) -> Bool {
            let parts = text.drop { $0 == "-" }.split(separator: ".", omittingEmptySubsequences: false)
            return (1...2).contains(parts.count) && parts.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isNumber } } && parts[0].count <= integers
                && (parts.count == 1 || parts[1].count <= fractions)
        }
        func isTime(_ pattern: String) -> Bool {
            text.count == pattern.count && zip(text, pattern).allSatisfy { $1 == "0" ? $0.isASCII && $0.isNumber : $0 == $1 }
        }
        return switch self {
        case .string: text.count <= 60 && !text.hasPrefix("\\x")
        case .char: text.unicodeScalars.count == 1
        case .byte: Int8(text) != nil
        case .short: Int16(text) != nil
        case .int: Int32(text) != nil
        case .long, .integer: Int64(text) != nil
        case .boolean: ["0", "1"].contains(text)
        case .decimal: isNumber(9, 3)
        case .wideDecimal: isNumber(16, 2)
        case .longDecimal: isNumber(16, 4)
        case .float: Float(text)?.isFinite ?? false
        case .double: Double(text)?.isFinite ?? false
        case .date: isTime("0000-00-00")
        case .time: isTime("00:00:00") && text < "24"
        case .dateTime: isTime("0000-00-00 00:00:00.000")
        case .binary: LargeContent.count(text) <= 40
        case .largeBinary: true
        }
    }

    private static func withoutZeros(_ text: String) -> String {
        guard text.contains("."), !text.contains("e") else { return text }
        var text = text
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text == "-0" ? "0" : text
    }
}
