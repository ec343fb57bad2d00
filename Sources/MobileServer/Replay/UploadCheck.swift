internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// Checks an upload against the model before any of its operations is done. An upload for a different model is refused as a whole, and nothing has
/// changed. Checks that only the back end can do are left to it.
struct UploadCheck {
    let package: DeployedPackage

    /// - Throws: ``RequestFailure`` 404 for an unknown object or operation, 400 for all other errors. Each names the operation and the error.
    func check(_ operation: UploadReader.Operation) throws(RequestFailure) {
        let frame = operation.frame
        guard let object = package.object(named: frame.object) else {
            throw RequestFailure(
                .notFound,
                "operation \(frame.id): package \"\(package.identifier)\" has no synchronized object \"\(frame.object.prefix(80))\"\(remedy)")
        }
        let modelled = try self.operation(frame, of: object)
        for (name, value) in frame.attributes.map({ ($0.key, $0.value) }) + frame.primaryKey.map({ ($0.key, $0.value) }) {
            guard let attribute = object.model.attribute(named: name), !attribute.isLarge else {
                throw unknown(frame, "attribute", name)
            }
            try check(value, of: attribute, frame)
        }
        for member in frame.primaryKey where !object.model.primaryKey.contains(member.key) {
            throw unknown(frame, "part of the primary key", member.key)
        }
        for ref in frame.refs where !object.references.contains(where: { $0.name == ref.key }) {
            throw unknown(frame, "relationship with a reference", ref.key)
        }
        for member in frame.parameters {
            guard let parameter = modelled.parameters.first(where: { $0.name == member.key }) else {
                throw unknown(frame, "parameter of \"\(modelled.name)\"", member.key)
            }
            try check(member.value, of: object.attribute(of: parameter), frame)
        }
        try checkOriginal(of: frame, object)
        for name in operation.largeValues.keys where !object.largeAttributes.contains(where: { $0.name == name }) {
            throw unknown(frame, "large attribute", name)
        }
    }

    private func checkOriginal(of frame: OperationFrame, _ object: ObjectPlan) throws(RequestFailure) {
        guard object.model.conflicts == .refuse, frame.change == .update || frame.change == .delete else { return }
        guard let original = frame.original else {
            throw RequestFailure(
                .badRequest,
                "operation \(frame.id): the object \"\(object.name)\" refuses conflicts, so that each update and delete needs the member \"original\", the row as the user saw it; update the application"
            )
        }
        for member in original {
            guard let attribute = object.model.attribute(named: member.key), !attribute.isLarge else { throw unknown(frame, "attribute", member.key) }
            try check(member.value, of: attribute, frame)
        }
    }

    /// - Throws: ``RequestFailure`` 400 for a log record without an id above 0.
    func check(_ record: LogRecordEntry) throws(RequestFailure) {
        guard let id = record.messageId, id > 0 else {
            throw RequestFailure(.badRequest, "log record \(record.messageId ?? 0): expected a \"messageId\" above 0")
        }
    }

    /// Returns the operation of the model that a client requests: the one that it names, otherwise the object's first one of the kind.
    private func operation(_ frame: OperationFrame, of object: ObjectPlan) throws(RequestFailure) -> OperationModel {
        guard let operation = object.operation(frame) else {
            throw RequestFailure(
                .notFound,
                "operation \(frame.id): the object \"\(frame.object)\" has no operation \"\((frame.operation ?? frame.change.kind.rawValue).prefix(80))\"\(remedy)"
            )
        }
        return operation
    }

    private func check(_ value: JSONValue, of attribute: AttributeModel, _ frame: OperationFrame) throws(RequestFailure) {
        do {
            _ = try WireConversion.value(value, of: attribute, affinity: .blob)
        } catch {
            throw RequestFailure(.badRequest, "operation \(frame.id), \"\(frame.object)\", \"\(attribute.name)\": \(error.message)")
        }
    }

    private func unknown(_ frame: OperationFrame, _ kind: String, _ name: String) -> RequestFailure {
        RequestFailure(.badRequest, "operation \(frame.id): the object \"\(frame.object)\" has no \(kind) \"\(name.prefix(80))\"\(remedy)")
    }

    /// The end of a message about a name that only the application's model has.
    private var remedy: String { " here; \(ModelDifference.text(package.identifier))" }
}

extension ObjectPlan {
    /// Returns the attribute whose rules apply to a parameter of an operation: the one that fills it, otherwise one made from the parameter.
    func attribute(of parameter: ParameterModel) -> AttributeModel {
        parameter.attribute.flatMap { model.attribute(named: $0) } ?? AttributeModel(ofParameter: parameter)
    }

    /// Returns the operation of the model that a frame requests; nil if none has its name and kind.
    func operation(_ frame: OperationFrame) -> OperationModel? {
        model.operations.first { $0.kind == frame.change.kind && (frame.operation == nil || frame.operation == $0.name) }
    }
}

extension OperationFrame.Change {
    var kind: OperationModel.Kind {
        switch self {
        case .create: .create
        case .update: .update
        case .delete: .delete
        case .other: .other
        }
    }
}
