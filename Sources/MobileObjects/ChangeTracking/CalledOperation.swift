import MobileModel
import MobileStore

/// A create, update or delete that was called by its name, with the caller's values. It is stored with the original state of the row
/// that it changed, in the columns `_on` and `_pa`, and moves to the outbox when the row is submitted.
///
/// **A row has at most one.** Why: a submission is one operation on the server, with the row's attributes at that time.
struct CalledOperation: Sendable, Equatable {
    let name: String
    let kind: OperationModel.Kind
    /// The caller's values of the parameters, by name, in the form in which they are sent.
    let parameters: JSONObject
}

extension OperationMetadata {
    /// Returns a call with these values, in the order of ``ownParameters``.
    /// - Throws: ``ObjectError/Code/invalidValue`` for a value that does not fit its parameter, ``ObjectError/Code/noSuchParameter`` for too
    ///   many values.
    func called(with values: [AttributeValue]) throws -> CalledOperation {
        let own = ownParameters
        guard values.count <= own.count else {
            throw ObjectError(.noSuchParameter, "operation \"\(name)\" has \(own.count) parameters, \(values.count) values were given")
        }
        let parameters = try own.enumerated().map { index, parameter in
            let value = index < values.count ? values[index] : parameter.defaultValue ?? .null
            return (parameter.name, try parameter.json(value, of: self))
        }
        return CalledOperation(name: name, kind: kind, parameters: JSONObject(uniqueKeys: parameters))
    }

    /// Returns the values of ``ownParameters`` from values by name. A missing value is the parameter's default.
    /// - Throws: ``ObjectError/Code/noSuchParameter`` for an unknown name, and for a parameter without value and default.
    func ordered(_ values: [String: AttributeValue]) throws -> [AttributeValue] {
        for name in values.keys.sorted() {
            if let attribute = try parameter(named: name).attribute {
                throw ObjectError(
                    .noSuchParameter, "parameter \"\(name)\" of operation \"\(self.name)\" is filled from the attribute \"\(attribute)\"")
            }
        }
        return try ownParameters.map { parameter in
            guard let value = values[parameter.name] ?? parameter.defaultValue else {
                throw ObjectError(.noSuchParameter, "operation \"\(name)\": the parameter \"\(parameter.name)\" is missing")
            }
            return value
        }
    }
}

extension ParameterMetadata {
    /// Returns the value in the form in which it is sent.
    fileprivate func json(_ value: AttributeValue, of operation: OperationMetadata) throws -> JSONValue {
        guard let stored = storage.stored(value), isNullable || !stored.isNull else {
            throw ObjectError(
                .invalidValue, "parameter \"\(name)\" of operation \"\(operation.name)\": \(storage.misfit(value, type: "\(dataType)"))")
        }
        return storage.json(stored)
    }
}

extension Transaction {
    /// Checks that a change of a row may follow the pending one. After a named change that is not submitted yet, only the same operation may
    /// follow: its parameters would otherwise go with values that they were not given for. After a rejection, changes of attributes may
    /// follow, and are then sent with the same parameters. An operation that is a separate object runs once: after its submit it
    /// cannot be changed, unless the server refuses it.
    /// - Throws: ``ObjectError/Code/otherOperationPending``.
    func checkMayFollow(_ called: CalledOperation?, _ entity: EntityMetadata, _ key: Int64, _ replay: ReplayState) throws {
        if entity.otherOperation != nil, replay.submitted != 0 {
            throw ObjectError(
                .otherOperationPending, "update of \(entity.name) \(key): it was submitted; wait for the server's answer, or make a new one")
        }
        if let called, replay.change == .create, called.kind != .create || replay.submitted != 0 {
            throw ObjectError(
                .otherOperationPending, "\(called.name) of \(entity.name) \(key): its create is pending; wait for the server's answer")
        }
        guard replay.needsSubmit, replay.failed == 0, let pending = try originalState(of: entity, key)?.operation, pending.name != called?.name
        else { return }
        throw ObjectError(
            .otherOperationPending,
            "\(called?.name ?? "update") of \(entity.name) \(key): it was changed by \(pending.name) already; submit or cancel that first")
    }

    /// Notes the operation of a pending change after the change is written.
    /// - Parameter before: the row's marks before the change.
    func noteOperation(_ called: CalledOperation?, of entity: EntityMetadata, _ key: Int64, before: ReplayState) throws {
        if let called {
            try setOperation(called, of: entity, key)
        } else if before.change != .create, before.failed == 0 {
            // A plain update after the submit of a named one. A create keeps its name until the server has it; a rejected change keeps its name.
            try setOperation(nil, of: entity, key)
        }
    }

    /// Notes that the server has the row. If the row is sent again, it is sent as an update.
    func forgetCreate(of entity: EntityMetadata, _ key: Int64, _ original: OriginalState) throws {
        if original.operation?.kind == .create { try setOperation(nil, of: entity, key) }
    }

    func setOperation(_ called: CalledOperation?, of entity: EntityMetadata, _ key: Int64) throws {
        try connection.execute(
            "UPDATE \(entity.sql.originalTable) SET \"_on\" = ?2, \"_pa\" = ?3 WHERE \"_sk\" = ?1",
            [.integer(key), .text(called?.name ?? ""), .text(called.map { JSONValue.object($0.parameters).description } ?? "")])
    }
}
