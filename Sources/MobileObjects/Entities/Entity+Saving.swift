import MobileStore

extension Entity {
    /// Inserts the object as a new row and marks it as created; works offline. Composite children are saved by `save()`.
    /// - Throws: ``ObjectError``: `.alreadySaved`, `.duplicateKey` (the modelled key exists), `.missingValue` and `.invalidValue` (an attribute),
    ///   `.notSaved` (its parent is new), `.noKeyRange` and `.keysUsedUp` (no surrogate key to give), `.store`.
    public final func create() throws {
        try requireNew()
        try save(cascading: false)
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) final func create() async throws {
        try requireNew()
        try await save(cascading: false)
    }

    /// Writes the changed attributes and marks the row as updated; no effect where nothing was changed.
    /// - Throws: ``ObjectError``: `.notSaved` (it is new), `.notFound` (the row is gone), `.stale` (another writer came first; nothing is
    ///   written), `.invalidValue`, `.store`.
    public final func update() throws {
        try requireStored("update")
        try save(cascading: false)
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) final func update() async throws {
        try requireStored("update")
        try await save(cascading: false)
    }

    /// Creates the object if it is new, else updates it; then its composite children that are new or changed, and theirs, parents before
    /// children, all in one transaction.
    /// - Throws: as `create()` and `update()`.
    public final func save() throws {
        if presence == .deleted { try requireStored("save") }
        try save(cascading: true)
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) final func save() async throws {
        if presence == .deleted { try requireStored("save") }
        try await save(cascading: true)
    }

    /// Deletes the row with its composite children; the server hears of it after `submitPending()`. A row that was created here and
    /// never submitted vanishes.
    /// - Throws: ``ObjectError``: `.notSaved` (it is new), `.notFound` (the row is gone), `.store`.
    public final func delete() throws {
        try requireStored("delete")
        let metadata = metadata, key = surrogateKey
        applyDelete(try package.write("delete \(metadata.name)") { try $0.delete(metadata, key) })
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) final func delete() async throws {
        try requireStored("delete")
        let metadata = metadata, key = surrogateKey
        applyDelete(try await package.write("delete \(metadata.name)") { try $0.delete(metadata, key) })
    }

    private final func save(cascading: Bool) throws {
        var session = SaveSession(package: package)
        try session.add(self, cascading: cascading)
        guard !session.plan.rows.isEmpty else { return }
        let plan = session.plan
        session.begin()
        do {
            session.apply(try package.write("save \(metadata.name)") { try plan.perform(in: $0) })
        } catch {
            session.fail()
            throw error
        }
    }

    private nonisolated(nonsending) final func save(cascading: Bool) async throws {
        var session = SaveSession(package: package)
        try session.add(self, cascading: cascading)
        guard !session.plan.rows.isEmpty else { return }
        let plan = session.plan
        session.begin()
        do {
            session.apply(try await package.write("save \(metadata.name)") { try plan.perform(in: $0) })
        } catch {
            session.fail()
            throw error
        }
    }

    private final func applyDelete(_ replay: ReplayState) {
        let before = EntityMemory(self)
        self.replay = replay
        presence = .deleted
        dirty.removeAll()
        attachments?.unsavedLargeValues = [:]
        TransactionScope.transaction(of: package)?.onRollback { before.restore(self) }
    }

    private final func requireNew() throws {
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
