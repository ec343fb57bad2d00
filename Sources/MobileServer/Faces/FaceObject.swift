internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// A synchronized object of a package as the faces of other protocols see it: rows and values are texts, and changes are done one by one, each once.
///
/// The rights of users are those of the server: roles, and parameters that are bound to attributes of the user. Large attributes are left out.
package struct FaceObject: Sendable {
    private let served: ServedPackage
    private let plan: ObjectPlan

    fileprivate init(_ served: ServedPackage, _ plan: ObjectPlan) { (self.served, self.plan) = (served, plan) }

    /// A refusal, with its sentence for the user.
    package struct Refusal: Error {
        package let message: String
    }

    /// A change of a row. Client and number are its identity: the same change is done once, however often it comes.
    package struct Change {
        package enum Kind: String, Sendable { case create, update, delete }

        let kind: Kind
        let row: String
        let values: [String: String]
        let client: String
        let number: Int64

        /// - Parameters:
        ///   - row: the id; of no meaning for a row to create.
        ///   - values: the attributes to write.
        package init(_ kind: Kind, row: String, values: [String: String], client: String, number: Int64) {
            (self.kind, self.row, self.values, self.client, self.number) = (kind, row, values, client, number)
        }
    }

    /// The name in the model.
    package var name: String { plan.name }
    /// Name and version of the package.
    package var packageName: String { served.deployed.identifier }
    /// Whether the user decides which rows there are.
    package var dependsOnUser: Bool { !served.deployed.model.roles.isEmpty || plan.hasBoundParameters }
    /// The attributes that hold the id of another object's row, with the names of the objects.
    package var references: [String: String] {
        let single = plan.references.filter { $0.pairs.count == 1 }
        return Dictionary(single.map { ($0.pairs[0].source.name, $0.target) }) { first, _ in first }
    }

    // MARK: Rows

    /// Visits the rows of a user, one by one: ids with values. A row that several sets of parameters select comes several times, one that its attributes
    /// cannot hold not at all.
    /// - Parameter parameters: values of synchronization parameters that the user may choose; others have their defaults.
    /// - Throws: ``Refusal`` for a user without a role, and for wrong parameters; ``ServerError`` for a row without key; the errors of `visit`.
    package func forEachRow(
        of user: String, parameters: [String: String], _ visit: (_ id: String, _ values: [String: String]) throws -> Void
    ) throws {
        let sets = try refusing {
            let access = try served.access(of: user), personalization = JSONObject().with(user: user)
            var chosen = JSONObject()
            for parameter in plan.model.synchronizationParameters {
                guard let text = parameters[parameter.name] else { continue }
                chosen[parameter.name] = try json(text, of: AttributeModel(parameter))
            }
            // Without a choice, each parameter has its default.
            let defaults = try PartitionParameters.sets(of: plan, subscriptions: nil, personalization: personalization, access: access)
            guard !chosen.isEmpty else { return defaults }
            for parameter in plan.model.synchronizationParameters where chosen[parameter.name] == nil && parameter.userAttribute == nil {
                if let value = parameter.modelDefault { chosen[parameter.name] = value }
            }
            return try PartitionParameters.sets(of: plan, subscriptions: [chosen], personalization: personalization, access: access)
        }
        try system.read { snapshot in
            for set in sets {
                try BackEndLoad(object: plan, parameters: set.values, source: snapshot).forEachRow(unfit: { _ in }) { row in
                    guard case .array(let values) = try JSONValue(parsing: "[\(row.attributes)]") else { return }
                    let members = JSONObject(uniqueKeys: zip(plan.rowAttributes, values).map { ($0.name, $1) })
                    guard let key = RowKey(wire: members, of: plan) else { return }
                    try visit(id(of: key), Dictionary(members.compactMap { member in Self.text(member.value).map { (member.key, $0) } }) { $1 })
                }
            }
        }
    }

    // MARK: Changes

    /// Prepares the record of operations; called outside of transactions on the state.
    package func prepareChanges() throws { try served.beginEraIfEnded(of: backEnd) }

    /// Does a change. It is not done a second time: then its first result is returned.
    /// - Returns: the id of a new row; nil for other changes.
    /// - Throws: ``Refusal``.
    package func apply(_ change: Change, user: String) throws -> String? {
        try refusing {
            let access = try served.access(of: user)
            // Operations with parameters of their own need more than the values of a row.
            let modelled = plan.model.operations.filter { $0.kind.rawValue == change.kind.rawValue && $0.parameters.isEmpty }
            guard let modelled = modelled.first(where: { $0.name == change.kind.rawValue }) ?? modelled.first else {
                throw Refusal(message: "\"\(name)\" has no operation \(change.kind.rawValue)")
            }
            guard plan.model.conflicts != .refuse || change.kind == .create else {
                throw Refusal(message: "\"\(name)\" is changed by clients that tell the version which they have seen")
            }
            return try system.replay(for: change.client) { transaction in
                guard !backEnd.isIdempotent, let records = try transaction.records() else {
                    return try run(change, modelled, access, in: transaction)
                }
                try served.checkEra(of: backEnd, transaction, records)
                _ = try records.raiseFloor(of: change.client, to: 0)
                if let known = try records.processed(change.number, client: change.client) { return known.newRow }
                let new = try run(change, modelled, access, in: transaction)
                try records.record(served.outcome(of: change, of: plan, modelled, new: new), client: change.client)
                return new
            }
        }
    }

    private func run(
        _ change: Change, _ modelled: OperationModel, _ access: UserAccess, in transaction: any BackEndTransaction
    ) throws -> String? {
        let authorization = try RowAuthorization(plan, access: access)
        let values = try values(of: change, access)
        if change.kind == .create {
            if let given = plan.givenKey(values), try transaction.contains(given, of: plan.model, having: [:]) {
                throw Refusal(message: "there is a row of \"\(name)\" with this primary key")
            }
        }
        let key = change.kind == .create ? nil : try key(change.row)
        if change.kind != .create {
            let isThere = try key.map { key in
                try authorization?.isOfUser(key, in: transaction) ?? transaction.contains(key, of: plan.model, having: [:])
            }
            guard isThere == true else {
                // A row that is not there is deleted already. Another user's row looks the same.
                guard change.kind == .update else { return nil }
                throw Refusal(message: "the row of \"\(name)\" is not in the back end any more")
            }
            guard plan.keyAttributes.allSatisfy({ values[$0.name] == nil || values[$0.name] == key?.values(of: plan.model)[$0.name] }) else {
                throw Refusal(message: "the key of a row of \"\(name)\" cannot be changed")
            }
        }
        let task = BackEndOperation(
            id: change.number, client: change.client, object: plan.model, operation: modelled, key: key, values: values, parameters: [:],
            largeValues: [:], parentKeys: [:])
        let changed = try transaction.apply(task)
        guard change.kind != .delete else { return nil }
        guard let present = changed ?? key else {
            throw Refusal(message: "the back end did not say which key the new row of \"\(name)\" has")
        }
        guard try authorization?.isOfUser(present, in: transaction) ?? true else {
            throw Refusal(message: "the row of \"\(name)\" would not be one of the user's rows")
        }
        return change.kind == .create ? id(of: present) : nil
    }

    /// The values in the form of the protocol. A new row has defaults for what is missing, and the user's own values for bound parameters.
    private func values(of change: Change, _ access: UserAccess) throws -> JSONObject {
        guard change.kind != .delete else { return [:] }
        var values = JSONObject()
        for (name, text) in change.values.sorted(by: { $0.key < $1.key }) {
            guard let attribute = plan.rowAttributes.first(where: { $0.name == name }) else {
                throw Refusal(message: "\"\(self.name)\" has no attribute \"\(name.prefix(80))\"")
            }
            values[name] = try json(text, of: attribute)
        }
        guard change.kind == .create else { return values }
        for parameter in plan.model.synchronizationParameters where parameter.userAttribute != nil {
            guard let attribute = parameter.attribute, values[attribute] == nil else { continue }
            values[attribute] = try access.values(of: parameter).first
        }
        for attribute in plan.rowAttributes where values[attribute.name] == nil && !attribute.isGenerated {
            values[attribute.name] = attribute.defaultValue.flatMap { try? JSONValue(parsing: $0) } ?? .null
        }
        return values
    }

    // MARK: Texts

    /// The id of a row: the text of its key; of a composite key the JSON array of its parts.
    private func id(of key: RowKey) -> String {
        if plan.keyAttributes.count > 1 { return key.value.text ?? "" }
        return key.values(of: plan.model)[plan.keyAttributes[0].name].flatMap(Self.text) ?? ""
    }

    private func key(_ id: String) throws -> RowKey? {
        guard plan.keyAttributes.count == 1 else { return RowKey(.text(id), of: plan) }
        guard let value = try? json(id, of: plan.keyAttributes[0]) else { return nil }
        return RowKey(wire: [plan.keyAttributes[0].name: value], of: plan)
    }

    private static func text(_ json: JSONValue) -> String? { json.isNull ? nil : json.string ?? json.description }

    /// Reads a text as a value of an attribute: numbers and truth values as in JSON, and an empty text as no value where that is possible.
    private func json(_ text: String, of attribute: AttributeModel) throws -> JSONValue {
        let forms = [JSONValue.string(text), try? JSONValue(parsing: text)].compactMap { $0 }
        for form in forms where !form.isNull {
            if let value = try? WireConversion.normalized(form, of: attribute) { return value }
        }
        guard text.isEmpty, attribute.isNullable else {
            throw Refusal(message: "\"\(text.prefix(80))\" is not a value of \"\(attribute.name)\", which is of the type \(attribute.type)")
        }
        return .null
    }

    // MARK: Back end

    private var backEnd: ServedBackEnd { served.deployed.backEnd(of: plan) }
    private var system: any BackEnd { backEnd.system }

    /// Turns errors into refusals, with the sentence that a device would get.
    private func refusing<R>(_ body: () throws -> R) throws -> R {
        do { return try body() } catch let refusal as Refusal { throw refusal } catch let failure as RequestFailure {
            throw Refusal(message: failure.message)
        } catch is RecordEras.Ended {
            throw Refusal(message: "the back end was restored; try again")
        } catch {
            let rejection = Rejection(error, of: plan, on: system)
            if !rejection.detail.isEmpty { served.logLine("\(packageName) \(name): \(rejection.detail)") }
            throw Refusal(message: rejection.message)
        }
    }
}

extension MobileServer {
    /// The synchronized objects of all packages.
    package var faceObjects: [FaceObject] { packages.flatMap { served in served.deployed.objects.map { FaceObject(served, $0) } } }
}

extension ServedPackage {
    fileprivate func outcome(
        of change: FaceObject.Change, of object: ObjectPlan, _ modelled: OperationModel, new: String?
    ) -> OperationOutcome {
        // The row has no surrogate key: no device made it. Its id travels as the message, which an accepted operation does not have.
        OperationOutcome(
            result: ReplayResult(id: change.number, outcome: .accepted, message: new ?? "", object: object.name, key: 0),
            package: deployed.identifier,
            change: change.kind.frame, operation: modelled.name, timestamp: timestamp)
    }
}

extension FaceObject.Change.Kind {
    fileprivate var frame: OperationFrame.Change {
        switch self {
        case .create: .create
        case .update: .update
        case .delete: .delete
        }
    }
}

extension OperationOutcome {
    /// The id of the row that a face has created.
    fileprivate var newRow: String? { result.message.isEmpty ? nil : result.message }
}
