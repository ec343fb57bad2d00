internal import MobileModel
internal import MobileStore

extension SQLiteBackEndConnection {
    /// Gives each column of dates and times another type where its rows have other values: SQLite keeps them as they are, and the server would hold
    /// back their rows.
    func measureTimes(of table: inout DescribedTable) throws {
        for place in table.columns.indices {
            guard let type = table.columns[place].timeType else { continue }
            let measure = try TimeMeasure(
                rows(TimeMeasure.sql(of: table.columns[place].name, type, in: table.sql, limit: measuredRows), []).first ?? [])
            if let remark = table.columns[place].take(measure, type, table: table.name) { table.remarks.append(remark) }
        }
    }
}

/// Facts about the values of a column of dates or times.
private struct TimeMeasure {
    /// The storage classes of the values.
    let hasIntegers: Bool, hasReals: Bool, hasTexts: Bool
    let hasUnfitTexts: Bool, hasUnfitNumbers: Bool
    /// Whether all values are integers whose digits are those of a day, such as 20241231.
    let areDigits: Bool

    init(_ values: [Value]) {
        let facts = values.map { $0.integer == 1 }
        func fact(_ index: Int) -> Bool { facts.indices.contains(index) && facts[index] }
        (hasIntegers, hasReals, hasTexts, hasUnfitTexts, hasUnfitNumbers, areDigits) = (fact(0), fact(1), fact(2), fact(3), fact(4), fact(5))
    }

    /// - Parameter table: the name of the table in a statement.
    static func sql(of column: String, _ type: AttributeType, in table: String, limit: Int) -> String {
        let value = ColumnExpression.value(of: AttributeModel(name: "c", type: type), column: "c")
        let form = type == .date ? "%Y-%m-%d" : type == .time ? "%H:%M:%S" : "%Y-%m-%dT%H:%M:%fZ"
        // A text that is not a time comes back as it is, and one of a day that its month does not have is another one in the same form: early releases of SQLite
        // make it with a modifier alone.
        let fits =
            "coalesce(v GLOB '\(type == .time ? "[0-9][0-9]:*" : "[0-9][0-9][0-9][0-9]-*")' AND v >= '\(type == .time ? "" : "0001")' "
            + "AND strftime('\(form)', v, '+0 days') = v, 0)"
        // As seconds or milliseconds, they would be days of August 1970, and of the years from 2572 on.
        func isDay(_ number: String) -> String {
            let day = "printf('%04d-%02d-%02d', \(number) / 10000, \(number) / 100 % 100, \(number) % 100)"
            return "(\(number) BETWEEN 19000101 AND 20991231 AND date(\(day)) = \(day))"
        }
        let isDigits = type == .time ? "0" : "coalesce(typeof(c) = 'integer' AND (\(isDay("c")) OR \(isDay("c / 1000000"))), 0)"
        return """
            SELECT max(typeof(c) = 'integer'), max(typeof(c) = 'real'), max(typeof(c) = 'text'), max(typeof(c) = 'text' AND NOT \(fits)),
                max(typeof(c) <> 'text' AND NOT \(fits)), min(\(isDigits))
            FROM (SELECT c, \(value) AS v FROM (SELECT \(SQLText.quoted(column)) AS c FROM \(table) LIMIT \(limit)) WHERE typeof(c) NOT IN ('null', 'blob'))
            """
    }
}

extension DescribedTable.Column {
    /// Takes the type that holds all values, if one of times does not.
    /// - Returns: the remark about it.
    fileprivate mutating func take(_ measure: TimeMeasure, _ type: AttributeType, table: String) -> String? {
        let place = "table \"\(table)\", column \"\(name)\" of type \(declaredType)", words = type == .date ? "dates" : "times"
        let reason: String
        if measure.areDigits {
            reason = "there are numbers that have the digits of \(words), and count nothing since 1970"
        } else if measure.hasUnfitTexts {
            reason = "there are texts that are not \(words)"
        } else if measure.hasUnfitNumbers {
            reason = "there are numbers that are not \(words)"
        } else {
            return nil
        }
        affinity = measure.hasTexts ? .text : measure.hasReals ? .real : .integer
        declaredType = ""
        return "\(place): \(reason); the attribute is a \(measure.hasTexts ? "string" : measure.hasReals ? "double" : "long")"
    }
}
