import MobileModel

/// Methods for creates, updates and deletes that have a name or parameters of their own, and classes for all other operations.
extension EntityEmitter {
    func emitMethods(to text: inout SwiftText) {
        let methods = object.operations.enumerated().filter { $0.element.hasMethod }
        guard !methods.isEmpty else { return }
        text.line()
        text.block("extension \(name)") { text in
            for (position, (index, operation)) in methods.enumerated() {
                if position > 0 { text.line() }
                emitMethod(operation, at: index, to: &text)
            }
        }
    }

    private func emitMethod(_ operation: OperationModel, at index: Int, to text: inout SwiftText) {
        let parameters = operation.ownParameters
        let list = parameters.map(declaration).joined(separator: ", ")
        let values = parameters.map(value).joined(separator: ", ")
        let arguments = "operation: \(index)" + (values.isEmpty ? "" : ", [\(values)]")
        text.documentation(documentation(of: operation))
        text.block("public func \(SwiftNames.memberInCode(operation.name))(\(list)) throws") { $0.line("try perform(\(arguments))") }
        text.line()
        text.documentation("The same, in asynchronous code.")
        text.block("public nonisolated(nonsending) func \(SwiftNames.memberInCode(operation.name))(\(list)) async throws") {
            $0.line("try await perform(\(arguments))")
        }
    }

    private func documentation(of operation: OperationModel) -> String {
        let effect =
            switch operation.kind {
            case .create: "Inserts the object as a new row and marks it as created"
            case .update: "Writes the changed attributes and marks the row as updated"
            case .delete, .other: "Deletes the row with its composite children"
            }
        var lines = [SwiftText.sentence(operation.documentation ?? "The operation `\(operation.name)`"), ""]
        lines.append("\(effect), as `\(operation.kind)()` does; the back end runs this operation for it.")
        let parameters = operation.ownParameters
        if parameters.count == 1 {
            lines.append("- Parameter \(parameters[0].name): \(documentation(of: parameters[0]))")
        } else if parameters.count > 1 {
            lines.append("- Parameters:")
            lines += parameters.map { "  - \($0.name): \(documentation(of: $0))" }
        }
        lines.append("- Throws: ``ObjectError``, as ``Entity/perform(operation:_:)``.")
        return lines.joined(separator: "\n")
    }

    private func documentation(of parameter: ParameterModel) -> String {
        let type = type(parameter)
        return "a `\(type.wrappedName)`" + (parameter.isNullable ? "; nil where there is none." : ".")
    }

    /// An argument; what may be missing, and what has a default in the model, can be left out.
    private func declaration(_ parameter: ParameterModel) -> String {
        let type = type(parameter)
        let value = parameter.defaultValue.map { type.literal(json: $0) } ?? (parameter.isNullable ? "nil" : nil)
        return "\(SwiftNames.inCode(parameter.name)): \(type.name)" + (value.map { " = \($0)" } ?? "")
    }

    private func value(_ parameter: ParameterModel) -> String {
        let name = SwiftNames.inCode(parameter.name)
        return parameter.type.isComplex ? "encoded(\(name))" : "\(name).attributeValue"
    }

    func emitOperationClasses(to text: inout SwiftText) {
        for operation in object.operations where operation.kind == .other {
            var operationObject = object.operationObject(operation)
            guard let index = model.operationObjects.firstIndex(where: { $0.name == operationObject.name }) else { continue }
            operationObject.documentation =
                SwiftText.sentence(operation.documentation ?? "The operation `\(operation.name)` of \(object.name)")
                + "\n\nThe operation `\(operation.name)` of ``\(name)``: give its parameters values, save it and submit it. It is gone when the server has done it."
            text.line()
            EntityEmitter(operationObject, metadata: "operationClasses[\(index)]", in: model).emit(to: &text)
        }
    }
}
