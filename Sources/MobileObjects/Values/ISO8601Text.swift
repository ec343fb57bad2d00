import Foundation
import MobileModel

/// The text forms of `date`, `time` and `dateTime` values in the database and on the wire. Text order is time order.
/// They are read in place, as bytes, because a page of rows is read without making a `String` per value.
enum ISO8601Text {
    /// Reads `YYYY-MM-DD` at `start`; nil for any other text or, with `isWhole`, when more text follows.
    static func date(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, isWhole: Bool) -> LocalDate? {
        guard isWhole ? bytes.count == start + 10 : bytes.count >= start + 10,
            let year = number(bytes, start, 4), bytes[start + 4] == dash, let month = number(bytes, start + 5, 2),
            bytes[start + 7] == dash, let day = number(bytes, start + 8, 2)
        else { return nil }
        return LocalDate(year: year, month: month, day: day)
    }

    /// Reads `HH:MM:SS` at `start`; nil for any other text or, with `isWhole`, when more text follows.
    static func time(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, isWhole: Bool) -> LocalTime? {
        guard isWhole ? bytes.count == start + 8 : bytes.count >= start + 8,
            let hour = number(bytes, start, 2), bytes[start + 2] == colon, let minute = number(bytes, start + 3, 2),
            bytes[start + 5] == colon, let second = number(bytes, start + 6, 2)
        else { return nil }
        return LocalTime(hour: hour, minute: minute, second: second)
    }

    /// Reads `YYYY-MM-DDTHH:MM:SS`, an optional fraction of any length (cut to milliseconds) and an optional `Z`; nil for any other text.
    static func dateTime(_ bytes: UnsafeBufferPointer<UInt8>) -> Date? {
        if let date = stored(bytes) { return date }
        guard let date = date(bytes, 0, isWhole: false), bytes.count >= 19, bytes[10] == UInt8(ascii: "T") || bytes[10] == UInt8(ascii: " "),
            let time = time(bytes, 11, isWhole: false)
        else { return nil }
        var milliseconds = 0
        var position = 19
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            position += 1
            var scale = 100
            guard position < bytes.count, digit(bytes[position]) != nil else { return nil }
            while position < bytes.count, let digit = digit(bytes[position]) {
                milliseconds += digit * scale
                scale /= 10
                position += 1
            }
        }
        if position < bytes.count, bytes[position] == UInt8(ascii: "Z") { position += 1 }
        guard position == bytes.count else { return nil }
        let seconds = date.daysSince1970 * 86_400 + time.secondsSinceMidnight
        return Date(timeIntervalSince1970: (Double(seconds) * 1000 + Double(milliseconds)) / 1000)
    }

    /// Reads the only form in the database, `YYYY-MM-DDTHH:MM:SS.sssZ`, as three words of eight bytes. A page of objects reads it for each
    /// of them, and the general form took a tenth of that time. Returns nil for other forms, which may be valid, and for invalid text.
    private static func stored(_ bytes: UnsafeBufferPointer<UInt8>) -> Date? {
        guard bytes.count == 24, let start = UnsafeRawPointer(bytes.baseAddress),
            let date = digits(start, like: 0x2d30_302d_3030_3030, separators: 0xff00_00ff_0000_0000),  // "0000-00-"
            let dayToMinute = digits(start + 8, like: 0x3030_3a30_3054_3030, separators: 0x0000_ff00_00ff_0000),  // "00T00:00"
            let rest = digits(start + 16, like: 0x5a30_3030_2e30_303a, separators: 0xff00_0000_ff00_00ff)  // ":00.000Z"
        else { return nil }
        let year = two(date, 0) * 100 + two(date, 2), month = two(date, 5), day = two(dayToMinute, 0), hour = two(dayToMinute, 3)
        let minute = two(dayToMinute, 6), second = two(rest, 1), milliseconds = two(rest, 4) * 10 + Int(rest >> 48 & 0xff)
        guard hour < 24, minute < 60, second < 60, (1...12).contains(month), day >= 1, day <= 28 || day <= CivilDay.days(in: month, of: year) else {
            return nil
        }
        let days = CivilDay(year: year, month: month, day: day).daysSince1970
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second
        return Date(timeIntervalSince1970: Double(seconds * 1000 + milliseconds) / 1000)
    }

    /// Returns eight characters as the values of their digits, the first one lowest; nil where they do not have the form of `pattern`.
    /// - Parameter separators: all bits of the characters that are not digits. Their value is 0.
    private static func digits(_ start: UnsafeRawPointer, like pattern: UInt64, separators: UInt64) -> UInt64? {
        let values = UInt64(littleEndian: start.loadUnaligned(as: UInt64.self)) ^ pattern
        // A byte above 9 gets, or already has, its highest bit. The sums of the others stay below it.
        let wrong = ((values & 0x7f7f_7f7f_7f7f_7f7f) + 0x7676_7676_7676_7676 | values) & 0x8080_8080_8080_8080
        return wrong | (values & separators) == 0 ? values : nil
    }

    /// Returns the number of two digits. The first is at `position`.
    private static func two(_ digits: UInt64, _ position: UInt64) -> Int {
        Int(digits >> (position * 8) & 0xff) * 10 + Int(digits >> (position * 8 + 8) & 0xff)
    }

    /// Reads a string, for values that come one at a time.
    static func dateTime(_ text: String) -> Date? {
        var text = text
        return text.withUTF8 { dateTime($0) }
    }

    /// Returns UTC with milliseconds: `2026-11-21T17:05:09.250Z`. Times outside of the years 0 to 9999 give the nearest day inside, and a time that is
    /// not a number a text that is not a time: no attribute takes one, but messages show it.
    static func text(_ date: Date) -> String {
        guard !date.timeIntervalSince1970.isNaN else { return "not a number" }
        // Rounded, not cut: a value that was read back from milliseconds must give the same text again.
        let milliseconds = (min(max(date.timeIntervalSince1970, -62_167_219_200), 253_402_300_799.999) * 1000).rounded()
        let total = Int(milliseconds)
        let days = Int((Double(total) / 86_400_000).rounded(.down))
        let inDay = total - days * 86_400_000
        let time = LocalTime(secondsSinceMidnight: inDay / 1000)
        return "\(LocalDate(daysSince1970: days))T\(time).\(digits(inDay % 1000, 3))Z"
    }

    /// Returns `value` in decimal with leading zeros up to `width`.
    static func digits(_ value: Int, _ width: Int) -> String {
        let text = String(value)
        return text.utf8.count >= width ? text : String(repeating: "0", count: width - text.utf8.count) + text
    }

    private static let dash = UInt8(ascii: "-"), colon = UInt8(ascii: ":")

    private static func digit(_ byte: UInt8) -> Int? { byte &- 48 < 10 ? Int(byte &- 48) : nil }

    private static func number(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ count: Int) -> Int? {
        var value = 0
        for position in start..<start + count {
            guard let digit = digit(bytes[position]) else { return nil }
            value = value * 10 + digit
        }
        return value
    }
}
