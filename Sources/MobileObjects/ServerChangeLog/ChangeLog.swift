/// One row's change by the server since the change log was last emptied. The log suffices to update a list that the application
/// already shows. It has one entry per row, the row's latest change. SMP 2.3: `SUPChangeLog`.
///
/// An entry is a change of *the data that the application sees*. The server's new version of a row with a pending change waits in
/// the original state, where it is not visible. It gets its entry when the answer to that change makes it visible.
public struct ChangeLog: Sendable, Hashable {
    /// The kind of change of a row. SMP 2.3: the characters of `operationType`.
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
    /// The number of the object at the top of the row's composite tree; the row's own where it is the top.
    public let rootEntityType: Int
    /// The modelled name of that object.
    public let rootEntity: String
    /// Surrogate key of the row at the top.
    public let rootSurrogateKey: Int64
}

extension EntityMetadata {
    /// The number of this object in the change log: its position in the model. SMP 2.3: the generated constant
    /// `<prefix>_ENTITY_TYPE_<MBO>`.
    public var entityType: Int { index }
}
