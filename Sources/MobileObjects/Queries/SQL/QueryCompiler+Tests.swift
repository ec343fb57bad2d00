import MobileStore

extension QueryCompiler {
    /// The maximum number of terms of one AND or OR on one level; SQLite's trees of expressions have up to a thousand levels.
    private static let chainLength = 500

    /// Returns a condition as SQL that may be an operand of AND.
    /// - Parameter items: the selected items of the query; tests of groups may use their names.
    func condition(_ test: TestCriteria, _ scope: QueryScope, items: [SelectedItem], isHaving: Bool) throws -> String {
        switch test {
        case .attribute(let test): return try condition(test, scope, items, isHaving: isHaving)
        case .search(let search):
            guard !isHaving else { throw ObjectError(.invalidQuery, "query: a search is a condition on rows; use where, not having") }
            return try condition(search, scope)
        case .composite(let test):
            guard !test.operands.isEmpty else {
                throw ObjectError(.invalidQuery, "query: a composite test has no operands")
            }
            return try nested(3) {
                let operands = try test.operands.map { try condition($0, scope, items: items, isHaving: isHaving) }
                switch test.operator {
                case .and: return chain(operands, " AND ")
                case .or: return chain(operands, " OR ")
                case .not: return "NOT \(chain(operands, " AND "))"
                }
            }
        }
    }

    private func chain(_ operands: [String], _ word: String) -> String {
        guard operands.count > Self.chainLength else { return "(\(operands.joined(separator: word)))" }
        let pieces = stride(from: 0, to: operands.count, by: Self.chainLength).map { start in
            "(\(operands[start..<min(start + Self.chainLength, operands.count)].joined(separator: word)))"
        }
        return chain(pieces, word)
    }

    private func condition(_ test: AttributeTest, _ scope: QueryScope, _ items: [SelectedItem], isHaving: Bool) throws -> String {
        if test.operator == .exists || test.operator == .notExists {
            guard case .query(let query) = test.testValue else {
                throw ObjectError(.invalidQuery, "query: \(test.operator) is asked of a value; give it a query")
            }
            return "\(test.operator == .exists ? "" : "NOT ")EXISTS (\(try nested(2) { try select(query, outer: scope) }.sql))"
        }
        let left = try tested(test.attribute, scope, items, isHaving: isHaving)
        let place = TestPlace(attribute: test.attribute, operator: test.operator, type: left.type)
        switch test.operator {
        case .isNull: return "\(left.sql) IS NULL"
        case .notNull: return "\(left.sql) IS NOT NULL"
        case _ where left.type.isOpaque: throw place.error(.unsupportedType, "the values of a \(left.type.type) cannot be compared")
        case .equal, .match: return try comparison(left, test.testValue, place, "=", scope)
        case .notEqual, .notMatch: return try comparison(left, test.testValue, place, "<>", scope)
        case .lessThan: return try comparison(left, test.testValue, place, "<", scope)
        case .lessEqual: return try comparison(left, test.testValue, place, "<=", scope)
        case .greaterThan: return try comparison(left, test.testValue, place, ">", scope)
        case .greaterEqual: return try comparison(left, test.testValue, place, ">=", scope)
        case .in: return try membership(left, test.testValue, place, isIn: true, scope)
        case .notIn: return try membership(left, test.testValue, place, isIn: false, scope)
        default: return try pattern(left, test.testValue, place, scope)
        }
    }

    private func tested(_ text: String, _ scope: QueryScope, _ items: [SelectedItem], isHaving: Bool) throws -> SQLExpression {
        if isHaving {
            if let named = items.first(where: { $0.asAlias == text }) { return SQLExpression(sql: named.sql, type: named.column.type) }
            return try expression(text, scope).value
        }
        if let found = try column(text, scope) { return found.value }
        guard ItemText.call(text) == nil else {
            throw ObjectError(.invalidQuery, "query: \"\(text)\" is not an attribute; aggregates are tested by having, not by where")
        }
        return try attribute(text, scope)
    }

    private func comparison(_ left: SQLExpression, _ value: TestValue, _ place: TestPlace, _ word: String, _ scope: QueryScope) throws -> String {
        switch value {
        case .value(.null):
            switch word {
            case "=": return "\(left.sql) IS NULL"
            case "<>": return "\(left.sql) IS NOT NULL"
            default: throw place.error(.invalidValue, "null is neither less nor greater than anything")
            }
        case .value(let value):
            return "\(isOrder(word) ? left.ordered : left.sql) \(word) \(bind(try ComparedValue(place).bound(value, word)))"
        case .column(let column):
            return try compare(left, try self.column(column.alias, column.attribute, scope).value, place, word)
        case .query(let query): return try compare(left, try subquery(query, scope), place, word)
        case .list: throw place.error(.invalidQuery, "a list is compared by in and notIn alone")
        }
    }

    private func compare(_ left: SQLExpression, _ right: SQLExpression, _ place: TestPlace, _ word: String) throws -> String {
        guard let (one, other) = SQLExpression.comparable(left, right) else {
            throw place.error(.invalidValue, "a \(left.type.type) cannot be compared with a \(right.type.type)")
        }
        // A decimal that is kept as text is compared only with another one, and stays unchanged.
        return "\(isOrder(word) && one == left.sql ? left.ordered : one) \(word) \(other)"
    }

    /// Returns whether a comparison is about more than equality. Equality is that of the stored values.
    private func isOrder(_ word: String) -> Bool { word != "=" && word != "<>" }

    /// Returns a test of membership. Unlike in SQL, a list may contain null: an attribute that is null is in such a list, and in no other.
    private func membership(_ left: SQLExpression, _ value: TestValue, _ place: TestPlace, isIn: Bool, _ scope: QueryScope) throws -> String {
        let word = isIn ? "IN" : "NOT IN"
        switch value {
        case .list(let values):
            let compared = ComparedValue(place)
            var seen: Set<AttributeValue> = [.null]
            let places = try values.filter { seen.insert($0).inserted }.map { bind(try compared.bound($0, "=")) }
            let list = "\(left.sql) \(word) (\(places.joined(separator: ", ")))"
            guard values.contains(.null) else { return list }
            return isIn ? "(\(list) OR \(left.sql) IS NULL)" : "(\(list) AND \(left.sql) IS NOT NULL)"
        case .query(let query):
            let select = try nested(9) { try self.select(query, outer: scope) }
            guard select.columns.count == 1 else {
                throw place.error(.invalidQuery, "its query selects \(select.columns.count) items; select one")
            }
            let inner = SQLExpression(sql: "c0", type: select.columns[0].type)
            guard let (one, other) = SQLExpression.comparable(left, inner) else {
                throw place.error(.invalidValue, "a \(left.type.type) cannot be compared with a \(inner.type.type)")
            }
            return "\(one) \(word) (SELECT \(other) FROM (\(select.sql)) WHERE c0 IS NOT NULL)"
        default: throw place.error(.invalidQuery, "it requires a list or a query")
        }
    }

    private func pattern(_ left: SQLExpression, _ value: TestValue, _ place: TestPlace, _ scope: QueryScope) throws -> String {
        guard left.type.isTextual else { throw place.error(.unsupportedType, "a \(left.type.type) has no parts") }
        guard let form = PatternForm(place.operator) else { throw place.error(.invalidQuery, "the operator is not known") }
        switch value {
        case .value(.string(let text)):
            let pattern = form.pattern(text)
            guard pattern.utf8.count <= PatternForm.maximumLength else {
                throw place.error(
                    .invalidValue, "the text has \(text.utf8.count) bytes; \(PatternForm.maximumLength / 2) are the most that is looked for")
            }
            return "\(left.sql) \(form.word) \(bind(.text(pattern)))\(form.escape)"
        case .column(let column):
            let right = try self.column(column.alias, column.attribute, scope).value
            guard right.type.isTextual else { throw place.error(.invalidValue, "a \(right.type.type) is not a pattern") }
            return "\(left.sql) \(form.word) \(form.pattern(ofSQL: right.sql))\(form.escape)"
        default: throw place.error(.invalidValue, "it requires a text")
        }
    }
}

/// The operators that look for a part of a text, all written with LIKE.
private struct PatternForm {
    /// The maximum length of a pattern in SQLite, in bytes.
    static let maximumLength = 50_000

    let word: String
    let isLike: Bool
    private let before: String
    private let after: String

    init?(_ operator: AttributeTest.Operator) {
        switch `operator` {
        case .like, .notLike: (isLike, before, after) = (true, "", "")
        case .contains, .notContains: (isLike, before, after) = (false, "%", "%")
        case .startsWith, .notStartsWith: (isLike, before, after) = (false, "", "%")
        case .endsWith, .notEndsWith: (isLike, before, after) = (false, "%", "")
        default: return nil
        }
        switch `operator` {
        case .notLike, .notContains, .notStartsWith, .notEndsWith: word = "NOT LIKE"
        default: word = "LIKE"
        }
    }

    var escape: String { isLike ? "" : #" ESCAPE '\'"# }

    func pattern(_ text: String) -> String {
        guard !isLike else { return text }
        var escaped = ""
        for scalar in text.unicodeScalars {
            if scalar == "%" || scalar == "_" || scalar == "\\" { escaped.unicodeScalars.append("\\") }
            escaped.unicodeScalars.append(scalar)
        }
        return before + escaped + after
    }

    func pattern(ofSQL sql: String) -> String {
        guard !isLike else { return sql }
        return "'\(before)' || replace(replace(replace(\(sql), '\\', '\\\\'), '%', '\\%'), '_', '\\_') || '\(after)'"
    }
}
