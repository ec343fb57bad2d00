import MobileStore

/// Finders of generated classes.
extension ModelledEntity {
    /// The object with this surrogate key; nil when there is none. SMP 2.3: `find:`.
    ///
    ///     if let customer = try Customer.find(key, in: crm) {
    ///         print(customer.name)
    ///     }
    ///
    /// - Throws: ``ObjectError/Code/store``, as all finders.
    public static func find(_ surrogateKey: Int64, in package: Package) throws -> Self? {
        try context(package).find(surrogateKey)
    }

    /// The same without blocking a cooperative thread.
    public static func find(_ surrogateKey: Int64, in package: Package) async throws -> Self? {
        let context = context(package)
        return try await context.first(context.metadata.sql.byKey, [.integer(surrogateKey)])
    }

    /// The object with this surrogate key, which must exist. SMP 2.3: `load:`.
    ///
    ///     let customer = try Customer.load(key, in: crm)
    ///     print(customer.name)
    ///
    /// - Throws: ``ObjectError/Code/notFound``.
    public static func load(_ surrogateKey: Int64, in package: Package) throws -> Self {
        let object: Self = try context(package).load(surrogateKey)
        return object
    }

    /// The same without blocking a cooperative thread.
    public static func load(_ surrogateKey: Int64, in package: Package) async throws -> Self {
        let object: Self = try await context(package).load(surrogateKey)
        return object
    }

    /// The first object with this modelled key, its values in the key's order; nil when there is none. Generated classes have
    /// `findByPrimaryKey` with the key's types. SMP 2.3: `findByPrimaryKey:`.
    ///
    ///     let line = try SalesOrderLine.findByPrimaryKey(values: [17, 1], in: crm)  // order and line
    ///     print("\(line?.quantity ?? 0) pieces")
    ///
    /// - Throws: ``ObjectError/Code/invalidValue`` when number or types of the values are not the key's.
    public static func findByPrimaryKey(values: [AttributeValue], in package: Package) throws -> Self? {
        let context = context(package)
        return try context.first(context.metadata.sql.byPrimaryKey, context.metadata.keyValues(values))
    }

    /// The same without blocking a cooperative thread.
    public static func findByPrimaryKey(values: [AttributeValue], in package: Package) async throws -> Self? {
        let context = context(package)
        return try await context.first(context.metadata.sql.byPrimaryKey, context.metadata.keyValues(values))
    }

    /// All objects, in the order of their surrogate keys. Thousands of objects need memory: see `page(after:size:in:)`. SMP 2.3: `findAll`.
    ///
    ///     for customer in try Customer.findAll(in: crm) {
    ///         print(customer.name)
    ///     }
    public static func findAll(in package: Package) throws -> EntityList<Self> {
        try findAll(skip: 0, take: -1, in: package)
    }

    /// The same without blocking a cooperative thread.
    public static func findAll(in package: Package) async throws -> EntityList<Self> {
        try await findAll(skip: 0, take: -1, in: package)
    }

    /// All objects but the first `skip`, and not more than `take`; a negative `take` means all. SMP 2.3: `findAll:take:`.
    ///
    ///     let second = try Customer.findAll(skip: 2, take: 2, in: crm)  // the second two customers
    ///     print(second.map(\.name))
    public static func findAll(skip: Int, take: Int, in package: Package) throws -> EntityList<Self> {
        EntityList(try context(package).objects(skip: skip, take: take))
    }

    /// The same without blocking a cooperative thread.
    public static func findAll(skip: Int, take: Int, in package: Package) async throws -> EntityList<Self> {
        EntityList(try await context(package).objects(skip: skip, take: take))
    }

    /// The next `size` objects after the one with surrogate key `key`, in the order of surrogate keys; from the first one by default. The
    /// last page costs as much as the first one, other than with skip and take.
    ///
    ///     var page = try Customer.page(size: 100, in: crm)
    ///     while let last = page.last {
    ///         for customer in page { print(customer.name) }
    ///         page = try Customer.page(after: last.surrogateKey, size: 100, in: crm)
    ///     }
    public static func page(after key: Int64 = 0, size: Int = 100, in package: Package) throws -> EntityList<Self> {
        EntityList(try context(package).objects(behind: key, size))
    }

    /// The same without blocking a cooperative thread.
    public static func page(after key: Int64 = 0, size: Int = 100, in package: Package) async throws -> EntityList<Self> {
        EntityList(try await context(package).objects(behind: key, size))
    }

    /// The result of an object query of the model; its generated method names the parameters.
    ///
    ///     let customers = try Customer.query("findByCity", ["Cork"], sortedBy: [.descending("creditLimit")], in: crm)
    ///     for customer in customers { print("\(customer.name): \(customer.creditLimit)") }
    ///
    /// - Parameters:
    ///   - name: the query's modelled name.
    ///   - parameters: in the order of the model.
    ///   - sortedBy: attributes of the objects; none: the query's own order.
    ///   - skip: how many to leave out at the beginning.
    ///   - take: how many to return at most; a negative number means all.
    ///   - package: the package database.
    /// - Throws: ``ObjectError/Code/noSuchOperation``, ``ObjectError/Code/noSuchParameter``, ``ObjectError/Code/invalidValue``,
    ///   ``ObjectError/Code/invalidQuery``; ``ObjectError/Code/noSuchAttribute`` and ``ObjectError/Code/unsupportedType`` for what cannot be sorted by.
    public static func query(
        _ name: String, _ parameters: [AttributeValue] = [], sortedBy: [AttributeSort] = [], skip: Int = 0, take: Int = -1, in package: Package
    ) throws -> EntityList<Self> {
        let context = context(package)
        let query = try ObjectSQL(name, context)
        return EntityList(try context.objects(query.sql(sortedBy: sortedBy, skip: skip, take: take), query.values(parameters)))
    }

    /// The same without blocking a cooperative thread.
    public static func query(
        _ name: String, _ parameters: [AttributeValue] = [], sortedBy: [AttributeSort] = [], skip: Int = 0, take: Int = -1, in package: Package
    ) async throws -> EntityList<Self> {
        let context = context(package)
        let query = try ObjectSQL(name, context)
        return EntityList(try await context.objects(query.sql(sortedBy: sortedBy, skip: skip, take: take), query.values(parameters)))
    }

    private static func context(_ package: Package) -> EntityContext { EntityContext(package, metadata) }
}

extension EntityMetadata {
    /// The values of a modelled key as bound to a statement.
    func keyValues(_ values: [AttributeValue]) throws -> [Value] {
        guard values.count == primaryKey.count else {
            throw ObjectError(.invalidValue, "object \"\(name)\": \(values.count) key values, expected \(primaryKey.count)")
        }
        var stored: [Value] = []
        stored.reserveCapacity(values.count)
        for (value, index) in zip(values, primaryKey) {
            guard let value = attributes[index].storage.stored(value) else {
                throw ObjectError(.invalidValue, "\(name).\(attributes[index].name): expected \(attributes[index].type)")
            }
            stored.append(value)
        }
        return stored
    }
}
