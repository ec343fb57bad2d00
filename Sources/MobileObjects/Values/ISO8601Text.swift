import Foundation

/// The text forms of `date`, `time` and `dateTime` values in the database and on the wire. Text order is time order.
/// Read from bytes where they lie, because a page of rows is read without making a `String` per value.
enum ISO8601Text {
    /// `YYYY-MM-DD` at `start`; nil when it is anything else or, with `isWhole`, more follows.
    static func date(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, isWhole: Bool) -> LocalDate? {
        guard isWhole ? bytes.count == start + 10 : bytes.count >= start + 10,
            let year = number(bytes, start, 4), bytes[start + 4] == dash, let month = number(bytes, start + 5, 2),
            bytes[start + 7] == dash, let day = number(bytes, start + 8, 2)
        else { return nil }
        return LocalDate(year: year, month: month, day: day)
    }

    /// `HH:MM:SS` at `start`; nil when it is anything else or, with `isWhole`, more follows.
    static func time(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, isWhole: Bool) -> LocalTime? {
        guard isWhole ? bytes.count == start + 8 : bytes.count >= start + 8,
            let hour = number(bytes, start, 2), bytes[start + 2] == colon, let minute = number(bytes, start + 3, 2),
            bytes[start + 5] == colon, let second = number(bytes, start + 6, 2)
        else { return nil }
        return LocalTime(hour: hour, minute: minute, second: second)
    }

    /// `YYYY-MM-DDTHH:MM:SS`, a fraction of any length (cut to milliseconds) and `Z`, the latter two optional; nil when it is anything else.
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

    /// The one form that the database has, `YYYY-MM-DDTHH:MM:SS.sssZ`, without looking at a byte twice: a page of objects reads it for
    /// each of them, and the general form took a tenth of that. Nil for other forms, which may still be right, and for what is wrong.
    private static func stored(_ bytes: UnsafeBufferPointer<UInt8>) -> Date? {
        guard bytes.count == 24, bytes[10] == UInt8(ascii: "T"), bytes[19] == UInt8(ascii: "."), bytes[23] == UInt8(ascii: "Z"),
            bytes[4] == dash, bytes[7] == dash, bytes[13] == colon, bytes[16] == colon
        else { return nil }
        // The greatest digit of all tells whether one of them is none: bytes below "0" wrap around.
        var greatest: UInt8 = 0
        func two(_ start: Int) -> Int {
            let (tens, ones) = (bytes[start] &- 48, bytes[start + 1] &- 48)
            greatest = max(greatest, tens, ones)
            return Int(tens) * 10 + Int(ones)
        }
        let year = two(0) * 100 + two(2), month = two(5), day = two(8), hour = two(11), minute = two(14), second = two(17)
        let milliseconds = two(20) * 10 + Int(bytes[22] &- 48)
        greatest = max(greatest, bytes[22] &- 48)
        guard greatest < 10, hour < 24, minute < 60, second < 60, (1...12).contains(month), day >= 1, day <= LocalDate.days(in: month, of: year) else {
            return nil
        }
        let days = CivilDay(year: year, month: month, day: day).daysSince1970
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second
        return Date(timeIntervalSince1970: Double(seconds * 1000 + milliseconds) / 1000)
    }

    /// From a string, for values that come one at a time.
    static func dateTime(_ text: String) -> Date? {
        var text = text
        return text.withUTF8 { dateTime($0) }
    }

    /// UTC with milliseconds: `2026-11-21T17:05:09.250Z`. Times outside of the years 0 to 9999 give the nearest day inside.
    static func text(_ date: Date) -> String {
        // Rounded, not cut: a value that was read back from milliseconds must give the same text again.
        let milliseconds = (min(max(date.timeIntervalSince1970, -62_167_219_200), 253_402_300_799.999) * 1000).rounded()
        let total = Int(milliseconds)
        let days = Int((Double(total) / 86_400_000).rounded(.down))
        let inDay = total - days * 86_400_000
        let time = LocalTime(secondsSinceMidnight: inDay / 1000)
        return "\(LocalDate(daysSince1970: days))T\(time).\(digits(inDay % 1000, 3))Z"
    }

    /// `value` in decimal with zeros in front up to `width`.
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
