import Foundation
import MobileStore

/// JSON as it travels: written by hand from stored values, because no number may pass through a double on its way.
enum JSONText {
    /// `text` as a JSON string with its quotes.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20: result += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// Members in the order given.
    static func object(_ members: [(name: String, json: String)]) -> String {
        "{" + members.map { quoted($0.name) + ":" + $0.json }.joined(separator: ",") + "}"
    }

    static func array(_ elements: [String]) -> String { "[" + elements.joined(separator: ",") + "]" }
}

extension Storage {
    /// The JSON form of a stored value: decimals as numbers in decimal notation, booleans as such, binaries as base64, structures and
    /// lists as JSON inside a string.
    func json(_ value: Value) -> String {
        switch (self, value) {
        case (_, .null): "null"
        case (.boolean, .integer(let value)): value != 0 ? "true" : "false"
        case (.scaledDecimal(_, let scale), .integer(let value)): DecimalText.text(value, scale: scale)
        case (.textDecimal, .text(let value)): value
        case (_, .integer(let value)): String(value)
        case (_, .real(let value)): value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) + ".0" : String(value)
        case (_, .text(let value)): JSONText.quoted(value)
        case (_, .blob(let bytes)): "\"" + Data(bytes).base64EncodedString() + "\""
        }
    }

    /// The value that a model's JSON text stands for, as in the default of an attribute; ``AttributeValue/null`` when it fits the type badly.
    func value(ofJSON text: String) -> AttributeValue {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        if text == "null" { return .null }
        switch self {
        case .integer(let range): return Int64(text).flatMap { range.contains($0) ? .integer($0) : nil } ?? .null
        case .boolean: return text == "true" ? .boolean(true) : text == "false" ? .boolean(false) : .null
        case .scaledDecimal, .textDecimal: return Decimal(string: text, locale: nil).map { .decimal($0) } ?? .null
        case .real: return Double(text).map { .real($0) } ?? .null
        case .json: return .json(text)
        case .large: return .null
        case .text, .binary, .date, .time, .dateTime:
            guard let string = try? JSONDecoder().decode(String.self, from: Data(text.utf8)) else { return .null }
            return value(ofText: string)
        }
    }

    private func value(ofText text: String) -> AttributeValue {
        switch self {
        case .text: .string(text)
        case .binary: Data(base64Encoded: text).map { .binary([UInt8]($0)) } ?? .null
        case .date: LocalDate(text).map { .date($0) } ?? .null
        case .time: LocalTime(text).map { .time($0) } ?? .null
        case .dateTime: ISO8601Text.dateTime(text).map { .dateTime($0) } ?? .null
        default: .null
        }
    }
}

/// A row's values as one text, kept beside an outbox record: what was submitted, in case that nothing else tells when the answer comes.
/// A JSON array of strings whose first character gives the type, so that doubles and integers come back bit for bit.
enum SubmittedValues {
    static func text(_ values: [Value]) -> String {
        JSONText.array(
            values.map { value in
                switch value {
                case .null: "null"
                case .integer(let value): "\"i\(value)\""
                case .real(let value): "\"r\(String(value.bitPattern, radix: 16))\""
                case .text(let value): JSONText.quoted("t" + value)
                case .blob(let bytes): "\"b" + Data(bytes).base64EncodedString() + "\""
                }
            })
    }

    /// - Throws: ``ObjectError/Code/corrupt`` when the text was not made by ``text(_:)``.
    static func values(_ text: String) throws -> [Value] {
        guard let elements = try? JSONDecoder().decode([String?].self, from: Data(text.utf8)) else { throw damaged }
        return try elements.map { element in
            guard let element, let kind = element.unicodeScalars.first else { return .null }
            let rest = String(element.unicodeScalars.dropFirst())
            switch kind {
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
