internal import Foundation
package import MobileObjects

/// The values of attributes, and their canonical forms.
extension ValueType {
    /// The value that an application sets.
    package func attributeValue(_ canonical: String?) -> AttributeValue {
        guard let text = canonical else { return .null }
        switch self {
        case .string, .char: return .string(text)
        case .byte, .short, .int, .long, .integer: return .integer(Int64(text) ?? 0)
        case .boolean: return .boolean(text == "1")
        case .decimal, .wideDecimal, .longDecimal: return .decimal(Decimal(string: text) ?? 0)
        case .float, .double: return .real(Double(text) ?? 0)
        case .date: return LocalDate(text).map { .date($0) } ?? .null
        case .time: return LocalTime(text).map { .time($0) } ?? .null
        case .dateTime: return .dateTime(Self.date(text))
        case .binary: return .binary(LargeContent.named(text)?.bytes ?? [])
        // Written as a stream.
        case .largeBinary: return .null
        }
    }

    /// The canonical form of a value that an application reads; nil for NULL.
    package func canonical(_ value: AttributeValue) -> String? {
        switch value {
        case .null: nil
        case .integer(let number): "\(number)"
        case .real(let number): canonical("\(number)")
        case .decimal(let number): canonical(number.description)
        case .boolean(let isTrue): isTrue ? "1" : "0"
        case .string(let text): canonical(text)
        case .binary(let bytes): LargeContent(bytes).name
        case .dateTime(let date): Self.text(date)
        default: canonical(value.description)
        }
    }

    /// `2024-02-29 23:59:59.999` in UTC.
    private static func date(_ text: String) -> Date {
        let parts = text.split { "-: .".contains($0) }.map { Int($0) ?? 0 }
        let days = daysSince1970(parts[0], parts[1], parts[2])
        let milliseconds = ((days * 24 + parts[3]) * 60 + parts[4]) * 60_000 + parts[5] * 1000 + parts[6]
        return Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    private static func text(_ date: Date) -> String {
        let milliseconds = Int((date.timeIntervalSince1970 * 1000).rounded())
        let days = (Double(milliseconds) / 86_400_000).rounded(.down), rest = milliseconds - Int(days) * 86_400_000
        let (year, month, day) = civil(Int(days))
        func padded(_ number: Int, _ length: Int) -> String { String(repeating: "0", count: max(0, length - "\(number)".count)) + "\(number)" }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2)) \(padded(rest / 3_600_000, 2)):\(padded(rest / 60_000 % 60, 2))"
            + ":\(padded(rest / 1000 % 60, 2)).\(padded(rest % 1000, 3))"
    }

    /// Days of the Gregorian calendar; eras of 400 years that begin in March.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year, era = year / 400, ofEra = year - era * 400
        let ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
    }

    private static func civil(_ days: Int) -> (Int, Int, Int) {
        let days = days + 719_468, era = (days >= 0 ? days : days - 146_096) / 146_097, ofEra = days - era * 146_097
        let year = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365, ofYear = ofEra - (365 * year + year / 4 - year / 100)
        let shifted = (5 * ofYear + 2) / 153, month = shifted < 10 ? shifted + 3 : shifted - 9
        return (year + era * 400 + (month <= 2 ? 1 : 0), month, ofYear - (153 * shifted + 2) / 5 + 1)
    }
}
