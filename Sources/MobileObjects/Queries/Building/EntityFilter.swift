/// A choice of rows by the state of their object. Several states are alternatives (`[.created, .updated]`: one of both). Several negations must all
/// hold (`[.pending, .notCreated]`: pending, and not by a create). The numbers are the documented ones. SMP 2.3: object state criteria.
public struct EntityFilter: OptionSet, Sendable, Hashable {
    /// The documented numbers, added up.
    public let rawValue: Int
    /// States by their documented numbers.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// A create, update or delete waits, or composite children have one.
    public static let pending = EntityFilter(rawValue: 1)
    /// Nothing waits.
    public static let notPending = EntityFilter(rawValue: 2)
    /// Created here.
    public static let created = EntityFilter(rawValue: 4)
    /// Not created here, or accepted by the server since.
    public static let notCreated = EntityFilter(rawValue: 8)
    /// Changed here.
    public static let updated = EntityFilter(rawValue: 16)
    /// Not changed here, or accepted by the server since.
    public static let notUpdated = EntityFilter(rawValue: 32)
    /// Deleted here, and the delete waits. Only queries with this state find such rows, with the server's values.
    public static let deleted = EntityFilter(rawValue: 64)
    /// Not deleted here.
    public static let notDeleted = EntityFilter(rawValue: 128)
    /// All existing rows, as without a filter.
    public static let all = EntityFilter(rawValue: 2_147_483_647)
}
