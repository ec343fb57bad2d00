import MobileStore

extension Entity {
    /// Submits the pending change: puts it into the outbox as it is now, in one batch with the changes of the object's composite tree. Creates and
    /// updates go before those of their children, deletes after them. The next synchronization sends the batch. A change that is the same since its
    /// last submit is not sent again. Rows that were created here and not submitted, and that the tree refers to, go before it, each with its own
    /// tree: the server would not know them. SMP 2.3: `submitPending`.
    ///
    ///     customer.creditLimit = 2500
    ///     try customer.save()
    ///     try customer.submitPending()
    ///     print(customer.state)  // submitted, until the server answers
    ///
    /// - Throws: ``ObjectError``: `.notSaved` (it is new), `.store`, also where a large attribute is still open for writing.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func submitPending() throws {
        try requireNoSave("submit")
        let (metadata, remembered) = try preparePending("submit")
        try throwReadFailure()
        try requireWrittenLargeValues("submit")
        if hasOnlyUnsavedLargeValues { try update() }
        let known = knownMarks
        applySubmitted(
            try package.write("submit \(metadata.name)", measured: .submitPending) {
                try $0.requireCurrent(remembered, "submit", metadata)
                return try $0.submitTree(of: metadata, remembered.key, known)
            })
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) final func submitPending() async throws {
        await endOfSave()
        let (metadata, remembered) = try preparePending("submit")
        try throwReadFailure()
        try requireWrittenLargeValues("submit")
        if hasOnlyUnsavedLargeValues { try await update() }
        let known = knownMarks
        applySubmitted(
            try await package.write("submit \(metadata.name)", measured: .submitPending) {
                try $0.requireCurrent(remembered, "submit", metadata)
                return try $0.submitTree(of: metadata, remembered.key, known)
            })
    }

    /// Drops the pending changes of this object and of its composite children: the server's values come back, rows that were created here vanish,
    /// rows that were deleted here return. A submitted operation is still sent; its result comes with the next import. The object is read again; if
    /// its row vanished, the object is new afterwards. SMP 2.3: `cancelPending`.
    ///
    ///     for customer in try Customer.findByCity(city: "Galway", in: crm) where customer.isPending {
    ///         try customer.cancelPending()
    ///     }
    ///
    /// - Throws: ``ObjectError``: `.notSaved` (it is new), `.duplicateKey` (another row has by now the modelled key that the row would get back; nothing is
    ///   cancelled), `.corrupt` (the change is cancelled, but an attribute cannot have what the server's version
    ///   holds), `.store`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func cancelPending() throws {
        try requireNoSave("cancel")
        let (metadata, remembered) = try preparePending("cancel")
        let page = try package.write("cancel \(metadata.name)", measured: .cancelPending) { transaction in
            try transaction.cancel(metadata, remembered)
        }
        try applyCancelled(page)
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) final func cancelPending() async throws {
        await endOfSave()
        let (metadata, remembered) = try preparePending("cancel")
        let page = try await package.write("cancel \(metadata.name)", measured: .cancelPending) { transaction in
            try transaction.cancel(metadata, remembered)
        }
        try applyCancelled(page)
    }

    final func preparePending(_ verb: String) throws -> (EntityMetadata, RememberedKey) {
        if presence == .new { try requireStored(verb) }
        guard !metadata.isLocal else {
            throw ObjectError(.misuse, "\(verb) of \(metadata.name): it is a local object, which never leaves the device")
        }
        return (metadata, rememberedKey)
    }

    /// Whether large values are the only unsaved changes. A submit saves them, because the documented samples submit without an update.
    private final var hasOnlyUnsavedLargeValues: Bool {
        attachments?.hasUnsavedLargeValues == true && dirty.isEmpty && presence == .stored
    }

    /// The marks with which this object and the relatives of its tree that it knows read their rows.
    private final var knownMarks: [RowID: ReplayState] {
        var marks: [RowID: ReplayState] = [:]
        addMarks(to: &marks)
        return marks
    }

    private final func addMarks(to marks: inout [RowID: ReplayState]) {
        marks[RowID(entity: metadata.index, key: surrogateKey)] = replay
        for list in attachments?.children.values.map(\.present) ?? [] {
            for child in list where child.presence != .new { child.addMarks(to: &marks) }
        }
    }

    /// Takes the marks of the submitted row. An object whose row another writer has changed takes none, unless it has the row's values: it would be
    /// current with values that no user saw.
    private final func applySubmitted(_ submitted: SubmittedTree) {
        let row = RowID(entity: metadata.index, key: surrogateKey)
        if let replay = submitted.marks[row], submitted.changed[row].map({ shows($0) }) ?? true {
            let before = EntityMemory(self)
            self.replay = replay
            TransactionScope.transaction(of: package)?.onRollback { before.restore(self) }
        }
        // Relatives that this object knows are of the same tree: without this they would be stale at their next update.
        for list in attachments?.children.values.map(\.present) ?? [] {
            for child in list { child.applySubmitted(submitted) }
        }
    }

    /// Whether the object, without unsaved changes, has the values of a row.
    private final func shows(_ page: RowPage) -> Bool {
        guard !isDirty, let stored = try? page.first.map({ try context.object($0, as: Self.self) }), references == stored.references else {
            return false
        }
        return metadata.attributes.allSatisfy { $0.isLarge || value(ofAttribute: $0.index) == stored.value(ofAttribute: $0.index) }
    }

    final func applyCancelled(_ page: RowPage) throws {
        let stored = try page.first.map { try context.object($0, as: Self.self) }
        undoCompletelyOnRollback()
        guard let stored else { return becomeNew() }
        attachments = nil
        sharedParent = nil
        dirty.removeAll()
        try take(stored)
    }

    /// Makes an object whose row vanished a new one with the same values and parents. They are all unsaved now, and of an attribute and its reference
    /// what was set last still decides.
    private final func becomeNew() {
        let parents = attachments?.parents ?? [:]
        attachments = nil
        if !parents.isEmpty { attached.parents = parents }
        for attribute in metadata.attributes where attribute.needsValueAtCreate { dirty.insert(attribute.index) }
        presence = .new
        surrogateKey = 0
        replay = ReplayState()
    }
}

extension Transaction {
    /// Cancels the pending changes of a row and of its composite children.
    /// - Returns: the row as it is then; an empty page where it vanished.
    func cancel(_ metadata: EntityMetadata, _ remembered: RememberedKey) throws -> RowPage {
        try requireCurrent(remembered, "cancel", metadata)
        try cancelTree(of: metadata, remembered.key)
        return try connection.page(metadata.sql.byKey, [.integer(remembered.key)], size: 1)
    }
}
