import MobileStore

// Queries that the model names, for each kind of class.

extension ModelledEntity {
    /// Returns the result of an object query of the model; its generated method names the parameters.
    ///
    ///     let customers = try Customer.query("findByCity", ["Cork"], sortedBy: [.descending("creditLimit")], in: crm)
    ///     for customer in customers { print("\(customer.name): \(customer.creditLimit)") }
    ///
    /// - Parameters:
    ///   - name: the query's modelled name.
    ///   - parameters: in the order of the model.
    ///   - sortedBy: attributes of the objects; none: the query's own order.
    ///   - skip: the number of objects to leave out at the beginning.
    ///   - take: the maximum number of objects to return; a negative number means all.
    ///   - package: the package database.
    /// - Throws: ``ObjectError/Code/noSuchOperation``, ``ObjectError/Code/noSuchParameter``, ``ObjectError/Code/invalidValue``,
    ///   ``ObjectError/Code/invalidQuery``; ``ObjectError/Code/noSuchAttribute`` and ``ObjectError/Code/unsupportedType`` for attributes that cannot
    ///   be sorted by.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public static func query(
        _ name: String, _ parameters: [AttributeValue] = [], sortedBy: [AttributeSort] = [], skip: Int = 0, take: Int = -1, in package: Package
    ) throws -> EntityList<Self> {
        let context = EntityContext(package, metadata)
        let query = try ObjectSQL(name, context)
        return EntityList(try context.objects(query.sql(sortedBy: sortedBy, skip: skip, take: take), query.values(parameters)))
    }

    /// Returns the result of an object query of the model; its generated method names the parameters.
    ///
    ///     let customers = try Customer.query("findByCity", ["Cork"], sortedBy: [.descending("creditLimit")], in: crm)
    ///     for customer in customers { print("\(customer.name): \(customer.creditLimit)") }
    ///
    /// - Parameters:
    ///   - name: the query's modelled name.
    ///   - parameters: in the order of the model.
    ///   - sortedBy: attributes of the objects; none: the query's own order.
    ///   - skip: the number of objects to leave out at the beginning.
    ///   - take: the maximum number of objects to return; a negative number means all.
    ///   - package: the package database.
    /// - Throws: ``ObjectError/Code/noSuchOperation``, ``ObjectError/Code/noSuchParameter``, ``ObjectError/Code/invalidValue``,
    ///   ``ObjectError/Code/invalidQuery``; ``ObjectError/Code/noSuchAttribute`` and ``ObjectError/Code/unsupportedType`` for attributes that cannot
    ///   be sorted by.
    public static func query(
        _ name: String, _ parameters: [AttributeValue] = [], sortedBy: [AttributeSort] = [], skip: Int = 0, take: Int = -1, in package: Package
    ) async throws -> EntityList<Self> {
        let context = EntityContext(package, metadata)
        let query = try ObjectSQL(name, context)
        return EntityList(try await context.objects(query.sql(sortedBy: sortedBy, skip: skip, take: take), query.values(parameters)))
    }
}

extension EntityClass {
    /// Returns the result of an object query of the model, parameters in its order; with the query's own order where `sortedBy` is empty.
    ///
    ///     for customer in try customers.query("findByCity", ["Cork"], sortedBy: [.descending("creditLimit")]) {
    ///         try print(customer.value("name"))
    ///     }
    ///
    /// - Throws: ``ObjectError/Code/noSuchOperation``, ``ObjectError/Code/noSuchParameter``, ``ObjectError/Code/invalidValue``,
    ///   ``ObjectError/Code/invalidQuery``, ``ObjectError/Code/noSuchAttribute``, ``ObjectError/Code/unsupportedType``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func query(
        _ name: String, _ parameters: [AttributeValue] = [], sortedBy: [AttributeSort] = [], skip: Int = 0, take: Int = -1
    ) throws -> EntityList<GenericEntity> {
        let query = try ObjectSQL(name, context)
        return EntityList(try context.objects(query.sql(sortedBy: sortedBy, skip: skip, take: take), query.values(parameters)))
    }

    /// Returns the result of an object query of the model, parameters by their names.
    ///
    ///     for customer in try customers.query("findByCity", ["city": "Cork"], take: 10) {
    ///         try print(customer.value("name"))
    ///     }
    ///
    /// - Throws: as the form above; ``ObjectError/Code/noSuchParameter`` for a name that is not a parameter's, and for a parameter without a value.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func query(
        _ name: String, _ parameters: [String: AttributeValue], sortedBy: [AttributeSort] = [], skip: Int = 0, take: Int = -1
    ) throws -> EntityList<GenericEntity> {
        let query = try ObjectSQL(name, context)
        return EntityList(try context.objects(query.sql(sortedBy: sortedBy, skip: skip, take: take), query.values(query.ordered(parameters))))
    }
}

/// The forms that do not block a cooperative thread.
extension EntityClass {
    /// As the blocking form.
    public nonisolated(nonsending) func query(
        _ name: String, _ parameters: [AttributeValue] = [], sortedBy: [AttributeSort] = [], skip: Int = 0, take: Int = -1
    ) async throws -> EntityList<GenericEntity> {
        let query = try ObjectSQL(name, context)
        return EntityList(try await context.objects(query.sql(sortedBy: sortedBy, skip: skip, take: take), query.values(parameters)))
    }

    /// As the blocking form.
    public nonisolated(nonsending) func query(
        _ name: String, _ parameters: [String: AttributeValue], sortedBy: [AttributeSort] = [], skip: Int = 0, take: Int = -1
    ) async throws -> EntityList<GenericEntity> {
        let query = try ObjectSQL(name, context)
        return EntityList(try await context.objects(query.sql(sortedBy: sortedBy, skip: skip, take: take), query.values(query.ordered(parameters))))
    }
}
