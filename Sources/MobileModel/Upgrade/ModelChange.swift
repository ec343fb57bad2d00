/// One difference between two models of a package, and what it means for a database that the older one made.
public struct ModelChange: Sendable, Hashable {
    /// What becomes of the data.
    public enum Kind: String, Sendable, CaseIterable {
        /// Nothing that is stored changes.
        case safe
        /// Opening the database changes what is stored, without loss.
        case migration
        /// Opening the database drops values that the new model has no place for. Never changes that wait for the server: while there
        /// are some of what is dropped, the upgrade is refused.
        case losesData
        /// The database cannot be opened with the new model.
        case impossible
    }

    /// What it means for databases with work in them.
    public let kind: Kind
    /// What is changed: `Customer.phone`, `personalization key region`, `package`.
    public let place: String
    /// What is changed in it and what follows, for people; one line.
    public let text: String

    /// With these values.
    public init(_ kind: Kind, _ place: String, _ text: String) { (self.kind, self.place, self.text) = (kind, place, text) }
}

extension ModelChange: CustomStringConvertible {
    /// `Customer.phone: added, ...`
    public var description: String { "\(place): \(text)" }
}
