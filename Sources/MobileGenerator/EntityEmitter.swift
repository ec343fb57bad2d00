import MobileModel

/// Writes the class of one object, or of an operation that is an object of its own.
struct EntityEmitter: Emitter {
    let model: PackageModel
    let object: ObjectModel
    /// The place of the class's metadata among those of the package.
    private let metadata: String
    let name: String
    let package: String
    private let objects: Set<String>

    init(objectAt index: Int, in model: PackageModel) {
        self.init(model.objects[index], metadata: "entities[\(index)]", in: model)
    }

    init(_ object: ObjectModel, metadata: String, in model: PackageModel) {
        (self.model, self.object, self.metadata) = (model, object, metadata)
        name = SwiftNames.type(object.name, prefix: model.namePrefix)
        package = SwiftNames.type(model.name, prefix: model.namePrefix)
        objects = Set(model.objects.map(\.name))
    }

    var imports: [String] {
        let parameters = object.queries.flatMap(\.parameters) + object.chosenParameters + object.operations.flatMap(\.parameters)
        let types = object.attributes.map(type) + parameters.map(type)
        return types.contains(where: \.needsFoundation) ? ["Foundation", "MobileObjects"] : ["MobileObjects"]
    }

    func type(_ attribute: AttributeModel) -> SwiftType { SwiftType(attribute, prefix: model.namePrefix, objects: objects) }

    func type(_ parameter: ParameterModel) -> SwiftType {
        SwiftType(parameter.type, isNullable: parameter.isNullable, prefix: model.namePrefix, objects: objects)
    }

    func type(_ name: String) -> String { SwiftNames.type(name, prefix: model.namePrefix) }

    /// The attributes stored in the row, with their positions.
    private var stored: [(index: Int, attribute: AttributeModel)] {
        object.attributes.enumerated().filter { !$0.element.isLarge }.map { ($0.offset, $0.element) }
    }

    func emit(to text: inout SwiftText) {
        text.documentation(SwiftText.sentence(object.documentation ?? "The object \(object.name)"))
        if object.isLocal { text.documentation("\nIt stays on this device: it is never synchronized and has no pending state.") }
        let protocols = [object.allowsDynamicQueries ? "QueryableEntity" : "ModelledEntity"] + (object.isSavable ? ["SavableEntity"] : [])
        text.block("public final class \(name): Entity, \(protocols.joined(separator: ", "))") { text in
            text.documentation("The database class of the package.")
            text.line("public typealias Package = \(package)")
            text.documentation("The metadata of the class at run time.")
            text.line("public static let metadata = \(package).metadata.\(metadata)")
            emitAttributes(to: &text)
            emitRelationships(to: &text)
            // A class without stored values uses the runtime's own initializers and hooks.
            if !stored.isEmpty {
                emitStored(to: &text)
                emitCreating(to: &text)
                emitHooks(to: &text)
            }
            emitColumns(to: &text)
            emitRelationshipPaths(to: &text)
        }
        emitFinders(to: &text)
        emitMethods(to: &text)
        emitSubscription(to: &text)
        emitOperationClasses(to: &text)
    }

    // MARK: Attributes

    private func emitAttributes(to text: inout SwiftText) {
        guard !object.attributes.isEmpty else { return }
        text.line()
        text.line("// MARK: Attributes")
        for (index, attribute) in object.attributes.enumerated() {
            let type = type(attribute)
            let member = SwiftNames.propertyInCode(attribute.name)
            text.line()
            text.documentation(documentation(of: attribute))
            if attribute.isLarge {
                let hook = attribute.type == .bigString ? "bigString" : "bigBinary"
                text.line("public var \(member): \(type.wrappedName) { \(hook)(\(index)) }")
            } else {
                let value = "stored.\(member)"
                text.block("public var \(member): \(type.name)") { text in
                    text.line("get { \(value) }")
                    text.line("set { \(value) = newValue; attributeChanged(\(index)) }")
                }
            }
        }
    }

    private func documentation(of attribute: AttributeModel) -> String {
        var facts: [String] = []
        if object.primaryKey.contains(attribute.name) {
            facts.append(object.primaryKey.count == 1 ? "The primary key." : "Part of the primary key.")
        }
        if attribute.isGenerated { facts.append("Assigned by the back end when the object is created there; nil until then.") }
        if let length = attribute.length {
            let isText = attribute.type == .string || attribute.type == .bigString
            facts.append("At most \(length) \(isText ? "characters" : "bytes").")
        }
        if attribute.hasValueRule { facts.append(attribute.valueRule.prefix(1).uppercased() + attribute.valueRule.dropFirst() + ".") }
        switch attribute.type {
        case .decimal: facts.append("At most \(attribute.precision ?? 18) digits, \(attribute.scale ?? 2) of them after the point.")
        case .char: facts.append("One character.")
        case .dateTime: facts.append("To the millisecond.")
        case .bigString, .bigBinary: facts.append("Kept outside of the row and read as a stream.")
        default: break
        }
        if SwiftNames.property(attribute.name) != attribute.name { facts.append("Modelled as `\(attribute.name)`.") }
        let text = attribute.documentation ?? "The attribute `\(attribute.name)`"
        return ([SwiftText.sentence(text)] + facts).joined(separator: " ")
    }

    // MARK: Relationships

    private func emitRelationships(to text: inout SwiftText) {
        guard !object.relationships.isEmpty else { return }
        text.line()
        text.line("// MARK: Relationships")
        for (index, relationship) in object.relationships.enumerated() {
            let member = SwiftNames.propertyInCode(relationship.name)
            let target = type(relationship.target)
            text.line()
            text.documentation(documentation(of: relationship))
            let isMany = relationship.cardinality == .oneToMany
            text.block("public var \(member): \(isMany ? "Children<\(target)>" : "\(target)?")") { text in
                text.line("get { \(isMany ? "children" : "parent")(\(index)) }")
                text.line("set { \(isMany ? "setChildren" : "setParent")(newValue, \(index)) }")
            }
        }
    }

    private func documentation(of relationship: RelationshipModel) -> String {
        let what =
            switch relationship.cardinality {
            case .oneToMany: "The objects of \(relationship.target) that belong to this one"
            case .manyToOne: "The \(relationship.target) that this object belongs to"
            case .oneToOne: "The \(relationship.target) of this object"
            }
        var facts = [SwiftText.sentence(relationship.documentation ?? what)]
        if relationship.documentation == nil, relationship.isComposite { facts.append("Saved, submitted and cancelled with it.") }
        facts.append("Loaded when first read.")
        return facts.joined(separator: " ")
    }

    // MARK: Values

    /// The values of the attributes are in a private structure: the compiler then knows that no two accesses overlap and checks nothing at run
    /// time. The object of a row is initialized from the row alone, never with the values of a new object first.
    private func emitStored(to text: inout SwiftText) {
        text.line()
        text.line("// MARK: Values of the attributes")
        text.line()
        text.block("private struct Stored") { text in
            for (_, attribute) in stored {
                let value = attribute.defaultValue.map(type(attribute).literal) ?? type(attribute).emptyValue
                text.line("var \(SwiftNames.propertyInCode(attribute.name)): \(type(attribute).name) = \(value)")
            }
        }
        text.line("private var stored: Stored")
        text.line()
        text.documentation("Creates an object with the default values of its attributes, for the runtime; applications call `init(in:)`.")
        text.block("public required init(context: EntityContext)") { text in
            text.line("stored = Stored()")
            text.line("super.init(context: context)")
        }
        text.line()
        text.documentation("Creates the object of a row whose attributes begin at `column`, for the runtime.")
        text.block("public required init(row: borrowing Row, at column: Int, context: EntityContext) throws") { text in
            text.line("stored = try Stored(")
            for (position, (index, attribute)) in stored.enumerated() {
                let end = position == stored.count - 1 ? ")" : ","
                text.line("    \(SwiftNames.property(attribute.name)): \(type(attribute).read(index))\(end)")
            }
            text.line("try super.init(row: row, at: column, context: context)")
        }
    }

    // MARK: Hooks of the runtime

    private func emitHooks(to text: inout SwiftText) {
        text.line()
        text.line("// MARK: Access by position, for the runtime")
        text.line()
        text.documentation("The value of the attribute at a position of the model.")
        text.block("public override func value(ofAttribute index: Int) -> AttributeValue") { text in
            text.line("switch index {")
            for (index, attribute) in stored {
                text.line("case \(index): \(type(attribute).encoded(inHook(attribute)))")
            }
            text.line("default: super.value(ofAttribute: index)")
            text.line("}")
        }
        text.line()
        text.documentation("Sets the attribute at a position of the model.")
        text.block("public override func setValue(_ value: AttributeValue, ofAttribute index: Int) throws") { text in
            text.line("switch index {")
            for (index, attribute) in stored {
                text.line("case \(index): \(inHook(attribute)) = \(type(attribute).decoded(index))")
            }
            text.line("default: try super.setValue(value, ofAttribute: index)")
            text.line("}")
        }
    }

    /// The property in a hook, whose own parameters may have the same name.
    private func inHook(_ attribute: AttributeModel) -> String {
        let member = SwiftNames.propertyInCode(attribute.name)
        return ["row", "column", "index", "value"].contains(member) ? "self.\(member)" : member
    }

    private func emitColumns(to text: inout SwiftText) {
        text.line()
        text.line("// MARK: Queries")
        let members = stored.map { index, attribute in
            let type = type(attribute).name, name = attribute.name
            return PathMember(name: name, type: type, value: "Column<\(self.name), \(type)>(\(index), \(SwiftText.literal(name)))")
        }
        emitPaths(
            "Columns", "The attributes", "that queries can compare", none: "There are no attributes that queries can compare.", members, to: &text)
    }

    private func emitRelationshipPaths(to text: inout SwiftText) {
        let members = object.relationships.enumerated().map { index, relationship in
            let type = type(relationship.target), name = relationship.name
            return PathMember(name: name, type: type, value: "Relationship<\(self.name), \(type)>(\(index), \(SwiftText.literal(name)))")
        }
        emitPaths("Relationships", "The relationships", "that queries can read along", none: "The class has no relationships.", members, to: &text)
    }

    private struct PathMember {
        let name: String
        let type: String
        let value: String
    }

    /// Writes a type whose properties are the roots of key paths in queries, and its only value.
    private func emitPaths(_ type: String, _ what: String, _ use: String, none: String, _ members: [PathMember], to text: inout SwiftText) {
        text.line()
        if let first = members.first {
            text.documentation("\(what) \(use), as the root of key paths: `\\.\(SwiftNames.property(first.name))`.")
            text.block("public struct \(type): Sendable") { text in
                for member in members {
                    text.documentation("`\(member.name)`: \(member.type).")
                    text.line("public let \(SwiftNames.propertyInCode(member.name)) = \(member.value)")
                }
            }
            text.documentation("\(what), for queries.")
        } else {
            text.documentation(none)
            text.line("public struct \(type): Sendable {}")
            text.documentation("None.")
        }
        text.line("public static let \(type.lowercased()) = \(type)()")
    }
}
