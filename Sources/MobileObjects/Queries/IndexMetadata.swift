/// An index on the attributes of an object: it makes queries faster that test or sort by them, and writing a little slower. The model is
/// not changed. SMP 2.3: `SUPIndexMetaData`.
public struct IndexMetadata: Sendable {
    /// Unique among the indexes of its object.
    public var name: String
    /// No two rows have the same values; null is equal to none. An import that brings such rows fails, so this is for local objects mostly.
    public var isUnique: Bool
    /// In the order of the index, one or more; the first ones count most. SMP 2.3: `attributes`.
    public var attributes: [AttributeMetadata]
    /// Made by the framework for the model, such as for keys: it cannot be dropped.
    public internal(set) var isModelled = false

    /// An index to be made; its attributes can be added one by one.
    public init(name: String, unique isUnique: Bool = false, attributes: [AttributeMetadata] = []) {
        (self.name, self.isUnique, self.attributes) = (name, isUnique, attributes)
    }
}
