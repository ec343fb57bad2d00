public import MobileModel

/// One relationship at run time, seen from its own object. SMP 2.3: `SUPRelationshipMetaData`.
public struct RelationshipMetadata: Sendable {
    /// Position in ``EntityMetadata/relationships``, from 0: the number that generated code uses.
    public let index: Int
    /// The modelled name.
    public let name: String
    /// The number of objects at either end.
    public let cardinality: RelationshipModel.Cardinality
    /// Whether the other end is a list.
    public var isMany: Bool { cardinality == .oneToMany }
    /// Whether the relationship is one-to-one.
    var isOneToOne: Bool { cardinality == .oneToOne }
    /// Whether this end owns the other: save, submit, delete and cancel cascade.
    public let isComposite: Bool
    /// Position of the object at the other end in ``PackageMetadata/entities``.
    public let targetIndex: Int
    /// Position of the inverse relationship in the target's relationships; nil without one.
    public let inverseIndex: Int?
    /// Position among the reference columns of this object's rows; nil where they hold no reference.
    public let referenceIndex: Int?
    /// Attributes whose values are equal at both ends, by position.
    public let mapping: [Mapping]
    /// The attributes of this object that are the key of the other one, in the order of that key: a second view of the reference. Nil where the rows
    /// hold no reference, or the mapping is not the whole key.
    let keySources: [Int]?
    /// Whether this end is the child of a composite relationship.
    public let leadsToOwner: Bool

    /// A pair of attributes, by position.
    public struct Mapping: Sendable, Equatable {
        /// The attribute's position in the object that has the relationship.
        public let source: Int
        /// The attribute's position in the object at the other end.
        public let target: Int
    }

    init(_ relationship: RelationshipModel, index: Int, of object: ObjectModel, referenceIndex: Int?, in model: PackageModel) throws {
        guard let targetIndex = model.objects.firstIndex(where: { $0.name == relationship.target }) else {
            throw ObjectError(.noSuchClass, "relationship \(object.name).\(relationship.name): there is no object \"\(relationship.target)\"")
        }
        let target = model.objects[targetIndex]
        self.index = index
        name = relationship.name
        cardinality = relationship.cardinality
        isComposite = relationship.isComposite
        self.targetIndex = targetIndex
        inverseIndex = relationship.inverse.flatMap { inverse in target.relationships.firstIndex { $0.name == inverse } }
        self.referenceIndex = referenceIndex
        leadsToOwner = inverseIndex.map { target.relationships[$0].isComposite } ?? false
        mapping = try model.mapping(of: relationship).map { pair in
            guard let source = object.attributes.firstIndex(where: { $0.name == pair.source }),
                let attribute = target.attributes.firstIndex(where: { $0.name == pair.target })
            else {
                throw ObjectError(
                    .noSuchAttribute,
                    "relationship \(object.name).\(relationship.name): no attribute \"\(pair.source)\" here or no \"\(pair.target)\" there")
            }
            return Mapping(source: source, target: attribute)
        }
        let pairs = mapping, sources = target.primaryKey.map { key in pairs.first { target.attributes[$0.target].name == key }?.source }
        keySources = referenceIndex == nil || sources.isEmpty || sources.contains(nil) ? nil : sources.compactMap(\.self)
    }
}
