internal import MobileModel

/// The SQL of a date, a time of day or a moment in a column of PostgreSQL: the condition that the attribute can hold it, and its text under this condition.
///
/// The session's dates are ISO and its time zone is UTC, so texts of dates and times need little more than cutting.
struct PostgreSQLTimeForm {
    private let column: SQLColumn

    init(_ column: SQLColumn) { self.column = column }

    /// - Parameter isExact: whether the text must have all of the value.
    func form(_ type: AttributeType, isExact: Bool) -> (String?, String) {
        switch column.affinity {
        case .date, .timestamp, .timestampWithTimeZone, .integer, .numeric, .real, .single:
            return (Self.first(isInRange, isExact ? isExactly(type) : nil), text(type, timestamp))
        case .time where type == .time:
            let text = "substr(\(asText), 1, 8)"
            return (Self.first("\(column.sql) < TIME '24:00'", isExact ? "\(column.sql) = CAST(\(text) AS TIME)" : nil), text)
        default: return fromText(type, isExact: isExact)
        }
    }

    private var asText: String { "CAST(\(column.sql) AS TEXT)" }

    /// `AND` has no order, and the second condition may fail for values that the first one excludes.
    private static func first(_ condition: String, _ second: String?) -> String {
        second.map { "CASE WHEN \(condition) THEN \($0) END" } ?? condition
    }

    // MARK: Moments

    /// A number is a time in seconds since 1970.
    private var timestamp: String {
        switch column.affinity {
        case .date, .timestamp: "CAST(\(column.sql) AS TIMESTAMP)"
        case .timestampWithTimeZone: "(\(column.sql) AT TIME ZONE 'UTC')"
        default: "(to_timestamp(CAST(\(column.sql) AS DOUBLE PRECISION)) AT TIME ZONE 'UTC')"
        }
    }

    /// The years 1 to 9999.
    private var isInRange: String {
        switch column.affinity {
        case .date: "\(column.sql) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'"
        case .timestamp: "\(column.sql) >= TIMESTAMP '0001-01-01' AND \(column.sql) < TIMESTAMP '10000-01-01'"
        case .timestampWithTimeZone: "\(column.sql) >= TIMESTAMPTZ '0001-01-01 00:00Z' AND \(column.sql) < TIMESTAMPTZ '10000-01-01 00:00Z'"
        default: "\(column.sql) >= -62135596800 AND \(column.sql) < 253402300800"
        }
    }

    private func isExactly(_ type: AttributeType) -> String {
        switch type {
        case .date: "\(timestamp) = date_trunc('day', \(timestamp))"
        case .dateTime: "\(timestamp) = date_trunc('milliseconds', \(timestamp))"
        default: "false"  // the day is lost
        }
    }

    private func text(_ type: AttributeType, _ timestamp: String) -> String {
        switch type {
        case .date: column.affinity == .date ? asText : "CAST(CAST(\(timestamp) AS DATE) AS TEXT)"
        case .time: "to_char(\(timestamp), 'HH24:MI:SS')"
        default: "to_char(\(timestamp), 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"
        }
    }

    // MARK: Texts

    private static let day = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])", clock = "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"

    /// A cast would fail for a day that its month does not have.
    private var isDay: String {
        let year = "CAST(substr(\(asText), 1, 4) AS INTEGER)"
        return """
            \(asText) !~ '^.{5}(02-3|(04|06|09|11)-31)' \
            AND (\(asText) !~ '^.{5}02-29' OR \(year) % 4 = 0 AND (\(year) % 100 <> 0 OR \(year) % 400 = 0))
            """
    }

    private func fromText(_ type: AttributeType, isExact: Bool) -> (String?, String) {
        switch type {
        case .date: return (Self.first("\(asText) ~ '^\(Self.day)$'", isDay), asText)
        case .time: return ("\(asText) ~ '^\(Self.clock)$'", asText)
        default:
            let fraction = isExact ? "(\\.[0-9]{1,3}0*)?" : "(\\.[0-9]+)?"
            let text = """
                substr(\(asText), 1, 10) || 'T' || substr(\(asText), 12, 8) || '.' \
                || rpad(substr(rtrim(\(asText), 'Z'), 21, 3), 3, '0') || 'Z'
                """
            return (Self.first("\(asText) ~ '^\(Self.day)[T ]\(Self.clock)\(fraction)Z?$'", isDay), text)
        }
    }
}
