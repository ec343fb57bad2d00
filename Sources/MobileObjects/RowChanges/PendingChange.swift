/// What a row waits to tell the server: column `_pc`. SMP 2.3: the characters of `pendingChange`.
public enum PendingChange: Int, Sendable, Hashable {
    /// N: nothing.
    case none = 0
    /// C: it was created here.
    case create = 1
    /// U: it was changed here.
    case update = 2
    /// D: it was deleted here.
    case delete = 3
    /// P: nothing of its own, but composite children of it are pending.
    case parent = 4

    /// N, C, U, D or P, as documented.
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
