import MobileStore

extension Entity {
    /// Reads the object again: unsaved changes in memory are lost, relatives are discarded and read again on access. Needed
    /// after a synchronization, and for another object of a row that was submitted. An object whose row was renumbered takes the new surrogate
    /// key. SMP 2.3: `refresh`.
    ///
    ///     customer.phone = "not to be saved"
    ///     try customer.refresh()
    ///     print("\(customer.city), \(customer.phone ?? "no phone")")
    ///
    /// - Throws: ``ObjectError``: `.notSaved` (it is new; guard with ``isNew``), `.notFound` (the row is gone), `.corrupt` (an attribute cannot have what
    ///   the row holds; the object stays as it was), `.store`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func refresh() throws {
        try requireNoSave("refresh")
        if presence == .new { try requireStored("refresh") }
        let stored = StoredState(self)
        try applyRefresh(try package.read { try stored.read($0) })
    }

    /// Does the same without blocking a cooperative thread.
    public nonisolated(nonsending) final func refresh() async throws { try applyRefresh(try await readAgain()) }

    /// Reads the object again, for example after a synchronization, and keeps what was changed in memory and not saved: attributes, parents that were
    /// set, added children and large values that were written. The next save writes them over what was read. An object whose row is deleted keeps
    /// nothing.
    ///
    ///     customer.phone = "+353 1 555 0100"
    ///     try customer.refresh(keepingChanges: true)
    ///     try customer.update()
    ///
    /// - Parameter keepingChanges: `false` does the same as `refresh()`.
    /// - Throws: as `refresh()`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func refresh(keepingChanges: Bool) throws {
        let changes = keepingChanges ? UnsavedChanges(of: self) : nil
        try refresh()
        changes?.restore(to: self)
    }

    /// Does the same without blocking a cooperative thread.
    public nonisolated(nonsending) final func refresh(keepingChanges: Bool) async throws {
        let found = try await readAgain()
        // Not before the read: what is set during it is kept as well.
        let changes = keepingChanges ? UnsavedChanges(of: self) : nil
        try applyRefresh(found)
        changes?.restore(to: self)
    }

    /// Reads the row, again where a save has written it meanwhile: the object would have the marks of one version and the values of another.
    private nonisolated(nonsending) final func readAgain() async throws -> StoredState.Found {
        while true {
            await endOfSave()
            if presence == .new { try requireStored("refresh") }
            let stored = StoredState(self), before = replay
            let found = try await package.read { try stored.read($0) }
            if !isBeingSaved, replay == before { return found }
        }
    }

    private final func applyRefresh(_ found: StoredState.Found) throws {
        // First of all, because a row that cannot be read leaves the object as it was.
        let stored = try found.page.first.map { try context.object($0, as: Self.self) }
        undoCompletelyOnRollback()
        attachments = nil
        sharedParent = nil
        dirty.removeAll()
        if let stored {
            try take(stored)
        } else if let marks = found.marks {
            surrogateKey = found.key
            replay = try ReplayState(StoredRow(StateColumn.original, marks, of: metadata.sql.originalTable))
            presence = .deleted
        } else if presence == .deleted {
            replay = ReplayState()
        } else {
            throw ObjectError(.notFound, "refresh of \(metadata.name) \(surrogateKey): there is no such row any more")
        }
    }
}

/// The changes of an object in memory that are not saved.
private struct UnsavedChanges {
    private let dirty: PositionSet
    private let values: [(attribute: Int, value: AttributeValue)]
    private let references: ReferenceKeys
    private let attachments: EntityAttachments?

    init(of object: Entity) {
        (dirty, references, attachments) = (object.dirty, object.references, object.attachments)
        var kept = object.dirty
        // An object that was set is kept with its key, also where the row had the same one: the two are one fact.
        for relationship in object.metadata.relationships {
            guard let reference = relationship.referenceIndex, object.isSet(reference, in: object.dirty) else { continue }
            for pair in relationship.mapping { kept.insert(pair.source) }
        }
        values = object.metadata.attributes.filter { !$0.isLarge && kept.contains($0.index) }.map { ($0.index, object.value(ofAttribute: $0.index)) }
    }

    func restore(to object: Entity) {
        guard object.presence == .stored else { return }
        let metadata = object.metadata
        object.isLoading = true
        defer { object.isLoading = false }
        // A value of the same attribute always fits.
        for (attribute, value) in values { try? object.setValue(value, ofAttribute: attribute) }
        for relationship in metadata.relationships {
            let index = relationship.index
            if let reference = relationship.referenceIndex, dirty.contains(metadata.attributes.count + reference) {
                object.references[reference] = references[reference]
                object.attached.parents[index] = attachments?.parents[index]
            }
            if let list = attachments?.children[index], !list.added.isEmpty || !list.formers.isEmpty {
                // The children in the database are read again.
                list.loaded = nil
                object.attached.children[index] = list
            }
        }
        for attribute in attachments?.unsavedLargeValues.keys.sorted() ?? [] {
            if let value = attachments?.unsavedLargeValues[attribute] { object.attached.unsavedLargeValues.updateValue(value, forKey: attribute) }
            object.attached.bigStrings[attribute] = attachments?.bigStrings[attribute]
            object.attached.bigBinaries[attribute] = attachments?.bigBinaries[attribute]
        }
        object.dirty = dirty
    }
}

/// The state of one object's row in the database, read by the key that it has now.
///
/// **After rows were removed to come again, an object's row is the one with its modelled key.** Why: a server that has lost its state gives all rows other
/// surrogate keys, and may give the former ones to other rows. *If you break it*: observers and objects of rows that are there lose them.
struct StoredState: Sendable {
    typealias Found = (key: Int64, page: RowPage, marks: [Value]?)

    private let metadata: EntityMetadata
    private let remembered: RememberedKey
    private let keyAsRead: [Value]?
    private let package: PackageDatabase
    /// The query for the marks of an object that was deleted here.
    private let deleted: String?

    init(_ object: Entity) {
        (metadata, remembered, keyAsRead, package) = (object.metadata, object.rememberedKey, object.keyAsRead, object.package)
        deleted = metadata.isLocal ? nil : metadata.sql.selectOriginal + " AND \"_pc\" = 3"
    }

    func read(_ connection: Connection) throws -> Found {
        var found = try read(connection, remembered.current(connection))
        // A row that was deleted here before its create was answered is renumbered as well.
        if found.page.isEmpty, found.marks == nil, let current = try connection.renumberedKey(remembered.key) {
            found = try read(connection, current)
        }
        guard let keyAsRead, found.marks == nil, package.hasReplacedRows, !hasKey(keyAsRead, found.page) else { return found }
        let page = try connection.page(metadata.sql.byPrimaryKey, keyAsRead, size: 1)
        return page.isEmpty ? found : (page[0].integer(0), page, nil)
    }

    private func hasKey(_ key: [Value], _ page: RowPage) -> Bool {
        guard !page.isEmpty else { return false }
        return zip(metadata.primaryKey, key).allSatisfy { page[0].value(EntitySQL.firstAttribute + $0) == $1 }
    }

    private func read(_ connection: Connection, _ key: Int64) throws -> Found {
        (
            key, try connection.page(metadata.sql.byKey, [.integer(key)], size: 1),
            try deleted.flatMap { try connection.first($0, [.integer(key)]) }
        )
    }
}

extension Connection {
    /// Returns the first page of a query, for a row or two.
    func firstPage(_ sql: String, _ values: [Value]) throws -> RowPage? {
        var pages = try pages(sql, values, size: 1)
        return try pages.next()
    }
}
