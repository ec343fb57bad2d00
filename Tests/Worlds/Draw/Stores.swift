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
        case .string: "TEXT"
        case .int, .long: "BIGINT"
        case .boolean: "BOOLEAN"
        case .decimal, .wideDecimal, .longDecimal: "NUMERIC"
        case .double: "DOUBLE PRECISION"
        case .date: "DATE"
        case .dateTime: "TIMESTAMP"
        case .largeBinary: "BYTEA"
        }
    }

    /// Values that the column can hold and the attribute cannot, as SQL.
    func unfitValues(_ stores: Stores) -> [String] {
        guard stores != .sqlite else { return unfitValues }
        return switch self {
        case .string: ["'\(String(repeating: "long ", count: 20))'"]
        case .int: ["3000000000"]
        case .long, .boolean, .largeBinary: []
        case .decimal: ["12345678901234.5", "'NaN'"]
        case .wideDecimal, .longDecimal: ["'NaN'"]
        case .double: ["'NaN'", "'Infinity'"]
        case .date: ["'infinity'", "'0001-01-01 BC'"]
        case .dateTime: ["'infinity'"]
        }
    }

    /// A value in canonical form as SQL text.
    func literal(_ value: String, _ stores: Stores) -> String {
        switch self {
        case .int, .long, .decimal, .wideDecimal, .longDecimal, .double: return value
        case .boolean, .string, .date, .dateTime: return "'\(value.replacing("'", with: "''"))'"
        case .largeBinary:
            let hexadecimal = LargeContent.named(value).map(\.hexadecimal) ?? ""
            return stores == .sqlite ? "x'\(hexadecimal)'" : "'\\x\(hexadecimal)'"
        }
    }
}
