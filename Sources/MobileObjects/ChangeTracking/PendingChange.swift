/// The kind of a row's pending change: column `_pc`. SMP 2.3: the characters of `pendingChange`.
public enum PendingChange: Int, Sendable, Hashable {
    /// N: no change.
    case none = 0
    /// C: the row was created here.
    case create = 1
    /// U: the row was changed here.
    case update = 2
    /// D: the row was deleted here.
    case delete = 3
    /// P: the row itself is unchanged, but some of its composite children are pending.
    case parent = 4

    /// The documented letter: N, C, U, D or P.
    public var letter: Character {
        switch self {
        case .none: "N"
        case .create: "C"
        case .update: "U"
        case .delete: "D"
        case .parent: "P"
        }
    }

    /// Whether the row itself was changed.
    public var isOwn: Bool { self == .create || self == .update || self == .delete }
}
