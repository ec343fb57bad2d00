import MobileModel

/// Attributes, parameters and structures of a deployment unit.
extension UnitConverter {
    /// The meaning of the unit's word for a type.
    struct TypeWord {
        var type: AttributeType
        var isNullable: Bool
    }

    /// `string`, `string?` (nullable), `string*` (a list); nil if the word is neither a simple type nor one of the unit's classes.
    func type(_ word: String) -> TypeWord? {
        if word.hasSuffix("?"), let type = type(String(word.dropLast())) { return TypeWord(type: type.type, isNullable: true) }
        if word.hasSuffix("*"), let element = type(String(word.dropLast())) {
            return TypeWord(type: .list(element.type), isNullable: element.isNullable)
        }
        let type = AttributeType(modelText: word)
        guard case .structure(let name) = type else { return TypeWord(type: type, isNullable: false) }
        return root.all("class").contains { $0["name"] == name } ? TypeWord(type: type, isNullable: false) : nil
    }

    mutating func structure(_ element: XMLElementNode) -> StructureModel {
        let name = element["name"] ?? ""
        for child in element.children where child.name != "attribute" {
            remark(child, "class \(name)", "<\(child.name)> is not known and not carried over")
        }
        return StructureModel(name: name, attributes: element.all("attribute").compactMap { attribute($0, of: "class \(name)") })
    }

    /// An attribute of an entity or structure; nil, with a remark, if its type is not one of a model.
    mutating func attribute(_ element: XMLElementNode, of owner: String) -> AttributeModel? {
        let name = element["name"] ?? ""
        let word = element["type"] ?? "string"
        guard let found = type(word) else {
            let isEntity = root.all("entity").contains { $0["name"].map { word.hasPrefix($0) } == true }
            remark(
                element, "\(owner), attribute \(name)",
                "type \"\(word)\" is not carried over" + (isEntity ? "; add a relationship with its mapping" : ""))
            return nil
        }
        var attribute = AttributeModel(name: name, type: found.type, isNullable: found.isNullable, isGenerated: element.isTrue("generated"))
        switch found.type {
        case .string, .binary, .bigString, .bigBinary: attribute.length = length(element, "\(owner), attribute \(name)")
        // The unit has no digits of decimals; its client databases kept 28 digits, 8 of them after the point.
        case .decimal: (attribute.precision, attribute.scale) = (28, 8)
        default: break
        }
        return attribute
    }

    private mutating func length(_ element: XMLElementNode, _ place: String) -> Int? {
        guard let text = element["max-length"] else { return nil }
        guard let length = Int(text), length > 0 else {
            if text != "-1", text != "0" { remark(element, place, "max-length \"\(text)\" is not a length") }
            return nil
        }
        return length
    }

    /// A parameter of a query, an operation or a synchronization; nil, with a remark, if its type is not one of a model.
    mutating func parameter(_ element: XMLElementNode, of owner: String) -> ParameterModel? {
        let name = element["name"] ?? ""
        guard let found = type(element["type"] ?? "string") else {
            remark(element, "\(owner), parameter \(name)", "type \"\(element["type"] ?? "")\" is not carried over")
            return nil
        }
        var parameter = ParameterModel(name: name, type: found.type, isNullable: found.isNullable)
        if let value = element["default-value"] {
            parameter.defaultValue = Self.json(value, found.type)
            if parameter.defaultValue == nil { remark(element, "\(owner), parameter \(name)", "default \"\(value)\" is not a \(found.type)") }
        }
        return parameter
    }

    /// Converts a default value from the unit's plain text to the model's form; nil if it is not a value of the type.
    private static func json(_ value: String, _ type: AttributeType) -> String? {
        switch type {
        case .boolean: ["true", "false"].contains(value) ? value : nil
        case .byte, .short, .int, .long, .integer: Int64(value).map { String($0) }
        case .float, .double: Double(value).flatMap { $0.isFinite ? String($0) : nil }
        case .decimal: value.wholeMatch(of: /-?\d{1,38}(\.\d{1,38})?/) == nil ? nil : value
        case .structure, .list, .bigString, .bigBinary: nil
        default: ReadableJSON.quoted(value)
        }
    }
}
