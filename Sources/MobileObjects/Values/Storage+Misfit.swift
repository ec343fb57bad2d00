import Foundation
import MobileStore

/// Messages about values that do not fit: the value, and the limit that it breaks.
extension Storage {
    /// Returns the reason why a value does not fit, such as `1234.5 does not fit decimal(5, 2): at most 3 digits before the point and 2 after it`.
    /// - Parameter type: the type's name in the model.
    func misfit(_ value: AttributeValue, type: String) -> String {
        switch (self, value) {
        case (_, .null): "null, expected \(type)"
        case (.integer(let range), .integer(let number)): "\(number) does not fit \(type): \(range.lowerBound) to \(range.upperBound)"
        case (.scaledDecimal(let precision, let scale), .decimal), (.scaledDecimal(let precision, let scale), .integer),
            (.textDecimal(let precision, let scale), .decimal), (.textDecimal(let precision, let scale), .integer):
            "\(value) does not fit decimal(\(precision), \(scale)): at most \(precision - scale) digits before the point and \(scale) after it"
        case (.real, .real(let number)): "\(number) is not a number that can be stored as \(type)"
        case (.dateTime, .dateTime(let date)) where !date.timeIntervalSince1970.isFinite:
            "a time of \(date.timeIntervalSince1970) seconds is not one that can be stored as \(type)"
        default: "\(Self.kind(of: value)) \(Self.excerpt(value)), expected \(type)"
        }
    }

    /// Returns the reason why an attribute cannot have what its column holds, such as `the text "31.12.2020", expected date`.
    /// - Parameter type: the type's name in the model.
    func misfit(_ value: Value, type: String) -> String {
        switch (self, value) {
        case (.integer, .integer(let number)): misfit(AttributeValue.integer(number), type: type)
        case (_, .null): misfit(AttributeValue.null, type: type)
        case (_, .integer(let number)): "the integer \(number), expected \(type)"
        case (_, .real(let number)): "the double \(number), expected \(type)"
        case (_, .text(let text)): "the text \(Self.excerpt(.string(text))), expected \(type)"
        case (_, .blob(let bytes)): "\(bytes.count) bytes, expected \(type)"
        }
    }

    /// Returns the reason why a text or a binary is too long; nil where it is not. Characters are counted as Unicode scalars, as the database and
    /// large texts count them.
    static func excess(_ value: AttributeValue, over length: Int?) -> String? {
        guard let length else { return nil }
        switch value {
        case .string(let text) where text.utf8.count > length && text.unicodeScalars.count > length:
            return "\(text.unicodeScalars.count) characters (\(excerpt(value))), at most \(length) are allowed"
        case .binary(let bytes) where bytes.count > length: return "\(bytes.count) bytes, at most \(length) are allowed"
        default: return nil
        }
    }

    /// The value in a message: texts quoted, and only their beginning.
    static func excerpt(_ value: AttributeValue) -> String {
        switch value {
        case .string(let text), .json(let text): text.count > 20 ? "\"\(text.prefix(20))...\"" : "\"\(text)\""
        default: "\(value)"
        }
    }

    private static func kind(of value: AttributeValue) -> String {
        switch value {
        case .null: "null"
        case .integer: "the integer"
        case .real: "the double"
        case .decimal: "the decimal"
        case .boolean: "the boolean"
        case .string: "the string"
        case .binary: "the binary of"
        case .date: "the date"
        case .time: "the time"
        case .dateTime: "the time stamp"
        case .json: "the structure or list"
        case .large: "the"
        }
    }
}
