internal import MobileModel
internal import MobileStore

/// The SQL of values in PostgreSQL, by the types of its columns.
///
/// A value that its attribute cannot hold becomes NULL, like the text of its row (see ``row(_:_:)``): no conversion can fail, and none changes a value.
struct PostgreSQLExpressions: SQLExpressions {
    func value(of attribute: AttributeModel, _ column: SQLColumn) -> String {
        PostgreSQLValueForm(of: attribute, column, isExact: true).value
    }

    func key(_ parts: [(attribute: AttributeModel, column: SQLColumn)]) -> String {
        guard parts.count > 1 else { return parts.map { value(of: $0.attribute, $0.column) }.joined() }
        return "'[' || " + parts.map { keyPart(of: $0.attribute, $0.column) }.joined(separator: " || ',' || ") + " || ']'"
    }

    private func keyPart(of attribute: AttributeModel, _ column: SQLColumn) -> String {
        let value = value(of: attribute, column)
        return switch attribute.cachedType {
        case .integer: "CAST(\(value) AS TEXT)"
        case .blob: "'\"' || upper(encode(\(value), 'hex')) || '\"'"
        default: "CAST(to_json(CAST(\(value) AS TEXT)) AS TEXT)"
        }
    }

    func misfit(of attribute: AttributeModel, _ column: SQLColumn) -> String? {
        let isNumber = attribute.type == .decimal || [.integer, .real].contains(attribute.cachedType)
        return switch (attribute.type, column.affinity) {
        case (_, .date) where isNumber, (.time, .date): "dates"
        case (_, .time) where isNumber, (.date, .time), (.dateTime, .time): "times of day"
        case (_, .timestamp) where isNumber, (_, .timestampWithTimeZone) where isNumber: "moments"
        case (_, .array) where isNumber || [.date, .time, .dateTime].contains(attribute.type): "arrays"
        case (.date, .boolean), (.time, .boolean), (.dateTime, .boolean): "booleans"
        case (_, .blob) where isNumber || [.date, .time, .dateTime].contains(attribute.type): "bytes"
        default: nil
        }
    }

    /// A trigger may have changed the value, and the engine refuses what a type cannot hold: so the attribute must be able to hold what is stored, no more.
    func kept(of attribute: AttributeModel, _ column: SQLColumn) -> String? {
        let form = PostgreSQLValueForm(of: attribute, column, isExact: false)
        return form.isAlwaysHeld
            ? nil : "CASE WHEN \(form.json(isRequired: false)) IS NULL THEN left(CAST(\(column.sql) AS TEXT), \(UnfitRow.longestText + 1)) END"
    }

    func isKept(_ found: Value, _ attribute: AttributeModel, _ json: JSONValue) -> Bool { found == .null }

    func made(of attribute: AttributeModel, _ column: SQLColumn) -> String? { kept(of: attribute, column) }

    func unfit(_ found: Value, _ attribute: AttributeModel, in object: ObjectModel) -> Value? {
        found == .null ? nil : found
    }

    func hasSeveralForms(_ attribute: AttributeModel, _ column: SQLColumn) -> Bool {
        column.affinity == .text && [.date, .time, .dateTime].contains(attribute.type)
    }

    func condition(on attribute: AttributeModel, _ column: SQLColumn, _ part: Value, place: Int) -> (sql: String, value: Value) {
        switch (attribute.type, column.affinity) {
        case (.date, .date), (.time, .time): ("\(column.sql) = ?\(place)", part)
        case (.date, .timestamp), (.dateTime, .date), (.dateTime, .timestamp): ("\(column.sql) = CAST(CAST(?\(place) AS TEXT) AS TIMESTAMP)", part)
        case (.date, .timestampWithTimeZone), (.dateTime, .timestampWithTimeZone):
            ("\(column.sql) = CAST(CAST(?\(place) AS TEXT) AS TIMESTAMPTZ)", part)
        case (.date, _), (.time, _), (.dateTime, _): ("\(value(of: attribute, column)) = CAST(?\(place) AS TEXT)", part)
        default: ("\(column.sql) = ?\(place)", WireConversion.value(cached: part, of: attribute, affinity: .text))
        }
    }

    // MARK: Rows

    /// A row that cannot be held has this character in place of its attributes, which no JSON value begins with, and then what ``UnfitRow`` needs.
    static let unfitMark: Character = "!"

    /// The attributes of a row as they travel, in one text. Which of them cannot be held is only looked for in a row that has one.
    func row(_ object: SQLObject) -> String {
        let plan = object.plan
        let values = plan.rowAttributes.map { attribute in
            let form = PostgreSQLValueForm(of: attribute, object.sourceColumn(attribute.name), isExact: plan.isExact(attribute))
            return form.json(isRequired: attribute.isRequired(in: plan.model))
        }
        guard !values.isEmpty else { return "''" }
        func text(_ attribute: AttributeModel) -> String {
            "left(CAST(\(object.sourceColumn(attribute.name).sql) AS TEXT), \(UnfitRow.longestText + 1))"
        }
        let culprits = zip(plan.rowAttributes, values).enumerated().map { number, attribute in
            "WHEN \(attribute.1) IS NULL THEN '\(number)' || coalesce(':' || \(text(attribute.0)), '')"
        }
        let details = ["CASE \(culprits.joined(separator: " ")) END"] + plan.keyAttributes.map(text)
        // A function has at most 100 arguments, so the texts are joined by operators.
        return """
            coalesce(\(values.joined(separator: " || ',' || ")), \
            '\(Self.unfitMark)' || CAST(to_json(ARRAY[\(details.joined(separator: ", "))]) AS TEXT))
            """
    }

    /// Reads the text of a row that cannot be held.
    func unfitRow(_ text: String, key: KeyText?, of object: ObjectPlan) throws -> UnfitRow {
        let details = try JSONValue(parsing: String(text.dropFirst())).array ?? [], culprit = details.first?.string ?? ""
        let number = Int(culprit.prefix { $0 != ":" }) ?? 0, value = culprit.firstIndex(of: ":").map { String(culprit[$0...].dropFirst()) }
        let keys = details.dropFirst().map { $0.string ?? "NULL" }
        let shownKey: Value = key?.value ?? (keys.count == 1 ? .text(keys[0]) : .text(JSONValue.array(keys.map { .string($0) }).description))
        let attribute = object.rowAttributes[min(max(number, 0), object.rowAttributes.count - 1)]
        var row = UnfitRow(object, key: key, shownKey: shownKey, attributes: [attribute], form: nil, value: value.map { .text($0) } ?? .null)
        // A number has no quotes, wherever it comes from.
        if let value, Double(value) != nil, attribute.type == .decimal || [.integer, .real].contains(attribute.cachedType) {
            row.value = String(value.prefix(UnfitRow.longestText))
        }
        return row
    }
}

/// The SQL of one value: the condition that its attribute can hold it, and its forms under this condition.
private struct PostgreSQLValueForm {
    private let column: String
    /// Nil if the attribute can hold each value of the column.
    private var condition: String?
    /// The value in the form of the cache.
    private var converted: String
    /// The value as JSON.
    private var text: String

    var isAlwaysHeld: Bool { condition == nil }

    /// The value in the form of the cache; NULL if the attribute cannot hold it.
    var value: String { condition.map { "CASE WHEN \($0) THEN \(converted) END" } ?? converted }

    /// The value as it travels; NULL if the attribute cannot hold it.
    func json(isRequired: Bool) -> String {
        switch (condition, isRequired) {
        case (nil, true): text
        case (nil, false): "coalesce(\(text), 'null')"
        case (let condition?, true): "CASE WHEN \(condition) THEN \(text) END"
        case (let condition?, false): "CASE WHEN \(column) IS NULL THEN 'null' WHEN \(condition) THEN \(text) END"
        }
    }

    /// - Parameter isExact: whether the value is part of a key, which may not lose the digits of a time.
    init(of attribute: AttributeModel, _ column: SQLColumn, isExact: Bool) {
        let (condition, converted): (String?, String) =
            switch attribute.type {
            case .byte, .short, .int, .long, .integer: Self.integer(attribute, column)
            case .boolean: Self.boolean(column)
            case .string, .char, .structure, .list, .nullableList, .bigString: Self.text(attribute, column)
            case .binary, .bigBinary: Self.bytes(attribute, column)
            case .float, .double: Self.real(attribute, column)
            case .decimal: Self.decimal(attribute, column)
            case .date, .time, .dateTime: PostgreSQLTimeForm(column).form(attribute.type, isExact: isExact)
            }
        (self.column, self.condition, self.converted) = (column.sql, condition, converted)
        text =
            switch attribute.type {
            case .byte, .short, .int, .long, .integer: "CAST(\(converted) AS TEXT)"
            case .boolean: "CASE \(converted) WHEN 1 THEN 'true' WHEN 0 THEN 'false' END"
            case .float, .double: "CAST(\(converted) AS TEXT)"
            case .decimal: Self.decimalText(attribute, column)
            case .date, .time, .dateTime: "'\"' || \(converted) || '\"'"
            case .binary, .bigBinary: "'\"' || replace(encode(\(converted), 'base64'), chr(10), '') || '\"'"
            case .string, .char, .structure, .list, .nullableList, .bigString: "CAST(to_json(\(converted)) AS TEXT)"
            }
    }

    // MARK: Numbers

    private static func asText(_ column: SQLColumn) -> String { "CAST(\(column.sql) AS TEXT)" }

    /// The condition of a number that a text may be. `AND` has no order in PostgreSQL, `CASE` has.
    private static func ifNumber(_ column: SQLColumn, _ condition: (_ number: String) -> String) -> String {
        // A regular expression of PostgreSQL counts to 255.
        let text = asText(column), number = "'^\\s*[-+]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]{1,3})?\\s*$'"
        return "CASE WHEN char_length(\(text)) <= 800 AND \(text) ~ \(number) THEN \(condition("CAST(\(text) AS NUMERIC)")) END"
    }

    private static func integer(_ attribute: AttributeModel, _ column: SQLColumn) -> (String?, String) {
        // Not up to the last one: as a double it would be 2 ^ 63, which 64 bits have no room for.
        func isIn(_ number: String) -> String {
            "\(number) >= \(attribute.integers.lowerBound) AND \(number) < \(UInt64(bitPattern: attribute.integers.upperBound) + 1)"
        }
        switch column.affinity {
        case .integer: return (attribute.integers == .min ... .max ? nil : isIn(column.sql), "CAST(\(column.sql) AS BIGINT)")
        case .boolean: return (nil, "CAST(CAST(\(column.sql) AS INTEGER) AS BIGINT)")
        case .numeric, .real, .single: return ("\(isIn(column.sql)) AND \(column.sql) = trunc(\(column.sql))", "CAST(\(column.sql) AS BIGINT)")
        default: return (ifNumber(column) { "\(isIn($0)) AND \($0) = trunc(\($0))" }, "CAST(CAST(\(asText(column)) AS NUMERIC) AS BIGINT)")
        }
    }

    private static func boolean(_ column: SQLColumn) -> (String?, String) {
        switch column.affinity {
        case .boolean: return (nil, "CAST(\(column.sql) AS INTEGER)")
        case .integer, .numeric, .real, .single: return (nil, "CAST(\(column.sql) <> 0 AS INTEGER)")
        default:
            let text = "lower(\(asText(column)))"
            func words(_ words: [String]) -> String { words.map { "'\($0)'" }.joined(separator: ", ") }
            let isTrue = "\(text) IN (\(words(ColumnExpression.trueWords)))", isFalse = "\(text) IN (\(words(ColumnExpression.falseWords)))"
            return ("(\(isTrue) OR \(isFalse))", "CAST(\(isTrue) AS INTEGER)")
        }
    }

    private static func real(_ attribute: AttributeModel, _ column: SQLColumn) -> (String?, String) {
        // NaN is the greatest number.
        let limit = attribute.type == .float ? "3.4028235677973366e38" : "1.7976931348623158e308"
        func isIn(_ number: String) -> String { "abs(\(number)) < \(limit) AND (\(number) = 0 OR abs(\(number)) > 1e-307)" }
        switch column.affinity {
        case .integer: return (nil, "CAST(\(column.sql) AS DOUBLE PRECISION)")
        // The digits of a number of 32 bits, without those that the conversion to 64 bits would add.
        case .single: return ("\(column.sql) > '-Infinity' AND \(column.sql) < 'Infinity'", "CAST(\(asText(column)) AS DOUBLE PRECISION)")
        case .real:
            let isFinite = "\(column.sql) > '-Infinity' AND \(column.sql) < 'Infinity'"
            return (attribute.type == .float ? "abs(\(column.sql)) < \(limit)" : isFinite, "CAST(\(column.sql) AS DOUBLE PRECISION)")
        case .numeric: return (isIn(column.sql), "CAST(\(column.sql) AS DOUBLE PRECISION)")
        default: return (ifNumber(column, isIn), "CAST(\(asText(column)) AS DOUBLE PRECISION)")
        }
    }

    // MARK: Decimals

    private static func number(_ column: SQLColumn) -> String {
        switch column.affinity {
        case .numeric: column.sql
        case .integer, .real, .single: "CAST(\(column.sql) AS NUMERIC)"
        default: "CAST(\(asText(column)) AS NUMERIC)"
        }
    }

    private static func rounded(_ attribute: AttributeModel, _ column: SQLColumn) -> String { "round(\(number(column)), \(attribute.scale ?? 2))" }

    private static func decimal(_ attribute: AttributeModel, _ column: SQLColumn) -> (String?, String) {
        let bound = "1" + String(repeating: "0", count: attribute.digitsBeforePoint), scale = attribute.scale ?? 2
        // NaN equals itself, and is above each number.
        func fits(_ number: String) -> String { "abs(\(number)) < \(bound) AND \(number) = round(\(number), \(scale))" }
        let condition =
            switch column.affinity {
            case .numeric: fits(column.sql)
            case .integer: "abs(CAST(\(column.sql) AS NUMERIC)) < \(bound)"
            case .real, .single:
                "CASE WHEN \(column.sql) > '-Infinity' AND \(column.sql) < 'Infinity' THEN \(fits("CAST(\(column.sql) AS NUMERIC)")) END"
            default: ifNumber(column, fits)
            }
        let rounded = rounded(attribute, column)
        guard (attribute.precision ?? 18) <= ColumnExpression.scaledDigits else { return (condition, "CAST(\(rounded) AS TEXT)") }
        return (condition, "CAST(\(rounded) * 1\(String(repeating: "0", count: scale)) AS BIGINT)")
    }

    /// Without zeros at the end, in the form of SQLite's rows.
    private static func decimalText(_ attribute: AttributeModel, _ column: SQLColumn) -> String {
        let text = "CAST(\(rounded(attribute, column)) AS TEXT)"
        return attribute.scale == 0 ? text : "rtrim(rtrim(\(text), '0'), '.')"
    }

    // MARK: Texts and bytes

    private static func text(_ attribute: AttributeModel, _ column: SQLColumn) -> (String?, String) {
        let lengths = attribute.lengths
        func isIn(_ text: String) -> String? {
            if attribute.type == .char { return "char_length(\(text)) = 1" }
            // A text of fewer bytes has fewer characters.
            return lengths.upperBound == .max
                ? nil : "(octet_length(\(text)) <= \(lengths.upperBound) OR char_length(\(text)) <= \(lengths.upperBound))"
        }
        guard column.affinity == .array, attribute.type.isComplex else {
            let text = column.affinity == .blob ? "convert_from(\(column.sql), 'UTF8')" : asText(column)
            return (attribute.isLarge ? nil : isIn(text), text)
        }
        // An array whose places do not begin with 1 has them in its text. No list of JSON has such places.
        let json = "CAST(to_json(\(column.sql)) AS TEXT)", hasPlaces = "\(asText(column)) LIKE '[%'"
        return ("NOT \(hasPlaces)" + (isIn(json).map { " AND \($0)" } ?? ""), json)
    }

    private static func bytes(_ attribute: AttributeModel, _ column: SQLColumn) -> (String?, String) {
        let bytes = column.affinity == .blob ? column.sql : "convert_to(\(asText(column)), 'UTF8')"
        return (attribute.isLarge || attribute.lengths.upperBound == .max ? nil : "octet_length(\(bytes)) <= \(attribute.lengths.upperBound)", bytes)
    }
}
