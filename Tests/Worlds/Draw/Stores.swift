/// Where a world has its back end and the state of its server.
package enum Stores: String, Codable, CaseIterable, Sendable {
    case sqlite, postgreSQL
    /// In PostgreSQL, and the server is processes of its own.
    case processes
}

extension ValueType {
    /// The type of the column. It holds more than the attribute, as columns of other applications often do.
    func column(_ stores: Stores) -> String {
        guard stores != .sqlite else { return column }
        return switch self {
        case .string, .char: "TEXT"
        case .byte, .short, .int, .long, .integer: "BIGINT"
        case .boolean: "BOOLEAN"
        case .decimal, .wideDecimal, .longDecimal: "NUMERIC"
        case .float: "REAL"
        case .double: "DOUBLE PRECISION"
        case .date: "DATE"
        case .time: "TIME"
        case .dateTime: "TIMESTAMP"
        case .binary, .largeBinary: "BYTEA"
        }
    }

    /// Values that the column can hold and the attribute cannot, as SQL.
    func unfitValues(_ stores: Stores) -> [String] {
        guard stores != .sqlite else { return unfitValues }
        return switch self {
        case .string: ["'\(String(repeating: "long ", count: 20))'"]
        case .char: ["'two'", "''"]
        case .byte: ["300"]
        case .short: ["70000"]
        case .int: ["3000000000"]
        case .long, .integer, .boolean, .largeBinary: []
        case .decimal: ["12345678901234.5", "'NaN'"]
        case .wideDecimal, .longDecimal: ["'NaN'"]
        case .float, .double: ["'NaN'", "'Infinity'"]
        case .date: ["'infinity'", "'0001-01-01 BC'"]
        case .time: ["'24:00'"]
        case .dateTime: ["'infinity'"]
        case .binary: ["'\\x\(String(repeating: "00", count: 50))'"]
        }
    }

    /// A value in canonical form as SQL text.
    func literal(_ value: String, _ stores: Stores) -> String {
        switch self {
        case .byte, .short, .int, .long, .integer, .decimal, .wideDecimal, .longDecimal, .float, .double: return value
        case .boolean, .string, .char, .date, .time, .dateTime: return "'\(value.replacing("'", with: "''"))'"
        case .binary, .largeBinary:
            let hexadecimal = LargeContent.named(value).map(\.hexadecimal) ?? ""
            return stores == .sqlite ? "x'\(hexadecimal)'" : "'\\x\(hexadecimal)'"
        }
    }
}
