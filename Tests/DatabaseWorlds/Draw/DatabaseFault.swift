/// Faults that are known and not repaired yet. A database that avoids one leaves out what leads to it, or is not judged by the rule that it breaks;
/// `Found` has a database of each. A repair removes its case here, and with it what the draw leaves out.
package enum DatabaseFault: String, CaseIterable, Codable, Sendable {
    /// A time that a device writes to a column of SQLite whose rows have several forms has another text than those of other applications: keys, references,
    /// checks, triggers and computed columns see that.
    case textOfTimes

    /// The features that the draw leaves out.
    package func features(_ engine: DatabaseEngine) -> Set<DatabaseFeature> {
        switch self {
        // Rules of the draw.
        case .textOfTimes: []
        }
    }

    /// The types that keys do not have.
    func keys(_ engine: DatabaseEngine) -> Set<DatabaseFeature> {
        switch self {
        case .textOfTimes: engine == .sqlite ? [.timestamps, .dateTimes] : []
        }
    }
}
