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
///
/// A value that its attribute cannot have comes back in a form that the export of its column refuses, so that it never becomes another value: see
/// ``UnfitValue``.
enum ColumnExpression {
    /// The maximum number of digits of a decimal that is stored as a scaled integer.
    static let scaledDigits = 18

    /// - Parameter column: the column as SQL, quoted and qualified; it occurs several times in the result.
    static func value(of attribute: AttributeModel, column: String) -> String {
        switch attribute.type {
        case .byte, .short, .int, .long, .integer:
            "CASE typeof(\(column)) WHEN 'integer' THEN \(column) ELSE \(ExactNumber.integer)(\(column)) END"
        case .boolean: boolean(column)
        case .string, .char, .structure, .list, .nullableList, .bigString: "CAST(\(column) AS TEXT)"
        case .binary, .bigBinary: "CAST(\(column) AS BLOB)"
        case .float, .double: "CASE typeof(\(column)) WHEN 'real' THEN \(column) ELSE \(ExactNumber.real)(\(column)) END"
        case .decimal: "\(ExactNumber.decimal)(\(column), \(attribute.digitsBeforePoint), \(attribute.scale ?? 2))"
        case .date: dateTime("%Y-%m-%d", .date, column)
        case .time: dateTime("%H:%M:%S", .timeOfDay, column)
        case .dateTime: dateTime("%Y-%m-%dT%H:%M:%fZ", .dateTime, column)
        }
    }

    /// The export of an attribute's column. Each value becomes what ``value(of:column:)`` makes of it; SQL runs for few of them.
    static func export(of attribute: AttributeModel) -> ExportColumn {
        let type = attribute.wireType, sql = value(of: attribute, column: "?1")
        return switch attribute.type {
        case .byte, .short, .int, .long, .integer: ExportColumn(type, isExact: true)
        case .decimal:
            // The core takes the digits before the point from precision and scale.
            if case .decimal(let precision, let scale) = type, attribute.digitsBeforePoint == precision - scale {
                ExportColumn(type, isExact: true)
            } else {
                ExportColumn(type, conversion: sql)
            }
        case .boolean: ExportColumn(type, conversion: sql)
        case .float, .double: ExportColumn(type, isExact: true, conversion: sql)
        case .date: ExportColumn(.date, conversion: sql)
        case .time: ExportColumn(.time, conversion: sql)
        case .dateTime: ExportColumn(.dateTime, conversion: sql)
        // Of other storage, SQLite's texts and bytes are written.
        case .string, .char, .structure, .list, .nullableList, .bigString, .binary, .bigBinary: ExportColumn(type)
        }
    }

    /// The words of texts that count as true and as false.
    static let trueWords = ["1", "true", "t", "yes", "y", "on"], falseWords = ["0", "false", "f", "no", "n", "off", ""]

    /// The words are compared one by one: `IN` would make a table of them for each value where the statement runs for one value at a time.
    private static func boolean(_ column: String) -> String {
        func words(_ words: [String], _ value: Int) -> String { words.map { "WHEN '\($0)' THEN \(value)" }.joined(separator: " ") }
        return """
            CASE typeof(\(column)) WHEN 'text' THEN CASE lower(\(column)) \(words(trueWords, 1)) \(words(falseWords, 0)) ELSE \(column) END \
            WHEN 'blob' THEN \(column) ELSE \(column) <> 0 END
            """
    }

    /// The smallest number of an integer that is a time in milliseconds since 1970: 1973 in milliseconds, and the year 5138 in seconds.
    static let leastMilliseconds = 100_000_000_000

    /// An integer is a time since 1970, a real a Julian day, if it is small enough for one. A text is read as a time if it begins like one: `now` and the
    /// other words of SQLite would be those of the load. Text that is not a date stays unchanged, so that a reader sees the back end's value.
    private static func dateTime(_ format: String, _ form: PlainTime, _ column: String) -> String {
        func time(_ number: String) -> String {
            """
            CASE WHEN \(number) BETWEEN \(1 - leastMilliseconds) AND \(leastMilliseconds - 1) THEN strftime('\(format)', \(number), 'unixepoch') \
            ELSE strftime('\(format)', \(number) / 1000.0, 'unixepoch') END
            """
        }
        let isTime = "\(column) GLOB '[0-9]*[^0-9]*'", isNumber = "\(column) GLOB '[0-9]*'"
        return """
            coalesce(\(form.call(column)), CASE typeof(\(column)) WHEN 'text' THEN CASE WHEN \(isTime) THEN strftime('\(format)', \(column), 'auto') \
            WHEN \(isNumber) THEN \(time("CAST(\(column) AS INTEGER)")) END \
            WHEN 'integer' THEN \(time(column)) WHEN 'real' THEN strftime('\(format)', \(column), 'auto') END, CAST(\(column) AS TEXT))
            """
    }
}
