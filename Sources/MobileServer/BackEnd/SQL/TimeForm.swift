internal import MobileModel
internal import MobileStore

/// The form in which a column has dates and times, where its type does not prescribe one: a column of SQLite, and one of texts in PostgreSQL.
///
/// **A time is written in the form that the column's rows have.** *Why:* other applications, keys, checks, indexes and triggers compare texts. *If you break it:*
/// "2024-03-02 10:10:00" and "2024-03-02T10:10:00.000Z" are two values of one column, in the wrong order. Rows of several forms, and no rows, leave the
/// form of devices.
enum TimeForm: ValueForm, Equatable {
    /// A text. The digits of the fraction are fixed, or nil for those that a value needs.
    case text(separator: String, hasSeconds: Bool, fraction: Int?, zone: String)
    /// The text of a day, and the same end in each row, such as " 00:00:00".
    case day(end: String)
    /// Since 1970.
    case seconds, milliseconds

    /// The number of rows that show the form.
    static let sample = 1000

    /// Finds the form of values; nil if they have none in common, or the one of devices.
    /// - Parameter values: present values, not NULL.
    init?(of values: [Value], _ type: AttributeType) {
        let forms = values.map { Self(of: $0, type) }
        guard let first = forms.first, var form = first else { return nil }
        for other in forms.dropFirst() {
            guard let other, let both = form.joined(with: other) else { return nil }
            form = both
        }
        self = form
    }

    private init?(of value: Value, _ type: AttributeType) {
        switch (value, type) {
        case (.integer(let number), .dateTime), (.integer(let number), .date):
            self = Self.areMilliseconds(number) ? .milliseconds : .seconds
        case (.text(let text), .dateTime):
            guard
                let parts = text.wholeMatch(of: /\d{4}-\d\d-\d\d([ T])\d\d:\d\d(?:(:\d\d)(?:\.(\d{1,9}))?)?(Z|\+00:00|\+00)?/)
            else { return nil }
            self = .text(
                separator: String(parts.1), hasSeconds: parts.2 != nil, fraction: parts.3?.count ?? 0, zone: parts.4.map(String.init) ?? "")
        case (.text(let text), .time):
            guard let parts = text.wholeMatch(of: /\d\d:\d\d(:\d\d)?/) else { return nil }
            self = .text(separator: "", hasSeconds: parts.1 != nil, fraction: 0, zone: "")
        case (.text(let text), .date):
            guard let parts = text.wholeMatch(of: /\d{4}-\d\d-\d\d((?:[ T]00:00(?::00(?:\.0+)?)?Z?)?)/) else { return nil }
            self = .day(end: String(parts.1))
        default: return nil
        }
    }

    private func joined(with other: Self) -> Self? {
        guard case .text(let separator, let hasSeconds, let fraction, let zone) = self,
            case .text(let otherSeparator, let otherSeconds, let otherFraction, let otherZone) = other
        else { return self == other ? self : nil }
        guard separator == otherSeparator, zone == otherZone else { return nil }
        return .text(separator: separator, hasSeconds: hasSeconds || otherSeconds, fraction: fraction == otherFraction ? fraction : nil, zone: zone)
    }

    /// Returns a value in this form. No part is lost: a form that cannot hold it gets the missing parts.
    /// - Parameter value: a text in the form of devices; others are returned as they are.
    func value(_ value: Value, _ type: AttributeType) -> Value {
        guard let text = value.text else { return value }
        switch self {
        case .day(let end): return type == .date ? .text(text + end) : value
        case .seconds, .milliseconds:
            guard let milliseconds = TimeText.milliseconds(type == .date ? text + "T00:00:00.000Z" : text) else { return value }
            // The size of a number says what it counts: one that would be read as another time stays a text.
            if self == .milliseconds { return Self.areMilliseconds(milliseconds) ? .integer(milliseconds) : value }
            let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
            return rest == 0 && !Self.areMilliseconds(seconds) ? .integer(seconds) : value
        case .text(let separator, let hasSeconds, let fraction, let zone):
            guard type != .time else { return .text(!hasSeconds && text.hasSuffix(":00") ? String(text.dropLast(3)) : text) }
            guard type == .dateTime, let parts = text.wholeMatch(of: /(\d{4}-\d\d-\d\d)T(\d\d:\d\d):(\d\d)\.(\d{3})Z/) else { return value }
            var time = String(parts.2)
            let isWhole = parts.4 == "000"
            if hasSeconds || parts.3 != "00" || !isWhole {
                time += ":" + parts.3
                let digits = fraction ?? (isWhole ? 0 : 3), needed = isWhole ? 0 : String(parts.4).reversed().drop { $0 == "0" }.count
                if max(digits, needed) > 0 {
                    time += "." + (parts.4 + String(repeating: "0", count: 6)).prefix(max(digits, needed))
                }
            }
            return .text(parts.1 + separator + time + zone)
        }
    }

    /// Whether an integer of a time counts milliseconds, as ``ColumnExpression`` reads it.
    private static func areMilliseconds(_ number: Int64) -> Bool { number.magnitude >= UInt64(ColumnExpression.leastMilliseconds) }
}

extension SQLObject {
    /// Returns the forms of the times and booleans in the table, by attribute.
    func readForms(_ connection: any BackEndConnection) throws -> [String: any ValueForm] {
        var forms: [String: any ValueForm] = [:]
        for attribute in plan.rowAttributes where [.date, .time, .dateTime, .boolean].contains(attribute.type) {
            guard let column = tableColumn(attribute.name), !column.isGenerated, expressions.hasSeveralForms(attribute, self.column(attribute.name))
            else {
                continue
            }
            let name = SQLText.quoted(column.name)
            let values = try connection.rows(
                "SELECT c FROM (SELECT \(name) AS c FROM \(table.sql) LIMIT \(TimeForm.sample)) AS sample WHERE c IS NOT NULL", [])
            if attribute.type == .boolean {
                // Without rows, the words of the conditions. A default is the form of rows to come.
                let present = values.isEmpty ? column.booleanWords.map(Value.text) : values.map { $0[0] }
                forms[attribute.name] = BooleanForm(of: present + [column.defaultConstant].compactMap(\.self))
            } else {
                forms[attribute.name] = TimeForm(of: values.map { $0[0] }, attribute.type)
            }
        }
        return forms
    }
}
