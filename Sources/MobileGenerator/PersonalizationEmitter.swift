import MobileModel

/// Writes the personalization keys of a package as typed properties.
struct PersonalizationEmitter: Emitter {
    private let model: PackageModel
    private let package: String

    init(_ model: PackageModel) {
        self.model = model
        package = SwiftNames.type(model.name, prefix: model.namePrefix)
    }

    private var keys: [(key: PersonalizationKeyModel, type: SwiftType)] {
        model.personalizationKeys.map { ($0, SwiftType($0.type, isNullable: $0.isNullable, prefix: model.namePrefix)) }
    }

    var imports: [String] {
        (keys.contains { $0.type.needsFoundation } ? ["Foundation"] : []) + (keys.contains { $0.type.needsRuntime } ? ["MobileObjects"] : [])
    }

    var hiddenImports: [String] { imports.contains("MobileObjects") ? [] : ["MobileObjects"] }

    func emit(to text: inout SwiftText) {
        let name = package + "PersonalizationParameters"
        text.documentation("The personalization keys of package \(model.name), as they are saved. A value: change it, then call ``save()``.")
        text.block("public struct \(name)") { text in
            for (key, type) in keys {
                text.documentation(documentation(of: key))
                text.line("public var \(Self.member(key)): \(type.name)")
            }
            text.line("private var saved: PersonalizationParameters")
            text.line()
            text.block("fileprivate init(_ saved: PersonalizationParameters) throws") { text in
                text.line("self.saved = saved")
                for (key, type) in keys {
                    let value = "try saved.value(\(SwiftText.literal(key.name)))"
                    let converted = key.type.isComplex ? "\(value).decoded()" : "\(type.conversion)(attributeValue: \(value))"
                    // A nullable key that was never set is nil without further code.
                    text.line("\(Self.member(key)) = \(converted) ?? \(type.emptyValue)")
                }
            }
            text.line()
            text.documentation("Saves all keys; the next synchronization sends them.\n- Throws: ``ObjectError``.")
            text.blockingForm()
            text.block("public mutating func save() throws") { text in
                emitSet(to: &text)
                text.line("try saved.save()")
            }
            text.line()
            text.documentation("The same, in asynchronous code.")
            text.block("public mutating func save() async throws") { text in
                emitSet(to: &text)
                text.line("try await saved.save()")
            }
        }
        text.line()
        text.block("extension \(package)") { text in
            text.documentation("The saved personalization keys; the model's defaults for keys that were never saved.\n- Throws: ``ObjectError``.")
            text.block("public var personalizationParameters: \(name)") { $0.line("get throws { try \(name)(personalization) }") }
        }
    }

    private func emitSet(to text: inout SwiftText) {
        for (key, _) in keys {
            let value = key.type.isComplex ? "try .encoded(\(Self.member(key)))" : "\(Self.member(key)).attributeValue"
            text.line("try saved.setValue(\(value), \(SwiftText.literal(key.name)))")
        }
    }

    private func documentation(of key: PersonalizationKeyModel) -> String {
        let storage =
            switch key.storage {
            case .client: "Kept in the local database."
            case .server: "Kept on the server too."
            case .session: "Lost when the application ends."
            }
        return "The personalization key `\(key.name)`. \(storage)"
    }

    private static func member(_ key: PersonalizationKeyModel) -> String { SwiftNames.inCode(SwiftNames.converted(key.name)) }
}
