extension ModelValidator {
    /// - Parameter name: the constant in messages.
    mutating func checkDefault(_ attribute: AttributeModel, _ path: ModelPath, of name: String = "the default") {
        guard let node = checkDefault(attribute.defaultValue, type: attribute.type, isNullable: attribute.isNullable, path, of: name) else { return }
        switch (node.value, attribute.type) {
        case (.string(let text), .string):
            if let length = attribute.length, text.unicodeScalars.count > length {
                report(.value, path, "\(name) has \(text.unicodeScalars.count) characters, the length is \(length)")
            }
        case (.number(let digits), .decimal):
            let number = DecimalDigits(digits)
            let precision = attribute.precision ?? AttributeModel.defaultPrecision
            let scale = attribute.scale ?? AttributeModel.defaultScale
            if scale >= 0, scale <= precision, number.behindPoint > scale || number.beforePoint > precision - scale {
                report(.value, path, "\(digits) does not fit into a decimal of \(precision) digits with \(scale) after the point")
            }
        default: break
        }
    }

    /// Checks a default value's type and range. Returns the value; nil if there is none or it is wrong.
    @discardableResult
    mutating func checkDefault(_ json: String?, type: AttributeType, isNullable: Bool, _ path: ModelPath, of name: String = "the default")
        -> JSONSyntaxNode?
    {
        guard let json else { return nil }
        guard let node = JSONSyntaxNode(text: json) else {
            report(.value, path, "\(name) is not JSON: \(json.prefix(80))")
            return nil
        }
        if case .null = node.value {
            if !isNullable { report(.value, path, "\(name) is null, the type is not nullable") }
            return nil
        }
        guard let expected = mismatch(node, type) else { return node }
        report(.value, path, "\(name) of \(English.withArticle(type)) is \(expected), found \(json.prefix(80))")
        return nil
    }

    /// The expected form of a default value of `type`; nil if `node` has it.
    private func mismatch(_ node: JSONSyntaxNode, _ type: AttributeType) -> String? {
        switch (type, node.value) {
        case (.string, .string), (.boolean, .boolean), (.decimal, .number), (.float, .number), (.double, .number): nil
        case (.list(let element), .array(let elements)): elements.lazy.compactMap { mismatch($0, element) }.first
        case (.nullableList(let element), .array(let elements)):
            elements.lazy.compactMap { node in if case .null = node.value { nil } else { mismatch(node, element) } }.first
        case (.char, .string(let text)) where text.unicodeScalars.count == 1: nil
        case (.date, .string(let text)) where TimeText.isDate(text): nil
        case (.time, .string(let text)) where TimeText.isTime(text): nil
        case (.dateTime, .string(let text)) where TimeText.isDateTime(text): nil
        case (.binary, .string(let text)) where isBase64(text): nil
        case (_, .number(let digits)) where type.integerRange.map { range in Int64(digits).map(range.contains) ?? false } == true: nil
        default: expectation(type)
        }
    }

    private func expectation(_ type: AttributeType) -> String {
        if let range = type.integerRange { return "a whole number from \(range.lowerBound) to \(range.upperBound)" }
        return switch type {
        case .string: "a string"
        case .boolean: "true or false"
        case .decimal, .float, .double: "a number"
        case .char: "a string of one character"
        case .date: "a string such as \"2025-12-31\""
        case .time: "a string such as \"23:59:00\""
        case .dateTime: "a string such as \"2025-12-31T23:59:00.000Z\""
        case .binary: "a base64 string"
        case .list(let element): "an array, each element \(expectation(element))"
        case .nullableList(let element): "an array, each element null or \(expectation(element))"
        default: "left out; new objects begin with an empty one"
        }
    }
}

/// The number of digits of a JSON number before and after the point, without superfluous zeros.
struct DecimalDigits {
    let beforePoint: Int
    let behindPoint: Int

    init(_ number: String) {
        let parts = number.lowercased().split(separator: "e")
        let exponent = parts.count > 1 ? min(max(Int(parts[1]) ?? .max, -1_000_000), 1_000_000) : 0
        let mantissa = parts[0].drop { $0 == "-" }.split(separator: ".", omittingEmptySubsequences: false)
        let whole = String(mantissa[0])
        let fraction = mantissa.count > 1 ? String(mantissa[1]) : ""
        let digits = Array(whole + fraction)
        guard let first = digits.firstIndex(where: { $0 != "0" }), let last = digits.lastIndex(where: { $0 != "0" }) else {
            (beforePoint, behindPoint) = (0, 0)
            return
        }
        let point = whole.count + exponent
        beforePoint = max(0, point - first)
        behindPoint = max(0, last + 1 - point)
    }
}

extension ModelValidator {
    private func isBase64(_ text: String) -> Bool {
        let content = text.drop { $0 != "=" }.isEmpty ? text[...] : text.prefix { $0 != "=" }
        return text.utf8.count % 4 == 0 && text.utf8.count - content.utf8.count <= 2
            && content.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "+" || $0 == "/") }
    }
}
