import MobileModel
import MobileStore

/// One object of the model, by metadata. It has the static methods of a generated class, for code without generated classes.
///
///     let customers = try package.entity("Customer")
///     for customer in try customers.findAll() { print(try customer.value("name")) }
public struct EntityClass: Sendable {
    /// The database of the objects.
    public let package: PackageDatabase
    /// The metadata of the objects.
    public let metadata: EntityMetadata

    /// Returns a new object, not in the database.
    ///
    ///     let customer = customers.newObject()
    ///     try customer.setValue("Quay Books", "name")
    ///     try customer.setValue(.date(LocalDate(Date())), "since")  // today
    ///     try customer.create()
    public func newObject() -> GenericEntity { GenericEntity(context: context) }

    /// Returns the object with this surrogate key; nil when there is none.
    ///
    ///     if let customer = try customers.find(key) {
    ///         try print(customer.value("name"))
    ///     }
    ///
    /// - Throws: ``ObjectError/Code/store``, as all of these methods.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func find(_ surrogateKey: Int64) throws -> GenericEntity? { try context.find(surrogateKey) }

    /// Returns the object with this surrogate key, which must exist.
    ///
    ///     let customer = try customers.load(key)
    ///     try print(customer.value("name"))
    ///
    /// - Throws: ``ObjectError/Code/notFound``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func load(_ surrogateKey: Int64) throws -> GenericEntity { try context.load(surrogateKey) }

    /// Returns the object with this modelled key, whose values are in the key's order; nil when there is none. Where several rows have the key, as after
    /// a create that was refused, it is the one that the server has.
    ///
    ///     let lines = try crm.entity("SalesOrderLine")
    ///     let line = try lines.findByPrimaryKey(17, 1)  // order and line
    ///     try print("\(line?.value("quantity") ?? 0) pieces")
    ///
    /// - Throws: ``ObjectError/Code/invalidValue``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func findByPrimaryKey(_ values: AttributeValue...) throws -> GenericEntity? {
        try context.first(metadata.sql.byPrimaryKey, metadata.keyValues(values))
    }

    /// Returns all objects except the first `skip`, at most `take`; a negative `take`, the default, means all.
    ///
    ///     for customer in try customers.findAll() {
    ///         try print(customer.value("name"))
    ///     }
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func findAll(skip: Int = 0, take: Int = -1) throws -> EntityList<GenericEntity> {
        EntityList(try context.objects(skip: skip, take: take))
    }

    /// Returns the next `size` objects after the one with surrogate key `key`, in the order of surrogate keys.
    ///
    ///     var page = try customers.page(size: 100)
    ///     while let last = page.last {
    ///         for customer in page { try print(customer.value("name")) }
    ///         page = try customers.page(after: last.surrogateKey, size: 100)
    ///     }
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func page(after key: Int64 = 0, size: Int = 100) throws -> EntityList<GenericEntity> {
        EntityList(try context.objects(behind: key, size))
    }

    /// The number of rows.
    public var count: Int {
        get throws {
            let sql = "SELECT count(*) FROM \(metadata.sql.table)"
            return Int(try package.read { try $0.number(sql) })
        }
    }

    var context: EntityContext { EntityContext(package, metadata) }
}

extension PackageDatabase {
    /// Returns the object of the model with this name.
    /// - Throws: ``ObjectError/Code/noSuchClass``.
    public final func entity(_ name: String) throws -> EntityClass {
        EntityClass(package: self, metadata: try metadata.entity(named: name))
    }
}

/// The forms that block no cooperative thread. The rows are read on another thread, the objects stay in the caller's isolation.
extension EntityClass {
    /// Does the same as the blocking form.
    public nonisolated(nonsending) func find(_ surrogateKey: Int64) async throws -> GenericEntity? {
        try await context.find(surrogateKey)
    }

    /// Does the same as the blocking form.
    public nonisolated(nonsending) func load(_ surrogateKey: Int64) async throws -> GenericEntity { try await context.load(surrogateKey) }

    /// Does the same as the blocking form.
    public nonisolated(nonsending) func findByPrimaryKey(_ values: AttributeValue...) async throws -> GenericEntity? {
        try await context.first(metadata.sql.byPrimaryKey, metadata.keyValues(values))
    }

    /// Does the same as the blocking form.
    public nonisolated(nonsending) func findAll(skip: Int = 0, take: Int = -1) async throws -> EntityList<GenericEntity> {
        EntityList(try await context.objects(skip: skip, take: take))
    }

    /// Does the same as the blocking form.
    public nonisolated(nonsending) func page(after key: Int64 = 0, size: Int = 100) async throws -> EntityList<GenericEntity> {
        EntityList(try await context.objects(behind: key, size))
    }
}
