public import Foundation
import MobileStore

/// A generated class: the objects of one package with their class's metadata. The protocol provides the finders below.
public protocol ModelledEntity: Entity, DecodableWithConfiguration where DecodingConfiguration == Package {
    /// The generated database class.
    associatedtype Package: PackageDatabase
    /// The metadata of the class.
    static var metadata: EntityMetadata { get }
}

extension ModelledEntity {
    /// Creates a new object, not in the database: `isNew` is true. SMP 2.3: `getInstance`, `init`.
    ///
    ///     let customer = Customer(in: crm)
    ///     customer.name = "Quay Books"
    ///     print(customer.isNew)  // true until `create()` or `save()`
    public init(in package: Package) {
        self.init(context: EntityContext(package, Self.metadata))
    }

    /// The number of this class in the change log. SMP 2.3: the generated constant `<prefix>_ENTITY_TYPE_<MBO>`.
    public static var entityType: Int { metadata.entityType }

    /// Reports the events of this class to `handler`. SMP 2.3: `registerCallbackHandler:` of the MBO class.
    ///
    ///     let rejections = Rejections()  // a `CallbackHandler` with `onReplayFailure(_:)`
    ///     Customer.registerCallbackHandler(rejections, in: crm)
    public static func registerCallbackHandler(_ handler: any CallbackHandler, in package: Package) {
        package.registerCallbackHandler(handler, for: metadata)
    }
}

/// Finders of generated classes.
extension ModelledEntity {
    /// Returns the object with this surrogate key; nil when there is none. SMP 2.3: `find:`.
    ///
    ///     if let customer = try Customer.find(key, in: crm) {
    ///         print(customer.name)
    ///     }
    ///
    /// - Throws: ``ObjectError/Code/store``, as all finders.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public static func find(_ surrogateKey: Int64, in package: Package) throws -> Self? {
        try context(package).find(surrogateKey)
    }

    /// Does the same without blocking a cooperative thread.
    public static func find(_ surrogateKey: Int64, in package: Package) async throws -> Self? {
        try await context(package).find(surrogateKey)
    }

    /// Returns the object with this surrogate key, which must exist. SMP 2.3: `load:`.
    ///
    ///     let customer = try Customer.load(key, in: crm)
    ///     print(customer.name)
    ///
    /// - Throws: ``ObjectError/Code/notFound``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public static func load(_ surrogateKey: Int64, in package: Package) throws -> Self {
        let object: Self = try context(package).load(surrogateKey)
        return object
    }

    /// Does the same without blocking a cooperative thread.
    public static func load(_ surrogateKey: Int64, in package: Package) async throws -> Self {
        let object: Self = try await context(package).load(surrogateKey)
        return object
    }

    /// Returns the object with this modelled key, whose values are in the key's order; nil when there is none. Where several rows have the key, as after
    /// a create that was refused, it is the one that the server has. Generated classes have
    /// `findByPrimaryKey` with the key's types. SMP 2.3: `findByPrimaryKey:`.
    ///
    ///     let line = try SalesOrderLine.findByPrimaryKey(values: [17, 1], in: crm)  // order and line
    ///     print("\(line?.quantity ?? 0) pieces")
    ///
    /// - Throws: ``ObjectError/Code/invalidValue`` when the number or types of the values differ from the key's.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public static func findByPrimaryKey(values: [AttributeValue], in package: Package) throws -> Self? {
        let context = context(package)
        return try context.first(context.metadata.sql.byPrimaryKey, context.metadata.keyValues(values))
    }

    /// Does the same without blocking a cooperative thread.
    public static func findByPrimaryKey(values: [AttributeValue], in package: Package) async throws -> Self? {
        let context = context(package)
        return try await context.first(context.metadata.sql.byPrimaryKey, context.metadata.keyValues(values))
    }

    /// Returns all objects, in the order of their surrogate keys. Thousands of objects need memory: see
    /// `cursor(pageSize:readsAhead:in:)`. SMP 2.3: `findAll`.
    ///
    ///     for customer in try Customer.findAll(in: crm) {
    ///         print(customer.name)
    ///     }
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public static func findAll(in package: Package) throws -> EntityList<Self> {
        try findAll(skip: 0, take: -1, in: package)
    }

    /// Does the same without blocking a cooperative thread.
    public static func findAll(in package: Package) async throws -> EntityList<Self> {
        try await findAll(skip: 0, take: -1, in: package)
    }

    /// Returns all objects except the first `skip`, at most `take`; a negative `take` means all. SMP 2.3: `findAll:take:`.
    ///
    ///     let second = try Customer.findAll(skip: 2, take: 2, in: crm)  // the second two customers
    ///     print(second.map(\.name))
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public static func findAll(skip: Int, take: Int, in package: Package) throws -> EntityList<Self> {
        EntityList(try context(package).objects(skip: skip, take: take))
    }

    /// Does the same without blocking a cooperative thread.
    public static func findAll(skip: Int, take: Int, in package: Package) async throws -> EntityList<Self> {
        EntityList(try await context(package).objects(skip: skip, take: take))
    }

    /// Returns the next `size` objects after the one with surrogate key `key`, in the order of surrogate keys; from the first one by default. The
    /// last page costs as much as the first one, unlike with skip and take.
    ///
    ///     var page = try Customer.page(size: 100, in: crm)
    ///     while let last = page.last {
    ///         for customer in page { print(customer.name) }
    ///         page = try Customer.page(after: last.surrogateKey, size: 100, in: crm)
    ///     }
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public static func page(after key: Int64 = 0, size: Int = 100, in package: Package) throws -> EntityList<Self> {
        EntityList(try context(package).objects(behind: key, size))
    }

    /// Does the same without blocking a cooperative thread.
    public static func page(after key: Int64 = 0, size: Int = 100, in package: Package) async throws -> EntityList<Self> {
        EntityList(try await context(package).objects(behind: key, size))
    }

    private static func context(_ package: Package) -> EntityContext { EntityContext(package, metadata) }
}

extension EntityMetadata {
    /// Returns the values of a modelled key as bound to a statement.
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
