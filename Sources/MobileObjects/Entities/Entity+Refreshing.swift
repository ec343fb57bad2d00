import MobileStore

extension Entity {
    /// Reads the object again: unsaved changes in memory are lost, relatives are discarded and read again on access. Needed
    /// after a synchronization, and for another object of a row that was submitted. SMP 2.3: `refresh`.
    ///
    ///     customer.phone = "not to be saved"
    ///     try customer.refresh()
    ///     print("\(customer.city), \(customer.phone ?? "no phone")")
    ///
    /// - Throws: ``ObjectError``: `.notSaved` (it is new; guard with ``isNew``), `.notFound` (the row is gone), `.store`.
    public final func refresh() throws {
        if presence == .new { try requireStored("refresh") }
        let select = metadata.sql.byKey, key = surrogateKey
        let deleted = deletedStateSQL
        let (page, marks) = try package.read { connection in
            (try connection.page(select, [.integer(key)], size: 1), try deleted.flatMap { try connection.first($0, [.integer(key)]) })
        }
        try applyRefresh(page, marks)
    }

    /// Does the same without blocking a cooperative thread.
    public nonisolated(nonsending) final func refresh() async throws {
        if presence == .new { try requireStored("refresh") }
        let select = metadata.sql.byKey, key = surrogateKey
        let deleted = deletedStateSQL
        let (page, marks) = try await package.read { connection in
            (try connection.page(select, [.integer(key)], size: 1), try deleted.flatMap { try connection.first($0, [.integer(key)]) })
        }
        try applyRefresh(page, marks)
    }

    /// The query for the marks of an object that was deleted here.
    private final var deletedStateSQL: String? {
        metadata.isLocal ? nil : metadata.sql.selectOriginal + " AND \"_pc\" = 3"
    }

    private final func applyRefresh(_ page: RowPage, _ marks: [Value]?) throws {
        attachments = nil
        sharedParent = nil
        dirty.removeAll()
        if let row = page.first {
            read(row)
        } else if let marks {
            replay = try ReplayState(StoredRow(StateColumn.original, marks, of: metadata.sql.originalTable))
            presence = .deleted
        } else if presence == .deleted {
            replay = ReplayState()
        } else {
            throw ObjectError(.notFound, "refresh of \(metadata.name) \(surrogateKey): there is no such row any more")
        }
    }
}

extension Connection {
    /// Returns the first page of a query, for a row or two.
    func firstPage(_ sql: String, _ values: [Value]) throws -> RowPage? {
        var pages = try pages(sql, values, size: 1)
        return try pages.next()
    }
}
