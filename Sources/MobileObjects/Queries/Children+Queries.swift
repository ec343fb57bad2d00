/// The children that pass the tests of a query. The query may join other objects and refer to the children's attributes; its skip and take page
/// through the children. Unlike the list itself, the children are read each time, and unsaved ones are left out.
///
///     let open = try customer.orders.find(SalesOrder.where(\.status == "OPEN").sorted(by: \.date))
///     let big = try customer.orders.findWithQuery(Query().join("Line", "l", "l.orderId", "SalesOrder.id").where(.greaterThan("l.amount", 100)).distinct())
extension Children {
    /// Returns the children that a query finds; its source, if it has one, is their class.
    /// - Throws: as `PackageDatabase.executeQuery(_:)`, and ``ObjectError/Code/misuse`` for a list that belongs to no object.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func findWithQuery(_ query: Query) throws -> EntityList<Element> {
        let (context, owner) = try relation()
        guard let owner else { return EntityList() }
        return EntityList(try context.objects(query, ownedBy: owner))
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func findWithQuery(_ query: Query) async throws -> EntityList<Element> {
        let (context, owner) = try relation()
        guard let owner else { return EntityList() }
        return EntityList(try await context.objects(query, ownedBy: owner))
    }

    /// Returns their number, counted by the database; skip and take of the query apply.
    /// - Throws: as `findWithQuery(_:)`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func countWithQuery(_ query: Query) throws -> Int {
        let (context, owner) = try relation()
        return try owner.map { try context.count(query, ownedBy: $0) } ?? 0
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func countWithQuery(_ query: Query) async throws -> Int {
        let (context, owner) = try relation()
        guard let owner else { return 0 }
        return try await context.count(query, ownedBy: owner)
    }

    /// Returns the owner of these children, by columns of their table; no owner where nothing is saved, or the model ties nothing to it.
    func relation() throws -> (EntityContext, Owner?) {
        guard let (object, index) = relationship else {
            throw ObjectError(.misuse, "children: the list belongs to no object; set it as the children of one first")
        }
        let context = object.context.target(of: object.metadata.relationships[index])
        return (context, object.presence == .stored ? try object.owner(ofRelationship: index) : nil)
    }
}

extension Children where Element: QueryableEntity {
    /// Returns the children that a query finds.
    /// - Throws: as `findWithQuery(_:)`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func find(_ query: EntityQuery<Element>) throws -> EntityList<Element> { try findWithQuery(query.query) }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func find(_ query: EntityQuery<Element>) async throws -> EntityList<Element> {
        try await findWithQuery(query.query)
    }

    /// Returns their number, counted by the database.
    /// - Throws: as `findWithQuery(_:)`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func count(_ query: EntityQuery<Element>) throws -> Int { try countWithQuery(query.query) }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func count(_ query: EntityQuery<Element>) async throws -> Int { try await countWithQuery(query.query) }
}

extension Children {
    /// Returns their number. If the list was not read, the database counts it without reading it. Unsaved children count as well.
    /// - Throws: ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func fetchCount() throws -> Int {
        if let known = knownCount { return known }
        return try countWithQuery(Query()) + unsavedCount
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func fetchCount() async throws -> Int {
        if let known = knownCount { return known }
        return try await countWithQuery(Query()) + unsavedCount
    }

    /// The number of children where the database need not be asked; otherwise nil.
    private var knownCount: Int? {
        guard let (owner, index) = relationship else { return count }
        if let list = owner.attachments?.children[index], list.loaded != nil { return list.count }
        return owner.presence == .stored ? nil : unsavedCount
    }

    private var unsavedCount: Int {
        guard let (owner, index) = relationship else { return 0 }
        return owner.attachments?.children[index]?.added.count { $0.presence == .new } ?? 0
    }
}
