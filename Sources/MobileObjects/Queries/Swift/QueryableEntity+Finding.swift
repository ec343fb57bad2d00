extension QueryableEntity {
    /// The objects that a query made at run time finds; its source, if it has one, is this class. SMP 2.3: `findWithQuery:`.
    ///
    ///     let query = Query().where(.equal("city", "Cork")).sorted(by: .ascending("name"))
    ///     for customer in try Customer.findWithQuery(query, in: crm) { print(customer.name) }
    ///
    /// - Throws: as `PackageDatabase.executeQuery(_:)`.
    public static func findWithQuery(_ query: Query, in package: Package) throws -> EntityList<Self> {
        EntityList(try EntityContext(package, metadata).objects(query))
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) static func findWithQuery(_ query: Query, in package: Package) async throws -> EntityList<Self> {
        EntityList(try await EntityContext(package, metadata).objects(query))
    }

    /// The number of objects that `findWithQuery(_:in:)` gives, counted by the database; skip and take count. SMP 2.3: `countWithQuery:`.
    ///
    ///     let query = Query().where(.equal("city", "Cork"))
    ///     try print("\(Customer.countWithQuery(query, in: crm)) customers in Cork")
    ///
    /// - Throws: as `PackageDatabase.executeQuery(_:)`.
    public static func countWithQuery(_ query: Query, in package: Package) throws -> Int {
        try EntityContext(package, metadata).count(query)
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) static func countWithQuery(_ query: Query, in package: Package) async throws -> Int {
        try await EntityContext(package, metadata).count(query)
    }
}
