import MobileModel

/// One class at run time: an object of the model, the class of an operation, or a structure.
/// SMP 2.3: `SUPClassMetaDataRBS`.
public struct ClassMetadata: Sendable {
    /// The modelled name.
    public let name: String
    /// The attributes in the order of the model.
    public let attributes: [AttributeMetadata]
    /// The operations in the order of the model; empty for a structure.
    public let operations: [OperationMetadata]
    /// The same class as one that has a table; nil for a structure.
    public let entity: EntityMetadata?

    init(_ entity: EntityMetadata) {
        name = entity.name
        attributes = entity.attributes
        operations = entity.operations
        self.entity = entity
    }

    init(_ structure: StructureModel) {
        name = structure.name
        attributes = structure.attributes.enumerated().map { AttributeMetadata($0.element, index: $0.offset, isKey: false, hasColumn: false) }
        operations = []
        entity = nil
    }

    /// Returns the attribute with this modelled name.
    /// - Throws: ``ObjectError/Code/noSuchAttribute``.
    public func attribute(named name: String) throws -> AttributeMetadata {
        guard let attribute = attributes.first(where: { $0.name == name }) else {
            throw ObjectError(.noSuchAttribute, "class \"\(self.name)\" has no attribute \"\(name)\"")
        }
        return attribute
    }

    /// Returns the operation with this modelled name.
    /// - Throws: ``ObjectError/Code/noSuchOperation``.
    public func operation(named name: String) throws -> OperationMetadata {
        guard let operation = operations.first(where: { $0.name == name }) else {
            throw ObjectError(.noSuchOperation, "class \"\(self.name)\" has no operation \"\(name)\"")
        }
        return operation
    }
}

extension PackageMetadata {
    /// All classes of the package: its objects, the classes of their other operations, its structures; each in the order of the model.
    /// SMP 2.3: `classList`.
    public var classList: [ClassMetadata] { storedEntities.map(ClassMetadata.init) + model.structures.map(ClassMetadata.init) }

    /// The same as ``entities``. SMP 2.3: `entityList`.
    public var entityList: [EntityMetadata] { entities }

    /// Returns the class with this modelled name.
    /// - Throws: ``ObjectError/Code/noSuchClass``.
    public func metadata(ofClass name: String) throws -> ClassMetadata {
        if let structure = model.structures.first(where: { $0.name == name }) { return ClassMetadata(structure) }
        return ClassMetadata(try entity(named: name))
    }
}
