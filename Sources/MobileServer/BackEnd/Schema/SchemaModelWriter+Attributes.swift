internal import Foundation
internal import MobileModel
internal import MobileStore

/// Attributes of columns.
extension SchemaModelWriter {
    mutating func attribute(_ column: DescribedTable.Column, _ name: String, in table: DescribedTable) -> AttributeModel {
        var attribute = AttributeModel(name: name, type: .string, isNullable: column.isNullable, isGenerated: column.isGenerated)
        let numbers = Self.lengths(of: column.declaredType), isCompared = Self.isCompared(column.name, in: table)
        let type = column.declaredType.lowercased()
        switch column.affinity {
        case .boolean: attribute.type = .boolean
        case .integer where type.contains("bool"): attribute.type = .boolean
        // SQLite has 64 bits in each integer; PostgreSQL's types are in small letters.
        case .integer: attribute.type = ["smallint": .short, "integer": .int][column.declaredType] ?? .long
        case .real, .single: attribute.type = .double
        case .date: attribute.type = .date
        case .time: attribute.type = .time
        case .timestamp, .timestampWithTimeZone: attribute.type = .dateTime
        case .numeric where type.contains("bool"): attribute.type = .boolean
        case .numeric where column.timeType != nil: attribute.type = column.timeType ?? .dateTime
        case .numeric:
            attribute.type = .decimal
            // numeric(5,-2) has no digits after the point, and zeros for its last two before it; numeric(3,5) has none before it. SQLite takes any number
            // for digits; none at all say nothing.
            let digits = numbers.first.flatMap { $0 > 0 ? $0 : nil }
            let declared = digits == nil ? 4 : numbers.count > 1 ? numbers[1] : 0
            attribute.precision = min(max((digits ?? 18) - min(declared, 0), declared), 38)
            attribute.scale = min(max(declared, 0), attribute.precision ?? 18)
            widen(&attribute, to: column, in: table)
        // Large values belong to the device that writes them: a computed one is in the row, if it fits.
        case .blob:
            attribute.type = isCompared || column.isGenerated && column.longest ?? 0 <= LengthRules.longestBinary ? .binary : .bigBinary
        case .text, .array:
            // SQLite takes any number for a length: VARCHAR(0), NVARCHAR(-1), and more than its texts can have.
            attribute.length = type == "uuid" ? 36 : numbers.first.flatMap { (1..<Self.greatestNumber).contains($0) ? $0 : nil }
            let longest = column.longest ?? 0
            if let length = attribute.length, longest > length {
                remarks.append(
                    "table \"\(table.name)\", column \"\(column.name)\" of type \(column.declaredType): there are texts of \(longest) characters"
                )
                attribute.length = longest > LengthRules.longestString ? nil : longest
            }
            // A key has any length: a limit that the database does not have would refuse what it takes.
            if attribute.length == nil, !isCompared, longest > LengthRules.longestString { attribute.type = .bigString }
        }
        return attribute
    }

    /// The numbers in the parentheses at the end of a type; none where they have another meaning.
    private static func lengths(of type: String) -> [Int] {
        guard let numbers = type.wholeMatch(of: /[^"()]*\(\s*(-?[0-9]+)\s*(?:,\s*(-?[0-9]+)\s*)?\)/),
            !["interval", "time"].contains(where: { type.lowercased().hasPrefix($0) })
        else { return [] }
        func number(_ digits: Substring) -> Int {
            min(max(Int(digits) ?? (digits.hasPrefix("-") ? .min : .max), -greatestNumber), greatestNumber)
        }
        return [number(numbers.1)] + (numbers.2.map { [number($0)] } ?? [])
    }

    /// The greatest number of a declaration that counts: more characters than a text of SQLite can have.
    private static let greatestNumber = 1_000_000_000

    /// Takes a constant default of the database. Where the database makes the value, a new row need not have one.
    func takeDefault(_ column: DescribedTable.Column, of table: DescribedTable, into attribute: inout AttributeModel) {
        guard !attribute.isGenerated, let sql = column.defaultSQL else { return }
        let constant = ColumnDefault(sql)
        if constant == .null { return }
        if let json = constant?.json(for: attribute, hasTimes: hasTimes) {
            attribute.defaultValue = json
        } else if table.primaryKey.contains(column.name) {
            attribute.isGenerated = !attribute.isLarge
        } else {
            attribute.isNullable = true
            attribute.documentation = "Without a value, a new row gets one from the database: `\(sql)`."
        }
    }

    /// Takes the values of an enumeration, or a simple condition, as a rule that devices check.
    /// - Returns: the conditions that are rules now.
    func takeRules(_ column: DescribedTable.Column, of table: DescribedTable, into attribute: inout AttributeModel) -> Set<String> {
        // A reference is refused by its own constraint, and may wait for a key that the back end assigns.
        guard !table.references.contains(where: { $0.columns.contains(column.name) }), !attribute.isGenerated else { return [] }
        if attribute.type == .string, !column.values.isEmpty {
            var copy = attribute
            copy.values = column.values.map { JSONValue.string($0).description }
            if copy.isDefaultAllowed { attribute = copy }
        }
        guard table.checksWrittenValues else { return [] }
        let checks = table.checks.filter { $0.columns == [column.name] && $0.isForAllRows }.map(\.sql)
        func take(_ condition: String) -> Bool {
            ColumnRule(condition, column: column.name)?.give(to: &attribute, of: column, comparesBytes: table.comparesBytes) == true
        }
        // All of them hold: a bound below and one above may be two conditions.
        if checks.count > 1, take(checks.map { "(\($0))" }.joined(separator: " AND ")) { return Set(checks) }
        return Set(checks.filter(take))
    }

    /// Describes the values that the database allows.
    /// - Parameter rules: conditions that are rules of the attribute.
    func document(_ column: DescribedTable.Column, of table: DescribedTable, without rules: Set<String>, in attribute: inout AttributeModel) {
        var sentences = [attribute.documentation].compactMap { $0 }
        if !column.values.isEmpty, attribute.values.isEmpty {
            sentences.append("One of " + column.values.map { "`\($0)`" }.joined(separator: ", ") + ".")
        }
        for check in table.checks where check.columns == [column.name] && !rules.contains(check.sql) {
            sentences.append("The database checks `\(check.sql)`.")
        }
        attribute.documentation = sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }

    /// Gives a decimal the digits that the rows have.
    private mutating func widen(_ attribute: inout AttributeModel, to column: DescribedTable.Column, in table: DescribedTable) {
        guard let digits = column.digits, let precision = attribute.precision, let scale = attribute.scale else { return }
        let place = "table \"\(table.name)\", column \"\(column.name)\" of type \(column.declaredType)"
        let widerScale = max(scale, digits.scale), whole = max(digits.whole, min(precision - scale, 38 - widerScale))
        guard widerScale > scale || whole > precision - scale else { return }
        guard whole + widerScale <= 38 else {
            let fraction = digits.whole > 38 ? "" : " and \(digits.scale) after it"
            remarks.append("\(place): there are numbers of \(digits.whole) digits before the point\(fraction); the attribute is a string")
            (attribute.type, attribute.precision, attribute.scale) = (.string, nil, nil)
            return
        }
        (attribute.precision, attribute.scale) = (whole + widerScale, widerScale)
        remarks.append(
            """
            \(place): there are numbers of \(digits.whole) digits before the point and \(digits.scale) after it; the attribute is a decimal of \
            \(whole + widerScale) digits, \(widerScale) of them after the point
            """)
    }
}
