internal import Foundation
internal import MobileModel
internal import MobileObjects
internal import Worlds

/// The value that an attribute shows of a stored one, in one form for each value: the expectation for the device.
enum Meaning: Equatable {
    /// NULL, or a value.
    case shown(String?)
    /// The attribute cannot hold the value: its row is held back.
    case unfit

    /// - Parameter isKey: whether the value is part of a key or of a reference, which may lose nothing.
    init(_ value: StoredValue, in attribute: AttributeModel, isKey: Bool = false, _ engine: DatabaseEngine) {
        if isKey, [.date, .time, .dateTime].contains(attribute.type), let time = StoredTime(value, engine), !time.isWhole(attribute.type) {
            self = .unfit
        } else if value == .null {
            self = attribute.isNullable || attribute.isGenerated ? .shown(nil) : .unfit
        } else {
            self = Self.text(value, attribute, engine).map { .shown($0) } ?? .unfit
        }
    }

    private static func text(_ value: StoredValue, _ attribute: AttributeModel, _ engine: DatabaseEngine) -> String? {
        switch attribute.type {
        case .byte, .short, .int, .long, .integer: return integer(value, attribute.type)
        case .boolean: return boolean(value)
        case .float, .double: return number(value).flatMap { $0.isFinite ? canonical($0) : nil }
        case .decimal: return decimal(value, attribute)
        case .date, .time, .dateTime: return StoredTime(value, engine)?.text(attribute.type)
        case .string, .char, .bigString, .structure, .list, .nullableList:
            return plainText(value)
        case .binary, .bigBinary:
            let bytes: [UInt8]
            switch value {
            case .bytes(let found), .brokenText(let found): bytes = found
            default: bytes = Array((plainText(value) ?? "").utf8)
            }
            return StoredValue.hex(bytes)
        }
    }

    /// SQLite's own text of a number; bytes are a text if they are UTF-8.
    private static func plainText(_ value: StoredValue) -> String? {
        switch value {
        case .null, .brokenText: nil
        case .integer(let number): "\(number)"
        case .real(let number): sqliteText(number)
        case .text(let text): text
        case .bytes(let bytes): String(validating: bytes, as: UTF8.self)
        }
    }

    /// 15 digits, at least one after the point.
    private static func sqliteText(_ number: Double) -> String {
        guard number.isFinite else { return number < 0 ? "-Inf" : "Inf" }
        let text = String(format: "%.15g", number)
        guard !text.contains(".") else { return text }
        guard let exponent = text.firstIndex(of: "e") else { return text + ".0" }
        return text[..<exponent] + ".0" + text[exponent...]
    }

    private static func integer(_ value: StoredValue, _ type: AttributeType) -> String? {
        let number: Int64?
        switch value {
        case .integer(let found): number = found
        case .real(let found): number = Int64(exactly: found)
        case .text(let text):
            let trimmed = text.trimmingCharacters(in: .whitespaces)
            number = trimmed == "t" ? 1 : trimmed == "f" ? 0 : Int64(trimmed) ?? Double(trimmed).flatMap { Int64(exactly: $0) }
        default: number = nil
        }
        guard let number else { return nil }
        let range: ClosedRange<Int64> =
            switch type {
            case .byte: -128...127
            case .short: -32_768...32_767
            case .int: -2_147_483_648...2_147_483_647
            default: .min ... .max
            }
        return range.contains(number) ? "\(number)" : nil
    }

    private static let trueWords: Set = ["1", "true", "t", "yes", "y", "on"], falseWords: Set = ["0", "false", "f", "no", "n", "off", ""]

    private static func boolean(_ value: StoredValue) -> String? {
        switch value {
        case .integer(let number): return number == 0 ? "0" : "1"
        case .real(let number): return number == 0 ? "0" : "1"
        case .text(let text): return trueWords.contains(text.lowercased()) ? "1" : falseWords.contains(text.lowercased()) ? "0" : nil
        default: return nil
        }
    }

    private static func number(_ value: StoredValue) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .real(let number): number
        case .text(let text): Double(text.trimmingCharacters(in: .whitespaces))
        default: nil
        }
    }

    /// Zero has one sign.
    private static func canonical(_ number: Double) -> String { "\(number == 0 ? 0 : number)" }

    /// Whether a text or bytes are longer than an attribute says: the row is held back, or shows them all the same.
    static func isTooLong(_ value: StoredValue, for attribute: AttributeModel) -> Bool {
        guard let length = attribute.length else { return false }
        return (plainText(value)?.unicodeScalars.count ?? 0) > length
    }

    /// A double of SQLite is the shortest decimal that it is nearest to, or its first 15 digits.
    private static func decimal(_ value: StoredValue, _ attribute: AttributeModel) -> String? {
        if case .real(let number) = value, number.isFinite, let text = decimal(.text("\(number)"), attribute) { return text }
        let text: String
        switch value {
        case .integer(let number): text = "\(number)"
        case .real(let number): text = sqliteText(number)
        case .text(let found): text = found.trimmingCharacters(in: .whitespaces)
        default: return nil
        }
        guard let digits = DecimalDigits(text) else { return nil }
        let scale = attribute.scale ?? 2, precision = attribute.precision ?? 18
        guard digits.whole.count <= precision - scale || (scale == precision && digits.whole.isEmpty), digits.fraction.count <= scale else {
            return nil
        }
        return digits.text
    }

    // MARK: The device

    /// The same form of a value that a device shows; nil for NULL.
    static func shown(_ value: AttributeValue) -> String? {
        switch value {
        case .null: nil
        case .integer(let number): "\(number)"
        case .real(let number): canonical(number)
        case .decimal(let number): DecimalDigits(number.description)?.text ?? number.description
        case .boolean(let isTrue): isTrue ? "1" : "0"
        case .binary(let bytes): StoredValue.hex(bytes)
        case .dateTime: ValueType.dateTime.canonical(value)
        default: value.description
        }
    }

    /// The value that an application sets.
    static func attributeValue(_ text: String?, _ attribute: AttributeModel) -> AttributeValue? {
        guard let text else { return .null }
        return switch attribute.type {
        case .byte, .short, .int, .long, .integer: Int64(text).map { .integer($0) }
        case .boolean: .boolean(text == "1")
        case .float, .double: Double(text).map { .real($0) }
        case .decimal: Decimal(string: text).map { .decimal($0) }
        case .date: LocalDate(text).map { .date($0) }
        case .time: LocalTime(text).map { .time($0) }
        case .dateTime: ValueType.dateTime.attributeValue(text)
        case .binary: .binary(Self.bytes(text))
        case .structure, .list, .nullableList: .json(text)
        case .string, .char, .bigString, .bigBinary: .string(text)
        }
    }

    static func bytes(_ hex: String) -> [UInt8] {
        if case .bytes(let bytes) = StoredValue("b" + hex) { bytes } else { [] }
    }
}

/// A decimal in digits, without zeros at either end.
struct DecimalDigits {
    private(set) var isNegative = false
    private(set) var whole = "", fraction = ""

    /// Reads `-12.5` or `1.5e-7`.
    init?(_ text: String) {
        let parts = text.lowercased().split(separator: "e", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let exponent = parts.count == 1 ? 0 : Int(parts[1].hasPrefix("+") ? parts[1].dropFirst() : parts[1]),
            abs(exponent) < 1000
        else { return nil }
        var mantissa = parts[0]
        if mantissa.hasPrefix("-") { isNegative = true }
        if mantissa.hasPrefix("-") || mantissa.hasPrefix("+") { mantissa.removeFirst() }
        let halves = mantissa.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(halves.count), halves.contains(where: { !$0.isEmpty }),
            halves.allSatisfy({ $0.allSatisfy { $0.isASCII && $0.isNumber } })
        else {
            return nil
        }
        whole = String(halves[0])
        fraction = halves.count > 1 ? String(halves[1]) : ""
        if exponent > 0 {
            fraction += String(repeating: "0", count: max(0, exponent - fraction.count))
            whole += fraction.prefix(exponent)
            fraction.removeFirst(exponent)
        } else if exponent < 0 {
            whole = String(repeating: "0", count: max(0, -exponent - whole.count)) + whole
            fraction = whole.suffix(-exponent) + fraction
            whole.removeLast(-exponent)
        }
        while whole.hasPrefix("0") { whole.removeFirst() }
        while fraction.hasSuffix("0") { fraction.removeLast() }
        if whole.isEmpty, fraction.isEmpty { isNegative = false }
    }

    var text: String { (isNegative ? "-" : "") + (whole.isEmpty ? "0" : whole) + (fraction.isEmpty ? "" : "." + fraction) }
}
