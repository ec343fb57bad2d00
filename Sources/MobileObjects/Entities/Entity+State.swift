/// The state attributes. They show the state when the object was last read, saved, submitted or refreshed. Changes by a
/// synchronization show after ``Entity/refresh()``.
extension Entity {
    /// Whether the object is new and not yet in the database.
    public final var isNew: Bool { presence == .new }

    /// Whether the object was created on this device, and not yet submitted, not yet answered, or rejected.
    public final var isCreated: Bool { replay.change == .create }

    /// Whether the object was changed in memory and not saved.
    public final var isDirty: Bool { !dirty.isEmpty || attachments?.hasUnsavedLargeValues == true }

    /// Whether the object was loaded from the database and then deleted.
    public final var isDeleted: Bool { presence == .deleted }

    /// Whether the object was changed in the database, and not yet submitted, not yet answered, or rejected.
    public final var isUpdated: Bool { replay.change == .update }

    /// Whether the row has a pending create, update or delete, or composite children with one. SMP 2.3: `isPending`.
    public final var isPending: Bool { replay.change != .none }

    /// The same as ``isPending``. SMP 2.3: `pending`.
    public final var pending: Bool { isPending }

    /// The kind of the pending change; its ``PendingChange/letter`` is the documented N, C, U, D or P.
    public final var pendingChange: PendingChange { replay.change }

    /// The row's counter. Each create, change or submit here takes a greater one, made from the clock's seconds since 1970.
    public final var replayCounter: Int64 { replay.counter }

    /// The ``replayCounter`` of the last submit that is not answered; otherwise 0.
    public final var replayPending: Int64 { replay.submitted }

    /// The ``replayCounter`` of the last submit if the server rejected it; otherwise 0.
    public final var replayFailure: Int64 { replay.failed }

    /// All states above in one value, for `switch`.
    public final var state: EntityState {
        if presence == .new { return .new }
        if replay.change == .none { return presence == .deleted ? .deleted : .unchanged }
        if replay.failed != 0 && replay.failed == replay.counter { return .failed }
        return replay.submitted != 0 && replay.submitted == replay.counter ? .submitted : .pending
    }
}

/// The stage of an object on its way to the server.
public enum EntityState: Sendable, Hashable {
    /// The object is not in the database.
    case new
    /// The object has no pending change.
    case unchanged
    /// The object was changed here and not submitted, or changed again since.
    case pending
    /// The object was submitted and not answered yet.
    case submitted
    /// The server rejected the change. Read the log records, then change and submit again, or cancel.
    case failed
    /// The object was deleted here, and the server need not know.
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
