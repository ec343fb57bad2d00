import MobileModel
import MobileStore

/// The operation of the model that a submission calls, and the values of all of its parameters.
struct SubmittedOperation {
    /// Empty for a plain create, update or delete that is the object's only one of its kind.
    let name: String
    let parameters: JSONObject
}

extension EntityMetadata {
    /// Returns the operation of a submission.
    /// - Parameters:
    ///   - called: the operation that was called by its name; ignored if its kind of change differs from the one that is sent.
    ///   - content: the values that fill parameters: attributes, then references, as stored.
    /// - Throws: ``ObjectError/Code/noSuchOperation`` where the model has none.
    func submittedOperation(_ change: OutboxRecord.Change, _ called: CalledOperation?, _ content: [Value]) throws -> SubmittedOperation {
        if let otherOperation {
            let values = attributes.map { ($0.name, $0.storage.json(content[$0.index])) }
            return SubmittedOperation(name: otherOperation.operation.name, parameters: JSONObject(uniqueKeys: values))
        }
        let called = called?.kind == change.kind ? called : nil
        guard let operation = try called.map({ try operation(named: $0.name) }) ?? defaultOperation(change.kind) else {
            return SubmittedOperation(name: "", parameters: [:])
        }
        let parameters = operation.parameters.map { parameter in
            let filled = parameter.attributeIndex.flatMap { $0 < content.count ? parameter.storage.json(content[$0]) : nil }
            return (parameter.name, filled ?? called?.parameters[parameter.name] ?? .null)
        }
        return SubmittedOperation(
            name: operation.isOnlyOfItsKind && called == nil ? "" : operation.name, parameters: JSONObject(uniqueKeys: parameters))
    }
}

extension OutboxRecord.Change {
    fileprivate var kind: OperationModel.Kind {
        switch self {
        case .create: .create
        case .update: .update
        case .delete: .delete
        case .other: .other
        }
    }
}
