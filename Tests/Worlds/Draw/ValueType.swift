/// The type of an attribute, with values that are worth a try. All are written as SQL writes them; ``canonical(_:)`` gives one form to what back end and
/// device show.
package enum ValueType: String, Codable, CaseIterable, Sendable {
    case string, int, long, boolean, decimal, double, date, dateTime

    /// The members of the model.
    var modelled: String {
        switch self {
        case .string: #""type": "string", "length": 60"#
        case .decimal: #""type": "decimal", "precision": 12, "scale": 3"#
        default: "\"type\": \"\(rawValue)\""
        }
    }

    /// The type of the column in SQLite.
    var column: String {
        switch self {
        case .string: "TEXT"
        case .int, .long: "INTEGER"
        case .boolean: "BOOLEAN"
        case .decimal: "NUMERIC"
        case .double: "REAL"
        case .date: "DATE"
        case .dateTime: "DATETIME"
        }
    }

    /// Values at the limits and in the middle, in canonical form.
    var pool: [String] {
        switch self {
        case .string: ["", "plain", "Äpfel 🍎 it's \"new\"", "line\nbreak\ttab", "O'Neill; --", "nul"]
        case .int: ["0", "-1", "2147483647", "-2147483648", "42"]
        case .long: ["0", "9223372036854775807", "-9223372036854775808", "9007199254740993"]
        case .boolean: ["0", "1"]
        case .decimal: ["0", "12.5", "-999999999.999", "0.001"]
        case .double: ["0.0", "1.5", "-1e+300", "0.1"]
        case .date: ["1970-01-01", "9999-12-31", "2024-02-29", "0001-01-01"]
        case .dateTime: ["1970-01-01 00:00:00.000", "2038-01-19 03:14:08.123", "2024-02-29 23:59:59.999"]
        }
    }

    /// One form for each value: without zeros at the end of a fraction, times with milliseconds.
    func canonical(_ text: String) -> String {
        switch self {
        case .string, .int, .long, .date: return text
        case .boolean: return text == "true" ? "1" : text == "false" ? "0" : text
        case .decimal: return Self.withoutZeros(text)
        case .double: return Double(text).map { "\($0)" } ?? text
        case .dateTime:
            var text = text.replacing("T", with: " ")
            if text.hasSuffix("Z") { text.removeLast() }
            guard text.utf8.count >= 19 else { return text }
            if text.utf8.count == 19 { text += "." }
            return text + String(repeating: "0", count: max(0, 23 - text.utf8.count))
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
