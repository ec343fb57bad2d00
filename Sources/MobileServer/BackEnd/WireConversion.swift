internal import Foundation
internal import MobileModel
internal import MobileStore

/// The conversion of values between devices and back ends.
enum WireConversion {
    /// A value that does not fit its attribute.
    struct Mismatch: Error {
        let message: String
    }

    /// Converts a value from a device to the value for a back end's column.
    /// - Parameter affinity: the affinity of the column. A decimal is written as text where the column stores text, otherwise as a number if a double
    ///   holds all of its digits.
    static func value(
        _ json: JSONValue, of attribute: AttributeModel, affinity: BackEndTable.Affinity
    ) throws(Mismatch) -> Value {
        if json.isNull { return .null }
        switch attribute.type {
        case .byte: return try integer(json, in: Int64(Int8.min)...Int64(Int8.max), "a byte")
        case .short: return try integer(json, in: Int64(Int16.min)...Int64(Int16.max), "a short")
        case .int: return try integer(json, in: Int64(Int32.min)...Int64(Int32.max), "an int")
        case .long, .integer: return try integer(json, in: .min ... .max, "a long")
        case .boolean:
            guard let boolean = json.boolean else { throw mismatch("true or false", json) }
            return .integer(boolean ? 1 : 0)
        case .float, .double:
            guard let double = json.double else { throw mismatch("a number", json) }
            return .real(double)
        case .decimal: return try decimal(json, of: attribute, affinity)
        case .string, .char, .structure, .list, .nullableList, .bigString:
            guard let string = json.string else { throw mismatch("a string", json) }
            guard affinity == .array, attribute.type.isComplex else { return .text(string) }
            guard let list = try? JSONValue(parsing: string), let array = arrayText(list) else { throw mismatch("a list of JSON", json) }
            return .text(array)
        case .binary, .bigBinary:
            guard let string = json.string, let data = Data(base64Encoded: string) else { throw mismatch("a string in base64", json) }
            return .blob([UInt8](data))
        case .date: return try text(json, /^\d{4}-\d\d-\d\d$/, "a date as \"YYYY-MM-DD\"")
        case .time: return try text(json, /^\d\d:\d\d:\d\d$/, "a time as \"HH:MM:SS\"")
        case .dateTime: return try text(json, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/, "a time as \"YYYY-MM-DDTHH:MM:SS.sssZ\"")
        }
    }

    /// Returns a list of JSON as PostgreSQL writes arrays; nil for anything else. A list in a list is another dimension.
    private static func arrayText(_ json: JSONValue) -> String? {
        guard let values = json.array else { return nil }
        func quoted(_ text: String) -> String { "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\"" }
        let elements = values.map { value in
            if value.isNull { return "NULL" }
            return arrayText(value) ?? quoted(value.string ?? value.description)
        }
        return "{" + elements.joined(separator: ",") + "}"
    }

    /// Converts a value in the cache's form, such as a part of a parent's key, to the value for a column.
    static func value(cached value: Value, of attribute: AttributeModel, affinity: BackEndTable.Affinity) -> Value {
        guard attribute.type == .decimal, case .integer(let scaled) = value else { return value }
        let text = decimalText(scaled, scale: attribute.scale ?? 2)
        return number(text, digits: text.count, affinity)
    }

    /// Converts a value in the cache's form to the form of the protocol.
    static func json(cached value: Value, of attribute: AttributeModel) -> JSONValue {
        switch value {
        case .null: .null
        case .integer(let value) where attribute.type == .decimal: decimalJSON(decimalText(value, scale: attribute.scale ?? 2))
        case .integer(let value) where attribute.type == .boolean: .boolean(value != 0)
        case .integer(let value): .integer(value)
        case .real(let value): JSONValue(value) ?? .null
        case .text(let text) where attribute.type == .decimal: decimalJSON(text)
        case .text(let text): .string(text)
        case .blob(let bytes): .string(Data(bytes).base64EncodedString())
        }
    }

    /// Checks a value in the form of the protocol, and returns its one notation.
    static func normalized(_ json: JSONValue, of attribute: AttributeModel) throws(Mismatch) -> JSONValue {
        let value = try value(json, of: attribute, affinity: .text)
        return attribute.type == .boolean ? json : self.json(cached: value, of: attribute)
    }

    /// Checks that an attribute can hold a value of a back end, and returns the value's one notation.
    static func held(_ json: JSONValue, by attribute: AttributeModel, in object: ObjectModel) throws(Mismatch) -> JSONValue {
        if json.isNull {
            if attribute.isRequired(in: object) { throw Mismatch(message: "expected a value, found null") }
            return json
        }
        let value = try value(json, of: attribute, affinity: .text)
        let isHeld =
            switch (attribute.type, value) {
            case (.date, .text(let text)): TimeText.isDate(text)
            case (.time, .text(let text)): TimeText.isTime(text)
            case (.dateTime, .text(let text)): TimeText.isDate(text.prefix(10)) && TimeText.isTime(text.dropFirst(11).prefix(8))
            case (.float, .real(let number)): Float(number).isFinite
            case (.double, .real(let number)): number.isFinite
            case (.decimal, _): true
            case (_, .text(let text)): attribute.lengths.upperBound == .max || attribute.lengths.contains(text.unicodeScalars.count)
            case (_, .blob(let bytes)): attribute.lengths.contains(bytes.count)
            default: true
            }
        guard isHeld else { throw mismatch(attribute.formWords, json) }
        return attribute.type == .boolean ? json : self.json(cached: value, of: attribute)
    }

    /// Returns a number without zeros at the end of its fraction.
    private static func decimalJSON(_ text: String) -> JSONValue {
        var digits = text[...]
        if digits.contains(".") {
            while digits.last == "0" { digits = digits.dropLast() }
            if digits.last == "." { digits = digits.dropLast() }
        }
        return Int64(digits).map { .integer($0) } ?? .number(String(digits))
    }

    /// Returns a scaled integer in decimal notation.
    static func decimalText(_ scaled: Int64, scale: Int) -> String {
        var digits = String(scaled.magnitude)
        if digits.count <= scale { digits = String(repeating: "0", count: scale + 1 - digits.count) + digits }
        return (scaled < 0 ? "-" : "") + digits.dropLast(scale) + (scale > 0 ? "." + digits.suffix(scale) : "")
    }

    private static func integer(_ json: JSONValue, in range: ClosedRange<Int64>, _ kind: String) throws(Mismatch) -> Value {
        guard let integer = json.integer, range.contains(integer) else {
            throw mismatch("\(kind) from \(range.lowerBound) to \(range.upperBound)", json)
        }
        return .integer(integer)
    }

    private static func decimal(_ json: JSONValue, of attribute: AttributeModel, _ affinity: BackEndTable.Affinity) throws(Mismatch) -> Value {
        guard let text = json.decimalText, !text.contains(where: { $0 == "e" || $0 == "E" }) else {
            throw mismatch("a number in decimal notation", json)
        }
        let parts = text.drop { $0 == "-" }.split(separator: ".", omittingEmptySubsequences: false)
        let whole = parts[0].drop { $0 == "0" }.count
        let fraction = parts.count > 1 ? parts[1].count - parts[1].reversed().prefix { $0 == "0" }.count : 0
        guard whole <= attribute.digitsBeforePoint, fraction <= attribute.scale ?? 2 else { throw mismatch(attribute.decimalWords, json) }
        return number(text, digits: whole + fraction, affinity)
    }

    /// A double holds 15 digits. A longer number is written as text, which a numeric column converts to a number if it can.
    private static func number(_ text: String, digits: Int, _ affinity: BackEndTable.Affinity) -> Value {
        if affinity == .text { return .text(text) }
        if let integer = Int64(text) { return .integer(integer) }
        guard digits <= 15, let double = Double(text) else { return .text(text) }
        return .real(double)
    }

    private static func text<Output>(_ json: JSONValue, _ pattern: Regex<Output>, _ kind: String) throws(Mismatch) -> Value {
        guard let string = json.string, (try? pattern.wholeMatch(in: string)) != nil else { throw mismatch(kind, json) }
        return .text(string)
    }

    private static func mismatch(_ expected: String, _ json: JSONValue) -> Mismatch {
        let found =
            switch json {
            case .null: "null"
            case .boolean: "a boolean"
            case .integer, .number: "another number"
            case .string: "another string"
            case .array: "an array"
            case .object: "an object"
            }
        return Mismatch(message: "expected \(expected), found \(found)")
    }
}

extension AttributeModel {
    /// The maximum number of digits of a decimal before its point.
    var digitsBeforePoint: Int {
        let (precision, scale) = (precision ?? 18, scale ?? 2)
        return scale == precision && precision == 38 ? precision : precision - scale
    }

    /// Phrase for the values of a decimal, for messages.
    var decimalWords: String { "a decimal of at most \(precision ?? 18) digits, \(scale ?? 2) of them after the point" }
}
