internal import Foundation
internal import MobileModel
internal import MobileObjects
internal import Worlds

/// A date, a time of day or both, in the form of a database.
struct StoredTime {
    /// `2024-02-29`; nil for a time of day.
    private let day: String?
    /// `23:59:59`, with any digits of a fraction.
    private let clock: String

    /// Reads a value; nil if it is not a time. SQLite's files have texts of several forms, seconds or milliseconds since 1970, and Julian days.
    init?(_ value: StoredValue, _ engine: DatabaseEngine) {
        switch value {
        case .text(let text): self.init(text)
        case .integer(let number):
            self.init(seconds: abs(number) < 100_000_000_000 ? Double(number) : Double(number) / 1000)
        case .real(let number):
            self.init(seconds: (0..<5_373_485).contains(number) ? ((number - 2_440_587.5) * 86_400_000).rounded() / 1000 : number)
        default: return nil
        }
    }

    private init?(seconds: Double) {
        guard seconds > -62_167_219_200, seconds < 253_402_300_800 else { return nil }
        self.init(ValueType.dateTime.canonical(AttributeValue.dateTime(Date(timeIntervalSince1970: seconds))) ?? "")
    }

    private init?(_ text: String) {
        guard let match = text.wholeMatch(of: #/(?:(\d{4}-\d\d-\d\d)(?:[ T]|$))?(?:(\d\d:\d\d)(:\d\d(?:\.\d+)?)?)?(Z|[+-]\d\d(?::\d\d)?)?/#),
            match.1 != nil || match.2 != nil
        else { return nil }
        let day = match.1.map(String.init), clock = match.2.map { String($0) + (match.3.map(String.init) ?? ":00") } ?? "00:00:00"
        if let day, LocalDate(day) == nil { return nil }
        guard !clock.hasPrefix("24") else { return nil }
        guard let zone = match.4, zone.contains(where: { "123456789".contains($0) }) else {
            self.init(day, clock)
            return
        }
        // Moments of other zones are in UTC on the device; a time of day without a zone is another one.
        guard let day, case .dateTime(let date)? = Optional(ValueType.dateTime.attributeValue("\(day) \(Self.cut(clock, 3))")) else { return nil }
        let parts = zone.dropFirst().split(separator: ":").compactMap { Int($0) },
            minutes = (parts.first ?? 0) * 60 + (parts.count > 1 ? parts[1] : 0)
        self.init(seconds: date.addingTimeInterval(Double(zone.hasPrefix("-") ? minutes : -minutes) * 60).timeIntervalSince1970)
    }

    private init(_ day: String?, _ clock: String) { (self.day, self.clock) = (day, clock) }

    /// The clock with this number of digits of a fraction.
    private static func cut(_ clock: String, _ digits: Int) -> String {
        let parts = clock.split(separator: "."), fraction = parts.count > 1 ? String(parts[1].prefix(digits)) : ""
        return digits == 0 ? String(parts[0]) : parts[0] + "." + fraction + String(repeating: "0", count: digits - fraction.count)
    }

    /// Whether an attribute shows all of it.
    func isWhole(_ type: AttributeType) -> Bool {
        let shown = type == .date ? "" : Self.cut(clock, type == .time ? 0 : 3)
        let rest = type == .date ? clock : String(clock.dropFirst(min(clock.count, shown.count)))
        return !rest.contains { "123456789".contains($0) } && (type != .time || day == nil)
    }

    /// The text that an attribute shows of it; nil if it cannot have such a value. Digits that the attribute does not have are cut.
    func text(_ type: AttributeType) -> String? {
        switch type {
        case .date: day
        case .time: Self.cut(clock, 0)
        default: day.map { "\($0) \(Self.cut(clock, 3))" }
        }
    }
}
