import MobileStore

extension Entity {
    /// Inserts the object as a new row and marks it as created; works offline. `save()` also saves composite children.
    ///
    ///     let customer = Customer(in: crm)
    ///     customer.name = "Quay Books"
    ///     customer.city = "Galway"
    ///     customer.since = LocalDate(Date())  // today
    ///     try customer.create()
    ///
    /// - Throws: ``ObjectError``: `.alreadySaved`, `.duplicateKey` (the modelled key exists), `.missingValue` and `.invalidValue` (an attribute),
    ///   `.notSaved` (its parent is new), `.keysUsedUp` (1,024 ranges of surrogate keys wait for the server), `.noSuchOperation` (the model has
    ///   no create that the attributes fill completely: call the named one), `.store`, also where a large
    ///   attribute is still open for writing.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func create() throws {
        try requireNoSave("create")
        try requireNew()
        try writeChanges(cascading: false)
    }

    /// Does the same without blocking a cooperative thread.
    public nonisolated(nonsending) final func create() async throws {
        await endOfSave()
        try requireNew()
        try await writeChanges(cascading: false)
    }

    /// Writes the changed attributes and marks the row as updated; no effect without changes.
    ///
    ///     if let customer = try Customer.findByName(name: "Harbour Foods", in: crm) {
    ///         customer.city = "Galway"
    ///         try customer.update()
    ///     }
    ///
    /// - Throws: ``ObjectError``: `.notSaved` (it is new), `.notFound` (the row is gone), `.stale` (another writer came first; nothing is
    ///   written), `.duplicateKey` (another row has its new modelled key), `.otherOperationPending` (a named operation changed it and is not
    ///   submitted yet), `.noSuchOperation` (the model has no update that the attributes fill completely), `.invalidValue`, `.store`, also where
    ///   a large attribute is still open for writing.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func update() throws {
        try requireNoSave("update")
        try requireStored("update")
        try writeChanges(cascading: false)
    }

    /// Does the same without blocking a cooperative thread.
    public nonisolated(nonsending) final func update() async throws {
        await endOfSave()
        try requireStored("update")
        try await writeChanges(cascading: false)
    }

    /// Deletes the row with its composite children. The server learns of it after `submitPending()`. A row that was created here and
    /// never submitted vanishes.
    ///
    ///     for customer in try Customer.findByCity(city: "Cork", in: crm) {
    ///         try customer.delete()
    ///     }
    ///
    /// - Throws: ``ObjectError``: `.notSaved` (it is new), `.notFound` (the row is gone), `.stale` (another writer came first; nothing is deleted),
    ///   `.noSuchOperation` (the model has no delete, of this object or of a composite child, without parameters of its own), `.store`, also where
    ///   relatives could not be read before.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func delete() throws {
        try requireNoSave("delete")
        try requireStored("delete")
        try throwReadFailure()
        let metadata = metadata, remembered = rememberedKey, read = replay
        applyDelete(
            try package.write("delete \(metadata.name)") {
                try $0.requireCurrent(remembered, "delete", metadata)
                return try $0.delete(metadata, remembered.key, readWith: read)
            })
    }

    /// Does the same without blocking a cooperative thread.
    public nonisolated(nonsending) final func delete() async throws {
        await endOfSave()
        try requireStored("delete")
        try throwReadFailure()
        let metadata = metadata, remembered = rememberedKey, read = replay
        applyDelete(
            try await package.write("delete \(metadata.name)") {
                try $0.requireCurrent(remembered, "delete", metadata)
                return try $0.delete(metadata, remembered.key, readWith: read)
            })
    }

    final func writeChanges(cascading: Bool, calling called: CalledOperation? = nil) throws {
        try package.perform(SaveSession([self], cascading: cascading, calling: called, in: package), "save \(metadata.name)")
    }

    nonisolated(nonsending) final func writeChanges(cascading: Bool, calling called: CalledOperation? = nil) async throws {
        try await package.perform("save \(metadata.name)") {
            try SaveSession([self], cascading: cascading, calling: called, in: package)
        }
    }

    final func applyDelete(_ replay: ReplayState) {
        let before = EntityMemory(self)
        self.replay = replay
        presence = .deleted
        dirty.removeAll()
        attachments?.unsavedLargeValues = [:]
        TransactionScope.transaction(of: package)?.onRollback { before.restore(self) }
    }
}

extension PackageDatabase {
    /// Writes the changes of a session; nil: nothing has changed.
    final func perform(_ session: SaveSession?, _ label: String) throws {
        guard let session else { return }
        try session.busy?.requireNoSave(label)
        let plan = session.plan
        do {
            session.apply(try write(label) { try plan.perform(in: $0) })
        } catch {
            session.fail()
            throw error
        }
    }

    /// - Parameter begin: begins the save. It is called again where an object of it is being saved, after the end of that save.
    nonisolated(nonsending) final func perform(_ label: String, _ begin: () throws -> SaveSession?) async throws {
        var begun = try begin()
        while let busy = begun?.busy {
            await busy.endOfSave()
            begun = try begin()
        }
        guard let session = begun else { return }
        let plan = session.plan
        beginSave(of: session.objects)
        defer { endSave(of: session.objects) }
        do {
            session.apply(try await write(label) { try plan.perform(in: $0) })
        } catch {
            session.fail()
            throw error
        }
    }
}
