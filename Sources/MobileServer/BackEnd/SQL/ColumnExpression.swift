internal import MobileModel
internal import MobileStore

/// The SQL of values in SQLite.
struct SQLiteExpressions: SQLExpressions {
    func value(of attribute: AttributeModel, _ column: SQLColumn) -> String { ColumnExpression.value(of: attribute, column: column.sql) }

    func compositeKey(_ parts: [String]) -> String { "json_array(" + parts.joined(separator: ", ") + ")" }

    /// `json_array` would cut doubles to 15 digits.
    func keyPart(of attribute: AttributeModel, _ column: SQLColumn) -> String {
        let value = value(of: attribute, column)
        return switch attribute.type {
        case .float, .double: "printf('%!.17g', \(value))"
        case .binary: "hex(\(value))"
        default: value
        }
    }

    /// Parts that a back end may store in several forms are compared in the cache's form, the others directly.
    func condition(on attribute: AttributeModel, _ column: SQLColumn, _ part: Value, place: Int) -> (sql: String, value: Value) {
        switch attribute.type {
        case .date, .time, .dateTime, .decimal, .boolean: ("(\(value(of: attribute, column))) = ?\(place)", part)
        default: ("\(column.sql) = ?\(place)", part)
        }
    }
}

/// The conversion of a column of SQLite, which may store the values of any type.
enum ColumnExpression {
    /// The maximum number of digits of a decimal that is stored as a scaled integer.
    static let scaledDigits = 18

    /// - Parameter column: the column as SQL, quoted and qualified; it occurs several times in the result.
    static func value(of attribute: AttributeModel, column: String) -> String {
        switch attribute.type {
        case .byte, .short, .int, .long, .integer: "CAST(\(column) AS INTEGER)"
        case .boolean: boolean(column)
        case .string, .char, .structure, .list, .nullableList, .bigString: "CAST(\(column) AS TEXT)"
        case .binary, .bigBinary: "CAST(\(column) AS BLOB)"
        case .float, .double: "CAST(\(column) AS REAL)"
        case .decimal: decimal(column, precision: attribute.precision ?? 18, scale: attribute.scale ?? 2)
        case .date: dateTime("%Y-%m-%d", column)
        case .time: dateTime("%H:%M:%S", column)
        case .dateTime: dateTime("%Y-%m-%dT%H:%M:%fZ", column)
        }
    }

    private static func boolean(_ column: String) -> String {
        "CASE WHEN typeof(\(column)) = 'text' THEN lower(\(column)) IN ('1', 'true', 't', 'yes', 'y') ELSE \(column) <> 0 END"
    }

    /// Text that is not a date stays unchanged, so that a reader sees the back end's value.
    private static func dateTime(_ format: String, _ column: String) -> String {
        "coalesce(strftime('\(format)', \(column), 'auto'), CAST(\(column) AS TEXT))"
    }

    /// Text is converted digit by digit, because a number of 18 digits does not fit into a double.
    private static func decimal(_ column: String, precision: Int, scale: Int) -> String {
        guard precision <= scaledDigits else {
            return "CASE typeof(\(column)) WHEN 'real' THEN printf('%.\(scale)f', \(column)) ELSE trim(CAST(\(column) AS TEXT)) END"
        }
        let zeros = String(repeating: "0", count: scale)
        let factor = "1" + zeros
        let rounded = "CAST(round(CAST(\(column) AS REAL) * \(factor)) AS INTEGER)"
        let whole = "CAST(\(column) AS INTEGER) * \(factor)"
        let point = "instr(\(column), '.')"
        let fraction = "substr(substr(\(column), \(point) + 1) || '\(zeros)', 1, \(scale))"
        let digits = "CAST(substr(\(column), 1, \(point) - 1) || \(fraction) AS INTEGER)"
        return """
            CASE typeof(\(column)) WHEN 'integer' THEN \(column) * \(factor) WHEN 'real' THEN \(rounded) WHEN 'null' THEN NULL \
            ELSE CASE WHEN \(column) GLOB '*[eE]*' THEN \(rounded) WHEN \(point) = 0 THEN \(whole) ELSE \(digits) END END
            """
    }
}
