/// One difference between two models of a package, and its consequence for a database that the older one made.
public struct ModelChange: Sendable, Hashable {
    /// The effect on the data.
    public enum Kind: String, Sendable, CaseIterable {
        /// Stored data does not change.
        case safe
        /// Opening the database changes stored data, without loss.
        case migration
        /// Opening the database drops values that the new model has no place for. Changes that wait for the server are never dropped: the
        /// upgrade is refused while there is such a change in the part to drop.
        case losesData
        /// The database cannot be opened with the new model.
        case impossible
    }

    /// The effect on databases that hold data.
    public let kind: Kind
    /// The changed part: `Customer.phone`, `personalization key region`, `package`.
    public let place: String
    /// The change and its consequences, for people; one line.
    public let text: String

    /// Creates a change with these values.
    public init(_ kind: Kind, _ place: String, _ text: String) { (self.kind, self.place, self.text) = (kind, place, text) }
}

extension ModelChange: CustomStringConvertible {
    /// `Customer.phone: added, ...`
    public var description: String { "\(place): \(text)" }
}
