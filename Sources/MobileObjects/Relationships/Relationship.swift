/// A relationship as part of a query: `Customer.relationships.orders`. Generated classes have one per relationship in their `Relationships`.
public struct Relationship<Root: Entity, Target: Entity>: Sendable {
    /// Position of the relationship, from 0.
    public let index: Int
    /// The modelled name.
    public let name: String

    /// Creates a relationship; for generated classes.
    @_spi(GeneratedCode) public init(_ index: Int, _ name: String) { (self.index, self.name) = (index, name) }
}

/// A path from objects along their relationships, by positions: from a customer to its orders and on to their lines.
struct RelationshipPath: Sendable, Equatable {
    let steps: [Int]

    /// Returns the tables of the objects on the path.
    func tables(from entity: EntityMetadata, in metadata: PackageMetadata) -> Set<String> {
        var entity = entity, tables: Set<String> = []
        for step in steps {
            entity = metadata.entities[entity.relationships[step].targetIndex]
            tables.insert(entity.name)
        }
        return tables
    }

    init(steps: [Int]) { self.steps = steps }

    init(_ names: [String], of entity: EntityMetadata, in metadata: PackageMetadata) throws {
        var entity = entity, steps: [Int] = []
        for name in names {
            let relationship = try entity.relationship(named: name)
            steps.append(relationship.index)
            entity = metadata.entities[relationship.targetIndex]
        }
        self.steps = steps
    }
}
