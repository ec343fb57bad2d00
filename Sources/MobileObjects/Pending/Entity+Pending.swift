import MobileStore

extension Entity {
    /// Makes what is pending ready for the server: the change goes to the outbox as it is now, with those of the whole composite tree that
    /// the object belongs to, in one batch: creates and updates before their children, deletes after. It travels with the next
    /// synchronization. What was submitted before and not changed since is not sent again. Rows that were created here, that the tree refers to and
    /// that are not submitted go before it, each with its own tree: the server could not tell what is meant. SMP 2.3: `submitPending`.
    /// - Throws: ``ObjectError``: `.notSaved` (it is new), `.store`.
    public final func submitPending() throws {
        let (metadata, key) = try preparePending("submit")
        try throwReadFailure()
        if hasOnlyUnsavedLargeValues { try update() }
        applySubmitted(try package.write("submit \(metadata.name)", measured: .submitPending) { try $0.submitTree(of: metadata, key) })
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) final func submitPending() async throws {
        let (metadata, key) = try preparePending("submit")
        try throwReadFailure()
        if hasOnlyUnsavedLargeValues { try await update() }
        applySubmitted(try await package.write("submit \(metadata.name)", measured: .submitPending) { try $0.submitTree(of: metadata, key) })
    }

    /// Drops what is pending of this object and of its composite children: the values that the server has come back, what was created
    /// here vanishes, what was deleted here returns. After a submit the operation is sent all the same, and what the server makes of it
    /// comes with the next import. The object is read again; one that vanished is new afterwards. SMP 2.3: `cancelPending`.
    /// - Throws: ``ObjectError``: `.notSaved` (it is new), `.store`.
    public final func cancelPending() throws {
        let (metadata, key) = try preparePending("cancel")
        let before = EntityMemory(self)
        let page = try package.write("cancel \(metadata.name)", measured: .cancelPending) { transaction in
            try transaction.cancelTree(of: metadata, key)
            return try transaction.connection.page(metadata.sql.byKey, [.integer(key)], size: 1)
        }
        applyCancelled(page)
        TransactionScope.transaction(of: package)?.onRollback { before.restore(self) }
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) final func cancelPending() async throws {
        let (metadata, key) = try preparePending("cancel")
        let page = try await package.write("cancel \(metadata.name)", measured: .cancelPending) { transaction in
            try transaction.cancelTree(of: metadata, key)
            return try transaction.connection.page(metadata.sql.byKey, [.integer(key)], size: 1)
        }
        applyCancelled(page)
    }

    private final func preparePending(_ verb: String) throws -> (EntityMetadata, Int64) {
        if presence == .new { try requireStored(verb) }
        guard !metadata.isLocal else {
            throw ObjectError(.misuse, "\(verb) of \(metadata.name): it is a local object, which never leaves the device")
        }
        return (metadata, surrogateKey)
    }

    /// A large value that was written and closed is saved along, as the documented samples submit without an update.
    private final var hasOnlyUnsavedLargeValues: Bool {
        attachments?.hasUnsavedLargeValues == true && dirty.isEmpty && presence == .stored
    }

    private final func applySubmitted(_ submitted: [RowID: ReplayState]) {
        if let replay = submitted[RowID(entity: metadata.index, key: surrogateKey)] {
            let before = EntityMemory(self)
            self.replay = replay
            TransactionScope.transaction(of: package)?.onRollback { before.restore(self) }
        }
        // Relatives that this object knows are of the same tree: without this they would be stale at their next update.
        for list in attachments?.children.values.map(\.present) ?? [] {
            for child in list { child.applySubmitted(submitted) }
        }
    }

    private final func applyCancelled(_ page: RowPage) {
        attachments = nil
        sharedParent = nil
        dirty.removeAll()
        if let row = page.first {
            read(row)
        } else {
            presence = .new
            surrogateKey = 0
            replay = ReplayState()
        }
    }
}
