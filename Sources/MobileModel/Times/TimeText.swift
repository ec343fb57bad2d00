/// The text forms of dates and times in models and on the wire.
package enum TimeText {
    /// Whether a text is a date such as `2025-12-31`.
    package static func isDate(_ text: some StringProtocol) -> Bool { day(text) != nil }

    /// Whether a text is a time such as `23:59:00`.
    package static func isTime(_ text: some StringProtocol) -> Bool { seconds(text) != nil }

    /// Whether a text is a moment such as `2025-12-31T23:59:00.000Z`.
    package static func isDateTime(_ text: some StringProtocol) -> Bool { milliseconds(text) != nil }

    /// Returns the day of a date; nil for any other text.
    package static func day(_ text: some StringProtocol) -> CivilDay? {
        guard let numbers = numbers(text, "dddd-dd-dd"), (1...12).contains(numbers[1]), numbers[2] >= 1,
            numbers[2] <= CivilDay.days(in: numbers[1], of: numbers[0])
        else { return nil }
        return CivilDay(year: numbers[0], month: numbers[1], day: numbers[2])
    }

    /// Returns the milliseconds of a moment since 1970, negative before; nil for any other text.
    package static func milliseconds(_ text: some StringProtocol) -> Int64? {
        guard numbers(text, "dddd-dd-ddTdd:dd:dd.dddZ") != nil, let day = day(text.prefix(10)), let seconds = seconds(text.dropFirst(11).prefix(8)),
            let fraction = Int(text.dropFirst(20).prefix(3))
        else { return nil }
        return Int64((day.daysSince1970 * 86_400 + seconds) * 1000 + fraction)
    }

    /// Returns the seconds of a time since midnight; nil for any other text.
    private static func seconds(_ text: some StringProtocol) -> Int? {
        guard let numbers = numbers(text, "dd:dd:dd"), numbers[0] < 24, numbers[1] < 60, numbers[2] < 60 else { return nil }
        return (numbers[0] * 60 + numbers[1]) * 60 + numbers[2]
    }

    /// Returns the numbers in a text of the pattern's shape, where `d` is a digit; nil for any other text.
    private static func numbers(_ text: some StringProtocol, _ pattern: StaticString) -> [Int]? {
        guard text.utf8.count == pattern.utf8CodeUnitCount else { return nil }
        return pattern.withUTF8Buffer { pattern in
            var numbers: [Int] = [], isInNumber = false
            for (byte, expected) in zip(text.utf8, pattern) {
                if expected == UInt8(ascii: "d") {
                    guard case let digit = byte &- UInt8(ascii: "0"), digit < 10 else { return nil }
                    if isInNumber { numbers[numbers.count - 1] = numbers[numbers.count - 1] * 10 + Int(digit) } else { numbers.append(Int(digit)) }
                    isInNumber = true
                } else {
                    guard byte == expected else { return nil }
                    isInNumber = false
                }
            }
            return numbers
        }
    }
}
