public import Foundation

/// A day of the Gregorian calendar without a time zone: the type of `date` attributes. SMP 2.3: `SUPDateValue`.
public struct LocalDate: Sendable, Hashable {
    /// 0 to 9999.
    public let year: Int
    /// 1 to 12.
    public let month: Int
    /// 1 to the month's last day.
    public let day: Int

    /// Fails when the day does not exist, such as February 30, or the year is outside 0 to 9999.
    public init?(year: Int, month: Int, day: Int) {
        guard (0...9999).contains(year), (1...12).contains(month), day >= 1, day <= Self.days(in: month, of: year) else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// Creates a date from days since 1970-01-01, which may be negative. Days outside of the years 0 to 9999 give the nearest day inside.
    public init(daysSince1970 days: Int) {
        let clamped = min(max(days, Self.firstDay), Self.lastDay)
        let civil = CivilDay(daysSince1970: clamped)
        (year, month, day) = (civil.year, civil.month, civil.day)
    }

    /// Creates a date from text such as `2026-11-21`; fails for any other text.
    public init?(_ text: String) {
        var text = text
        guard let parsed = text.withUTF8({ ISO8601Text.date($0, 0, isWhole: true) }) else { return nil }
        self = parsed
    }

    /// 1970-01-01, the value of a new object's `date` attribute before the application sets one.
    public static let epoch = LocalDate(daysSince1970: 0)

    /// Days since 1970-01-01; negative before.
    public var daysSince1970: Int { CivilDay(year: year, month: month, day: day).daysSince1970 }

    static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static let firstDay = CivilDay(year: 0, month: 1, day: 1).daysSince1970
    private static let lastDay = CivilDay(year: 9999, month: 12, day: 31).daysSince1970
}

extension LocalDate: Comparable {
    public static func < (left: LocalDate, right: LocalDate) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }
}

extension LocalDate: CustomStringConvertible {
    /// ISO 8601, as in the database and on the wire: `2026-11-21`.
    public var description: String { ISO8601Text.digits(year, 4) + "-" + ISO8601Text.digits(month, 2) + "-" + ISO8601Text.digits(day, 2) }
}

extension LocalDate: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let date = LocalDate(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\"\(text)\" is not a date such as 2026-11-21")
        }
        self = date
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// Conversion between days since 1970 and the proleptic Gregorian calendar. It counts in eras of 400 years that begin in March,
/// so that the leap day is the last of its year.
struct CivilDay {
    var year: Int, month: Int, day: Int

    init(year: Int, month: Int, day: Int) { (self.year, self.month, self.day) = (year, month, day) }

    init(daysSince1970: Int) {
        let shifted = daysSince1970 + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var daysSince1970: Int {
        let marchYear = month <= 2 ? year - 1 : year
        let era = (marchYear >= 0 ? marchYear : marchYear - 399) / 400
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}

extension LocalDate {
    /// Creates the date of a moment. Moments outside of the years 0 to 9999 give the nearest day inside.
    /// - Parameters:
    ///   - moment: any moment.
    ///   - timeZone: the time zone of the date; default: the device's own.
    public init(_ moment: Date, in timeZone: TimeZone = .current) {
        let seconds = moment.timeIntervalSince1970 + Double(timeZone.secondsFromGMT(for: moment))
        // A million years in either direction is enough, and safe to convert.
        self.init(daysSince1970: Int(min(max((seconds / 86_400).rounded(.down), -365_000_000), 365_000_000)))
    }
}
