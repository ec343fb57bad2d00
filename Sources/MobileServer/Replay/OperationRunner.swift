internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// Runs the operations of one batch in the transaction of its back end: finds out which rows they mean, and who may create them.
struct OperationRunner {
    let package: DeployedPackage
    let access: UserAccess
    let client: String
    /// The header of the upload.
    let header: SynchronizeHeader
    /// The back end, in the batch's transaction.
    let transaction: any BackEndTransaction
    /// The device's knowledge of the records of the back ends.
    let seen: SeenRecords
    /// The record of this back end; nil where it keeps none.
    let record: SeenRecords.Present?
    /// The known keys of rows.
    var rows: RowDirectory
    /// The tests of the objects met so far, by name.
    private var authorizations: [String: RowAuthorization?] = [:]
    /// The tests of the objects met so far that refuse conflicts, by name.
    private var conflictChecks: [String: ConflictCheck] = [:]
    /// The digest of the row that the last operation left, where its object refuses conflicts.
    private(set) var left: String?

    init(
        package: DeployedPackage, access: UserAccess, client: String, header: SynchronizeHeader, transaction: any BackEndTransaction,
        seen: SeenRecords, record: SeenRecords.Present?, rows: RowDirectory
    ) {
        (self.package, self.access, self.client, self.header) = (package, access, client, header)
        (self.transaction, self.seen, self.record, self.rows) = (transaction, seen, record, rows)
    }

    /// Runs one operation.
    /// - Returns: the row's key as one value, if the operation created or changed it.
    /// - Throws: ``Rejection``, and the errors of the back end.
    mutating func run(_ operation: UploadReader.Operation) throws -> Value? {
        let frame = operation.frame
        left = nil
        guard let object = package.object(named: frame.object), let modelled = object.operation(frame) else {
            throw Rejection(ResultCode.notFound, "the object \"\(frame.object)\" has no such operation")
        }
        let key = try key(of: frame, object)
        if frame.change != .create, key == nil, let rejection = try rows.rejection(ofCreating: frame.key, object) { throw rejection }
        guard let authorization = try authorization(of: object) else {
            return try changeUnlessConflict(modelled, operation, object, key, isAuthorized: false)
        }
        if frame.change != .create {
            guard let key else { throw Rejection(ResultCode.notFound, "the row of \"\(object.name)\" is not known to the server") }
            guard try authorization.isOfUser(key, in: transaction) else {
                // As for a row that does not exist, so that the answer does not show whether another user has it.
                guard frame.change == .delete else {
                    throw Rejection(ResultCode.notFound, "the row of \"\(object.name)\" is not in the back end any more")
                }
                return nil
            }
        }
        let created = try changeUnlessConflict(modelled, operation, object, key, isAuthorized: true)
        guard frame.change != .delete else { return created }
        guard let key = try rows.key(of: RowIdentity(frame), object) ?? key, try authorization.isOfUser(key, in: transaction) else {
            throw Rejection(ResultCode.forbidden, "the row of \"\(object.name)\" would not be one of the user's rows")
        }
        return created
    }

    /// Changes the row, unless its object refuses conflicts and it changed since the device saw it.
    private mutating func changeUnlessConflict(
        _ modelled: OperationModel, _ operation: UploadReader.Operation, _ object: ObjectPlan, _ key: RowKey?, isAuthorized: Bool
    ) throws -> Value? {
        let frame = operation.frame
        guard object.model.conflicts == .refuse, frame.change != .other else {
            return try change(modelled, operation, object, key, isTested: isAuthorized)
        }
        let check = try conflictCheck(of: object)
        if frame.change != .create {
            guard let key else {
                throw Rejection(ResultCode.changedSince, "the row of \"\(object.name)\" is not among the device's rows in the back end any more")
            }
            try check.check(frame, key, left: digestLeft(byOperationBefore: frame), in: transaction)
        }
        let created = try change(modelled, operation, object, key, isTested: true)
        if frame.change != .delete, let key = try rows.key(of: RowIdentity(frame), object) ?? key {
            left = try check.row(key, in: transaction).digest
        }
        return created
    }

    /// Returns the digest of the row that the device's previous operation on it left; nil without one.
    private func digestLeft(byOperationBefore frame: OperationFrame) throws -> String? {
        guard let before = try frame.follows.flatMap({ try transaction.records()?.processed($0, client: client) }) else { return nil }
        // The row may have had another surrogate key then. The digest of a row has its key, so that no other one is taken for it.
        guard before.result.object == frame.object, before.result.key == frame.key || before.left?.isEmpty == false else { return nil }
        return before.left
    }

    private mutating func conflictCheck(of object: ObjectPlan) throws -> ConflictCheck {
        if let known = conflictChecks[object.name] { return known }
        do {
            let check = try ConflictCheck(object, header, access: access)
            conflictChecks[object.name] = check
            return check
        } catch {
            throw Rejection(ResultCode.forbidden, error.message)
        }
    }

    /// - Parameter isTested: whether the row with the key was tested, so that no other one may be changed.
    private mutating func change(
        _ modelled: OperationModel, _ operation: UploadReader.Operation, _ object: ObjectPlan, _ key: RowKey?, isTested: Bool
    ) throws -> Value? {
        let frame = operation.frame
        // Statements of the model could find another row by their parameters.
        if key == nil, frame.change == .update || frame.change == .delete, object.hasGeneratedKey {
            throw Rejection(ResultCode.notFound, "the row of \"\(object.name)\" is not known to the server")
        }
        var values = frame.attributes
        let parentKeys = try fillReferences(of: frame, object, into: &values)
        // After the references: they fill parts of keys too.
        if isTested, frame.change != .create, let key, !modelled.statements.isEmpty { try checkKey(key, modelled, frame, values, object) }
        let task = BackEndOperation(
            id: frame.id, client: client, object: object.model, operation: modelled, key: key, values: values, parameters: frame.parameters,
            largeValues: operation.largeValues, parentKeys: parentKeys)
        guard frame.change != .create else { return try create(task, frame, object) }
        guard let changed = try transaction.apply(task) else { return nil }
        let identity = RowIdentity(frame)
        // A row that the server does not know under its surrogate key has no entry in the key map.
        let isKnown = try rows.key(of: identity, object) != nil
        rows.set(changed, of: identity)
        return isKnown ? changed.value : nil
    }

    // MARK: Authorization

    private mutating func authorization(of object: ObjectPlan) throws -> RowAuthorization? {
        if let known = authorizations[object.name] { return known }
        do {
            let authorization = try RowAuthorization(object, access: access)
            authorizations[object.name] = .some(authorization)
            return authorization
        } catch let failure as RequestFailure {
            throw Rejection(ResultCode.forbidden, failure.message)
        }
    }

    /// Refuses key attributes and parameters that name another row than the one that was tested: statements of the model choose their row by them.
    private func checkKey(
        _ key: RowKey, _ modelled: OperationModel, _ frame: OperationFrame, _ values: JSONObject, _ object: ObjectPlan
    ) throws {
        let own = key.values(of: object.model)
        for attribute in object.keyAttributes {
            let filled = modelled.parameters.filter { $0.attribute == attribute.name }.compactMap {
                frame.parameters[$0.name] ?? values[$0.name]
            }
            let given = try ([values[attribute.name]].compactMap { $0 } + filled).map {
                try WireConversion.normalized($0, of: attribute)
            }
            guard given.allSatisfy({ $0 == own[attribute.name] }) else {
                throw Rejection(ResultCode.forbidden, "the operation names another row of \"\(object.name)\" than the one that it is for")
            }
        }
    }

    /// Returns the key of the row that is changed. The server's record comes first: the device may not yet know the key that the back end gave to a
    /// row of this device.
    private mutating func key(of frame: OperationFrame, _ object: ObjectPlan) throws -> RowKey? {
        guard frame.change != .create else { return nil }
        let row = RowIdentity(frame)
        if let key = try rows.key(of: row, object) {
            rows.need(key, of: row)
            return key
        }
        guard let key = RowKey(wire: frame.primaryKey, of: object) else { return nil }
        // Otherwise the operation would reach another row.
        guard try !mayBeOfAnother(row, object) else {
            throw Rejection(ResultCode.notFound, "the row of \"\(object.name)\" is not in the back end any more")
        }
        return key
    }

    /// Whether the primary key that the device has for a row, which the server does not know, may be that of another row by now.
    private func mayBeOfAnother(_ row: RowIdentity, _ object: ObjectPlan) throws -> Bool {
        guard object.hasGeneratedKey else { return false }
        return try rows.isDisplaced(row, object) || seen.isRestored(object.binding.backEnd, record)
    }

    // MARK: References

    /// Fills the attributes that refer to a parent with the parent's key, which the back end may have just created (PND-16). An update sets them only
    /// if the reference was changed, or leads to a row of this upload.
    /// - Returns: the parts of the parents' keys, by attribute.
    private mutating func fillReferences(
        of frame: OperationFrame, _ object: ObjectPlan, into values: inout JSONObject
    ) throws -> [String: (part: Value, key: AttributeModel)] {
        var parts: [String: (part: Value, key: AttributeModel)] = [:]
        for reference in object.references {
            guard let surrogateKey = frame.refs[reference.name]?.integer, let target = package.object(named: reference.target) else { continue }
            let parent = RowIdentity(target.name, surrogateKey)
            let isMeant = frame.change == .create || rows.isNew(parent) || reference.pairs.contains { frame.attributes[$0.source.name] != nil }
            guard isMeant else { continue }
            guard let key = try rows.key(of: parent, target) else {
                let isGiven = reference.pairs.allSatisfy { values[$0.source.name] ?? .null != .null }
                // A row that refers to itself, and that was rejected before, waits for nothing.
                if isGiven, frame.change == .create, parent == RowIdentity(frame) { continue }
                if let rejection = try rows.rejection(ofCreating: surrogateKey, target) { throw rejection }
                // The device knows the parent's key itself, for example after the server has lost its cache.
                if isGiven, try !mayBeOfAnother(parent, target) { continue }
                throw Rejection(
                    ResultCode.failedDependency, "the server does not know the row of \"\(target.name)\" that \"\(reference.name)\" refers to")
            }
            rows.need(key, of: parent)
            for (index, pair) in reference.pairs.enumerated() {
                parts[pair.source.name] = (key.parts[index], pair.key)
                values[pair.source.name] = WireConversion.json(cached: key.parts[index], of: pair.key)
            }
        }
        return parts
    }

    // MARK: Identity of rows

    /// Creates a row under a surrogate key that the client may assign and no other row has, with a primary key that no other row has either. Both are
    /// checked here: a back end need not keep the primary key unique, and statements of a model may overwrite a row.
    private mutating func create(_ task: BackEndOperation, _ frame: OperationFrame, _ object: ObjectPlan) throws -> Value? {
        let identity = RowIdentity(frame)
        let owner = try rows.key(of: identity, object), given = object.givenKey(task.values)
        let isOwned = try owner.map { try transaction.contains($0, of: object.model, having: [:]) } ?? false
        let isTaken = try given.map { try transaction.contains($0, of: object.model, having: [:]) } ?? false
        if try !rows.mayGive(frame.key) {
            // Where another device has created the row too, this one knows the row by that surrogate key.
            if isTaken { throw Rejection(ResultCode.forbidden, "there is a row of \"\(object.name)\" with this primary key") }
            guard given != nil, owner == given else {
                throw Rejection(ResultCode.forbidden, "the surrogate key \(frame.key) was neither granted to this client nor claimed by it")
            }
        }
        guard let key = try transaction.apply(task) else {
            throw Rejection(ResultCode.failure, "the back end did not say which key the new row of \"\(object.name)\" has")
        }
        if key != owner {
            if isOwned { throw Rejection(ResultCode.forbidden, "the surrogate key \(frame.key) is that of another row of \"\(object.name)\"") }
            if isTaken { throw Rejection(ResultCode.forbidden, "there is a row of \"\(object.name)\" with this primary key") }
        }
        rows.set(key, of: identity)
        return key.value
    }
}

extension ObjectPlan {
    /// Returns the key that a device has given to a new row; nil if the back end gives it.
    func givenKey(_ values: JSONObject) -> RowKey? {
        keyAttributes.contains(where: \.isGenerated) ? nil : RowKey(wire: values, of: self)
    }
}
