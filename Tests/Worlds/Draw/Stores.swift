/// Where a world has its back end and the state of its server.
package enum Stores: String, Codable, CaseIterable, Sendable { case sqlite, postgreSQL }

extension ValueType {
    /// The type of the column. It holds more than the attribute, as columns of other applications often do.
    func column(_ stores: Stores) -> String {
        guard stores == .postgreSQL else { return column }
        return switch self {
        case .string: "TEXT"
        case .int, .long: "BIGINT"
        case .boolean: "BOOLEAN"
        case .decimal, .wideDecimal: "NUMERIC"
        case .double: "DOUBLE PRECISION"
        case .date: "DATE"
        case .dateTime: "TIMESTAMP"
        }
    }

    /// Values that the column can hold and the attribute cannot, as SQL.
    func unfitValues(_ stores: Stores) -> [String] {
        guard stores == .postgreSQL else { return unfitValues }
        return switch self {
        case .string: ["'\(String(repeating: "long ", count: 20))'"]
        case .int: ["3000000000"]
        case .long, .boolean: []
        case .decimal: ["12345678901234.5", "'NaN'"]
        case .wideDecimal: ["'NaN'"]
        case .double: ["'NaN'", "'Infinity'"]
        case .date: ["'infinity'", "'0001-01-01 BC'"]
        case .dateTime: ["'infinity'"]
        }
    }
}
