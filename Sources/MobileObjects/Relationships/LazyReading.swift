import MobileStore

/// Relatives that are read on access to a property: `customer.orders`, `order.customer`. A property cannot throw, so a failed read finds
/// nothing. The failure is remembered: handlers are notified, and the next save, delete or submit of the object throws. So a decision that
/// was made without the relatives does not reach the server unnoticed. Callers that need the error at once call `load` or `fetchCount`.
extension Entity {
    /// Returns the result of `read`; nil where it fails.
    final func readLazily<R>(_ index: Int, _ read: () throws -> R) -> R? {
        do { return try read() } catch {
            noteReadFailure(error as? ObjectError ?? ObjectError(.store, "\(error)", cause: error), of: index)
            return nil
        }
    }

    private final func noteReadFailure(_ error: ObjectError, of index: Int) {
        let isKnown = attached.readFailures[index] != nil
        attached.readFailures[index] = error
        // A loop over an index fails at each step, but is reported once.
        guard !isKnown else { return }
        let name = metadata.relationships[index].name
        package.notify(metadata, entityFirst: true) { $0.onReadFailure(self, relationship: name, error) }
    }

    /// Throws a failed read of relatives before the object is saved, alone or with its owner, deleted or submitted.
    /// - Throws: the failure since the last call, once.
    final func throwReadFailure() throws {
        guard let (index, error) = attachments?.readFailures.min(by: { $0.key < $1.key }) else { return }
        attachments?.readFailures = [:]
        throw ObjectError(
            error.code,
            "\(metadata.name) \(surrogateKey): its \(metadata.relationships[index].name) could not be read before it was changed; look again, then repeat: \(error.message)",
            cause: error)
    }

    /// Returns the relationship of a property of this object. The property is called in a mode in which it reads nothing.
    fileprivate final func relationship(behind property: () -> Void) -> Int? {
        let attached = attached
        attached.asked = .some(nil)
        defer { attached.asked = nil }
        property()
        return attached.asked ?? nil
    }

    /// Reads the relatives of this object in one relationship, unless they were read before.
    nonisolated(nonsending) final func read(_ index: Int) async throws {
        let relationship = metadata.relationships[index]
        if knownParent(index) == nil, let key = keyToFind(relationship) {
            let target = context.target(of: relationship), select = target.metadata.sql.byPrimaryKey
            let type = self is GenericEntity ? GenericEntity.self : package.objectClass(of: target.metadata)
            let page = try await package.read { try $0.page(select, key, size: 1) }
            // The object may have got another relative during the read.
            if knownParent(index) == nil, keyToFind(relationship) == key {
                _ = takeFound(page.isEmpty ? nil : try target.object(page[0], as: type), index)
            }
            attachments?.readFailures[index] = nil
            return
        }
        try await Prefetch([RelationshipPath(steps: [index])], for: [self], context)?.read()
        attachments?.readFailures[index] = nil
    }

    fileprivate final func noRelationship() -> ObjectError {
        ObjectError(.noSuchRelationship, "load of \(metadata.name): the property is none of its relationships")
    }
}

extension ModelledEntity {
    /// Returns the object at the one end of a relationship, read without blocking a cooperative thread and kept for the property; nil where
    /// there is none.
    ///
    ///     let buyer = try await order.load(\.customer)
    ///     print(buyer?.name ?? "no customer")
    ///
    /// - Throws: ``ObjectError``: `.store`; `.noSuchRelationship` for a property that is not a relationship.
    public nonisolated(nonsending) func load<Target: Entity>(_ property: KeyPath<Self, Target?>) async throws -> Target? {
        guard let index = relationship(behind: { _ = self[keyPath: property] }) else { throw noRelationship() }
        try await read(index)
        return try parentObject(index)
    }

    /// Returns the objects at the many end of a relationship, read without blocking a cooperative thread and kept for the property.
    ///
    ///     for order in try await customer.load(\.orders) {
    ///         print("\(order.orderDate): \(order.total)")
    ///     }
    ///
    /// - Throws: ``ObjectError``: `.store`; `.misuse` for a list that belongs to another object.
    @discardableResult
    public nonisolated(nonsending) func load<Target: Entity>(_ property: KeyPath<Self, Children<Target>>) async throws -> EntityList<Target> {
        let children = self[keyPath: property]
        guard let (owner, _) = children.relationship, owner === self else {
            throw ObjectError(.misuse, "load of \(metadata.name): the list belongs to no relationship of the object")
        }
        return try await children.all()
    }
}
