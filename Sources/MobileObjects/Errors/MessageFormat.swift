import Foundation

/// A text with places for arguments: `%@` takes the next one, `%2$@` the second, `%%` is a percent sign. A place without an argument stays
/// empty. Any other character after a percent sign is text.
struct MessageFormat {
    private let text: String

    init(_ text: String) { self.text = text }

    func filled(with arguments: [ErrorArgument], in locale: Locale) -> String {
        var result = "", rest = text[...], next = 0
        while let percent = rest.firstIndex(of: "%") {
            result += rest[..<percent]
            rest = rest[rest.index(after: percent)...]
            if rest.first == "%" {
                result += "%"
                rest.removeFirst()
                continue
            }
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            if rest.first == "@" {
                result += Self.text(next, of: arguments, in: locale)
                next += 1
                rest.removeFirst()
            } else if let position = Int(digits), position > 0, rest[digits.endIndex...].hasPrefix("$@") {
                result += Self.text(position - 1, of: arguments, in: locale)
                rest = rest[digits.endIndex...].dropFirst(2)
            } else {
                result += "%"
            }
        }
        return result + rest
    }

    private static func text(_ index: Int, of arguments: [ErrorArgument], in locale: Locale) -> String {
        guard index < arguments.count else { return "" }
        switch arguments[index] {
        case .text(let text): return text
        case .integer(let number): return number.formatted(.number.locale(locale))
        case .real(let number): return number.formatted(.number.locale(locale))
        case .date(let date): return date.formatted(Date.FormatStyle(date: .numeric, time: .shortened, locale: locale, timeZone: .gmt))
        }
    }
}
