import MobileStore

extension PackageDatabase {
    /// Returns whether changes or operations wait for the server: pending changes, or submitted operations without an answer. SMP 2.3:
    /// `hasPendingOperations`.
    /// - Throws: ``ObjectError/Code/store``, as all of these methods.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func hasPendingOperations() throws -> Bool {
        let sql = pendingTest
        return try read { try $0.first(sql) != nil }
    }

    /// The same without blocking a cooperative thread.
    public final func hasPendingOperations() async throws -> Bool {
        let sql = pendingTest
        return try await read { try $0.first(sql) != nil }
    }

    /// Submits every pending change of the package, in the order in which rows were changed first. Rows that were created here go before the rows
    /// that refer to them, deleted rows after the rows that referred to them. The next synchronization sends them. For a single object, the object's
    /// own method is cheaper. SMP 2.3: `submitPendingOperations` of the database class.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func submitPendingOperations() throws { try submit(metadata.storedEntities) }

    /// The same without blocking a cooperative thread.
    public final func submitPendingOperations() async throws { try await submit(metadata.storedEntities) }

    /// Submits the pending changes of the objects of a synchronization group, with rows of others that they need. SMP 2.3:
    /// `submitPendingOperations:`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func submitPendingOperations(group: String) throws { try submit(metadata.storedEntities(inGroup: group)) }

    /// The same without blocking a cooperative thread.
    public final func submitPendingOperations(group: String) async throws { try await submit(metadata.storedEntities(inGroup: group)) }

    /// Submits the pending changes of one object of the model, with the trees that they belong to and the rows created here that they refer to. SMP
    /// 2.3: `submitPendingOperations` of the MBO class.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func submitPendingOperations(of entity: EntityMetadata) throws { try submit([entity]) }

    /// The same without blocking a cooperative thread.
    public final func submitPendingOperations(of entity: EntityMetadata) async throws { try await submit([entity]) }

    /// Cancels every change of the package that was not submitted. An operation that waits for an answer stays as it was submitted, also below a
    /// parent whose change is cancelled. Only a create that vanishes removes all of its children as well. SMP 2.3: `cancelPendingOperations` of the
    /// database class.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func cancelPendingOperations() throws { try cancel(metadata.storedEntities, unsubmittedOnly: true) }

    /// The same without blocking a cooperative thread.
    public final func cancelPendingOperations() async throws { try await cancel(metadata.storedEntities, unsubmittedOnly: true) }

    /// Cancels every pending change of one object of the model. SMP 2.3: `cancelPendingOperations` of the MBO class.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func cancelPendingOperations(of entity: EntityMetadata) throws { try cancel([entity], unsubmittedOnly: false) }

    /// The same without blocking a cooperative thread.
    public final func cancelPendingOperations(of entity: EntityMetadata) async throws { try await cancel([entity], unsubmittedOnly: false) }

    /// Cancels the pending changes of these objects, all in one transaction. SMP 2.3: `cancelPendingObjects`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func cancelPendingObjects(_ objects: some Sequence<Entity>) throws {
        try transaction { for object in objects { try object.cancelPending() } }
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) final func cancelPendingObjects(_ objects: some Sequence<Entity>) async throws {
        let objects = Array(objects), prepared = try objects.map { try $0.preparePending("cancel") }
        let pages = try await write("cancel pending objects", measured: .cancelPending) { transaction in
            try prepared.map { try transaction.cancel($0.0, $0.1) }
        }
        for (object, page) in zip(objects, pages) { try object.applyCancelled(page) }
    }

    /// Whether changes or operations wait, as a transaction sees it.
    final func hasPendingOperations(_ connection: Connection) throws -> Bool { try connection.first(pendingTest) != nil }

    private final var pendingTest: String {
        let tables = metadata.storedEntities.filter { !$0.isLocal }.map(\.sql.originalTable) + ["\"_outbox\""]
        return "SELECT 1 WHERE " + tables.map { "EXISTS (SELECT 1 FROM \($0))" }.joined(separator: " OR ")
    }

    private final func submit(_ entities: [EntityMetadata]) throws {
        try write("submit pending operations", measured: .submitPending) { try $0.submitAll(entities) }
    }

    private final func submit(_ entities: [EntityMetadata]) async throws {
        try await write("submit pending operations", measured: .submitPending) { try $0.submitAll(entities) }
    }

    private final func cancel(_ entities: [EntityMetadata], unsubmittedOnly: Bool) throws {
        try write("cancel pending operations", measured: .cancelPending) { transaction in
            for entity in entities { try unsubmittedOnly ? transaction.cancelUnsubmitted(entity) : transaction.cancelAll(entity) }
        }
    }

    private final func cancel(_ entities: [EntityMetadata], unsubmittedOnly: Bool) async throws {
        try await write("cancel pending operations", measured: .cancelPending) { transaction in
            for entity in entities { try unsubmittedOnly ? transaction.cancelUnsubmitted(entity) : transaction.cancelAll(entity) }
        }
    }
}

extension ModelledEntity {
    /// Submits every pending change of the class. SMP 2.3: `submitPendingOperations`.
    ///
    ///     try Customer.submitPendingOperations(in: crm)
    ///     try print(crm.hasPendingOperations())  // true until the server has answered
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public static func submitPendingOperations(in package: Package) throws { try package.submitPendingOperations(of: metadata) }

    /// The same without blocking a cooperative thread.
    public static func submitPendingOperations(in package: Package) async throws { try await package.submitPendingOperations(of: metadata) }

    /// Cancels every pending change of the class. SMP 2.3: `cancelPendingOperations`.
    ///
    ///     try Customer.cancelPendingOperations(in: crm)
    ///     try customer.refresh()  // objects in memory are as they were
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public static func cancelPendingOperations(in package: Package) throws { try package.cancelPendingOperations(of: metadata) }

    /// The same without blocking a cooperative thread.
    public static func cancelPendingOperations(in package: Package) async throws { try await package.cancelPendingOperations(of: metadata) }
}
