/// Lists of a generated class that read their pages when they are needed.
extension ModelledEntity {
    /// Returns a list of all objects in the order of their surrogate keys.
    ///
    ///     let customers = try Customer.list(pageSize: 50, in: crm)
    ///     let last = try customers.object(at: customers.count() - 1)
    ///
    /// - Parameters:
    ///   - pageSize: objects that are read at once, 1 or more.
    ///   - keptPages: pages whose objects stay in memory, 1 or more.
    ///   - package: the package database.
    /// - Throws: ``ObjectError/Code/misuse`` for a size out of its range.
    public static func list(pageSize: Int = 100, keptPages: Int = 8, in package: Package) throws -> LazyEntityList<Self> {
        let context = EntityContext(package, metadata)
        return try LazyEntityList(ListPlan(metadata), context, pageSize: pageSize, keptPages: keptPages)
    }

    /// Returns a cursor over all objects in the order of their surrogate keys, with a page in memory.
    ///
    ///     let customers = try Customer.cursor(pageSize: 50, in: crm)
    ///     while let customer = try customers.nextObject() { print(customer.name) }
    ///
    /// - Parameters:
    ///   - pageSize: objects that are read at once, 1 or more.
    ///   - readsAhead: whether the next pages are read on another thread while one is in use: see ``EntityCursor``.
    ///   - package: the package database.
    /// - Throws: ``ObjectError/Code/misuse`` for a size out of its range.
    public static func cursor(pageSize: Int = 100, readsAhead: Bool = false, in package: Package) throws -> EntityCursor<Self> {
        try EntityCursor(ListPlan(metadata), EntityContext(package, metadata), pageSize: pageSize, readsAhead: readsAhead)
    }

    /// Returns the result of an object query of the model, parameters in its order.
    ///
    ///     let customers = try Customer.list("findByCity", ["Cork"], pageSize: 50, in: crm)
    ///     for customer in customers { print(customer.name) }
    ///
    /// - Throws: as `query(_:_:sortedBy:skip:take:in:)`; ``ObjectError/Code/misuse``.
    public static func list(
        _ name: String, _ parameters: [AttributeValue] = [], sortedBy: [AttributeSort] = [], pageSize: Int = 100, keptPages: Int = 8,
        in package: Package
    ) throws -> LazyEntityList<Self> {
        let context = EntityContext(package, metadata), query = try ObjectSQL(name, context)
        return try LazyEntityList(ListPlan(query, parameters, sortedBy: sortedBy), context, pageSize: pageSize, keptPages: keptPages)
    }
}

/// Lists of an object of the model that read their pages when they are needed; the parameters are those of generated classes.
extension EntityClass {
    /// Returns a list of the objects that a query made at run time finds, all by default.
    ///
    ///     let list = try customers.list(Query().sorted(by: .ascending("name")), pageSize: 50)
    ///     let last = try list.object(at: list.count() - 1)
    ///
    /// - Throws: as `PackageDatabase.executeQuery(_:)`; ``ObjectError/Code/misuse`` for a size out of its range.
    public func list(_ query: Query? = nil, pageSize: Int = 100, keptPages: Int = 8) throws -> LazyEntityList<GenericEntity> {
        try LazyEntityList(plan(query), EntityContext(package, metadata), pageSize: pageSize, keptPages: keptPages)
    }

    /// Returns the result of an object query of the model, parameters in its order.
    ///
    ///     let list = try customers.list("findByCity", ["Cork"], pageSize: 50)
    ///     for customer in list { try print(customer.value("name")) }
    ///
    /// - Throws: as `query(_:_:sortedBy:skip:take:)`; ``ObjectError/Code/misuse``.
    public func list(
        _ name: String, _ parameters: [AttributeValue] = [], sortedBy: [AttributeSort] = [], pageSize: Int = 100, keptPages: Int = 8
    ) throws -> LazyEntityList<GenericEntity> {
        let query = try ObjectSQL(name, context)
        return try LazyEntityList(ListPlan(query, parameters, sortedBy: sortedBy), context, pageSize: pageSize, keptPages: keptPages)
    }

    /// Returns a cursor over the same objects from the first to the last one, with a page in memory.
    ///
    ///     let cursor = try customers.cursor(Query().where(.equal("city", "Cork")))
    ///     while let customer = try cursor.nextObject() { try print(customer.value("name")) }
    ///
    /// - Throws: as `list(_:pageSize:keptPages:)`.
    public func cursor(_ query: Query? = nil, pageSize: Int = 100, readsAhead: Bool = false) throws -> EntityCursor<GenericEntity> {
        try EntityCursor(plan(query), EntityContext(package, metadata), pageSize: pageSize, readsAhead: readsAhead)
    }

    /// Returns their pages, for `async` code; reading the first one throws the errors of the query.
    ///
    ///     for try await page in customers.pages(Query().sorted(by: .ascending("name")), size: 50) {
    ///         for customer in page { try print(customer.value("name")) }
    ///     }
    public func pages(_ query: Query? = nil, size: Int = 100) -> AsyncEntityPages<GenericEntity> {
        AsyncEntityPages { try cursor(query, pageSize: size) }
    }

    /// Plans a list of the objects of a query; without one, of all objects, also where the model allows no queries made at run time.
    private func plan(_ query: Query?) throws -> ListPlan {
        try query.map { try ListPlan($0, of: metadata, in: package.metadata) } ?? ListPlan(metadata)
    }
}

/// Lists of the objects that a query finds.
extension EntityQuery {
    /// Returns the objects as a list that reads its pages when they are needed.
    ///
    ///     let customers = try Customer.all.sorted(by: \.name).list(pageSize: 50, in: crm)
    ///     let last = try customers.object(at: customers.count() - 1)
    ///
    /// - Parameters:
    ///   - pageSize: objects that are read at once, 1 or more.
    ///   - keptPages: pages whose objects stay in memory, 1 or more.
    ///   - package: the package database.
    /// - Throws: as `find(in:)`; ``ObjectError/Code/misuse`` for a size out of its range.
    public func list(pageSize: Int = 100, keptPages: Int = 8, in package: Root.Package) throws -> LazyEntityList<Root> {
        try LazyEntityList(plan(package), EntityContext(package, Root.metadata), pageSize: pageSize, keptPages: keptPages)
    }

    /// Returns a cursor over the objects from the first to the last one, with a page in memory.
    ///
    ///     let customers = try Customer.where(\.city == "Cork").sorted(by: \.name).cursor(in: crm)
    ///     while let customer = try customers.nextObject() { print(customer.name) }
    ///
    /// - Parameters:
    ///   - pageSize: objects that are read at once, 1 or more.
    ///   - readsAhead: whether the next pages are read on another thread while one is in use: see ``EntityCursor``.
    ///   - package: the package database.
    /// - Throws: as `list(pageSize:keptPages:in:)`.
    public func cursor(pageSize: Int = 100, readsAhead: Bool = false, in package: Root.Package) throws -> EntityCursor<Root> {
        try EntityCursor(plan(package), EntityContext(package, Root.metadata), pageSize: pageSize, readsAhead: readsAhead)
    }

    /// Returns the pages of the objects, for `async` code; reading the first one throws the errors of the query.
    ///
    ///     for try await customers in Customer.all.sorted(by: \.name).pages(size: 50, in: crm) {
    ///         for customer in customers { print(customer.name) }
    ///     }
    public func pages(size: Int = 100, in package: Root.Package) -> AsyncEntityPages<Root> {
        AsyncEntityPages { try cursor(pageSize: size, in: package) }
    }

    private func plan(_ package: Root.Package) throws -> ListPlan { try ListPlan(query, of: Root.metadata, in: package.metadata) }
}

/// Lists of children.
extension Children {
    /// Returns the children that a query finds as a list that reads its pages when they are needed: for objects with thousands of them.
    /// - Parameters:
    ///   - query: the choice and the order of the children; by default all.
    ///   - pageSize: as for ``LazyEntityList``.
    /// - Throws: as `findWithQuery(_:)`.
    public func list(_ query: Query = Query(), pageSize: Int = 100) throws -> LazyEntityList<Element> {
        let (context, owner) = try relation()
        let nobody = Owner(conditions: [("\"_sk\"", .null)])
        return try LazyEntityList(
            ListPlan(query, of: context.metadata, in: context.package.metadata, ownedBy: owner ?? nobody), context, pageSize: pageSize)
    }
}

extension Children where Element: QueryableEntity {
    /// Returns the children that a query finds, read a page at a time.
    /// - Throws: as `findWithQuery(_:)`.
    public func list(_ query: EntityQuery<Element>, pageSize: Int = 100) throws -> LazyEntityList<Element> {
        try list(query.query, pageSize: pageSize)
    }
}
