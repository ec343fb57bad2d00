import MobileModel

/// Methods for creates, updates and deletes that have a name or parameters of their own, and for other operations about one object; classes for all
/// other operations.
extension EntityEmitter {
    func emitMethods(to text: inout SwiftText) {
        let methods = object.operations.enumerated().filter { $0.element.hasMethod || !object.keyParameters(of: $0.element).isEmpty }
        guard !methods.isEmpty else { return }
        text.line()
        text.block("extension \(name)") { text in
            for (position, (index, operation)) in methods.enumerated() {
                if position > 0 { text.line() }
                operation.kind == .other ? emitCall(operation, at: index, to: &text) : emitMethod(operation, at: index, to: &text)
            }
        }
    }

    private func emitMethod(_ operation: OperationModel, at index: Int, to text: inout SwiftText) {
        let parameters = operation.ownParameters
        // `create` with parameters is a method in addition to the plain one of every object.
        let member = operation.name == operation.kind.rawValue ? operation.name : SwiftNames.memberInCode(operation.name)
        let values = parameters.map(value)
        text.documentation(documentation(of: operation))
        text.blockingForm()
        emitFunction("public func \(member)", parameters, "throws", "try perform", index, values, to: &text)
        text.line()
        text.documentation("The same, in asynchronous code.")
        emitFunction("public nonisolated(nonsending) func \(member)", parameters, "async throws", "try await perform", index, values, to: &text)
    }

    /// Writes a method that saves an operation of the kind `other` about an object, whose primary key is among the parameters.
    private func emitCall(_ operation: OperationModel, at index: Int, to text: inout SwiftText) {
        let keys = object.keyParameters(of: operation), operationClass = type(object.operationObject(operation).name)
        let parameters = operation.parameters.enumerated().filter { keys[$0.offset] == nil }.map(\.element)
        let filled = keys.sorted { $0.key < $1.key }.map { parameter, attribute in
            "`\(operation.parameters[parameter].name)` is its `\(SwiftNames.property(object.attributes[attribute].name))`"
        }
        let lines =
            [
                SwiftText.sentence(operation.documentation ?? "The operation `\(operation.name)`"), "",
                "Saves a ``\(operationClass)`` about this object: \(filled.joined(separator: ", ")). Submit the returned object.",
            ] + documentation(ofParameters: parameters) + [
                "- Returns: the operation, which is deleted once the server has done it.",
                "- Throws: ``ObjectError``: ``ObjectError/Code/notSaved`` for an object that is new, or that has no primary key of the back end yet; "
                    + "``ObjectError/Code/invalidValue`` for a value that does not fit its parameter.",
            ]
        let member = SwiftNames.memberInCode(operation.name), values = parameters.map(value)
        text.documentation(lines.joined(separator: "\n"))
        text.blockingForm()
        text.line("@discardableResult")
        emitFunction("public func \(member)", parameters, "throws -> \(operationClass)", "try self.call", index, values, to: &text)
        text.line()
        text.documentation("The same, in asynchronous code.")
        text.line("@discardableResult")
        emitFunction(
            "public nonisolated(nonsending) func \(member)", parameters, "async throws -> \(operationClass)", "try await self.call", index, values,
            to: &text)
    }

    private func documentation(ofParameters parameters: [ParameterModel]) -> [String] {
        if parameters.count == 1 { return ["- Parameter \(parameters[0].name): \(documentation(of: parameters[0]))"] }
        return parameters.isEmpty ? [] : ["- Parameters:"] + parameters.map { "  - \($0.name): \(documentation(of: $0))" }
    }

    /// Writes a method with one line each for head and call; if one is too long, with one line per parameter and per value.
    private func emitFunction(
        _ head: String, _ parameters: [ParameterModel], _ effects: String, _ call: String, _ index: Int, _ values: [String], to text: inout SwiftText
    ) {
        let declarations = parameters.map(declaration), list = declarations.joined(separator: ", "), arguments = values.joined(separator: ", ")
        let isLong = max(head.utf8.count + list.utf8.count + effects.utf8.count, call.utf8.count + arguments.utf8.count) > Self.longestLine
        func body(_ text: inout SwiftText) {
            guard isLong else { return text.line("\(call)(operation: \(index)\(values.isEmpty ? "" : ", [\(arguments)]"))") }
            text.line("\(call)(")
            text.line("    operation: \(index),")
            text.line("    [")
            for value in values { text.line("        \(value),") }
            text.line("    ])")
        }
        guard isLong else { return text.block("\(head)(\(list)) \(effects)", body) }
        text.line("\(head)(")
        for (position, declaration) in declarations.enumerated() {
            text.line("    \(declaration)\(position + 1 < declarations.count ? "," : "")")
        }
        text.block(") \(effects)", body)
    }

    private static let longestLine = 120

    private func documentation(of operation: OperationModel) -> String {
        let effect =
            switch operation.kind {
            case .create: "Inserts the object as a new row and marks it as created"
            case .update: "Writes the changed attributes and marks the row as updated"
            case .delete, .other: "Deletes the row with its composite children"
            }
        var lines = [SwiftText.sentence(operation.documentation ?? "The operation `\(operation.name)`"), ""]
        lines.append("\(effect), as `\(operation.kind)()` does; the back end runs this operation for it.")
        lines += documentation(ofParameters: operation.ownParameters)
        lines.append(
            "- Throws: ``ObjectError``, as `\(operation.kind)()`; ``ObjectError/Code/invalidValue`` for a value that does not fit its parameter, "
                + "``ObjectError/Code/otherOperationPending`` where another operation changed the row and is not submitted yet, or its create is not "
                + "answered.")
        return lines.joined(separator: "\n")
    }

    private func documentation(of parameter: ParameterModel) -> String {
        let value = parameter.defaultValue.map { "; \($0) if it is omitted" } ?? (parameter.isNullable ? "; nil if there is none" : "")
        return "the parameter `\(parameter.name)`\(value)."
    }

    /// Declares an argument; callers can omit it if it may be missing or has a default in the model.
    private func declaration(_ parameter: ParameterModel) -> String {
        let type = type(parameter)
        let value = parameter.defaultValue.map { type.literal(json: $0) } ?? (parameter.isNullable ? "nil" : nil)
        return "\(SwiftNames.inCode(parameter.name)): \(type.name)" + (value.map { " = \($0)" } ?? "")
    }

    private func value(_ parameter: ParameterModel) -> String {
        type(parameter).encoded(SwiftNames.inCode(parameter.name))
    }

    func emitOperationClasses(to text: inout SwiftText) {
        for operation in object.operations where operation.kind == .other {
            var operationObject = object.operationObject(operation)
            guard let index = model.operationObjects.firstIndex(where: { $0.name == operationObject.name }) else { continue }
            operationObject.documentation =
                SwiftText.sentence(operation.documentation ?? "The operation `\(operation.name)` of \(object.name)")
                + "\n\nThe operation `\(operation.name)` of ``\(name)``: set its parameters, save it and submit it. It is deleted once the server has done it."
            text.line()
            EntityEmitter(operationObject, metadata: "operationClasses[\(index)]", in: model).emit(to: &text)
        }
    }
}
