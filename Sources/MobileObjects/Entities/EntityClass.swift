import MobileModel
import MobileStore

/// One object of the model as a whole, by metadata: what the static methods of a generated class do, for code that has no generated class.
///
///     let customers = try package.entity("Customer")
///     for customer in try customers.findAll() { print(try customer.value("name")) }
public struct EntityClass: Sendable {
    /// Where the objects are.
    public let package: PackageDatabase
    /// What is known about them.
    public let metadata: EntityMetadata

    /// A new object, not in the database.
    ///
    ///     let customer = customers.newObject()
    ///     try customer.setValue("Quay Books", "name")
    ///     try customer.setValue(.date(LocalDate(Date())), "since")  // today
    ///     try customer.create()
    public func newObject() -> GenericEntity { GenericEntity(context: context) }

    /// The object with this surrogate key; nil when there is none.
    ///
    ///     if let customer = try customers.find(key) {
    ///         try print(customer.value("name"))
    ///     }
    ///
    /// - Throws: ``ObjectError/Code/store``, as all of these.
    public func find(_ surrogateKey: Int64) throws -> GenericEntity? { try context.find(surrogateKey) }

    /// The object with this surrogate key, which must exist.
    ///
    ///     let customer = try customers.load(key)
    ///     try print(customer.value("name"))
    ///
    /// - Throws: ``ObjectError/Code/notFound``.
    public func load(_ surrogateKey: Int64) throws -> GenericEntity { try context.load(surrogateKey) }

    /// The first object with this modelled key, its values in the key's order; nil when there is none.
    ///
    ///     let lines = try crm.entity("SalesOrderLine")
    ///     let line = try lines.findByPrimaryKey(17, 1)  // order and line
    ///     try print("\(line?.value("quantity") ?? 0) pieces")
    ///
    /// - Throws: ``ObjectError/Code/invalidValue``.
    public func findByPrimaryKey(_ values: AttributeValue...) throws -> GenericEntity? {
        try context.first(metadata.sql.byPrimaryKey, metadata.keyValues(values))
    }

    /// All objects but the first `skip`, and not more than `take`; a negative `take`, the default, means all.
    ///
    ///     for customer in try customers.findAll() {
    ///         try print(customer.value("name"))
    ///     }
    public func findAll(skip: Int = 0, take: Int = -1) throws -> EntityList<GenericEntity> {
        EntityList(try context.objects(skip: skip, take: take))
    }

    /// The next `size` objects after the one with surrogate key `key`, in the order of surrogate keys.
    ///
    ///     var page = try customers.page(size: 100)
    ///     while let last = page.last {
    ///         for customer in page { try print(customer.value("name")) }
    ///         page = try customers.page(after: last.surrogateKey, size: 100)
    ///     }
    public func page(after key: Int64 = 0, size: Int = 100) throws -> EntityList<GenericEntity> {
        EntityList(try context.objects(behind: key, size))
    }

    /// The result of an object query of the model, parameters in its order; sorted as the query says where `sortedBy` is empty.
    ///
    ///     for customer in try customers.query("findByCity", ["Cork"], sortedBy: [.descending("creditLimit")]) {
    ///         try print(customer.value("name"))
    ///     }
    ///
    /// - Throws: ``ObjectError/Code/noSuchOperation``, ``ObjectError/Code/noSuchParameter``, ``ObjectError/Code/invalidValue``,
    ///   ``ObjectError/Code/invalidQuery``, ``ObjectError/Code/noSuchAttribute``, ``ObjectError/Code/unsupportedType``.
    public func query(
        _ name: String, _ parameters: [AttributeValue] = [], sortedBy: [AttributeSort] = [], skip: Int = 0, take: Int = -1
    ) throws -> EntityList<GenericEntity> {
        let query = try ObjectSQL(name, context)
        return EntityList(try context.objects(query.sql(sortedBy: sortedBy, skip: skip, take: take), query.values(parameters)))
    }

    /// The result of an object query of the model, parameters by their names.
    ///
    ///     for customer in try customers.query("findByCity", ["city": "Cork"], take: 10) {
    ///         try print(customer.value("name"))
    ///     }
    ///
    /// - Throws: as the form above; ``ObjectError/Code/noSuchParameter`` for a name that is no parameter's, and for a parameter without a value.
    public func query(
        _ name: String, _ parameters: [String: AttributeValue], sortedBy: [AttributeSort] = [], skip: Int = 0, take: Int = -1
    ) throws -> EntityList<GenericEntity> {
        let query = try ObjectSQL(name, context)
        return EntityList(try context.objects(query.sql(sortedBy: sortedBy, skip: skip, take: take), query.values(query.ordered(parameters))))
    }

    /// Calls an operation that is no create, update or delete by its name, with parameters by theirs: the object of the operation is saved and
    /// returned, to be submitted. Those that change a row are called on its object, by the `call` of ``Entity``.
    ///
    ///     let raise = try customers.call("raiseCreditLimit", ["customerId": 101, "amount": .decimal(250)])
    ///     try raise.submitPending()
    ///
    /// - Throws: ``ObjectError/Code/noSuchOperation``, ``ObjectError/Code/noSuchParameter``, ``ObjectError/Code/invalidValue``,
    ///   ``ObjectError/Code/misuse`` for an operation that changes a row.
    @discardableResult
    public func call(_ operation: String, _ parameters: [String: AttributeValue] = [:]) throws -> Entity {
        try callable(operation).call(operation, parameters)
    }

    /// An object to call an operation on that needs none.
    func callable(_ operation: String) throws -> GenericEntity {
        guard try metadata.operation(named: operation).kind == .other else {
            throw ObjectError(.misuse, "\(operation) of \(metadata.name): it changes a row; call it on an object")
        }
        return newObject()
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
    /// The object of the model with this name.
    /// - Throws: ``ObjectError/Code/noSuchClass``.
    public final func entity(_ name: String) throws -> EntityClass {
        EntityClass(package: self, metadata: try metadata.entity(named: name))
    }
}
