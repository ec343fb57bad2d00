extension PackageModel {
    /// Whether the rows of `object` hold the reference of `relationship` (a column `_ref_<relationship>` on the device with the surrogate
    /// key of the other end). Many-to-one does, one-to-many does not. Of the two ends of a one-to-one relationship it is the child's of a
    /// composite one; else the end whose mapping leads to the other end's primary key; if both do, the object that stands later in the model.
    ///
    /// Client and server both ask here, so that they agree on the columns of a row.
    public func holdsReference(_ relationship: RelationshipModel, of object: ObjectModel) -> Bool {
        switch relationship.cardinality {
        case .manyToOne: return true
        case .oneToMany: return false
        case .oneToOne: break
        }
        guard !relationship.isComposite, let target = self.object(named: relationship.target) else { return false }
        let inverse = relationship.inverse.flatMap { target.relationship(named: $0) }
        if inverse?.isComposite == true { return true }
        guard leadsToPrimaryKey(relationship, of: target) else { return false }
        guard let inverse, leadsToPrimaryKey(inverse, of: object) else { return true }
        let own = objects.firstIndex { $0.name == object.name } ?? 0
        let other = objects.firstIndex { $0.name == target.name } ?? 0
        return own > other
    }

    /// The relationships of `object` whose reference its rows hold, in the order of the model.
    public func references(of object: ObjectModel) -> [RelationshipModel] {
        object.relationships.filter { holdsReference($0, of: object) }
    }

    private func leadsToPrimaryKey(_ relationship: RelationshipModel, of target: ObjectModel) -> Bool {
        !relationship.mapping.isEmpty && Set(relationship.mapping.map(\.target)) == Set(target.primaryKey)
    }
}
