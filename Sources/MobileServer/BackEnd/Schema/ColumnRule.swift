internal import Foundation
internal import MobileModel

/// The rule of a simple CHECK condition about one column: a list of values, or bounds. Other conditions are documentation only.
///
/// **A device refuses nothing that its database takes.** So a condition whose comparison may mean something else than the device's own is not simple: of
/// texts with a collation, of types that leave out blanks, of doubles without the bound itself.
struct ColumnRule {
    /// The constants of a list, as the database writes them; empty for bounds.
    private(set) var values: [String] = []
    private var minimum: Bound?, maximum: Bound?
    /// Whether a bound is a text, which the column's affinity makes a number.
    private var hasTextBound = false

    private struct Bound {
        let number: Decimal
        /// Whether the number itself is allowed.
        let isIncluded: Bool
    }

    /// The types that a condition of PostgreSQL may convert to without another meaning.
    private static let texts: Set<String> = ["text", "character varying", "text[]", "character varying[]"],
        numbers: Set<String> = ["smallint", "integer", "bigint", "numeric"], constants = numbers.union(["double precision"])

    // MARK: Reading

    /// - Returns: nil for a condition that is not simple, or about another column.
    init?(_ condition: String, column: String) {
        let tokens = TableChecks.tokens(of: condition, namesInBrackets: !condition.contains("ARRAY["))
        guard take(tokens[...], column) else { return nil }
    }

    private typealias Words = ArraySlice<TableChecks.Token>

    /// Takes a condition, or several that hold together.
    private mutating func take(_ words: Words, _ column: String) -> Bool {
        let words = Self.inner(words), alternatives = Self.split(words, "OR")
        // A missing value passes any condition.
        if alternatives.count == 2, let other = alternatives.first(where: { !Self.isNull($0, column) }),
            alternatives.contains(where: { Self.isNull($0, column) })
        {
            return take(other, column)
        }
        let parts = Self.split(words, "AND")
        if parts.count > 1 { return parts.allSatisfy { take($0, column) } }
        guard var rest = Self.name(words, column), let sign = rest.popFirst() else { return false }
        if sign.is("IN") { return takeList(Self.parenthesized(&rest), rest) }
        if sign.is("BETWEEN") {
            guard let and = rest.firstIndex(where: { $0.is("AND") }), let low = Self.number(rest[..<and]), let high = Self.number(rest[(and + 1)...])
            else { return false }
            noteTexts(rest)
            return takeBounds(Bound(number: low, isIncluded: true), Bound(number: high, isIncluded: true))
        }
        guard sign.quote == nil else { return false }
        let isEqual = rest.first?.is("=") == true
        switch sign.text {
        case "=" where rest.first?.is("ANY") == true:
            rest = rest.dropFirst()
            guard let list = Self.parenthesized(&rest), rest.isEmpty, var array = Self.withoutType(list, Self.texts),
                array.popFirst()?.is("ARRAY") == true
            else { return false }
            return takeList(Self.bracketed(array), [])
        case ">", "<":
            guard let number = Self.number(isEqual ? rest.dropFirst() : rest) else { return false }
            noteTexts(rest)
            let bound = Bound(number: number, isIncluded: isEqual)
            return sign.text == ">" ? takeBounds(bound, nil) : takeBounds(nil, bound)
        default: return false
        }
    }

    /// Remembers a bound that is a text. PostgreSQL writes the type after it.
    private mutating func noteTexts(_ words: Words) {
        if words.contains(where: { $0.quote == "'" }), !words.contains(where: { $0.is(":") }) { hasTextBound = true }
    }

    private mutating func takeList(_ list: Words?, _ rest: Words) -> Bool {
        guard let list, rest.isEmpty, values.isEmpty, minimum == nil, maximum == nil else { return false }
        for part in list.split(omittingEmptySubsequences: false, whereSeparator: { $0.is(",") }) {
            guard let value = Self.constant(part) else { return false }
            values.append(value)
        }
        return !values.isEmpty
    }

    private mutating func takeBounds(_ low: Bound?, _ high: Bound?) -> Bool {
        guard values.isEmpty, low == nil || minimum == nil, high == nil || maximum == nil else { return false }
        if let low { minimum = low }
        if let high { maximum = high }
        return true
    }

    /// The words without parentheses around all of them.
    private static func inner(_ words: Words) -> Words {
        var words = words
        while words.first?.is("(") == true {
            var rest = words
            guard let inside = parenthesized(&rest), rest.isEmpty else { break }
            words = inside
        }
        return words
    }

    /// Takes the words in the parentheses at the start; nil without them.
    private static func parenthesized(_ words: inout Words) -> Words? {
        guard words.first?.is("(") == true else { return nil }
        var depth = 0
        for index in words.indices {
            depth += words[index].is("(") ? 1 : words[index].is(")") ? -1 : 0
            guard depth == 0 else { continue }
            defer { words = words[(index + 1)...] }
            return words[(words.startIndex + 1)..<index]
        }
        return nil
    }

    private static func bracketed(_ words: Words) -> Words? {
        words.first?.is("[") == true && words.last?.is("]") == true ? words.dropFirst().dropLast() : nil
    }

    private static func isNull(_ words: Words, _ column: String) -> Bool {
        name(inner(words), column).map { $0.count == 2 && $0.first?.is("IS") == true && $0.last?.is("NULL") == true } ?? false
    }

    /// The conditions that AND or OR joins; the AND of BETWEEN joins none.
    private static func split(_ words: Words, _ joint: String) -> [Words] {
        var parts: [Words] = [], start = words.startIndex, depth = 0, isBetween = false
        for index in words.indices {
            depth += words[index].is("(") ? 1 : words[index].is(")") ? -1 : 0
            if depth == 0, words[index].is("BETWEEN") { isBetween = true }
            guard depth == 0, words[index].is(joint) || words[index].is("AND") else { continue }
            if isBetween || !words[index].is(joint) {
                isBetween = false
            } else {
                parts.append(words[start..<index])
                start = index + 1
            }
        }
        return parts + [words[start...]]
    }

    /// Takes the column's name from the start; nil for another one.
    private static func name(_ words: Words, _ column: String) -> Words? {
        var words = words
        if words.first?.is("(") == true {
            guard let inside = parenthesized(&words), inside.count == 1, inside.first?.isName(column) == true else { return nil }
        } else {
            guard words.popFirst()?.isName(column) == true else { return nil }
        }
        guard words.first?.is(":") == true else { return words }
        let end = words.firstIndex { !$0.is(":") && ($0.quote != nil || !($0.text.first?.isLetter ?? false)) } ?? words.endIndex
        return typeName(words[..<end]).map { texts.union(numbers).contains($0) } == true ? words[end...] : nil
    }

    /// The name of a type with its two colons.
    private static func typeName(_ words: Words) -> String? {
        guard words.count > 2, words.prefix(2).allSatisfy({ $0.is(":") }), words.allSatisfy({ $0.quote == nil }) else { return nil }
        return words.dropFirst(2).map { $0.text.lowercased() }.joined(separator: " ").replacing(" [ ]", with: "[]")
    }

    /// The words without parentheses around all of them and without types at the end; nil if one is none of `types`.
    private static func withoutType(_ words: Words, _ types: Set<String>) -> Words? {
        let words = inner(words)
        var depth = 0, colon: Int?
        for index in words.indices {
            depth += words[index].is("(") || words[index].is("[") ? 1 : words[index].is(")") || words[index].is("]") ? -1 : 0
            if depth == 0, words[index].is(":") { colon = index }
        }
        guard let colon else { return words }
        guard colon > words.startIndex, let type = typeName(words[(colon - 1)...]), types.contains(type) else { return nil }
        return withoutType(words[..<(colon - 1)], types)
    }

    /// A text, or the digits of a number; nil for anything else.
    private static func constant(_ words: Words) -> String? {
        guard let bare = withoutType(words, texts.union(numbers)) else { return nil }
        if bare.count == 1, let first = bare.first, first.quote == "'" { return "'" + first.text.replacing("'", with: "''") + "'" }
        return digits(bare)
    }

    private static func number(_ words: Words) -> Decimal? {
        guard let bare = withoutType(words, constants) else { return nil }
        if bare.count == 1, let first = bare.first, first.quote == "'" {
            return first.text.wholeMatch(of: number).flatMap { Decimal(string: "\($0.0)") }
        }
        return digits(bare).flatMap { Decimal(string: $0) }
    }

    private static func digits(_ words: Words) -> String? {
        guard words.allSatisfy({ $0.quote == nil }) else { return nil }
        let text = words.map(\.text).joined()
        return text.wholeMatch(of: number) == nil ? nil : text
    }

    private static var number: Regex<Substring> { /-?[0-9]{1,30}(?:\.[0-9]{1,30})?/ }

    // MARK: The rule of an attribute

    /// Gives an attribute the rule, if it can have it.
    /// - Returns: whether it has the rule now.
    /// - Parameter comparesBytes: whether texts are equal only if their bytes are.
    func give(to attribute: inout AttributeModel, of column: DescribedTable.Column, comparesBytes: Bool) -> Bool {
        let isOfTexts = [.string, .char].contains(attribute.type)
        guard !attribute.hasValueRule, !attribute.isGenerated, isOfTexts ? comparesBytes && column.affinity == .text : column.affinity.isNumber else {
            return false
        }
        // SQLite compares by the declared type. Without one, each number is less than each text, and a column of numbers makes numbers of texts.
        let compared = column.declaredAffinity ?? column.affinity
        guard !hasTextBound || compared.isNumber else { return false }
        if isOfTexts, compared != .text, compared != .blob, values.contains(where: { $0.contains(where: \.isNumber) }) { return false }
        var copy = attribute
        if values.isEmpty {
            guard takeBounds(&copy) else { return false }
        } else {
            guard [.string, .char, .decimal].contains(copy.type) || copy.type.isWholeNumber else { return false }
            for value in values {
                // The database compares a text with a number in its own way.
                guard value.hasPrefix("'") == isOfTexts, let json = ColumnDefault(value)?.json(for: copy, hasTimes: false) else { return false }
                if !copy.values.contains(json) { copy.values.append(json) }
            }
        }
        // A default that the check refuses is for other ways to make a row.
        if copy.defaultValue != nil, !copy.isDefaultAllowed { return false }
        attribute = copy
        return true
    }

    private func takeBounds(_ attribute: inout AttributeModel) -> Bool {
        switch attribute.type {
        case .float, .double:
            guard minimum?.isIncluded ?? true, maximum?.isIncluded ?? true else { return false }
            if let minimum, let maximum, minimum.number > maximum.number { return false }
            (attribute.minimum, attribute.maximum) = (minimum.map { "\($0.number)" }, maximum.map { "\($0.number)" })
            return true
        case .decimal: return takeExactBounds(&attribute, scale: attribute.scale ?? 2)
        case _ where attribute.type.isWholeNumber: return takeExactBounds(&attribute, scale: 0)
        default: return false
        }
    }

    /// The first and the last value of an attribute with `scale` digits after the point.
    private func takeExactBounds(_ attribute: inout AttributeModel, scale: Int) -> Bool {
        func number(_ bound: Bound, _ mode: NSDecimalNumber.RoundingMode, step: Decimal) -> Decimal {
            var number = bound.number, rounded = Decimal()
            NSDecimalRound(&rounded, &number, scale, mode)
            return !bound.isIncluded && rounded == number ? rounded + step : rounded
        }
        let step = Decimal(sign: .plus, exponent: -scale, significand: 1)
        let least = minimum.map { number($0, .up, step: step) }, greatest = maximum.map { number($0, .down, step: -step) }
        if let least, let greatest, least > greatest { return false }
        // A bound beyond the type's own says nothing that the type does not.
        func json(_ number: Decimal?) -> String? { number.flatMap { ColumnDefault("\($0)")?.json(for: attribute, hasTimes: false) } }
        (attribute.minimum, attribute.maximum) = (json(least), json(greatest))
        return (attribute.minimum == nil) == (least == nil) && (attribute.maximum == nil) == (greatest == nil)
    }
}

extension AttributeType {
    fileprivate var isWholeNumber: Bool { [.byte, .short, .int, .long, .integer].contains(self) }
}

extension BackEndTable.Affinity {
    fileprivate var isNumber: Bool { [.integer, .real, .numeric].contains(self) }
}

extension TableChecks.Token {
    fileprivate func `is`(_ word: String) -> Bool { !isQuoted && text.caseInsensitivelyEquals(word) }

    fileprivate func isName(_ name: String) -> Bool { quote != "'" && text.caseInsensitivelyEquals(name) }
}
