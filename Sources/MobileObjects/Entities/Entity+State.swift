/// The state attributes. They tell how things stood when the object was last read, saved, submitted or refreshed: what a
/// synchronization changed shows after ``Entity/refresh()``.
extension Entity {
    /// New and not yet in the database.
    public final var isNew: Bool { presence == .new }

    /// Created on this device, and not yet submitted, not yet answered, or rejected.
    public final var isCreated: Bool { replay.change == .create }

    /// Changed in memory and not saved.
    public final var isDirty: Bool { !dirty.isEmpty || attachments?.hasUnsavedLargeValues == true }

    /// Loaded from the database and then deleted.
    public final var isDeleted: Bool { presence == .deleted }

    /// Changed in the database, and not yet submitted, not yet answered, or rejected.
    public final var isUpdated: Bool { replay.change == .update }

    /// The row stands for a pending create, update or delete, or has composite children with one. SMP 2.3: `isPending`.
    public final var isPending: Bool { replay.change != .none }

    /// The same as ``isPending``. SMP 2.3: `pending`.
    public final var pending: Bool { isPending }

    /// What is pending; its ``PendingChange/letter`` is the documented N, C, U, D or P.
    public final var pendingChange: PendingChange { replay.change }

    /// Made from the clock's seconds since 1970, always increasing; new each time the row is created, changed or submitted here.
    public final var replayCounter: Int64 { replay.counter }

    /// The ``replayCounter`` of the last submit that is not answered; else 0.
    public final var replayPending: Int64 { replay.submitted }

    /// The ``replayCounter`` of the last submit if the server rejected it; else 0.
    public final var replayFailure: Int64 { replay.failed }

    /// Everything above in one value, for `switch`.
    public final var state: EntityState {
        if presence == .new { return .new }
        if replay.change == .none { return presence == .deleted ? .deleted : .unchanged }
        if replay.failed != 0 && replay.failed == replay.counter { return .failed }
        return replay.submitted != 0 && replay.submitted == replay.counter ? .submitted : .pending
    }
}

/// How far an object is on its way to the server.
public enum EntityState: Sendable, Hashable {
    /// Not in the database.
    case new
    /// As the server has it.
    case unchanged
    /// Changed here, not submitted, or changed again since.
    case pending
    /// Submitted, no answer yet.
    case submitted
    /// Rejected by the server: read the log records, then change and submit again, or cancel.
    case failed
    /// Deleted here with nothing to tell the server.
    case deleted
}

extension Entity {
    final func requireNew() throws {
        guard presence == .new else {
            throw ObjectError(.alreadySaved, "create of \(metadata.name) \(surrogateKey): it is in the database already; use update or save")
        }
    }

    final func requireStored(_ verb: String) throws {
        switch presence {
        case .stored: return
        case .new: throw ObjectError(.notSaved, "\(verb) of a new \(metadata.name): create or save it first")
        case .deleted: throw ObjectError(.notFound, "\(verb) of \(metadata.name) \(surrogateKey): it was deleted")
        }
    }
}
