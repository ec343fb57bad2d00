internal import MobileModel

/// The conversion of a back end's column to a value of the platform: an SQL expression that the back end evaluates during a load.
///
/// Back ends store the same value in many forms (a price as REAL, as text or as an integer; a date with or without time). The expressions convert all
/// of them to the one form of the cache and of the devices: integers and booleans INTEGER, decimals of up to 18 digits scaled INTEGER and longer ones
/// TEXT, doubles REAL, dates and times ISO 8601 TEXT, binary BLOB. Equal values are then equal in every byte, so a comparison of rows detects all
/// changes and only changes.
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

    /// Returns one value that identifies a row: the only part of a simple key unchanged, or the parts of a composite key as a JSON array.
    /// - Parameter parts: the normalized parts, each as SQL.
    static func key(_ parts: [String]) -> String {
        parts.count == 1 ? parts[0] : "json_array(" + parts.joined(separator: ", ") + ")"
    }

    /// Returns a part of a key. Doubles and binary values in a composite key become text: `json_array` would cut doubles to 15 digits.
    static func keyPart(of attribute: AttributeModel, column: String, isComposite: Bool) -> String {
        let value = value(of: attribute, column: column)
        guard isComposite else { return value }
        return switch attribute.type {
        case .float, .double: "printf('%!.17g', \(value))"
        case .binary: "hex(\(value))"
        default: value
        }
    }
}
