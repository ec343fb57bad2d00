import MobileModel

/// The set of synchronization parameters of an object.
extension EntityEmitter {
    func emitSubscription(to text: inout SwiftText) {
        guard !object.chosenParameters.isEmpty else { return }
        let set = name + "Subscription"
        text.line()
        text.block("extension \(name): SubscribableEntity") { text in
            text.documentation("A set of the object's synchronization parameters.")
            text.line("public typealias Parameters = \(set)")
        }
        text.line()
        text.documentation(
            "Synchronization parameters of \(object.name): they choose the rows that this device gets. Add a set with ``\(name)/addSubscription(_:in:)``."
        )
        text.block("public struct \(set): SubscriptionParameters") { text in
            for parameter in object.chosenParameters {
                text.documentation(documentation(of: parameter))
                text.line("public var \(member(parameter)): \(type(parameter).name)")
            }
            text.line()
            let list = object.chosenParameters.map { parameter in
                let value = parameter.defaultValue.map { type(parameter).literal(json: $0) } ?? (parameter.isNullable ? "nil" : nil)
                return "\(member(parameter)): \(type(parameter).name)" + (value.map { " = \($0)" } ?? "")
            }
            text.documentation("Creates a set with these values; omitted ones have the model's defaults.")
            text.block("public init(\(list.joined(separator: ", ")))") { text in
                for parameter in object.chosenParameters { text.line("self.\(member(parameter)) = \(member(parameter))") }
            }
            text.line()
            text.documentation("Creates a set from values by the parameters' names, for the runtime.")
            text.block("public init(parameters: [String: AttributeValue])") { text in
                for parameter in object.chosenParameters {
                    let type = type(parameter)
                    let value = parameter.defaultValue.map { type.literal(json: $0) } ?? type.emptyValue
                    text.line(
                        "\(member(parameter)) = parameters[\(SwiftText.literal(parameter.name))].flatMap { \(type.conversion)(attributeValue: $0) } ?? \(value)"
                    )
                }
            }
            text.line()
            text.documentation("The values by the parameters' names, for the runtime.")
            text.block("public var parameters: [String: AttributeValue]") { text in
                let values = object.chosenParameters.map { "\(SwiftText.literal($0.name)): \(member($0)).attributeValue" }
                text.line("[\(values.joined(separator: ", "))]")
            }
        }
    }

    private func member(_ parameter: ParameterModel) -> String { SwiftNames.inCode(SwiftNames.parameter(parameter.name)) }

    private func documentation(of parameter: ParameterModel) -> String {
        let key = parameter.personalizationKey.map { " The value of the personalization key `\($0)` takes precedence, once saved." }
        return "The parameter `\(parameter.name)`." + (key ?? "")
    }
}
