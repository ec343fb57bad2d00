import Foundation

/// Numbers for people.
enum Format {
    /// `30,000`.
    static func count(_ number: some BinaryInteger) -> String {
        var digits = String(number.magnitude), parts: [Substring] = []
        while digits.count > 3 {
            parts.insert(digits.suffix(3), at: 0)
            digits = String(digits.dropLast(3))
        }
        return (number < 0 ? "-" : "") + ([Substring(digits)] + parts).joined(separator: ",")
    }

    /// `30,000 customers`, `1 customer`.
    static func count(_ number: some BinaryInteger, _ one: String, _ many: String? = nil) -> String {
        "\(count(number)) \(number == 1 ? one : many ?? one + "s")"
    }

    /// `312 B`, `20.5 KB`, `1.9 MB`: powers of 1000, as disks and networks count.
    static func bytes(_ number: some BinaryInteger) -> String {
        let value = Double(number)
        switch value {
        case ..<1000: return "\(number) B"
        case ..<1_000_000: return String(format: "%.1f KB", value / 1000)
        case ..<1_000_000_000: return String(format: "%.1f MB", value / 1_000_000)
        default: return String(format: "%.2f GB", value / 1_000_000_000)
        }
    }

    /// `9,400.10`.
    static func money(_ amount: Decimal) -> String {
        let cents = NSDecimalNumber(decimal: amount * 100).int64Value
        let digits = String(format: "%02lld", cents.magnitude % 100)
        return (cents < 0 ? "-" : "") + count(cents.magnitude / 100) + "." + digits
    }

    /// `0.8 ms`, `1.24 s`.
    static func time(_ duration: Duration) -> String {
        let seconds = duration / .seconds(1)
        return seconds < 1 ? String(format: "%.1f ms", seconds * 1000) : String(format: "%.2f s", seconds)
    }

    /// `8 s`, `3 min`, `2 h 10 min`: a time to wait, in seconds, rounded up.
    static func wait(_ seconds: Double) -> String {
        let whole = Int(min(seconds, 360_000).rounded(.up)), minutes = (whole + 59) / 60
        if whole <= 90 { return "\(whole) s" }
        return minutes <= 90 ? "\(minutes) min" : "\(minutes / 60) h \(minutes % 60) min"
    }

    /// A number per second: `812,000 rows/s`, rounded to three digits, because the others vary by chance.
    static func rate(_ number: Int, _ unit: String, in duration: Duration) -> String {
        let perSecond = Double(number) / max(duration / .seconds(1), 1e-6)
        let step = pow(10, max(0, floor(log10(max(perSecond, 1))) - 2))
        return "\(count(Int((perSecond / step).rounded() * step))) \(unit)/s"
    }

    /// `24.1 MB/s`.
    static func byteRate(_ number: Int, in duration: Duration) -> String {
        bytes(Int(Double(number) / max(duration / .seconds(1), 1e-6))) + "/s"
    }
}
