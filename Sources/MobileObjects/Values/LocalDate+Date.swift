public import Foundation

extension LocalDate {
    /// The day on which a moment falls. Moments outside of the years 0 to 9999 give the nearest day inside.
    /// - Parameters:
    ///   - moment: any moment.
    ///   - timeZone: where; the device's own by default.
    public init(_ moment: Date, in timeZone: TimeZone = .current) {
        let seconds = moment.timeIntervalSince1970 + Double(timeZone.secondsFromGMT(for: moment))
        // A million years in either direction are days enough, and safe to convert.
        self.init(daysSince1970: Int(min(max((seconds / 86_400).rounded(.down), -365_000_000), 365_000_000)))
    }
}
