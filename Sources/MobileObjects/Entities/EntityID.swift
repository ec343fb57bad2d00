/// What tells objects of a list apart: the row, or for an object that is not saved yet the object itself.
public struct EntityID: Sendable, Hashable {
    private let entity: Int
    private let surrogateKey: Int64
    /// Of an object without a row.
    private let unsaved: ObjectIdentifier?

    init(_ object: Entity) {
        entity = object.metadata.index
        surrogateKey = object.surrogateKey
        unsaved = object.isNew ? ObjectIdentifier(object) : nil
    }
}

extension Entity: Identifiable {
    /// Equal for two objects of one row; another one before the object is saved.
    public final var id: EntityID { EntityID(self) }
}
