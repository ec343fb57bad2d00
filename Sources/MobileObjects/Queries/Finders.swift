import MobileStore

/// Finders of generated classes.
extension ModelledEntity {
    /// The object with this surrogate key; nil when there is none. SMP 2.3: `find:`.
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
    public static func findAll(in package: Package) throws -> EntityList<Self> {
        try findAll(skip: 0, take: -1, in: package)
    }

    /// The same without blocking a cooperative thread.
    public static func findAll(in package: Package) async throws -> EntityList<Self> {
        try await findAll(skip: 0, take: -1, in: package)
    }

    /// All objects but the first `skip`, and not more than `take`; a negative `take` means all. SMP 2.3: `findAll:take:`.
    public static func findAll(skip: Int, take: Int, in package: Package) throws -> EntityList<Self> {
        EntityList(try context(package).objects(skip: skip, take: take))
    }

    /// The same without blocking a cooperative thread.
    public static func findAll(skip: Int, take: Int, in package: Package) async throws -> EntityList<Self> {
        EntityList(try await context(package).objects(skip: skip, take: take))
    }

    /// The next `size` objects behind the one with surrogate key `key`, in the order of surrogate keys; from the first one by default. The
    /// last page costs what the first does, other than with skip and take.
    public static func page(after key: Int64 = 0, size: Int = 100, in package: Package) throws -> EntityList<Self> {
        EntityList(try context(package).objects(behind: key, size))
    }

    /// The same without blocking a cooperative thread.
    public static func page(after key: Int64 = 0, size: Int = 100, in package: Package) async throws -> EntityList<Self> {
        EntityList(try await context(package).objects(behind: key, size))
    }

    /// The result of an object query of the model; its generated method names the parameters.
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
