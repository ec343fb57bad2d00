public import Foundation

extension PackageModel {
    /// The model as canonical JSON: keys in the format's order, no default values, two spaces per level. The same model gives the same bytes,
    /// and reading them gives the same model.
    public var json: String { ReadableJSON.document(ModelWriter(self).package()) }

    /// The earliest version of the file format that has every member of this model.
    var requiredFormat: Int {
        let isBound = objects.contains { object in object.synchronizationParameters.contains { $0.userAttribute != nil } }
        let isLogged = objects.contains { if case .triggerLog = $0.binding?.changeDetection { true } else { false } }
        let refuses = objects.contains { $0.conflicts != .lastWriter }
        let hasMarks = objects.contains { $0.attributes.contains { $0.isSearchable || $0.hasValueRule } }
        return roles.isEmpty && !isBound && !isLogged && !refuses && !hasMarks ? 1 : 2
    }

    /// Writes ``json`` to the file at `url` atomically: a reader sees either the old file or the new one.
    /// - Throws: an error of the file system.
    public func write(to url: URL) throws { try Data(json.utf8).write(to: url, options: .atomic) }

    /// Checks a model that was created in code, not read from a file.
    /// - Throws: ``ModelError`` with all errors.
    public func validate() throws(ModelError) {
        let problems = ModelValidator.problems(in: self)
        guard problems.isEmpty else { throw ModelError(problems) }
    }
}

/// Builds the JSON tree of a model.
struct ModelWriter {
    typealias Member = (String, ReadableJSON.Value)
    private let model: PackageModel

    init(_ model: PackageModel) { self.model = model }

    func package() -> ReadableJSON.Value {
        var members: [Member] = [("format", .integer(model.requiredFormat)), ("name", .string(model.name))]
        members.append(("version", .string(model.version)))
        members += text("documentation", model.documentation)
        if !model.namePrefix.isEmpty { members += text("namePrefix", model.namePrefix) }
        if model.synchronization != .replication { members += text("synchronization", model.synchronization.rawValue) }
        if model.pageSize != PackageModel.defaultPageSize { members.append(("pageSize", .integer(model.pageSize))) }
        if !model.roles.isEmpty { members.append(("roles", .array(model.roles.map { .string($0) }))) }
        members += list("structures", model.structures) { structure in
            [("name", .string(structure.name))] + text("documentation", structure.documentation)
                + list("attributes", structure.attributes) { attribute($0, mark: nil) }
        }
        members += list("personalizationKeys", model.personalizationKeys) { key in
            [("name", .string(key.name)), type(key.type)] + flag("nullable", key.isNullable) + raw("default", key.defaultValue)
                + (key.storage == .client ? [] : text("storage", key.storage.rawValue))
        }
        members += list("synchronizationGroups", model.synchronizationGroups) { group in
            [("name", .string(group.name))] + (group.interval == 0 ? [] : [("interval", .integer(group.interval))])
        }
        members += list("backEnds", model.backEnds) { backEnd in
            [("name", .string(backEnd.name)), ("kind", .string(backEnd.kind.rawValue))] + text("path", backEnd.path)
                + flag("idempotent", backEnd.isIdempotent)
        }
        members += list("objects", model.objects, object)
        return .object(members)
    }

    private func object(_ object: ObjectModel) -> [Member] {
        var members: [Member] = [("name", .string(object.name))]
        members += text("was", object.was)
        members += text("documentation", object.documentation)
        members += flag("local", object.isLocal)
        if object.synchronizationGroup != SynchronizationGroupModel.defaultName {
            members += text("synchronizationGroup", object.synchronizationGroup)
        }
        if !object.allowsDynamicQueries { members.append(("dynamicQueries", .boolean(false))) }
        let isOverPage = object.attributes.reduce(0) { $0 + $1.rowLength } > model.pageSize
        members += list("attributes", object.attributes) { attribute($0, mark: keepsInRow($0, isOverPage: isOverPage)) }
        if !object.primaryKey.isEmpty { members.append(("primaryKey", .array(object.primaryKey.map { .string($0) }))) }
        members += list("relationships", object.relationships, relationship)
        members += list("synchronizationParameters", object.synchronizationParameters, parameter)
        members += list("queries", object.queries) { query in
            [("name", .string(query.name))] + text("documentation", query.documentation)
                + list("parameters", query.parameters, parameter) + flag("single", query.isSingle) + [("sql", .string(query.sql))]
        }
        if !object.operations.isEmpty { members.append(("operations", .array(object.operations.map(operation)))) }
        if object.conflicts != .lastWriter { members += text("conflicts", object.conflicts.rawValue) }
        if let binding = object.binding { members.append(("binding", self.binding(binding, of: object))) }
        return members
    }

    /// The value of the key `large`: false if the length rules could otherwise make the attribute large on reading; nil if they could not.
    private func keepsInRow(_ attribute: AttributeModel, isOverPage: Bool) -> Bool? {
        guard !attribute.isLarge, attribute.type.large != nil else { return nil }
        let longest = attribute.type == .string ? LengthRules.longestString : LengthRules.longestBinary
        guard let length = attribute.length else { return nil }
        return isOverPage || length > longest ? false : nil
    }

    private func attribute(_ attribute: AttributeModel, mark: Bool?) -> [Member] {
        var members: [Member] = [("name", .string(attribute.name)), type(attribute.type)]
        members += flag("nullable", attribute.isNullable)
        members += number("length", attribute.length) + number("precision", attribute.precision) + number("scale", attribute.scale)
        if let mark { members.append(("large", .boolean(mark))) }
        members += flag("generated", attribute.isGenerated)
        members += flag("searchable", attribute.isSearchable)
        members += raw("default", attribute.defaultValue)
        if !attribute.values.isEmpty { members.append(("values", .array(attribute.values.map { .raw($0) }))) }
        members += raw("minimum", attribute.minimum) + raw("maximum", attribute.maximum)
        members += text("was", attribute.was)
        return members + text("documentation", attribute.documentation)
    }

    private func relationship(_ relationship: RelationshipModel) -> [Member] {
        var members: [Member] = [("name", .string(relationship.name)), ("target", .string(relationship.target))]
        members += text("cardinality", relationship.cardinality.rawValue)
        members += flag("composite", relationship.isComposite)
        members += text("inverse", relationship.inverse)
        if !relationship.mapping.isEmpty {
            members.append(("mapping", .object(relationship.mapping.map { ($0.source, .string($0.target)) })))
        }
        return members + text("documentation", relationship.documentation)
    }

    private func parameter(_ parameter: ParameterModel) -> [Member] {
        [("name", .string(parameter.name)), type(parameter.type)] + flag("nullable", parameter.isNullable)
            + number("length", parameter.length) + number("precision", parameter.precision) + number("scale", parameter.scale)
            + raw("default", parameter.defaultValue) + text("personalizationKey", parameter.personalizationKey)
            + text("userAttribute", parameter.userAttribute) + text("attribute", parameter.attribute)
    }

    private func operation(_ operation: OperationModel) -> ReadableJSON.Value {
        if operation == OperationModel(name: operation.kind.rawValue, kind: operation.kind), operation.kind != .other {
            return .string(operation.name)
        }
        var members: [Member] = [("name", .string(operation.name)), ("kind", .string(operation.kind.rawValue))]
        members += text("documentation", operation.documentation)
        members += list("parameters", operation.parameters, parameter)
        if !operation.statements.isEmpty { members.append(("statements", .array(operation.statements.map { .string($0) }))) }
        return .object(members)
    }

    private func binding(_ binding: BackEndBinding, of object: ObjectModel) -> ReadableJSON.Value {
        var members: [Member] = [("backEnd", .string(binding.backEnd)), ("table", .string(binding.table))]
        // In the order of the attributes, because a dictionary has none.
        let columns = object.attributes.compactMap { attribute in binding.columns[attribute.name].map { (attribute.name, $0) } }
        if !columns.isEmpty { members.append(("columns", .object(columns.map { ($0.0, .string($0.1)) }))) }
        members += text("load", binding.load)
        switch binding.changeDetection {
        case .digest: break
        case .versionColumn(let column): members.append(("changeDetection", .object([("versionColumn", .string(column))])))
        case .triggerLog(let tables):
            let names = ReadableJSON.Value.array(tables.map { .string($0) })
            members.append(("changeDetection", tables.isEmpty ? .string("triggerLog") : .object([("triggerLog", names)])))
        }
        return .object(members)
    }

    // MARK: Members that are omitted if they hold a default

    private func type(_ type: AttributeType) -> Member { ("type", .string(type.description)) }
    private func text(_ key: String, _ value: String?) -> [Member] { value.map { [(key, .string($0))] } ?? [] }
    private func number(_ key: String, _ value: Int?) -> [Member] { value.map { [(key, .integer($0))] } ?? [] }
    private func flag(_ key: String, _ value: Bool) -> [Member] { value ? [(key, .boolean(true))] : [] }
    private func raw(_ key: String, _ json: String?) -> [Member] { json.map { [(key, .raw($0))] } ?? [] }

    private func list<Element>(_ key: String, _ elements: [Element], _ members: (Element) -> [Member]) -> [Member] {
        elements.isEmpty ? [] : [(key, .array(elements.map { .object(members($0)) }))]
    }
}
