/// Compares one object of two models. A class: a copy of its two objects and two models is a great deal of code.
final class ObjectComparison {
    private let old: ObjectModel
    private let new: ObjectModel
    private let oldModel: PackageModel
    private let newModel: PackageModel
    private let types: TypeChange

    private(set) var changes: [ModelChange] = []
    private(set) var upgrade: ObjectUpgrade
    /// Whether the device lacks some of the object's values.
    private(set) var isIncomplete = false

    init(_ old: ObjectModel, in oldModel: PackageModel, _ new: ObjectModel, in newModel: PackageModel) {
        (self.old, self.new, self.oldModel, self.newModel) = (old, new, oldModel, newModel)
        types = TypeChange(old: oldModel, new: newModel)
        upgrade = ObjectUpgrade(added: new, in: newModel)
        upgrade.old = old
    }

    func run() {
        if old.name != new.name { add(.migration, nil, "was \"\(old.name)\"; its table is renamed") }
        if old.isLocal != new.isLocal {
            add(
                .impossible, nil,
                new.isLocal
                    ? "a synchronized object cannot become a local one" : "a local object cannot become a synchronized one: no server knows its rows")
        }
        if !old.isLocal, old.synchronizationGroup != new.synchronizationGroup {
            isIncomplete = true
            add(.migration, nil, "moves to the synchronization group \"\(new.synchronizationGroup)\"; its rows are loaded again")
        }
        compareAttributes()
        comparePrimaryKeys()
        compareReferences()
        compareParameters()
        compareOperations()
        if old.conflicts != new.conflicts {
            add(
                .safe, "conflicts",
                new.conflicts == .refuse ? "changes of rows that changed in the back end are refused now" : "the last writer wins now")
        }
        compareNames("query", old.queries.map(\.name), new.queries.map(\.name))
        if new.isLocal { isIncomplete = false }
    }

    private func add(_ kind: ModelChange.Kind, _ member: String?, _ text: String) {
        changes.append(ModelChange(kind, member.map { "\(new.name).\($0)" } ?? new.name, text))
    }

    // MARK: Attributes

    private func compareAttributes() {
        upgrade.attributes = new.attributes.map { attribute in
            let former = FormerName.match(attribute.name, was: attribute.was, among: old.attributes, of: new.attributes.map(\.name)) { $0.name }
            return AttributeUpgrade(old: former, new: attribute)
        }
        for index in upgrade.attributes.indices { upgrade.attributes[index].conversion = compare(upgrade.attributes[index]) }
        let kept = Set(upgrade.attributes.compactMap { $0.old?.name })
        upgrade.removedAttributes = old.attributes.filter { !kept.contains($0.name) }
        for attribute in upgrade.removedAttributes {
            let condition = old.isLocal ? "" : ". Refused while a change of it waits for the server"
            add(.losesData, attribute.name, "removed; its values are dropped\(condition)")
        }
        let before = upgrade.attributes.compactMap { attribute in
            attribute.old.flatMap { old in self.old.attributes.firstIndex { $0.name == old.name } }
        }
        if before != before.sorted() { add(.migration, nil, "its attributes have another order") }
    }

    private func compare(_ attribute: AttributeUpgrade) -> ValueConversion {
        let new = attribute.new
        guard let old = attribute.old else {
            addNew(new)
            return .none
        }
        if old.name != new.name { add(.migration, new.name, "was \"\(old.name)\"") }
        var conversion = ValueConversion.none
        do throws(TypeChange.Impossible) {
            conversion = try types.conversion(from: old, to: new)
            addType(old, new, conversion)
        } catch { add(.impossible, new.name, error.reason) }
        if attribute.mustHaveValue {
            add(.migration, new.name, "must have a value now. Refused while there is a row without one")
        } else if !old.mayBeNull, new.mayBeNull {
            add(.safe, new.name, "may be null now")
        }
        if attribute.isShorter, let length = new.length {
            add(.migration, new.name, "at most \(length) \(new.type.unitOfLength) long now. Refused while there is a longer value")
        } else if old.length != new.length, old.type == new.type {
            add(.safe, new.name, new.length.map { "up to \($0) \(new.type.unitOfLength) long now" } ?? "of any length now")
        }
        if old.isSearchable != new.isSearchable {
            add(.migration, new.name, new.isSearchable ? "searchable now; its words are indexed" : "no longer searchable")
        }
        if old.values != new.values || old.minimum != new.minimum || old.maximum != new.maximum {
            add(.safe, new.name, new.hasValueRule ? "values allowed now: \(new.valueRule)" : "any value is allowed now")
        }
        if old.defaultValue != new.defaultValue { add(.safe, new.name, "new rows begin with \(new.defaultValue ?? "no value")") }
        return conversion
    }

    private func addNew(_ attribute: AttributeModel) {
        isIncomplete = true
        let text =
            if let value = attribute.defaultValue { "added; existing rows get \(value)" } else { "added; existing rows have no value" }
        let rest = old.isLocal ? "" : " until the server's values arrive"
        if attribute.defaultValue == nil, !attribute.mayBeNull {
            add(
                .impossible, attribute.name,
                "added, and must have a value, which existing rows lack: make it nullable, or give it a default")
        } else {
            add(.migration, attribute.name, text + rest)
        }
    }

    private func addType(_ old: AttributeModel, _ new: AttributeModel, _ conversion: ValueConversion) {
        switch conversion {
        case .outOfRow:
            add(.migration, new.name, "\(English.withArticle(old.type)) becomes \(English.withArticle(new.type)): values leave their rows")
        case .intoRow:
            add(.migration, new.name, "\(English.withArticle(old.type)) becomes \(English.withArticle(new.type)): values move into their rows")
        case .rescaled, .decimalText:
            add(
                .migration, new.name,
                "\(English.withArticle(old.typeText)) becomes \(English.withArticle(new.typeText)): values are stored in another way")
        case .none:
            if old.typeText != new.typeText {
                add(.safe, new.name, "\(English.withArticle(old.typeText)) becomes \(English.withArticle(new.typeText))")
            }
        }
    }

    private func comparePrimaryKeys() {
        let former = Dictionary(upgrade.attributes.map { ($0.new.name, $0.old?.name) }) { first, _ in first }
        guard new.primaryKey.map({ former[$0] ?? nil }) != old.primaryKey.map({ Optional($0) }) else { return }
        add(
            .impossible, nil,
            "its primary key (\(old.primaryKey.joined(separator: ", "))) cannot become (\(new.primaryKey.joined(separator: ", ")))")
    }

    // MARK: Relationships

    private func compareReferences() {
        let held = oldModel.references(of: old)
        upgrade.references = newModel.references(of: new).map { relationship in
            let former = held.first { $0.name == relationship.name && isSameTarget($0, relationship) }
            return (relationship.name, former?.name)
        }
        let kept = Set(upgrade.references.compactMap(\.old))
        upgrade.removedReferences = held.map(\.name).filter { !kept.contains($0) }
        for relationship in new.relationships {
            if let reference = upgrade.references.first(where: { $0.name == relationship.name }) {
                guard reference.old == nil else { continue }
                isIncomplete = true
                add(.migration, relationship.name, "relationship added; rows are related by their values until the server sends the references")
            } else if !old.relationships.contains(where: { $0.name == relationship.name }) {
                add(.safe, relationship.name, "relationship added")
            }
        }
        for relationship in old.relationships {
            if upgrade.removedReferences.contains(relationship.name) {
                let condition = old.isLocal ? "" : ". Refused while a change of it waits for the server"
                add(.losesData, relationship.name, "relationship removed or reversed; its references are dropped\(condition)")
            } else if !new.relationships.contains(where: { $0.name == relationship.name }) {
                add(.safe, relationship.name, "relationship removed")
            }
        }
    }

    private func isSameTarget(_ former: RelationshipModel, _ relationship: RelationshipModel) -> Bool {
        guard let target = newModel.object(named: relationship.target) else { return false }
        return FormerName.match(target.name, was: target.was, among: oldModel.objects, of: newModel.objects.map(\.name)) { $0.name }?.name
            == former.target
    }

    // MARK: Members without columns

    private func compareParameters() {
        for parameter in new.chosenParameters {
            let place = "synchronization parameter \(parameter.name)"
            guard let former = old.chosenParameters.first(where: { $0.name == parameter.name }) else {
                isIncomplete = true
                add(.safe, place, "added; existing parameter sets take its default")
                continue
            }
            do throws(TypeChange.Impossible) {
                try types.check(from: former.type, to: parameter.type)
                if former.type != parameter.type {
                    add(.safe, place, "\(English.withArticle(former.type)) becomes \(English.withArticle(parameter.type))")
                }
            } catch { add(.impossible, place, error.reason) }
        }
        for parameter in old.chosenParameters
        where !new.chosenParameters.contains(where: { $0.name == parameter.name }) {
            isIncomplete = true
            add(.losesData, "synchronization parameter \(parameter.name)", "removed from the existing parameter sets")
        }
    }

    private func compareOperations() {
        for operation in new.operations {
            guard let former = old.operations.first(where: { $0.name == operation.name }) else {
                add(.safe, "operation \(operation.name)", "added")
                continue
            }
            if former.kind != operation.kind || !former.takesTheSame(as: operation) {
                add(.migration, "operation \(operation.name)", "changed. Refused while a call with other parameters waits for the server")
            }
        }
        for operation in old.operations where !new.operations.contains(where: { $0.name == operation.name }) {
            add(.migration, "operation \(operation.name)", "removed. Refused while a call of it waits for the server")
        }
    }

    private func compareNames(_ thing: String, _ old: [String], _ new: [String]) {
        for name in new where !old.contains(name) { add(.safe, "\(thing) \(name)", "added") }
        for name in old where !new.contains(name) { add(.safe, "\(thing) \(name)", "removed") }
    }
}

extension AttributeModel {
    /// The type with precision and scale, as people write it.
    fileprivate var typeText: String { type == .decimal ? "decimal(\(digits.precision), \(digits.scale))" : type.description }
}

extension AttributeType {
    fileprivate var unitOfLength: String { self == .binary || self == .bigBinary ? "bytes" : "characters" }
}

extension OperationModel {
    /// Whether calls of this operation fit the parameters of the other, which may be longer there. The attribute that fills a parameter may
    /// differ, because attributes can be renamed.
    package func takesTheSame(as other: OperationModel) -> Bool {
        parameters.elementsEqual(other.parameters) { left, right in
            (left.name, left.type, left.isNullable, left.attribute == nil) == (right.name, right.type, right.isNullable, right.attribute == nil)
                && AttributeModel(ofParameter: left).digits == AttributeModel(ofParameter: right).digits
                && right.length.map { longest in left.length.map { $0 <= longest } ?? false } ?? true
        }
    }
}
