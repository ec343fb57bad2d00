internal import Foundation

extension ModelValidator {
    /// Checks the rule for values: each one is of the type, and the default is among them.
    mutating func checkValueRule(_ attribute: AttributeModel, _ place: ModelPath, inStructure: Bool) {
        guard attribute.hasValueRule else { return }
        let first = attribute.values.isEmpty ? attribute.minimum == nil ? "maximum" : "minimum" : "values"
        let isNumber = attribute.type.integerRange != nil || [.decimal, .float, .double].contains(attribute.type)
        if inStructure {
            report(.conflict, place[first], "the values of attributes of objects have rules, not those of structures")
        } else if attribute.isGenerated {
            report(.conflict, place[first], "the back end assigns \"\(attribute.name)\"; no device saves a value of it")
        } else if !attribute.values.isEmpty, ![.string, .char].contains(attribute.type), !isNumber || [.float, .double].contains(attribute.type) {
            report(
                .conflict, place["values"],
                "\(English.withArticle(attribute.type)) has no list of values; strings, characters, whole numbers and decimals have one")
        } else if attribute.minimum != nil || attribute.maximum != nil, !isNumber {
            report(
                .conflict, place[first == "values" ? "minimum" : first],
                "\(English.withArticle(attribute.type)) has no least and greatest value; numbers have")
        } else if !attribute.values.isEmpty, attribute.minimum != nil || attribute.maximum != nil {
            report(
                .conflict, place["values"], "\"\(attribute.name)\" has a list of values, and a least or greatest one",
                suggestion: "keep one of the two")
        } else {
            checkValues(attribute, place)
        }
    }

    private mutating func checkValues(_ attribute: AttributeModel, _ place: ModelPath) {
        let count = problems.count
        for (index, value) in attribute.values.enumerated() {
            if checkConstant(value, of: attribute, place["values"][index]), attribute.values[..<index].contains(value) {
                report(.duplicate, place["values"][index], "\(value) is there twice")
            }
        }
        for (name, bound) in [("minimum", attribute.minimum), ("maximum", attribute.maximum)] {
            if let bound { checkConstant(bound, of: attribute, place[name]) }
        }
        guard problems.count == count else { return }
        if let least = attribute.minimum.flatMap(Decimal.init(json:)), let greatest = attribute.maximum.flatMap(Decimal.init(json:)), least > greatest
        {
            report(.value, place["maximum"], "the greatest value \(attribute.maximum ?? "") is less than the least one, \(attribute.minimum ?? "")")
        }
        if !attribute.isDefaultAllowed {
            report(.value, place["default"], "the default \(attribute.defaultValue ?? "") is not one of the values that a device saves")
        }
    }

    /// - Returns: whether the value is of the attribute's type.
    @discardableResult
    private mutating func checkConstant(_ value: String, of attribute: AttributeModel, _ path: ModelPath) -> Bool {
        let count = problems.count
        var copy = attribute
        (copy.defaultValue, copy.isNullable) = (value, false)
        checkDefault(copy, path, of: "the value")
        return problems.count == count
    }
}
