/// What the server changed in one row since the change log was last emptied: enough to bring a list up to date that the application shows
/// already. One entry per row; its latest change counts. SMP 2.3: `SUPChangeLog`.
///
/// A row of the log stands for a change of *what the application sees*. The server's new version of a row with a pending change waits in
/// the original state and is not seen; it gets its entry when the answer to that change puts it in place.
public struct ChangeLog: Sendable, Hashable {
    /// What became of a row. SMP 2.3: the characters of `operationType`.
    public enum Operation: Character, Sendable, Hashable, CaseIterable {
        /// The row is new, or its values changed.
        case update = "U"
        /// The row is gone.
        case delete = "D"
    }

    /// The number of the row's object: ``EntityMetadata/entityType``.
    public let entityType: Int
    /// The modelled name of that object.
    public let entity: String
    /// Surrogate key of the row.
    public let surrogateKey: Int64
    /// Update or delete; an insert counts as update.
    public let operationType: Operation
    /// The number of the object at the top of the composite tree that the row belongs to; the row's own where it is the top.
    public let rootEntityType: Int
    /// The modelled name of that object.
    public let rootEntity: String
    /// Surrogate key of the row at the top.
    public let rootSurrogateKey: Int64
}

extension EntityMetadata {
    /// The number that stands for this object in the change log: its position in the model. SMP 2.3: the generated constant
    /// `<prefix>_ENTITY_TYPE_<MBO>`.
    public var entityType: Int { index }
}
