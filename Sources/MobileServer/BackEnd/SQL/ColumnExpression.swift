internal import MobileModel
internal import MobileStore

/// The SQL of values in SQLite.
struct SQLiteExpressions: SQLExpressions {
    /// Whether the database has its texts in UTF-8: then they may be none of it. Texts of UTF-16 become UTF-8 when they are read.
    var isUTF8 = true

    func value(of attribute: AttributeModel, _ column: SQLColumn) -> String { ColumnExpression.value(of: attribute, column: column.sql) }

    /// A key that its attributes cannot hold exactly becomes bytes that are not UTF-8, so that no export takes it, and it equals no other key.
    func key(_ parts: [(attribute: AttributeModel, column: SQLColumn)]) -> String {
        let inexact = parts.compactMap { isInexact($0.attribute, $0.column.sql, isComposite: parts.count > 1) }.joined(separator: " OR ")
        guard parts.count > 1 else {
            let value = parts.map { self.value(of: $0.attribute, $0.column) }.joined()
            guard !inexact.isEmpty else { return value }
            let column = parts.map(\.column.sql).joined()
            return "CASE WHEN \(inexact) THEN CAST(CAST(\(Self.inexactMark) AS TEXT) || \(column) AS BLOB) ELSE \(value) END"
        }
        let key = "json_array(" + parts.map { keyPart(of: $0.attribute, $0.column) }.joined(separator: ", ") + ")"
        return inexact.isEmpty ? key : "CASE WHEN \(inexact) THEN \(Self.inexactMark) ELSE \(key) END"
    }

    /// `json_array` would cut doubles to 15 digits.
    private func keyPart(of attribute: AttributeModel, _ column: SQLColumn) -> String {
        let value = value(of: attribute, column)
        return switch attribute.type {
        case .float, .double: "printf('%!.17g', \(value))"
        case .binary: "hex(\(value))"
        default: value
        }
    }

    /// A condition on values that would lose something in a key; nil where none does. Two such keys could become one.
    private func isInexact(_ attribute: AttributeModel, _ column: String, isComposite: Bool) -> String? {
        // The first characters are the value; a digit other than 0 after them is lost, or is part of a zone.
        func hasMore(_ length: Int) -> String { "substr(\(column), \(length + 1)) GLOB '*[1-9]*'" }
        switch attribute.type {
        case .date: return "(typeof(\(column)) = 'text' AND \(hasMore(10)))"
        case .time: return "(typeof(\(column)) = 'text' AND (\(hasMore(8)) OR \(column) GLOB '*-*'))"
        case .dateTime: return "(typeof(\(column)) = 'text' AND \(hasMore(23)))"
        // JSON has no bytes.
        case .byte, .short, .int, .long, .integer, .boolean, .float, .double, .decimal: return isComposite ? "typeof(\(column)) = 'blob'" : nil
        default: return nil
        }
    }

    /// A byte that no text has.
    private static let inexactMark = "x'ff'"

    /// The text of an inexact key; nil for other bytes.
    static func text(ofInexact bytes: [UInt8]) -> String? { bytes.first == 0xFF ? String(validating: bytes.dropFirst(), as: UTF8.self) : nil }

    /// Any column has any values.
    func misfit(of attribute: AttributeModel, _ column: SQLColumn) -> String? { nil }

    /// A statement returns the value that it has stored: no trigger comes between. Dates and times stay texts in any column, and a double is as near as any.
    func kept(of attribute: AttributeModel, _ column: SQLColumn) -> String? {
        switch attribute.type {
        case .date, .time, .dateTime, .float, .double: nil
        default: value(of: attribute, column)
        }
    }

    func isKept(_ found: Value, _ attribute: AttributeModel, _ json: JSONValue) -> Bool {
        // Of a decimal that does not fit.
        if attribute.type == .decimal, case .real = found { return false }
        if attribute.type == .decimal, case .text(let text) = found, Double(text)?.isFinite != true { return false }
        guard let written = try? WireConversion.normalized(json, of: attribute) else { return false }
        return WireConversion.json(cached: found, of: attribute).description.utf8.elementsEqual(written.description.utf8)
    }

    /// A text as its bytes: they may be none of UTF-8.
    func made(of attribute: AttributeModel, _ column: SQLColumn) -> String? {
        let value = value(of: attribute, column)
        return attribute.cachedType == .text && isUTF8 ? "CAST(\(value) AS BLOB)" : value
    }

    func unfit(_ found: Value, _ attribute: AttributeModel, in object: ObjectModel) -> Value? {
        var value = found
        if attribute.cachedType == .text, let bytes = found.blob {
            guard let text = String(validating: bytes, as: UTF8.self) else { return found }
            value = .text(text)
        }
        guard value != .null else { return nil }
        do {
            _ = try WireConversion.held(WireConversion.json(cached: value, of: attribute), by: attribute, in: object)
            return nil
        } catch { return value }
    }

    func hasSeveralForms(_ attribute: AttributeModel, _ column: SQLColumn) -> Bool {
        switch attribute.type {
        case .date, .time, .dateTime, .decimal, .boolean: true
        case .byte, .short, .int, .long, .integer, .string, .char: column.affinity == .blob
        case .binary: column.affinity == .text
        default: false
        }
    }

    /// Parts that a back end may store in several forms are compared in the cache's form. Texts, bytes and integers have few other forms, which an index finds:
    /// bytes for a text, and the reverse; a number or its digits where the column does not convert one to the other. The sign keeps SQLite from using the type of
    /// the conversion, with which many such conditions would not be one search in the index.
    func condition(on attribute: AttributeModel, _ column: SQLColumn, _ part: Value, place: Int) -> (sql: String, value: Value) {
        let name = column.sql, value = "?\(place)", converts = column.affinity == .text
        let sql =
            switch attribute.type {
            case .string, .char:
                converts
                    ? "(\(name) = \(value) OR \(name) = +CAST(\(value) AS BLOB))"
                    : "\(name) IN (\(value), CAST(\(value) AS BLOB), CAST(\(value) AS NUMERIC)) AND CAST(\(name) AS TEXT) = \(value)"
            case .binary: "(\(name) = \(value) OR \(name) = +CAST(\(value) AS TEXT))"
            case .byte, .short, .int, .long, .integer:
                column.affinity == .blob ? "(\(name) = \(value) OR \(name) = +CAST(\(value) AS TEXT))" : "\(name) = \(value)"
            default: hasSeveralForms(attribute, column) ? "(\(key([(attribute, column)]))) = \(value)" : "\(name) = \(value)"
            }
        return (sql, part)
    }
}

/// The conversion of a column of SQLite, which may store the values of any type.
///
/// A value that its attribute cannot hold comes back in a form that the export of its column refuses, so that it never becomes another value: see
/// ``UnfitRow``.
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
    /// - Parameter isConverted: whether the query has converted the values.
    static func export(of attribute: AttributeModel, in object: ObjectModel, isConverted: Bool = false) -> ExportColumn {
        let limit = limit(of: attribute, in: object), sql = isConverted ? nil : value(of: attribute, column: "?1")
        return switch attribute.type {
        case .byte, .short, .int, .long, .integer: ExportColumn(attribute.wireType, isExact: !isConverted, limit: limit)
        case .decimal:
            // The core takes the digits before the point from precision and scale.
            if case .decimal(let precision, let scale) = attribute.wireType, attribute.digitsBeforePoint == precision - scale {
                ExportColumn(attribute.wireType, isExact: !isConverted, limit: limit)
            } else {
                ExportColumn(attribute.wireType, conversion: sql, limit: limit)
            }
        case .boolean: ExportColumn(attribute.wireType, conversion: sql, limit: limit)
        case .float, .double: ExportColumn(attribute.wireType, isExact: !isConverted, conversion: sql, limit: limit)
        case .date: ExportColumn(.date, conversion: sql, limit: limit)
        case .time: ExportColumn(.time, conversion: sql, limit: limit)
        case .dateTime: ExportColumn(.dateTime, conversion: sql, limit: limit)
        // Of other storage, SQLite's texts and bytes are written.
        case .string, .char, .bigString, .binary, .bigBinary, .structure, .list, .nullableList: ExportColumn(attribute.wireType, limit: limit)
        }
    }

    private static func limit(of attribute: AttributeModel, in object: ObjectModel) -> ExportLimit {
        var limit = ExportLimit()
        limit.isRequired = attribute.isRequired(in: object)
        limit.isSingle = attribute.type == .float
        limit.integers = attribute.integers
        limit.length = attribute.lengths
        return limit
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
    /// other words of SQLite would be those of the load. It is not one at 24:00, or on a day that its month does not have, which SQLite would move to the next
    /// one. Text that is not a time stays unchanged, so that the export refuses it.
    private static func dateTime(_ format: String, _ form: PlainTime, _ column: String) -> String {
        func time(_ number: String) -> String {
            """
            CASE WHEN \(number) BETWEEN \(1 - leastMilliseconds) AND \(leastMilliseconds - 1) THEN strftime('\(format)', \(number), 'unixepoch') \
            ELSE strftime('\(format)', \(number) / 1000.0, 'unixepoch') END
            """
        }
        let day = "substr(\(column), 1, 10)", isDay = "(\(column) NOT GLOB '????-??-??*' OR date(\(day)) = \(day))"
        let isTime = "\(column) GLOB '[0-9]*[^0-9]*' AND \(column) NOT GLOB '24:*' AND \(column) NOT GLOB '*[T ]24:*' AND \(isDay)"
        let isNumber = "\(column) <> '' AND \(column) NOT GLOB '*[^0-9]*'"
        return """
            coalesce(\(form.call(column)), CASE typeof(\(column)) WHEN 'text' THEN CASE WHEN \(isTime) THEN strftime('\(format)', \(column), 'auto') \
            WHEN \(isNumber) THEN \(time("CAST(\(column) AS INTEGER)")) END \
            WHEN 'integer' THEN \(time(column)) WHEN 'real' THEN strftime('\(format)', \(column), 'auto') END, CAST(\(column) AS TEXT))
            """
    }
}
