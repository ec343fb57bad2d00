/// Where an object lives: its package database and what is known about its class. Shared by the objects of one list, so that each of
/// them holds one reference.
public final class EntityContext: Sendable {
    /// The database that the objects are in.
    public let package: PackageDatabase
    /// Which objects they are.
    public let metadata: EntityMetadata

    /// For generated classes.
    public init(_ package: PackageDatabase, _ metadata: EntityMetadata) {
        (self.package, self.metadata) = (package, metadata)
    }

    /// The context of the objects at the other end of a relationship.
    func target(of relationship: RelationshipMetadata) -> EntityContext {
        EntityContext(package, package.metadata.entities[relationship.targetIndex])
    }
}
