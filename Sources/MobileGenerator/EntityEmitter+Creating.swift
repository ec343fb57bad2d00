import MobileModel

/// The initializer with the values that an object cannot be without.
extension EntityEmitter {
    /// The attributes that a new object has to be given: those that are neither null, nor have a default, nor come from the back end or from the
    /// object at the other end of a relationship. Large ones are written after the object is created.
    private var required: [AttributeModel] {
        let references = Set(object.relationships.filter { $0.cardinality != .oneToMany }.flatMap { $0.mapping.map(\.source) })
        return object.attributes.filter { attribute in
            !attribute.isLarge && !attribute.isNullable && attribute.defaultValue == nil && !attribute.isGenerated
                && !references.contains(attribute.name)
        }
    }

    func emitCreating(to text: inout SwiftText) {
        let required = required
        guard !required.isEmpty else { return }
        text.line()
        text.documentation(
            "Creates a new object with the values that it cannot be without; the others can be set as properties. `create` and `save` write it.")
        let parameters = ["in package: \(package)"] + required.map { "\(SwiftNames.propertyInCode($0.name)): \(type($0).name)" }
        let list = parameters.joined(separator: ", "), head = "public convenience init("
        func body(_ text: inout SwiftText) {
            text.line("self.init(in: package)")
            for attribute in required {
                let member = SwiftNames.propertyInCode(attribute.name)
                text.line("self.\(member) = \(member)")
            }
        }
        if head.utf8.count + list.utf8.count < 120 {
            text.block("\(head)\(list))") { body(&$0) }
        } else {
            text.line(head)
            for (position, parameter) in parameters.enumerated() {
                text.line("    \(parameter)\(position == parameters.count - 1 ? "" : ",")")
            }
            text.block(")") { body(&$0) }
        }
    }
}
