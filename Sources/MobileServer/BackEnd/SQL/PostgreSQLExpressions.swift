internal import MobileModel
internal import MobileStore

/// The SQL of values in PostgreSQL, by the types of its columns.
///
/// The session's dates are ISO and its time zone is UTC, so texts of dates and times need little more than cutting.
struct PostgreSQLExpressions: SQLExpressions {
    func value(of attribute: AttributeModel, _ column: SQLColumn) -> String {
        switch attribute.type {
        case .byte, .short, .int, .long, .integer: integer(column)
        case .boolean: boolean(column)
        case .string, .char, .structure, .list, .nullableList, .bigString: text(column)
        case .binary, .bigBinary: bytes(column)
        // The digits of a number of 32 bits, without those that the conversion to 64 bits would add.
        case .float, .double: "CAST(\(column.affinity == .single ? text(column) : column.sql) AS DOUBLE PRECISION)"
        case .decimal:
            isScaled(attribute)
                ? "CAST(\(rounded(attribute, column)) * 1\(zeros(attribute)) AS BIGINT)"
                : "CAST(\(rounded(attribute, column)) AS TEXT)"
        case .date: date(column)
        case .time: time(column)
        case .dateTime: dateTime(column)
        }
    }

    /// Returns a column's value as it travels: JSON text.
    func json(of attribute: AttributeModel, _ column: SQLColumn) -> String {
        let value = value(of: attribute, column)
        let text =
            switch attribute.type {
            case .byte, .short, .int, .long, .integer: "CAST(\(value) AS TEXT)"
            case .boolean: "CASE \(value) WHEN 1 THEN 'true' WHEN 0 THEN 'false' END"
            case .float, .double: "CASE WHEN \(value) NOT IN ('NaN', 'Infinity', '-Infinity') THEN CAST(\(value) AS TEXT) END"
            case .decimal: decimalText(attribute, column)
            case .binary, .bigBinary: "'\"' || replace(encode(\(value), 'base64'), chr(10), '') || '\"'"
            default: "CAST(to_json(\(value)) AS TEXT)"
            }
        return "coalesce(\(text), 'null')"
    }

    func compositeKey(_ parts: [String]) -> String { "'[' || " + parts.joined(separator: " || ',' || ") + " || ']'" }

    func keyPart(of attribute: AttributeModel, _ column: SQLColumn) -> String {
        let value = value(of: attribute, column)
        return switch attribute.cachedType {
        case .integer: "CAST(\(value) AS TEXT)"
        case .blob: "'\"' || upper(encode(\(value), 'hex')) || '\"'"
        default: "CAST(to_json(CAST(\(value) AS TEXT)) AS TEXT)"
        }
    }

    func condition(on attribute: AttributeModel, _ column: SQLColumn, _ part: Value, place: Int) -> (sql: String, value: Value) {
        switch (attribute.type, column.affinity) {
        case (.date, .date), (.time, .time): ("\(column.sql) = ?\(place)", part)
        // The cache cuts these to the attribute's precision.
        case (.date, _), (.time, _), (.dateTime, _): ("\(value(of: attribute, column)) = CAST(?\(place) AS TEXT)", part)
        default: ("\(column.sql) = ?\(place)", WireConversion.value(cached: part, of: attribute, affinity: .text))
        }
    }

    // MARK: Types

    private func integer(_ column: SQLColumn) -> String {
        switch column.affinity {
        case .boolean: "CAST(CAST(\(column.sql) AS INTEGER) AS BIGINT)"
        case .text: "CAST(CAST(\(column.sql) AS NUMERIC) AS BIGINT)"
        default: "CAST(\(column.sql) AS BIGINT)"
        }
    }

    private func boolean(_ column: SQLColumn) -> String {
        switch column.affinity {
        case .boolean: "CAST(\(column.sql) AS INTEGER)"
        case .integer, .numeric, .real, .single: "CAST(\(column.sql) <> 0 AS INTEGER)"
        default: "CAST(lower(CAST(\(column.sql) AS TEXT)) IN ('1', 'true', 't', 'yes', 'y') AS INTEGER)"
        }
    }

    private func text(_ column: SQLColumn) -> String {
        column.affinity == .blob ? "convert_from(\(column.sql), 'UTF8')" : "CAST(\(column.sql) AS TEXT)"
    }

    private func bytes(_ column: SQLColumn) -> String {
        column.affinity == .blob ? column.sql : "convert_to(CAST(\(column.sql) AS TEXT), 'UTF8')"
    }

    // MARK: Decimals

    private func isScaled(_ attribute: AttributeModel) -> Bool { (attribute.precision ?? 18) <= ColumnExpression.scaledDigits }

    private func zeros(_ attribute: AttributeModel) -> String { String(repeating: "0", count: attribute.scale ?? 2) }

    private func rounded(_ attribute: AttributeModel, _ column: SQLColumn) -> String {
        "round(NULLIF(CAST(\(column.sql) AS NUMERIC), 'NaN'), \(attribute.scale ?? 2))"
    }

    /// Without zeros at the end, in the form of SQLite's rows.
    private func decimalText(_ attribute: AttributeModel, _ column: SQLColumn) -> String {
        let text = "CAST(\(rounded(attribute, column)) AS TEXT)"
        return attribute.scale == 0 ? text : "rtrim(rtrim(\(text), '0'), '.')"
    }

    // MARK: Dates and times

    /// A number is a time in seconds since 1970. A text stays as it is, so that a reader sees the back end's value.
    private func timestamp(_ column: SQLColumn) -> String? {
        switch column.affinity {
        case .date, .timestamp: "CAST(\(column.sql) AS TIMESTAMP)"
        case .timestampWithTimeZone: "(\(column.sql) AT TIME ZONE 'UTC')"
        case .integer, .numeric, .real, .single: "(to_timestamp(CAST(\(column.sql) AS DOUBLE PRECISION)) AT TIME ZONE 'UTC')"
        default: nil
        }
    }

    private func date(_ column: SQLColumn) -> String {
        timestamp(column).map { "CAST(CAST(\($0) AS DATE) AS TEXT)" } ?? "CAST(\(column.sql) AS TEXT)"
    }

    private func time(_ column: SQLColumn) -> String {
        guard let timestamp = timestamp(column) else {
            return column.affinity == .time ? "substr(CAST(\(column.sql) AS TEXT), 1, 8)" : "CAST(\(column.sql) AS TEXT)"
        }
        return "to_char(\(timestamp), 'HH24:MI:SS')"
    }

    private func dateTime(_ column: SQLColumn) -> String {
        timestamp(column).map { "to_char(\($0), 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')" } ?? "CAST(\(column.sql) AS TEXT)"
    }
}
