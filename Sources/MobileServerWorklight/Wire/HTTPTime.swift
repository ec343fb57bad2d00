internal import Foundation

/// Dates in header fields (RFC 9110, section 5.6.7).
enum HTTPTime {
    /// Returns a time such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    /// - Parameter seconds: since 1970, UTC.
    static func text(_ seconds: Int64) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: Date(timeIntervalSince1970: TimeInterval(seconds)))
    }
}
