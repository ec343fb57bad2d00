import MobileModel
import MobileStore

/// A class that has `save`: the model has the operations that its plain `create()` and `update()` call, or it is a local object. Other classes are
/// created and updated by their modelled operations.
public protocol SavableEntity: Entity {}

/// A generic object is checked when it is saved.
extension GenericEntity: SavableEntity {}

extension SavableEntity {
    /// Creates the object if it is new, otherwise updates it. Then it saves its new or changed composite children, and theirs, parents before
    /// children, all in one transaction. SMP 2.3: `save`.
    ///
    ///     let order = SalesOrder(in: crm)
    ///     order.orderDate = LocalDate(Date())  // today
    ///     customer.orders.append(order)
    ///     try customer.save()
    ///
    /// A save of an object that is being saved waits for the end of that save, and writes what was changed since. The blocking form throws `.misuse`.
    ///
    /// - Throws: as `create()` and `update()`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func save() throws {
        try requireNoSave("save")
        try requireSavable()
        try writeChanges(cascading: true)
    }

    /// Does the same without blocking a cooperative thread.
    public nonisolated(nonsending) func save() async throws {
        await endOfSave()
        try requireSavable()
        try await writeChanges(cascading: true)
    }
}

extension PackageDatabase {
    /// Saves several objects of any classes in one transaction, each as its `save()` does: all of them are written, or none. Parents precede
    /// their children, and may be new.
    ///
    ///     let shop = Customer(in: crm, name: "Quay Books", street: "Quay 1", city: "Galway", since: LocalDate(Date()))
    ///     let order = SalesOrder(in: crm, orderDate: LocalDate(Date()))  // today
    ///     order.customer = shop
    ///     try crm.save([shop, order])
    ///
    /// - Throws: as `create()` and `update()`; no object is changed then.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func save(_ objects: [any SavableEntity]) throws { try perform(saving(objects), "save \(objects.count) objects") }

    /// Does the same without blocking a cooperative thread.
    public nonisolated(nonsending) final func save(_ objects: [any SavableEntity]) async throws {
        try await perform("save \(objects.count) objects") { try saving(objects) }
    }

    private final func saving(_ objects: [any SavableEntity]) throws -> SaveSession? {
        for object in objects { try object.requireSavable() }
        return try SaveSession(objects, cascading: true, in: self)
    }
}

extension Entity {
    /// Checks that the class has `save`. The compiler checks this for generated classes, but not for generic ones.
    fileprivate final func requireSavable() throws {
        if presence == .deleted { try requireStored("save") }
        guard metadata.model.isSavable else {
            throw ObjectError(
                .noSuchOperation,
                "save of \(metadata.name): the model has not both a create and an update that the attributes fill completely; call the operations by their names"
            )
        }
    }
}
