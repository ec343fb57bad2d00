public import MobileModel

/// One package at run time: its objects with their attributes and relationships. It is made once per model and shared.
/// SMP 2.3: `SUPDatabaseMetaData`.
public final class PackageMetadata: Sendable {
    /// The model of the package.
    public let model: PackageModel
    /// The objects, in the order of the model. SMP 2.3: `entityList`.
    public let entities: [EntityMetadata]
    /// The classes of the operations of kind other, in the order of the model.
    public let operationClasses: [EntityMetadata]
    /// The objects, followed by the classes of their other operations: all that have a table.
    let storedEntities: [EntityMetadata]
    /// The objects with searchable attributes.
    let searchableEntities: [EntityMetadata]
    private let indexes: [String: Int]

    /// The package's name, such as `CRM`.
    public var name: String { model.name }
    /// The package's version, such as `1.0`.
    public var version: String { model.version }

    /// - Throws: ``ObjectError/Code/noSuchClass`` or ``ObjectError/Code/noSuchAttribute`` when the model's names do not resolve. A model
    ///   from a file has been checked already.
    public init(_ model: PackageModel) throws {
        self.model = model
        let entities = try model.objects.enumerated().map { try EntityMetadata($0.element, index: $0.offset, in: model) }
        var stored = entities
        for entity in entities {
            for operation in entity.operations where operation.kind == .other {
                let other = OtherOperation(objectIndex: entity.index, objectName: entity.name, operation: operation)
                let object = entity.model.operationObject(operation.model)
                stored.append(try EntityMetadata(object, index: stored.count, in: model, otherOperation: other))
            }
        }
        self.entities = entities
        operationClasses = Array(stored[entities.count...])
        storedEntities = stored
        searchableEntities = stored.filter { $0.search != nil }
        indexes = Dictionary(stored.map { ($0.name, $0.index) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the object, or the class of an operation, with this modelled name: `Customer`, `CustomerChangeLastNameOperation`.
    /// - Throws: ``ObjectError/Code/noSuchClass``.
    public func entity(named name: String) throws -> EntityMetadata {
        guard let index = indexes[name] else {
            throw ObjectError(.noSuchClass, "package \(self.name):\(version) has no object \"\(name)\"")
        }
        return storedEntities[index]
    }

    /// Returns the class of an operation of kind other; nil for creates, updates and deletes.
    func entity(of operation: OperationMetadata, _ entity: EntityMetadata) -> EntityMetadata? {
        storedEntities.first { $0.otherOperation?.objectIndex == entity.index && $0.otherOperation?.operation.index == operation.index }
    }

    /// Returns the objects of a synchronization group, in the order of the model; empty when there is no such group.
    public func entities(inGroup group: String) -> [EntityMetadata] {
        entities.filter { $0.synchronizationGroup == group && !$0.isLocal }
    }

    /// Returns the same with the classes of their other operations.
    func storedEntities(inGroup group: String) -> [EntityMetadata] {
        storedEntities.filter { $0.synchronizationGroup == group && !$0.isLocal }
    }

    /// The names of all synchronization groups that have objects, in the order of their first object.
    public var synchronizationGroups: [String] {
        var names: [String] = []
        for entity in entities where !entity.isLocal && !names.contains(entity.synchronizationGroup) { names.append(entity.synchronizationGroup) }
        return names
    }
}

extension PackageMetadata {
    /// Creates the metadata of a generated database class from the model that the generator wrote into the program.
    ///
    /// The generator has checked the model. Only an edit of the generated code can make it invalid, and that stops the program.
    @_spi(GeneratedCode) public convenience init(generatedFrom json: String) {
        do {
            try self.init(PackageModel(json: json, file: "generated model"))
        } catch {
            preconditionFailure("the model in the generated code is not valid: \(error)")
        }
    }
}
