extension PackageModel {
    /// Whether the rows of `object` hold the reference of `relationship`: a column `_ref_<relationship>` on the device with the surrogate key
    /// of the other end. Many-to-one does, one-to-many does not. In a one-to-one relationship the child of a composite parent holds it. Without
    /// a composite parent it is the end whose mapping leads to the other end's primary key; if both do, the object that is later in the model.
    ///
    /// Client and server both call this method, so that they agree on the columns of a row.
    public func holdsReference(_ relationship: RelationshipModel, of object: ObjectModel) -> Bool {
        switch relationship.cardinality {
        case .manyToOne: return true
        case .oneToMany: return false
        case .oneToOne: break
        }
        guard !relationship.isComposite, let target = self.object(named: relationship.target) else { return false }
        let inverse = relationship.inverse.flatMap { target.relationship(named: $0) }
        if inverse?.isComposite == true { return true }
        guard leadsToPrimaryKey(relationship, inverse, of: target) else { return false }
        guard let inverse, leadsToPrimaryKey(inverse, relationship, of: object) else { return true }
        let own = objects.firstIndex { $0.name == object.name } ?? 0
        let other = objects.firstIndex { $0.name == target.name } ?? 0
        return own > other
    }

    /// The relationships of `object` whose reference its rows hold, in the order of the model.
    public func references(of object: ObjectModel) -> [RelationshipModel] {
        object.relationships.filter { holdsReference($0, of: object) }
    }

    /// The pairs of attributes of a relationship: its own, or its inverse's with both sides exchanged if the model states them only there.
    public func mapping(of relationship: RelationshipModel) -> [RelationshipModel.Mapping] {
        let inverse = relationship.inverse.flatMap { object(named: relationship.target)?.relationship(named: $0) }
        return Self.mapping(relationship, inverse)
    }

    /// Whether the back end gives the primary key of `object`, or a part of it: an attribute is generated, or holds a generated part of the key of the
    /// row that a relationship leads to.
    package func hasGeneratedKey(_ object: ObjectModel) -> Bool { object.primaryKey.contains { isGenerated($0, of: object, []) } }

    private func isGenerated(_ name: String, of object: ObjectModel, _ visited: Set<[String]>) -> Bool {
        guard let attribute = object.attribute(named: name), !visited.contains([object.name, name]) else { return false }
        if attribute.isGenerated { return true }
        let visited = visited.union([[object.name, name]])
        return references(of: object).contains { reference in
            guard let target = self.object(named: reference.target) else { return false }
            return mapping(of: reference).contains { $0.source == name && isGenerated($0.target, of: target, visited) }
        }
    }

    private static func mapping(_ relationship: RelationshipModel, _ inverse: RelationshipModel?) -> [RelationshipModel.Mapping] {
        guard relationship.mapping.isEmpty else { return relationship.mapping }
        return (inverse?.mapping ?? []).map { .init(source: $0.target, target: $0.source) }
    }

    private func leadsToPrimaryKey(_ relationship: RelationshipModel, _ inverse: RelationshipModel?, of target: ObjectModel) -> Bool {
        let mapping = Self.mapping(relationship, inverse)
        return !mapping.isEmpty && Set(mapping.map(\.target)) == Set(target.primaryKey)
    }
}
