/// An attribute as part of a query: `Customer.columns.city`. Generated classes have one per attribute in their `Columns`.
public struct Column<Root: Entity, Value>: Sendable {
    /// Position of the attribute, from 0.
    public let index: Int
    /// The modelled name.
    public let name: String

    /// For generated classes.
    public init(_ index: Int, _ name: String) { (self.index, self.name) = (index, name) }
}
