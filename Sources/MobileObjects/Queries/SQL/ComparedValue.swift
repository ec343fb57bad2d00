import Foundation
import MobileStore

/// The place of a test, for its errors.
struct TestPlace {
    let attribute: String
    let `operator`: AttributeTest.Operator
    let type: QueryType

    func error(_ code: ObjectError.Code, _ reason: String) -> ObjectError {
        ObjectError(code, "query: test \(`operator`) of \"\(attribute)\": \(reason)")
    }
}

/// Converts values that are compared with an attribute to the form in which the attribute's own are stored.
struct ComparedValue {
    private let place: TestPlace

    init(_ place: TestPlace) { self.place = place }

    /// Returns the value to bind at the right side of a comparison.
    ///
    /// A value that the attribute cannot have, because it has more digits after the point or is too large, is still compared: it is equal to no
    /// value, and less or greater as numbers are. A decimal literal, which Swift makes from a double, is compared as the value that it was written as.
    /// - Throws: ``ObjectError/Code/invalidValue`` for a value of another type.
    func bound(_ value: AttributeValue, _ word: String) throws -> Value {
        let value = place.type.storage.meant(value)
        let mismatch = place.error(.invalidValue, "a value of another type is given, expected \(place.type.type)")
        switch (place.type.storage, value) {
        case (.integer, .integer(let integer)): return .integer(integer)
        case (.integer, .real(let real)) where real.isFinite: return .real(real)
        case (.integer, _): return try scaled(value, by: 0, word, mismatch)
        case (.scaledDecimal(_, let scale), _): return try scaled(value, by: scale, word, mismatch)
        case (.textDecimal, _):
            guard let decimal = Self.decimal(value) else { throw mismatch }
            return .text(decimal.description)
        case (.real, .string(let text)):
            guard let real = Double(text), real.isFinite else { throw mismatch }
            return .real(real)
        case (.real, .decimal(let decimal)): return .real(Double(truncating: decimal as NSDecimalNumber))
        case (.boolean, .integer(let integer)) where integer == 0 || integer == 1: return .integer(integer)
        case (.boolean, .string(let text)):
            guard let boolean = ["true": 1, "1": 1, "false": 0, "0": 0][text.lowercased()] else { throw mismatch }
            return .integer(Int64(boolean))
        case (.date, .string(let text)):
            guard let date = LocalDate(text) else { throw mismatch }
            return .text(date.description)
        case (.time, .string(let text)):
            guard let time = LocalTime(text) else { throw mismatch }
            return .text(time.description)
        case (.dateTime, .string(let text)):
            guard let date = ISO8601Text.dateTime(text) else { throw mismatch }
            return .text(ISO8601Text.text(date))
        default:
            guard let stored = place.type.storage.stored(value) else { throw mismatch }
            return stored
        }
    }

    /// Returns a number times ten to the `scale`. A number between two integers is compared with the neighbouring integer that gives the same answer.
    /// The largest integer, which no decimal has, is equal to none.
    private func scaled(_ value: AttributeValue, by scale: Int, _ word: String, _ mismatch: ObjectError) throws -> Value {
        guard var decimal = Self.decimal(value), !decimal.isNaN else { throw mismatch }
        var shifted = Decimal()
        guard NSDecimalMultiplyByPowerOf10(&shifted, &decimal, Int16(scale), .plain) == .noError else {
            return .integer(decimal.isSignMinus ? .min : .max)
        }
        var rounded = Decimal()
        let isUp = word == "<" || word == ">="
        NSDecimalRound(&rounded, &shifted, 0, isUp ? .up : .down)
        if rounded != shifted, word == "=" || word == "<>" { return .integer(.max) }
        return .integer(Int64(rounded.description) ?? (decimal.isSignMinus ? .min : .max))
    }

    /// Returns a number of any kind exactly; a double as its shortest text.
    private static func decimal(_ value: AttributeValue) -> Decimal? {
        switch value {
        case .integer(let integer): Decimal(integer)
        case .decimal(let decimal): decimal
        case .real(let real) where real.isFinite: Decimal(string: "\(real)", locale: nil)
        case .string(let text): DecimalText.decimal(text)
        default: nil
        }
    }
}

extension DecimalText {
    /// Parses a text that is a decimal in decimal notation: `-12.50`; nil for any other text, or one with more digits than a decimal keeps.
    static func decimal(_ text: String) -> Decimal? {
        let digits = text.hasPrefix("-") || text.hasPrefix("+") ? text.dropFirst() : Substring(text)
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { ("0"..."9").contains($0) } }) else { return nil }
        return Decimal(string: text, locale: nil)
    }
}
