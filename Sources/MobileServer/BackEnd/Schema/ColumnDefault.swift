internal import MobileModel
internal import MobileStore

/// A constant that is the default of a column. Other defaults, such as `now()`, are the database's own matter.
enum ColumnDefault: Equatable {
    case number(String)
    case text(String)
    case boolean(Bool)
    /// NULL: as without a default.
    case null

    /// Reads a default as a database writes it: `'open'::character varying`, `(-1)`, `0`, `true`.
    /// - Returns: nil for an expression.
    init?(_ sql: String) {
        var sql = sql.trimmedSpaces
        while sql.hasPrefix("("), sql.hasSuffix(")"), !sql.dropFirst().dropLast().contains(where: { "()".contains($0) }) {
            sql = String(sql.dropFirst().dropLast()).trimmedSpaces
        }
        switch sql.lowercased() {
        case "true": self = .boolean(true)
        case "false": self = .boolean(false)
        default:
            if let text = sql.wholeMatch(of: /'((?:[^']|'')*)'(?:::[\w ."]+(?:\([0-9, ]+\))?)*/) {
                self = .text(String(text.1).replacing("''", with: "'"))
            } else if let text = sql.wholeMatch(of: /"((?:[^"]|"")*)"/) {
                // SQLite takes it for a text.
                self = .text(String(text.1).replacing("\"\"", with: "\""))
            } else if let number = sql.wholeMatch(
                of: /\(?([+-]?)\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)((?:[eE][+-]?[0-9]+)?)\)?(?:::[\w ."]+(?:\([0-9, ]+\))?)*/)
            {
                let digits = (number.2.hasPrefix(".") ? "0" : "") + number.2 + (number.2.hasSuffix(".") ? "0" : "")
                self = .number((number.1 == "-" ? "-" : "") + digits + number.3)
            } else if sql.wholeMatch(of: /(?i)null(?:::.*)?/) != nil {
                self = .null
            } else {
                return nil
            }
        }
    }

    /// Returns the constant as the default of an attribute, in JSON; nil if the attribute cannot have it.
    /// - Parameter hasTimes: whether the database knows times from texts, so that its own form of them does not count.
    func json(for attribute: AttributeModel, hasTimes: Bool) -> String? {
        switch (attribute.type, self) {
        case (.string, .text(let text)):
            guard text.unicodeScalars.count <= attribute.length ?? .max else { return nil }
            return JSONValue.string(text).description
        case (.string, .number(let digits)):
            guard Int64(digits).map({ "\($0)" == digits }) == true, digits.count <= attribute.length ?? .max else { return nil }
            return JSONValue.string(digits).description
        case (.char, .text(let text)): return text.unicodeScalars.count == 1 ? JSONValue.string(text).description : nil
        case (.boolean, .boolean(let value)): return value ? "true" : "false"
        case (.boolean, .number(let digits)): return ["0": "false", "1": "true"][digits]
        case (.boolean, .text(let text)): return Self.boolean(text.lowercased())
        case (.byte, .number(let digits)), (.short, .number(let digits)), (.int, .number(let digits)), (.long, .number(let digits)),
            (.integer, .number(let digits)), (.byte, .text(let digits)), (.short, .text(let digits)), (.int, .text(let digits)),
            (.long, .text(let digits)), (.integer, .text(let digits)):
            return Int64(digits).flatMap { attribute.integers.contains($0) ? "\($0)" : nil }
        case (.decimal, .number(let digits)), (.decimal, .text(let digits)): return Self.decimal(digits, attribute)
        case (.float, .number(let digits)), (.double, .number(let digits)), (.float, .text(let digits)), (.double, .text(let digits)):
            return Double(digits).flatMap { $0.isFinite ? JSONValue($0)?.description : nil }
        case (.date, .text(let text)) where hasTimes: return text.wholeMatch(of: /\d{4}-\d\d-\d\d/) != nil ? "\"\(text)\"" : nil
        case (.time, .text(let text)) where hasTimes: return text.wholeMatch(of: /([01]\d|2[0-3]):\d\d:\d\d/) != nil ? "\"\(text)\"" : nil
        default: return nil
        }
    }

    /// The value that SQLite stores; nil for NULL.
    var stored: Value? {
        switch self {
        case .number(let digits): Int64(digits).map(Value.integer) ?? Double(digits).map(Value.real)
        case .text(let text): .text(text)
        case .boolean(let value): .integer(value ? 1 : 0)
        case .null: nil
        }
    }

    /// A word as a boolean; nil for other texts. An empty text is false where it is stored, and not a word that an author chose as a default.
    private static func boolean(_ word: String) -> String? {
        if ColumnExpression.trueWords.contains(word) { return "true" }
        return !word.isEmpty && ColumnExpression.falseWords.contains(word) ? "false" : nil
    }

    private static func decimal(_ digits: String, _ attribute: AttributeModel) -> String? {
        guard let parts = digits.wholeMatch(of: /(-?)0*([0-9]*)(?:\.([0-9]*?)0*)?/) else { return nil }
        let whole = parts.2.isEmpty ? "0" : String(parts.2), fraction = parts.3 ?? ""
        guard parts.2.count <= attribute.digitsBeforePoint, fraction.count <= attribute.scale ?? 2 else { return nil }
        return parts.1 + whole + (fraction.isEmpty ? "" : "." + fraction)
    }
}

extension String {
    fileprivate var trimmedSpaces: String {
        String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}
