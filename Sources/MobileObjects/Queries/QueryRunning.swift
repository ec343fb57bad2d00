internal import MobileExecution
import MobileStore

extension PackageDatabase {
    /// Runs a query over any number of objects. It changes nothing; a query that fails throws and has no result. SMP 2.3: `executeQuery:`.
    /// - Throws: ``ObjectError``: names that the model does not have as ``ObjectError/Code/noSuchClass``, ``ObjectError/Code/noSuchAttribute`` and
    ///   ``ObjectError/Code/noSuchOperation`` (an aggregate), a structure as ``ObjectError/Code/abstractClass``, values that do not fit as
    ///   ``ObjectError/Code/invalidValue``, types without order or aggregate as ``ObjectError/Code/unsupportedType``, parts that do not go together
    ///   as ``ObjectError/Code/invalidQuery``, an object that the model keeps from such queries as ``ObjectError/Code/misuse``, a stored value that its
    ///   attribute cannot have as ``ObjectError/Code/corrupt``, ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func executeQuery(_ query: Query) throws -> QueryResultSet {
        let compiled = try QueryCompiler.resultSet(query, in: metadata)
        try prepareSearch(compiled.searches)
        return try read { try QueryResultSet(compiled.pages($0), compiled.columns) }
    }

    /// The same without blocking a cooperative thread.
    public final func executeQuery(_ query: Query) async throws -> QueryResultSet {
        let compiled = try QueryCompiler.resultSet(query, in: metadata)
        return try await read { try QueryResultSet(compiled.pages($0), compiled.columns) }
    }

    /// Returns the number of rows that `executeQuery(_:)` returns, counted by the database.
    /// - Throws: as `executeQuery(_:)`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func countQuery(_ query: Query) throws -> Int {
        let compiled = try QueryCompiler.count(query, of: nil, in: metadata)
        try prepareSearch(compiled.searches)
        return try read { try compiled.count($0) }
    }

    /// The same without blocking a cooperative thread.
    public final func countQuery(_ query: Query) async throws -> Int {
        let compiled = try QueryCompiler.count(query, of: nil, in: metadata)
        return try await read { try compiled.count($0) }
    }
}

extension EntityClass {
    /// Returns the objects that a query made at run time finds; its source, if it has one, is this class. SMP 2.3: `findWithQuery:`.
    ///
    ///     let query = Query().where(.equal("city", "Cork")).sorted(by: .ascending("name"))
    ///     for customer in try customers.findWithQuery(query) { try print(customer.value("name")) }
    ///
    /// - Throws: as `PackageDatabase.executeQuery(_:)`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func findWithQuery(_ query: Query) throws -> EntityList<GenericEntity> {
        EntityList(try EntityContext(package, metadata).objects(query))
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func findWithQuery(_ query: Query) async throws -> EntityList<GenericEntity> {
        EntityList(try await EntityContext(package, metadata).objects(query))
    }

    /// Returns the number of objects that `findWithQuery(_:)` returns, counted by the database; skip and take apply. SMP 2.3: `countWithQuery:`.
    ///
    ///     let query = Query().where(.equal("city", "Cork"))
    ///     try print("\(customers.countWithQuery(query)) customers in Cork")
    ///
    /// - Throws: as `PackageDatabase.executeQuery(_:)`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func countWithQuery(_ query: Query) throws -> Int { try EntityContext(package, metadata).count(query) }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func countWithQuery(_ query: Query) async throws -> Int {
        try await EntityContext(package, metadata).count(query)
    }
}

extension EntityContext {
    /// Returns the objects that a query finds, only those of one owner's children where there is an owner.
    func objects<T: Entity>(_ query: Query, ownedBy owner: Owner? = nil) throws -> [T] {
        let compiled = try QueryCompiler.objects(query, of: metadata, in: package.metadata, ownedBy: owner)
        let paths = try RelationshipPath.paths(query, of: metadata, in: package.metadata)
        try package.prepareSearch(compiled.searches)
        let objects: [T] = try onePage(compiled) ?? objects(compiled.sql, compiled.values)
        if compiled.seesDeleted { markDeleted(objects) }
        try Prefetch(paths, for: objects, self)?.read()
        return objects
    }

    nonisolated(nonsending) func objects<T: Entity>(_ query: Query, ownedBy owner: Owner? = nil) async throws -> [T] {
        let compiled = try QueryCompiler.objects(query, of: metadata, in: package.metadata, ownedBy: owner)
        let paths = try RelationshipPath.paths(query, of: metadata, in: package.metadata)
        var found: [T]? = try await onePage(compiled)
        if found == nil { found = try await objects(compiled.sql, compiled.values) }
        let objects = found ?? []
        if compiled.seesDeleted { markDeleted(objects) }
        try await Prefetch(paths, for: objects, self)?.read()
        return objects
    }

    /// Returns the objects of a query whose rows are one page; nil where they are not, or take more memory than a page should.
    private func onePage<T: Entity>(_ compiled: CompiledQuery) throws -> [T]? {
        guard let first = compiled.page else { return nil }
        let select = try ObjectError.gate { try package.preparedSelects.select(first) }
        return try objects(package.page(select, first.values, size: first.size), of: first)
    }

    private nonisolated(nonsending) func onePage<T: Entity>(_ compiled: CompiledQuery) async throws -> [T]? {
        guard let first = compiled.page else { return nil }
        let select = try ObjectError.gate { try package.preparedSelects.select(first) }
        return try objects(await package.read { try $0.page(select, first.values, size: first.size) }, of: first)
    }

    private func objects<T: Entity>(_ page: RowPage, of first: QueryPage) throws -> [T]? {
        guard page.isAtEnd || page.count == first.size else { return nil }
        var objects: [T] = []
        try append(page, to: &objects)
        return objects
    }

    func count(_ query: Query, ownedBy owner: Owner? = nil) throws -> Int {
        let compiled = try QueryCompiler.count(query, of: metadata, in: package.metadata, ownedBy: owner)
        try package.prepareSearch(compiled.searches)
        return try package.read { try compiled.count($0) }
    }

    nonisolated(nonsending) func count(_ query: Query, ownedBy owner: Owner? = nil) async throws -> Int {
        let compiled = try QueryCompiler.count(query, of: metadata, in: package.metadata, ownedBy: owner)
        return try await package.read { try compiled.count($0) }
    }

    /// Marks objects whose delete waits as deleted.
    func markDeleted(_ objects: [some Entity]) {
        for object in objects where object.replay.change == .delete { object.presence = .deleted }
    }
}

extension CompiledQuery {
    func pages(_ connection: Connection) throws -> [RowPage] {
        var source = try connection.pages(sql, values, size: 1000)
        var pages: [RowPage] = []
        while let page = try source.next() { pages.append(page) }
        return pages
    }

    func count(_ connection: Connection) throws -> Int { Int(try connection.number(sql, values)) }
}

/// The prepared first pages of queries, by their SQL: a query that is repeated with other values is not prepared again.
final class PreparedSelects: Sendable {
    private static let maximum = 128
    private let selects = SystemLock<[ExactText: PageSelect]>([:])

    func select(_ page: QueryPage) throws(StoreError) -> PageSelect {
        // By bytes: a literal in one text may be canonically equivalent to another literal in the other.
        let sql = ExactText(page.sql)
        if let known = selects.withLock({ $0[sql] }) { return known }
        let made = try PageSelect(page.query)
        selects.withLock { selects in
            // Programs have a few dozen queries. A program that makes new texts without end keeps none of them for long.
            if selects.count == Self.maximum { selects.removeAll() }
            selects[sql] = made
        }
        return made
    }
}

extension PackageDatabase {
    final var preparedSelects: PreparedSelects { attachment { PreparedSelects() } }
}

extension RelationshipPath {
    /// Returns the paths that a query names.
    /// - Throws: ``ObjectError/Code/noSuchRelationship``.
    static func paths(_ query: Query, of entity: EntityMetadata, in metadata: PackageMetadata) throws -> [RelationshipPath] {
        try query.prefetches.map { try RelationshipPath($0, of: entity, in: metadata) }
    }
}
