/// The time in a server's `Retry-After` field until the next attempt (RFC 9110, section 10.2.3).
public enum RetryAfter {
    /// Returns the time to wait.
    /// - Parameters:
    ///   - headers: of the response. A date is compared with the server's own `Date` if present, so that clocks need not agree.
    ///   - now: seconds since 1970, UTC, for a response without `Date`.
    /// - Returns: nil without the field, for an invalid one, and for a time that is over; at most one year.
    public static func delay(in headers: [(name: String, value: String)], now: Int64) -> Duration? {
        guard let text = value(of: "retry-after", headers) else { return nil }
        let seconds: Int64
        if !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // A number with too many digits counts as the longest time.
            seconds = Int64(text) ?? longest
        } else {
            guard let date = HTTPDate.seconds(of: text) else { return nil }
            seconds = date - (value(of: "date", headers).flatMap(HTTPDate.seconds(of:)) ?? now)
        }
        return seconds > 0 ? .seconds(min(seconds, longest)) : nil
    }

    private static let longest: Int64 = 366 * 86_400

    private static func value(of name: String, _ headers: [(name: String, value: String)]) -> String? {
        headers.last { $0.name.isField(name) }?.value
    }
}

/// The dates of HTTP: the form that is sent today and the two old ones that must still be accepted (RFC 9110, section 5.6.7).
///
///     Sun, 06 Nov 1994 08:49:37 GMT      Sunday, 06-Nov-94 08:49:37 GMT      Sun Nov  6 08:49:37 1994
package enum HTTPDate {
    /// Seconds since 1970, UTC; nil for any other text.
    package static func seconds(of text: String) -> Int64? {
        guard text.utf8.count <= 40 else { return nil }
        let words = text.split(whereSeparator: { $0 == " " || $0 == "," || $0 == "-" })
        guard words.count == 6 || words.count == 5 else { return nil }
        let isOldest = words.count == 5
        let (day, month, yearText, time) = isOldest ? (words[2], words[1], words[4], words[3]) : (words[1], words[2], words[3], words[4])
        guard isOldest || words[5] == "GMT", let month = months.firstIndex(of: String(month)), let days = Int64(digits: day),
            [2, 4].contains(yearText.utf8.count), var year = Int64(digits: yearText)
        else { return nil }
        // A year of two digits counts as one of this century: servers do not send it for a time fifty years ahead.
        if yearText.utf8.count == 2 { year += 2000 }
        let parts = time.split(separator: ":", omittingEmptySubsequences: false).compactMap { Int64(digits: $0) }
        guard parts.count == 3, (1...31).contains(days), (1970...9999).contains(year), parts[0] < 24, parts[1] < 60, parts[2] <= 60 else {
            return nil
        }
        return ((daysSince1970(year, Int64(month + 1), days) * 24 + parts[0]) * 60 + parts[1]) * 60 + parts[2]
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Returns the days of a Gregorian date. Years begin in March here, so that the leap day is the last day of a year.
    private static func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let (years, months) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
        let leapDays = years / 4 - years / 100 + years / 400
        return years * 365 + leapDays + (months * 153 + 2) / 5 + day - 1 - 719_468
    }
}

extension Int64 {
    /// Reads one to four digits without any other character.
    fileprivate init?(digits: Substring) {
        guard (1...4).contains(digits.utf8.count), digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        self.init(digits)
    }
}
