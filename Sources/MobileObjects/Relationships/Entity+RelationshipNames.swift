/// Access to relationships by their modelled names. SMP 2.3: the object manager.
extension Entity {
    /// Returns the list of the to-many relationship with this modelled name.
    ///
    ///     let orders: Children<SalesOrder> = try customer.children("orders")
    ///     for order in orders { print("\(order.orderDate): \(order.total)") }
    ///
    /// - Throws: ``ObjectError/Code/noSuchRelationship``; ``ObjectError/Code/misuse`` for a relationship to a single object, and where its objects
    ///   are of another class: those of a ``GenericEntity`` are generic, those of a generated class are of generated classes.
    public final func children<T: Entity>(_ name: String) throws -> Children<T> {
        let relationship = try relationship(name, to: T.self)
        guard relationship.isMany else { throw ObjectError(.misuse, "\(metadata.name).\(name): it leads to one object, not to a list") }
        return children(relationship.index)
    }

    /// Returns the object at the one end of the relationship with this modelled name; nil where there is none.
    ///
    ///     let buyer: Customer? = try order.parent("customer")
    ///     print(buyer?.name ?? "no customer")
    ///
    /// - Throws: ``ObjectError/Code/noSuchRelationship``, ``ObjectError/Code/store``; ``ObjectError/Code/misuse`` for a relationship to a list, and
    ///   as `children(_:)`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func parent<T: Entity>(_ name: String) throws -> T? { try parentObject(singleRelationship(name, to: T.self)) }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) final func parent<T: Entity>(_ name: String) async throws -> T? {
        let index = try singleRelationship(name, to: T.self)
        try await read(index)
        return try parentObject(index)
    }

    /// Sets or clears the object at the one end of the relationship with this modelled name.
    ///
    ///     let mill = try Customer.findByName(name: "Mill & Sons", in: crm)
    ///     try order.setParent(mill, "customer")
    ///     try order.save()
    ///
    /// - Throws: as `parent(_:)`.
    public final func setParent<T: Entity>(_ parent: T?, _ name: String) throws { setParent(parent, try singleRelationship(name, to: T.self)) }

    private final func singleRelationship(_ name: String, to type: Entity.Type) throws -> Int {
        let relationship = try relationship(name, to: type)
        guard !relationship.isMany else { throw ObjectError(.misuse, "\(metadata.name).\(name): it leads to a list, not to one object") }
        return relationship.index
    }

    private final func relationship(_ name: String, to type: Entity.Type) throws -> RelationshipMetadata {
        let relationship = try metadata.relationship(named: name)
        let expected = self is GenericEntity ? GenericEntity.self : package.objectClass(of: package.metadata.entities[relationship.targetIndex])
        guard type == expected else { throw ObjectError(.misuse, "\(metadata.name).\(name): its objects are of class \(expected), not \(type)") }
        return relationship
    }
}
