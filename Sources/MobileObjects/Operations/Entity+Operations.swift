import MobileModel
import MobileStore

/// Operations by their names, shared by generated methods and generic access.
extension Entity {
    /// Calls the operation at a position of the model, for generated methods.
    ///
    /// A create inserts the object, as `create()` does. One that was not submitted yet, or was rejected, may be called again with other
    /// parameters. An update writes the changed attributes, and is pending even without changes. A delete removes the row. The operation's
    /// name and parameters are stored with the row until it is submitted, in the same transaction as the change.
    /// - Parameters:
    ///   - index: the position in ``EntityMetadata/operations``.
    ///   - values: the values of the parameters that no attribute fills, in the order of the model.
    /// - Throws: ``ObjectError``: as `create()`, `update()` and `delete()`; `.invalidValue` for a value that does not fit its parameter,
    ///   `.otherOperationPending` where another operation changed the row and is not submitted yet, or the row's create is not answered.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    @_spi(GeneratedCode) public final func perform(operation index: Int, _ values: [AttributeValue] = []) throws {
        try requireNoSave(metadata.operations[index].name)
        guard let called = try prepare(index, values) else { return try performDefault(metadata.operations[index].kind) }
        guard called.kind == .delete else { return try writeChanges(cascading: false, calling: called) }
        let metadata = metadata, remembered = rememberedKey, read = replay
        applyDelete(
            try package.write("\(called.name) \(metadata.name)") {
                try $0.requireCurrent(remembered, called.name, metadata)
                return try $0.delete(metadata, remembered.key, readWith: read, by: called)
            })
    }

    /// Does the same without blocking a cooperative thread.
    @_spi(GeneratedCode) public nonisolated(nonsending) final func perform(operation index: Int, _ values: [AttributeValue] = []) async throws {
        await endOfSave()
        guard let called = try prepare(index, values) else { return try await performDefault(metadata.operations[index].kind) }
        guard called.kind == .delete else { return try await writeChanges(cascading: false, calling: called) }
        let metadata = metadata, remembered = rememberedKey, read = replay
        applyDelete(
            try await package.write("\(called.name) \(metadata.name)") {
                try $0.requireCurrent(remembered, called.name, metadata)
                return try $0.delete(metadata, remembered.key, readWith: read, by: called)
            })
    }

    /// Calls an operation of the model by its name, with parameters by their names. A missing parameter has its default. An operation of kind
    /// other becomes a separate object, which is saved and returned, and can then be submitted. SMP 2.3: the object manager.
    ///
    /// Parameters that are the primary key of this object may be left out.
    ///
    ///     let raise = try customer.call("raiseCreditLimit", ["amount": .decimal(250)])
    ///     try raise.submitPending()
    ///
    /// - Returns: the object that is pending now: this one, or the object of the operation.
    /// - Throws: ``ObjectError``: `.noSuchOperation`, `.noSuchParameter` (for a name that is not a parameter of the operation or is filled by an
    ///   attribute, and for a parameter without a value), `.invalidValue`; otherwise as `create()`, `update()` and `delete()`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    @discardableResult
    public final func call(_ operation: String, _ parameters: [String: AttributeValue] = [:]) throws -> Entity {
        let operation = try metadata.operation(named: operation)
        let values = try operation.ordered(withKey(parameters, of: operation))
        guard operation.kind == .other else {
            try perform(operation: operation.index, values)
            return self
        }
        let object = try newOperation(operation, values)
        try object.create()
        return object
    }

    /// Does the same without blocking a cooperative thread.
    @discardableResult
    public nonisolated(nonsending) final func call(_ operation: String, _ parameters: [String: AttributeValue] = [:]) async throws -> Entity {
        let operation = try metadata.operation(named: operation)
        let values = try operation.ordered(withKey(parameters, of: operation))
        guard operation.kind == .other else {
            try await perform(operation: operation.index, values)
            return self
        }
        let object = try newOperation(operation, values)
        try await object.create()
        return object
    }

    /// Saves an operation of kind other about this object, for generated methods.
    /// - Parameters:
    ///   - index: the position in ``EntityMetadata/operations``.
    ///   - values: the values of the parameters that are not the primary key, in the order of the model.
    /// - Throws: ``ObjectError``: as `create()` of the operation's object; `.notSaved` where this object is new, or has no primary key of the back end yet.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    @_spi(GeneratedCode) public final func call<Operation: Entity>(operation index: Int, _ values: [AttributeValue] = []) throws -> Operation {
        let operation: Operation = try newOperation(aboutThisBy: index, values)
        try operation.create()
        return operation
    }

    /// Does the same without blocking a cooperative thread.
    @_spi(GeneratedCode)
    public nonisolated(nonsending) final func call<Operation: Entity>(operation index: Int, _ values: [AttributeValue] = []) async throws -> Operation
    {
        let operation: Operation = try newOperation(aboutThisBy: index, values)
        try await operation.create()
        return operation
    }

    /// The name of the pending operation: the named one, otherwise `create`, `update` or `delete`; nil where none is pending.
    /// SMP 2.3: `getLastOperation`.
    /// - Throws: ``ObjectError/Code/store``.
    public final var lastOperation: String? {
        get throws {
            let metadata = metadata, remembered = rememberedKey
            guard presence != .new, !metadata.isLocal else { return nil }
            if let otherOperation = metadata.otherOperation { return isPending ? otherOperation.operation.name : nil }
            let select = metadata.sql.selectOriginal
            guard let row = try package.read({ try $0.first(select, [.integer(remembered.current($0))]) }) else { return nil }
            let state = StoredRow(StateColumn.original, row, of: metadata.sql.originalTable), name = try state.text(.operation)
            if !name.isEmpty { return name }
            let kind: OperationModel.Kind? =
                switch try ReplayState(state).change {
                case .create: .create
                case .update: .update
                case .delete: .delete
                case .none, .parent: nil
                }
            return try kind.flatMap { try metadata.defaultOperation($0)?.name }
        }
    }

    private final func performDefault(_ kind: OperationModel.Kind) throws {
        switch kind {
        case .create: try create()
        case .update: try update()
        case .delete: try delete()
        case .other: break
        }
    }

    private nonisolated(nonsending) final func performDefault(_ kind: OperationModel.Kind) async throws {
        switch kind {
        case .create: try await create()
        case .update: try await update()
        case .delete: try await delete()
        case .other: break
        }
    }

    /// Returns the call to store with the row; nil for a plain create, update or delete of any name.
    private final func prepare(_ index: Int, _ values: [AttributeValue]) throws -> CalledOperation? {
        let operation = metadata.operations[index]
        if operation.isDefault, values.isEmpty { return nil }
        switch operation.kind {
        // A create that the server does not have may be called again.
        case .create: if presence != .new, replay.change != .create { try requireNew() }
        case .update, .delete: try requireStored(operation.name)
        case .other: throw ObjectError(.misuse, "\(operation.name) of \(metadata.name): it is an object of its own; make one and save it")
        }
        return try operation.called(with: values)
    }

    /// Makes an operation whose key parameters are filled from this object.
    private final func newOperation<Operation: Entity>(aboutThisBy index: Int, _ values: [AttributeValue]) throws -> Operation {
        let operation = metadata.operations[index]
        try requireKey(for: operation)
        var rest = values[...]
        let all = operation.parameters.indices.map { operation.keyParameters[$0].map(value(ofAttribute:)) ?? rest.removeFirst() }
        guard let object = try newOperation(operation, all) as? Operation else {
            throw ObjectError(.noSuchClass, "operation \"\(operation.name)\" of \(metadata.name) has another class than \(Operation.self)")
        }
        return object
    }

    /// Adds the primary key of a saved object to the parameters of an operation about it.
    private final func withKey(_ parameters: [String: AttributeValue], of operation: OperationMetadata) throws -> [String: AttributeValue] {
        let missing = operation.keyParameters.filter { parameters[operation.parameters[$0.key].name] == nil }
        guard !missing.isEmpty, presence != .new else { return parameters }
        try requireKey(for: operation)
        return parameters.merging(missing.map { (operation.parameters[$0.key].name, value(ofAttribute: $0.value)) }) { given, _ in given }
    }

    /// An operation names the row in the back end by its primary key.
    private final func requireKey(for operation: OperationMetadata) throws {
        try requireStored(operation.name)
        guard replay.change == .create, operation.keyParameters.values.contains(where: { metadata.attributes[$0].isGenerated }) else { return }
        throw ObjectError(
            .notSaved,
            "\(operation.name) of \(metadata.name): the back end has not given the object its primary key yet; submit and synchronize it first")
    }

    private final func newOperation(_ operation: OperationMetadata, _ values: [AttributeValue]) throws -> Entity {
        guard let entity = package.metadata.entity(of: operation, metadata) else {
            throw ObjectError(.noSuchClass, "operation \"\(operation.name)\" of \(metadata.name) has no class")
        }
        let object = package.objectClass(of: entity).init(context: EntityContext(package, entity))
        for (index, value) in values.enumerated() { try object.setValue(value, ofAttribute: index) }
        return object
    }
}

extension EntityClass {
    /// Calls an operation of kind other by its name, with parameters by their names. The object of the operation is saved and
    /// returned, and can then be submitted. For operations that change a row, use `call` of the row's ``Entity``.
    ///
    ///     let raise = try customers.call("raiseCreditLimit", ["customerId": 101, "amount": .decimal(250)])
    ///     try raise.submitPending()
    ///
    /// - Throws: ``ObjectError/Code/noSuchOperation``, ``ObjectError/Code/noSuchParameter``, ``ObjectError/Code/invalidValue``,
    ///   ``ObjectError/Code/misuse`` for an operation that changes a row.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    @discardableResult
    public func call(_ operation: String, _ parameters: [String: AttributeValue] = [:]) throws -> Entity {
        try callable(operation).call(operation, parameters)
    }

    /// Returns an object for the call of an operation that needs no row.
    func callable(_ operation: String) throws -> GenericEntity {
        guard try metadata.operation(named: operation).kind == .other else {
            throw ObjectError(.misuse, "\(operation) of \(metadata.name): it changes a row; call it on an object")
        }
        return newObject()
    }

    /// Does the same as the blocking form.
    @discardableResult
    public nonisolated(nonsending) func call(_ operation: String, _ parameters: [String: AttributeValue] = [:]) async throws -> Entity {
        try await callable(operation).call(operation, parameters)
    }
}
