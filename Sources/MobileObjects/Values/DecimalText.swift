import Foundation

/// Decimals in their stored form: scaled integers up to 18 digits, canonical text above. No value passes through a double.
enum DecimalText {
    /// Returns `value` times 10 to the `scale`; nil when it has more digits after the point, or more than `precision` in total.
    static func scaled(_ value: Decimal, precision: Int, scale: Int) -> Int64? {
        guard fits(value, precision: precision, scale: scale) else { return nil }
        var value = value, shifted = Decimal()
        guard NSDecimalMultiplyByPowerOf10(&shifted, &value, Int16(scale), .plain) == .noError else { return nil }
        return Int64(shifted.description)
    }

    /// Returns the decimal of a scaled integer.
    static func decimal(_ scaled: Int64, scale: Int) -> Decimal {
        Decimal(sign: scaled < 0 ? .minus : .plus, exponent: -scale, significand: Decimal(scaled.magnitude))
    }

    /// Returns the decimal of a stored text; nil where the text as a whole is not one, or has more digits than a decimal holds. Foundation alone would read
    /// the number that the text begins with, and round it.
    static func held(in text: String) -> Decimal? {
        var rest = Substring(text).utf8[...]
        func takeDigits(after mark: UInt8?) -> Int? {
            if let mark {
                guard rest.first.map({ $0 | 0x20 }) == mark | 0x20 else { return nil }
                rest.removeFirst()
                if mark == UInt8(ascii: "e"), let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest.removeFirst() }
            }
            let digits = rest.prefix { $0 &- 48 < 10 }
            rest = rest.dropFirst(digits.count)
            return digits.count
        }
        if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
        let zeros = rest.prefix { $0 == UInt8(ascii: "0") }.count
        let whole = takeDigits(after: nil) ?? 0, fraction = takeDigits(after: UInt8(ascii: ".")), exponent = takeDigits(after: UInt8(ascii: "e"))
        guard rest.isEmpty, whole > 0, fraction != 0, exponent != 0, whole - zeros + (fraction ?? 0) <= 38 else { return nil }
        return Decimal(string: text, locale: nil).flatMap { $0.isNaN ? nil : $0 }
    }

    /// Returns decimal notation without exponent, plus sign or redundant zeros: `-12.5`, `0`, `1000`. Nil when the value does not fit.
    static func canonical(_ value: Decimal, precision: Int, scale: Int) -> String? {
        fits(value, precision: precision, scale: scale) ? value.description : nil
    }

    /// Returns a scaled integer in decimal notation, as in JSON numbers: 1234 at scale 2 is `12.34`.
    static func text(_ scaled: Int64, scale: Int) -> String {
        guard scale > 0 else { return String(scaled) }
        let digits = ISO8601Text.digits(magnitude: scaled.magnitude, scale + 1)
        let point = digits.index(digits.endIndex, offsetBy: -scale)
        return (scaled < 0 ? "-" : "") + digits[..<point] + "." + digits[point...]
    }

    /// Returns the value with `scale` digits after the point that a decimal stands for; the decimal itself where there is none.
    ///
    /// Swift passes the literal `4999.99` to a decimal through a double, which makes 4999.989999999998976 of it. The conversion errs by up to 8 units
    /// in the last place of the double. A double keeps 15 digits; a decimal that is close to a longer one is another number.
    static func meant(_ value: Decimal, scale: Int) -> Decimal {
        guard value.exponent < -scale, !value.isNaN else { return value }
        var value = value, rounded = Decimal(), difference = Decimal(), unit = Decimal(1), step = Decimal()
        NSDecimalRound(&rounded, &value, scale, .plain)
        guard !rounded.isZero, NSDecimalSubtract(&difference, &value, &rounded, .plain) == .noError,
            NSDecimalMultiplyByPowerOf10(&step, &unit, Int16(-scale), .plain) == .noError
        else { return value }
        let number = Double(truncating: rounded as NSDecimalNumber), distance = Double(truncating: difference as NSDecimalNumber).magnitude
        let smallest = Double(truncating: step as NSDecimalNumber)
        return number.magnitude < smallest * 1e15 && distance <= min(8 * number.ulp, smallest / 100) ? rounded : value
    }

    private static func fits(_ value: Decimal, precision: Int, scale: Int) -> Bool {
        guard !value.isNaN else { return false }
        var value = value, rounded = Decimal()
        NSDecimalRound(&rounded, &value, scale, .plain)
        guard rounded == value else { return false }
        // Digits before the point: the value must be below the smallest number with one digit more than allowed.
        var limit = Decimal(1), shifted = Decimal()
        guard NSDecimalMultiplyByPowerOf10(&shifted, &limit, Int16(precision - scale), .plain) == .noError else { return false }
        return value.magnitude < shifted
    }
}

extension ISO8601Text {
    /// Returns `value` in decimal with leading zeros up to `width`.
    static func digits(magnitude value: UInt64, _ width: Int) -> String {
        let text = String(value)
        return text.utf8.count >= width ? text : String(repeating: "0", count: width - text.utf8.count) + text
    }
}
