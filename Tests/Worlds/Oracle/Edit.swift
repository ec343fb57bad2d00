/// A change that a user made on a device, from the user's side: the values that it set, and its fate.
struct Edit: Equatable {
    enum Change: String { case create, update, delete }

    enum Fate: Equatable {
        /// Not submitted.
        case open
        /// Submitted under this id, and not answered.
        case submitted(Int64)
        case accepted(Int64), rejected(Int64)
        /// A later change of the row took its place before it was submitted.
        case replaced
        /// The user took it back before it was submitted, or the device was lost.
        case cancelled
        /// The device that submitted it under this id is gone, or does not know it any more: it may have been done once.
        case unknown(Int64)
        /// It was accepted, and a restored back end does not have it any more.
        case lost(Int64)
    }

    /// The id of the device.
    var device: Int
    let object: Int, tag: String
    let change: Change
    /// The stamp that it gave the row; empty for a delete, and for a change that keeps the stamp.
    var stamp: String
    var fate = Fate.open
    /// Whether the user has taken it back, also after it was submitted.
    var isTakenBack = false
    /// The last line of the ledger before its submission, and the number of backups that its device had got until then.
    var line = 0, life = 0
    /// The step that made it.
    let step: Int
    /// Whether its device has it once more, from a backup of its database: then it may be done again.
    var mayRepeat = false
    /// Whether its device has lost what it knew of it, so that it cannot say that a restored back end has lost it.
    var isForgotten = false
    /// The stamp of the row as the device showed it before, if no change of this device was pending there.
    var base: String?
    /// The values that it set, by column, and the tags of the rows that its references lead to, empty for none.
    var values: [String: String?] = [:], linked: [Int: String] = [:]

    /// In place of the tag: the reference leads to the row that has the key.
    static let byKey = "by key"

    /// Whether it waits for the user or the server: it is not answered, or was rejected and is there for the user to correct. The device must show it.
    var isAlive: Bool {
        guard !isTakenBack else { return false }
        return switch fate {
        case .open, .submitted, .rejected: true
        default: false
        }
    }

    /// The id of its operation; nil before it was submitted.
    var operation: Int64? {
        switch fate {
        case .submitted(let id), .accepted(let id), .rejected(let id), .unknown(let id), .lost(let id): id
        case .open, .replaced, .cancelled: nil
        }
    }

    /// Takes over the values of an earlier change of the row, where this one has none.
    mutating func include(_ earlier: Edit) {
        // A reference to a row without a key has no values yet.
        let columns = Set(linked.keys.flatMap(World.referenceColumns))
        values.merge(earlier.values.filter { !columns.contains($0.key) }) { own, _ in own }
        linked.merge(earlier.linked) { own, _ in own }
    }
}
