import Foundation
import MobileStore

extension Storage {
    /// Returns the JSON form of a stored value: decimals as numbers in decimal notation, which never pass through a double; booleans as such;
    /// binaries as base64; structures and lists as JSON inside a string. A number or text that the attribute cannot have stays what it is, so that the
    /// server can refuse it.
    func json(_ value: Value) -> JSONValue {
        switch (self, value) {
        case (_, .null): .null
        case (.boolean, .integer(let value)) where value == 0 || value == 1: .boolean(value == 1)
        case (.scaledDecimal(_, let scale), .integer(let value)): scale > 0 ? .number(DecimalText.text(value, scale: scale)) : .integer(value)
        case (.textDecimal, .text(let value)) where DecimalText.held(in: value) != nil: .number(value)
        case (_, .integer(let value)): .integer(value)
        case (_, .real(let value)): JSONValue(value) ?? .null
        case (_, .text(let value)): .string(value)
        case (_, .blob(let bytes)): .string(Data(bytes).base64EncodedString())
        }
    }

    /// Returns the value of a JSON value; nil when it is of another kind.
    func attributeValue(_ json: JSONValue) -> AttributeValue? {
        switch self {
        case _ where json.isNull: .null
        case .integer(let range): json.integer.flatMap { range.contains($0) ? .integer($0) : nil }
        case .boolean: json.boolean.map { .boolean($0) }
        case .scaledDecimal, .textDecimal: json.decimalText.flatMap(DecimalText.held).map { .decimal($0) }
        case .real: json.double.map { .real($0) }
        case .text: json.string.map { .string($0) }
        case .binary: json.string.flatMap { Data(base64Encoded: $0) }.map { .binary([UInt8]($0)) }
        case .date: json.string.flatMap { LocalDate($0) }.map { .date($0) }
        case .time: json.string.flatMap { LocalTime($0) }.map { .time($0) }
        case .dateTime: json.string.flatMap { ISO8601Text.dateTime($0) }.map { .dateTime($0) }
        case .json: .json(json.string ?? json.description)
        case .large: nil
        }
    }

    /// Returns the value of a model's default, given as JSON text. Returns nil when it does not fit, which the model's validation excludes.
    func attributeValue(ofDefault text: String) -> AttributeValue? {
        guard let json = try? JSONValue(parsing: text) else { return nil }
        // A structure's or list's default is the JSON itself.
        if case .json = self { return json.isNull ? .null : .json(json.description) }
        return attributeValue(json)
    }
}

/// A row's submitted values as one text, stored with an outbox record, in case no other source has them when the answer comes.
/// The text is a JSON array of strings. The first character of each gives the type, so that doubles and integers are restored bit for bit.
enum SubmittedValues {
    static func text(_ values: [Value]) -> String {
        JSONValue.array(
            values.map { value in
                switch value {
                case .null: .null
                case .integer(let value): .string("i\(value)")
                case .real(let value): .string("r" + String(value.bitPattern, radix: 16))
                case .text(let value): .string("t" + value)
                case .blob(let bytes): .string("b" + Data(bytes).base64EncodedString())
                }
            }
        ).description
    }

    /// - Throws: ``ObjectError/Code/corrupt`` when the text was not made by ``text(_:)``.
    static func values(_ text: String) throws -> [Value] {
        guard let elements = try? JSONValue(parsing: text).array else { throw damaged }
        return try elements.map { element in
            if element.isNull { return .null }
            let scalars = (element.string ?? "").unicodeScalars
            let rest = String(scalars.dropFirst())
            switch scalars.first {
            case "i": if let value = Int64(rest) { return .integer(value) }
            case "r": if let bits = UInt64(rest, radix: 16) { return .real(Double(bitPattern: bits)) }
            case "t": return .text(rest)
            case "b": if let data = Data(base64Encoded: rest) { return .blob([UInt8](data)) }
            default: break
            }
            throw damaged
        }
    }

    private static var damaged: ObjectError { ObjectError(.corrupt, "outbox: the submitted values of a record are damaged") }
}
