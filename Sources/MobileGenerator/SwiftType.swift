import Foundation
import MobileModel

/// The Swift form of an attribute's type.
struct SwiftType {
    let type: AttributeType
    let isNullable: Bool
    private let precision: Int
    private let scale: Int
    private let prefix: String
    /// Names of the objects of the model: values of such a type are objects, not structures.
    private let objects: Set<String>

    init(_ attribute: AttributeModel, prefix: String, objects: Set<String> = []) {
        // The value that the back end assigns is not there at first. An empty value would be taken for one.
        (type, isNullable, self.prefix, self.objects) = (attribute.type, attribute.isNullable || attribute.isGenerated, prefix, objects)
        precision = attribute.precision ?? 18
        scale = attribute.scale ?? 2
    }

    init(_ type: AttributeType, isNullable: Bool, prefix: String, objects: Set<String> = []) {
        (self.type, self.isNullable, self.prefix, self.objects) = (type, isNullable, prefix, objects)
        (precision, scale) = (18, 2)
    }

    /// Whether values are objects of the model, or lists of them.
    private var isObject: Bool {
        if case .structure(let name) = type.element ?? type { objects.contains(name) } else { false }
    }

    /// The value of `member` for the runtime.
    func encoded(_ member: String) -> String {
        if isObject { return type.element == nil ? "encodedObject(\(member))" : "encodedObjects(\(member))" }
        return type.isComplex ? "encoded(\(member))" : "\(member).attributeValue"
    }

    /// The value that the attribute at `index` gets from the runtime's `value`.
    func decoded(_ index: Int) -> String {
        let arguments = "(value, ofAttribute: \(index))"
        guard isObject else { return "try \(type.isComplex ? "decode" : "convert")\(arguments)" }
        switch type {
        case .list: return "try decodeObjects\(arguments)" + (isNullable ? "" : " ?? []")
        case .nullableList: return "try decodeNullableObjects\(arguments)" + (isNullable ? "" : " ?? []")
        default: return "try decodeObject\(arguments)"
        }
    }

    /// The type's name: `Int64`, `String?`.
    var name: String { isNullable ? wrappedName + "?" : wrappedName }

    /// The type's name without the question mark.
    var wrappedName: String {
        switch type {
        case .string, .char: "String"
        case .binary: "[UInt8]"
        case .boolean: "Bool"
        case .byte: "Int8"
        case .short: "Int16"
        case .int: "Int32"
        case .long, .integer: "Int64"
        case .decimal: "Decimal"
        case .float: "Float"
        case .double: "Double"
        case .date: "LocalDate"
        case .time: "LocalTime"
        case .dateTime: "Date"
        case .bigString: "BigString"
        case .bigBinary: "BigBinary"
        case .structure(let name): SwiftNames.type(name, prefix: prefix)
        case .list(let element): "[\(SwiftType(element, isNullable: false, prefix: prefix).wrappedName)]"
        case .nullableList(let element): "[\(SwiftType(element, isNullable: true, prefix: prefix).name)]"
        }
    }

    /// The type as the name of an initializer: `String`, `Optional<String>`.
    var conversion: String { isNullable ? "Optional<\(wrappedName)>" : wrappedName }

    /// Whether the type comes from Foundation.
    var needsFoundation: Bool {
        switch type {
        case .decimal, .dateTime: true
        case .list(let element), .nullableList(let element): SwiftType(element, isNullable: false, prefix: prefix).needsFoundation
        default: false
        }
    }

    /// Whether the type comes from the runtime.
    var needsRuntime: Bool {
        switch type {
        case .date, .time, .bigString, .bigBinary: true
        case .list(let element), .nullableList(let element): SwiftType(element, isNullable: false, prefix: prefix).needsRuntime
        default: false
        }
    }

    /// The initial value of a new object's attribute if the model gives none.
    var emptyValue: String {
        if isNullable { return "nil" }
        return switch type {
        case .string, .char: "\"\""
        case .boolean: "false"
        case .binary, .list, .nullableList: "[]"
        case .date: ".epoch"
        case .time: ".midnight"
        case .dateTime: "Date(timeIntervalSince1970: 0)"
        case .structure: "\(wrappedName)()"
        default: "0"
        }
    }

    /// The value of column `index`, counted from the variable `column`, as the type. The readers return nil for NULL, and throw for a value that the
    /// type cannot hold.
    func read(_ index: Int) -> String {
        let value = readValue(index == 0 ? "column" : "column + \(index)")
        return isNullable ? value : "\(value) ?? \(emptyValue)"
    }

    private func readValue(_ column: String) -> String {
        switch type {
        case .string, .char: "row.readString(\(column))"
        case .binary: "row.readBinary(\(column))"
        case .boolean: "row.readBoolean(\(column))"
        case .byte, .short, .int, .long, .integer: "row.readInteger(\(column))"
        case .decimal: precision <= 18 ? "row.readDecimal(\(column), scale: \(scale))" : "row.readDecimalText(\(column))"
        case .float: "row.readFloat(\(column))"
        case .double: "row.readReal(\(column))"
        case .date: "row.readDate(\(column))"
        case .time: "row.readTime(\(column))"
        case .dateTime: "row.readDateTime(\(column))"
        case .list where isObject: "row.readObjects(\(column), of: context)"
        case .nullableList where isObject: "row.readNullableObjects(\(column), of: context)"
        case .structure where isObject: "row.readObject(\(column), of: context)"
        case .structure, .list, .nullableList: "row.readDecoded(\(column))"
        case .bigString, .bigBinary: ""
        }
    }

    /// A default value of the model as a Swift expression. The model has been checked, so every value fits its type.
    func literal(json: String) -> String { JSONSyntaxNode(text: json).map(literal) ?? emptyValue }

    private func literal(_ node: JSONSyntaxNode) -> String {
        switch (node.value, type) {
        case (.string(let text), .string), (.string(let text), .char): SwiftText.literal(text)
        case (.string(let text), .date), (.string(let text), .time): "\(wrappedName)(\(SwiftText.literal(text))) ?? \(unsetValue)"
        case (.string(let text), .dateTime): "Date(timeIntervalSince1970: \(Self.secondsSince1970(text)))"
        case (.string(let text), .binary): "[" + (Data(base64Encoded: text) ?? Data()).map { String($0) }.joined(separator: ", ") + "]"
        case (.boolean(let value), _): value ? "true" : "false"
        case (.number(let digits), .decimal): Self.decimal(digits)
        case (.number(let digits), _): digits
        case (.array(let elements), .list(let element)):
            "[" + elements.map { SwiftType(element, isNullable: false, prefix: prefix).literal($0) }.joined(separator: ", ") + "]"
        case (.array(let elements), .nullableList(let element)):
            "[" + elements.map { SwiftType(element, isNullable: true, prefix: prefix).literal($0) }.joined(separator: ", ") + "]"
        default: emptyValue
        }
    }

    private var unsetValue: String { SwiftType(type, isNullable: false, prefix: prefix).emptyValue }

    /// Seconds since 1970 of a time such as `2025-12-31T23:59:00.000Z`.
    private static func secondsSince1970(_ text: String) -> String {
        String(Double(TimeText.milliseconds(text) ?? 0) / 1000)
    }

    /// A decimal without a detour through a binary fraction: 12.50 is 1250 with the exponent -2.
    private static func decimal(_ digits: String) -> String {
        guard digits.contains(where: { ".eE".contains($0) }) else { return digits }
        let parts = digits.lowercased().split(separator: "e")
        let mantissa = parts[0].drop { $0 == "-" }
        let fraction = mantissa.split(separator: ".").dropFirst().first?.count ?? 0
        let exponent = (parts.count > 1 ? Int(parts[1]) ?? 0 : 0) - fraction
        let significand = mantissa.filter { $0 != "." }.drop { $0 == "0" }
        return
            "Decimal(sign: \(digits.hasPrefix("-") ? ".minus" : ".plus"), exponent: \(exponent), significand: \(significand.isEmpty ? "0" : significand))"
    }
}
