public import MobileModel

/// One object of the model at run time. SMP 2.3: `SUPEntityMetaDataRBS`, `SUPClassMetaData`.
public final class EntityMetadata: Sendable {
    /// Position in ``PackageMetadata/entities``, from 0: the number that generated code uses.
    public let index: Int
    /// The modelled name.
    public let name: String
    /// The local table, not quoted.
    public var table: String { name }
    /// Whether the object is client-only: never synchronized, without pending state.
    public let isLocal: Bool
    /// The attributes in the order of the model, large ones included.
    public let attributes: [AttributeMetadata]
    /// The relationships in the order of the model.
    public let relationships: [RelationshipMetadata]
    /// Positions of the attributes of the modelled key, in its order.
    public let primaryKey: [Int]
    /// Name of the synchronization group.
    public let synchronizationGroup: String
    /// The changes of rows that the device may make, and the other operations, in the order of the model.
    public let operations: [OperationMetadata]
    /// The object as modelled: queries, operations, parameters.
    public let model: ObjectModel
    /// The operation, for the class of an operation of kind other. Nil for objects.
    public let otherOperation: OtherOperation?

    /// Positions of the relationships whose reference is in this object's rows, in the order of the reference columns.
    let references: [Int]
    /// The attributes that are the key of another object, or a part of it.
    let keyAttributesOfReferences: PositionSet
    /// Whether attributes are the key of another object that the back end makes. Always false for a local object.
    let refersToGeneratedKeys: Bool
    /// Positions of the composite relationships, in which this object is the parent.
    let composites: [Int]
    /// Positions of the relationships in which this object is the child of a composite one.
    let owners: [Int]
    let largeAttributes: [Int]
    /// The counts of attributes and references. They are read for each row that becomes an object, and an array's own count takes two
    /// indirections.
    let attributeCount: Int, referenceCount: Int
    let sql: EntitySQL
    /// The index of words; nil where no attribute is searchable.
    let search: SearchIndex?
    private let defaultOperations: [OperationModel.Kind: OperationMetadata]
    private let attributeIndexes: [String: Int]
    private let relationshipIndexes: [String: Int]

    init(_ object: ObjectModel, index: Int, in model: PackageModel, otherOperation: OtherOperation? = nil) throws {
        let names = model.references(of: object).map(\.name)
        let relationships = try object.relationships.enumerated().map { position, relationship in
            try RelationshipMetadata(
                relationship, index: position, of: object, referenceIndex: names.firstIndex(of: relationship.name), in: model)
        }
        let attributes = object.attributes.enumerated().map { position, attribute in
            AttributeMetadata(attribute, index: position, isKey: object.primaryKey.contains(attribute.name))
        }
        self.index = index
        name = object.name
        isLocal = object.isLocal
        self.attributes = attributes
        self.relationships = relationships
        primaryKey = try object.primaryKey.map { key in
            guard let position = attributes.firstIndex(where: { $0.name == key }) else {
                throw ObjectError(.noSuchAttribute, "object \"\(object.name)\": its primary key names \"\(key)\", which is not an attribute")
            }
            return position
        }
        synchronizationGroup = object.synchronizationGroup
        let operations = object.operations.enumerated().map { OperationMetadata($0.element, index: $0.offset, of: object, attributes) }
        self.operations = operations
        defaultOperations = Dictionary(operations.filter(\.isDefault).map { ($0.kind, $0) }, uniquingKeysWith: { first, _ in first })
        self.model = object
        self.otherOperation = otherOperation
        references = relationships.filter { $0.referenceIndex != nil }.map(\.index)
        keyAttributesOfReferences = PositionSet(relationships.flatMap { $0.keySources ?? [] })
        refersToGeneratedKeys =
            !object.isLocal
            && relationships.contains { relationship in
                guard relationship.keySources != nil, let target = model.object(named: object.relationships[relationship.index].target) else {
                    return false
                }
                return target.attributes.contains { $0.isGenerated && target.primaryKey.contains($0.name) }
            }
        composites = relationships.filter { $0.isComposite }.map(\.index)
        owners = relationships.filter { $0.leadsToOwner && $0.referenceIndex != nil }.map(\.index)
        largeAttributes = attributes.filter(\.isLarge).map(\.index)
        attributeCount = attributes.count
        referenceCount = names.count
        sql = try ObjectError.gate {
            try EntitySQL(table: object.name, attributes: attributes, references: names, primaryKey: object.primaryKey)
        }
        search = otherOperation == nil ? SearchIndex(of: object.name, attributes) : nil
        attributeIndexes = Dictionary(attributes.map { ($0.name, $0.index) }, uniquingKeysWith: { first, _ in first })
        relationshipIndexes = Dictionary(relationships.map { ($0.name, $0.index) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the attribute with this modelled name.
    /// - Throws: ``ObjectError/Code/noSuchAttribute``.
    public func attribute(named name: String) throws -> AttributeMetadata {
        guard let index = attributeIndexes[name] else {
            throw ObjectError(.noSuchAttribute, "object \"\(self.name)\" has no attribute \"\(name)\"")
        }
        return attributes[index]
    }

    /// The object's name on the server, in operations and log records. For an operation's class it is the name of the operation's object.
    var serverName: String { otherOperation?.objectName ?? name }

    /// Returns the operation that the plain create, update or delete calls; nil for a local object.
    /// - Throws: ``ObjectError/Code/noSuchOperation`` where the model has no operation of the kind that the attributes fill completely.
    func defaultOperation(_ kind: OperationModel.Kind) throws -> OperationMetadata? {
        // Changes of a local object are never replayed.
        if isLocal { return nil }
        if let operation = defaultOperations[kind] { return operation }
        let named = operations.filter { $0.kind == kind }.map(\.name).joined(separator: ", ")
        let hint = named.isEmpty ? "" : "; call \(named)"
        throw ObjectError(.noSuchOperation, "\(kind) of \(name): the model has no \(kind) that the attributes fill completely\(hint)")
    }

    /// Whether the back end assigns the key, or a part of it.
    var hasGeneratedKey: Bool { primaryKey.contains { attributes[$0].isGenerated } }

    /// Returns the attribute with this modelled name; nil without one.
    func attribute(ifNamed name: String) -> AttributeMetadata? { attributeIndexes[name].map { attributes[$0] } }

    /// Returns the relationship with this modelled name.
    /// - Throws: ``ObjectError/Code/noSuchRelationship``.
    public func relationship(named name: String) throws -> RelationshipMetadata {
        guard let index = relationshipIndexes[name] else {
            throw ObjectError(.noSuchRelationship, "object \"\(self.name)\" has no relationship \"\(name)\"")
        }
        return relationships[index]
    }

    /// Returns the operation with this modelled name.
    /// - Throws: ``ObjectError/Code/noSuchOperation``.
    public func operation(named name: String) throws -> OperationMetadata {
        guard let operation = operations.first(where: { $0.name == name }) else {
            throw ObjectError(.noSuchOperation, "object \"\(self.name)\" has no operation \"\(name)\"")
        }
        return operation
    }

    /// Returns the object query with this modelled name.
    /// - Throws: ``ObjectError/Code/noSuchOperation``.
    public func query(named name: String) throws -> QueryModel {
        guard let query = model.queries.first(where: { $0.name == name }) else {
            throw ObjectError(.noSuchOperation, "object \"\(self.name)\" has no query \"\(name)\"")
        }
        return query
    }
}

/// A row, by the position of its object in the model and its surrogate key.
struct RowID: Hashable, Sendable {
    let entity: Int
    let key: Int64
}
