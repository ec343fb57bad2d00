/// Changes of all objects that a query finds, in one transaction: all of them are changed, or none. Objects that the application has in memory stay as they
/// are: their next change is refused as ``ObjectError/Code/stale`` until they are refreshed.
extension EntityQuery {
    /// Changes each object that the query finds, as its `update()` does: with its mark, its original state and its entry in the change log. Objects that
    /// `change` leaves as they are do not become pending.
    ///
    ///     let moved = try Customer.where(\.city == "Cork").update(in: crm) { $0.city = "Dublin" }
    ///     print("\(moved) customers have moved")
    ///
    /// - Parameters:
    ///   - package: the package database.
    ///   - change: changes one object in memory; called within the transaction, in the order of the query. Children that it adds are not saved.
    /// - Returns: the number of objects that were found.
    /// - Throws: the errors of `change`; otherwise as `find(in:)` and `update()`. Nothing is changed then.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    @discardableResult
    public func update(in package: Root.Package, _ change: (Root) throws -> Void) throws -> Int {
        try Batch(query, EntityContext(package, Root.metadata)).update(change)
    }

    /// The same without blocking a cooperative thread. `change` runs on another thread.
    @discardableResult
    public nonisolated(nonsending) func update(in package: Root.Package, _ change: @escaping @Sendable (Root) throws -> Void) async throws -> Int {
        try await Batch(query, EntityContext(package, Root.metadata)).update(change)
    }

    /// Deletes each object that the query finds with its composite children, as its `delete()` does.
    ///
    ///     let deleted = try Customer.where(\.name == "Castle Inn").delete(in: crm)
    ///     print("\(deleted) customers are gone")
    ///
    /// - Returns: the number of objects that were found.
    /// - Throws: as `find(in:)` and `delete()`. Nothing is deleted then.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    @discardableResult
    public func delete(in package: Root.Package) throws -> Int { try Batch(query, EntityContext(package, Root.metadata)).delete() }

    /// The same without blocking a cooperative thread.
    @discardableResult
    public nonisolated(nonsending) func delete(in package: Root.Package) async throws -> Int {
        try await Batch(query, EntityContext(package, Root.metadata)).delete()
    }

    /// Submits the pending changes of the objects that the query finds, as their `submitPending()` does: with the trees that they belong to. Deleted objects are
    /// found with ``filter(_:)`` and ``EntityFilter/deleted``.
    ///
    ///     let submitted = try Customer.where(\.name == "Castle Inn").submit(in: crm)
    ///     print("\(submitted) changes are on their way")
    ///
    /// - Returns: the number of pending objects that were found.
    /// - Throws: as `find(in:)` and `submitPending()`. Nothing is submitted then.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    @discardableResult
    public func submit(in package: Root.Package) throws -> Int { try Batch(query, EntityContext(package, Root.metadata)).submit() }

    /// The same without blocking a cooperative thread.
    @discardableResult
    public nonisolated(nonsending) func submit(in package: Root.Package) async throws -> Int {
        try await Batch(query, EntityContext(package, Root.metadata)).submit()
    }
}

extension EntitySet {
    /// Changes each object of the set, in one transaction, as `EntityQuery.update(in:_:)`.
    ///
    ///     let inDublin = crm.customers.where(\.city == "Dublin")
    ///     try inDublin.update { $0.city = "Galway" }
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    @discardableResult
    public func update(_ change: (Root) throws -> Void) throws -> Int { try query.update(in: package, change) }

    /// The same without blocking a cooperative thread. `change` runs on another thread.
    @discardableResult
    public nonisolated(nonsending) func update(_ change: @escaping @Sendable (Root) throws -> Void) async throws -> Int {
        try await query.update(in: package, change)
    }

    /// Deletes each object of the set, in one transaction, as `EntityQuery.delete(in:)`.
    ///
    ///     let mills = crm.customers.where { $0.name.contains("Mill") }
    ///     try mills.delete()
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    @discardableResult
    public func delete() throws -> Int { try query.delete(in: package) }

    /// The same without blocking a cooperative thread.
    @discardableResult
    public nonisolated(nonsending) func delete() async throws -> Int { try await query.delete(in: package) }

    /// Submits the pending changes of the objects of the set, in one transaction, as `EntityQuery.submit(in:)`.
    ///
    ///     let mills = crm.customers.where { $0.name.contains("Mill") }
    ///     try mills.submit()
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    @discardableResult
    public func submit() throws -> Int { try query.submit(in: package) }

    /// The same without blocking a cooperative thread.
    @discardableResult
    public nonisolated(nonsending) func submit() async throws -> Int { try await query.submit(in: package) }
}

extension EntityClass {
    /// Changes each object that a query finds, in one transaction, as `EntityQuery.update(in:_:)`.
    ///
    ///     let inGalway = Query().where(.equal("city", "Galway"))
    ///     try customers.update(inGalway) { try $0.setValue("Cork", "city") }
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    @discardableResult
    public func update(_ query: Query = Query(), _ change: (GenericEntity) throws -> Void) throws -> Int {
        try Batch(query, EntityContext(package, metadata)).update(change)
    }

    /// The same without blocking a cooperative thread. `change` runs on another thread.
    @discardableResult
    public nonisolated(nonsending) func update(_ query: Query = Query(), _ change: @escaping @Sendable (GenericEntity) throws -> Void) async throws
        -> Int
    {
        try await Batch(query, EntityContext(package, metadata)).update(change)
    }

    /// Deletes each object that a query finds, in one transaction, as `EntityQuery.delete(in:)`.
    ///
    ///     let inDublin = Query().where(.equal("city", "Dublin"))
    ///     try customers.delete(inDublin)
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    @discardableResult
    public func delete(_ query: Query) throws -> Int { try Batch(query, EntityContext(package, metadata)).delete() }

    /// The same without blocking a cooperative thread.
    @discardableResult
    public nonisolated(nonsending) func delete(_ query: Query) async throws -> Int {
        try await Batch(query, EntityContext(package, metadata)).delete()
    }

    /// Submits the pending changes of the objects that a query finds, in one transaction, as `EntityQuery.submit(in:)`.
    ///
    ///     let inCork = Query().where(.equal("city", "Cork"))
    ///     try customers.submit(inCork)
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    @discardableResult
    public func submit(_ query: Query) throws -> Int { try Batch(query, EntityContext(package, metadata)).submit() }

    /// The same without blocking a cooperative thread.
    @discardableResult
    public nonisolated(nonsending) func submit(_ query: Query) async throws -> Int {
        try await Batch(query, EntityContext(package, metadata)).submit()
    }
}
