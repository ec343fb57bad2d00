import MobileModel

/// Writes one structure: a value, kept as JSON in its object's row.
struct StructureEmitter: Emitter {
    private let structure: StructureModel
    private let model: PackageModel

    init(_ structure: StructureModel, in model: PackageModel) { (self.structure, self.model) = (structure, model) }

    private var types: [(attribute: AttributeModel, type: SwiftType)] {
        structure.attributes.map { ($0, SwiftType($0, prefix: model.namePrefix)) }
    }

    var imports: [String] {
        (types.contains { $0.type.needsFoundation } ? ["Foundation"] : []) + (types.contains { $0.type.needsRuntime } ? ["MobileObjects"] : [])
    }

    func emit(to text: inout SwiftText) {
        let name = SwiftNames.type(structure.name, prefix: model.namePrefix)
        text.documentation(SwiftText.sentence(structure.documentation ?? "The structure \(structure.name)"))
        text.block("public struct \(name): Codable, Hashable, Sendable") { text in
            for (attribute, type) in types {
                text.documentation(SwiftText.sentence(attribute.documentation ?? "The attribute `\(attribute.name)`"))
                text.line("public var \(Self.member(attribute)): \(type.name)")
            }
            text.line()
            let parameters = types.map { "\(Self.member($0.attribute)): \($0.type.name) = \(value($0.attribute, $0.type))" }
            text.documentation("Creates a structure with these values; omitted ones have their defaults.")
            text.line("public init(")
            for (index, parameter) in parameters.enumerated() {
                text.line("    \(parameter)\(index + 1 < parameters.count ? "," : "")")
            }
            text.block(")") { text in
                for (attribute, _) in types { text.line("self.\(Self.member(attribute)) = \(Self.member(attribute))") }
            }
            text.line()
            text.block("private enum CodingKeys: String, CodingKey") { text in
                for (attribute, _) in types { text.line("case \(Self.member(attribute)) = \(SwiftText.literal(attribute.name))") }
            }
        }
    }

    private func value(_ attribute: AttributeModel, _ type: SwiftType) -> String {
        attribute.defaultValue.map(type.literal) ?? type.emptyValue
    }

    /// A structure has no members of the runtime, so only keywords of the language need a change.
    private static func member(_ attribute: AttributeModel) -> String { SwiftNames.inCode(SwiftNames.converted(attribute.name)) }
}
