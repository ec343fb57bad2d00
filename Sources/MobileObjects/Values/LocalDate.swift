public import Foundation
import MobileModel

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
        guard (0...9999).contains(year), (1...12).contains(month), day >= 1, day <= CivilDay.days(in: month, of: year) else { return nil }
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

extension LocalDate {
    /// Creates the date of a moment. Moments outside of the years 0 to 9999 give the nearest day inside, one that is not a number the first day.
    /// - Parameters:
    ///   - moment: any moment.
    ///   - timeZone: the time zone of the date; default: the device's own.
    public init(_ moment: Date, in timeZone: TimeZone = .current) {
        // A hundred thousand years in either direction are enough, and safe to convert, here and for the time zone.
        let seconds = moment.timeIntervalSince1970, inside = seconds.isNaN ? -3.2e12 : min(max(seconds, -3.2e12), 3.2e12)
        let local = inside + Double(timeZone.secondsFromGMT(for: Date(timeIntervalSince1970: inside)))
        self.init(daysSince1970: Int((local / 86_400).rounded(.down)))
    }
}
