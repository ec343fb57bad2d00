import MobileStore

extension PackageDatabase {
    /// Returns whether changes or operations wait for the server: pending changes, or submitted operations without an answer. SMP 2.3:
    /// `hasPendingOperations`.
    /// - Throws: ``ObjectError/Code/store``.
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
    ///
    ///     try await crm.submitPendingOperations { progress in
    ///         print("\(progress.done) of \(progress.total)")
    ///     }
    ///
    /// The rows are submitted in portions of about 1,000, each in a transaction of its own with whole trees, so that others can write in between. Up
    /// to 1,000 rows, and inside of a transaction, it is one portion.
    /// - Parameter onProgress: called after each portion, on the thread of the call or, in async code, on any.
    /// - Throws: ``ObjectError``: `.cancelled` where the task is cancelled between two portions (those before stay submitted), `.store`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func submitPendingOperations(onProgress: ((PendingProgress) -> Void)? = nil) throws {
        try perform(.submit, metadata.storedEntities, onProgress)
    }

    /// The same without blocking a cooperative thread.
    public final func submitPendingOperations(onProgress: (@Sendable (PendingProgress) -> Void)? = nil) async throws {
        try await perform(.submit, metadata.storedEntities, onProgress)
    }

    /// Submits the pending changes of the objects of a synchronization group, with rows of others that they need. SMP 2.3:
    /// `submitPendingOperations:`.
    /// - Throws: as ``submitPendingOperations(onProgress:)``, in whose portions it works.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func submitPendingOperations(group: String, onProgress: ((PendingProgress) -> Void)? = nil) throws {
        try perform(.submit, metadata.storedEntities(inGroup: group), onProgress)
    }

    /// The same without blocking a cooperative thread.
    public final func submitPendingOperations(group: String, onProgress: (@Sendable (PendingProgress) -> Void)? = nil) async throws {
        try await perform(.submit, metadata.storedEntities(inGroup: group), onProgress)
    }

    /// Submits the pending changes of one object of the model, with the trees that they belong to and the rows created here that they refer to. SMP
    /// 2.3: `submitPendingOperations` of the MBO class.
    /// - Throws: as ``submitPendingOperations(onProgress:)``, in whose portions it works.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func submitPendingOperations(of entity: EntityMetadata, onProgress: ((PendingProgress) -> Void)? = nil) throws {
        try perform(.submit, [entity], onProgress)
    }

    /// The same without blocking a cooperative thread.
    public final func submitPendingOperations(of entity: EntityMetadata, onProgress: (@Sendable (PendingProgress) -> Void)? = nil) async throws {
        try await perform(.submit, [entity], onProgress)
    }

    /// Cancels every change of the package that was not submitted. An operation that waits for an answer stays as it was submitted, also below a
    /// parent whose change is cancelled. Only a create that vanishes removes all of its children as well. SMP 2.3: `cancelPendingOperations` of the
    /// database class.
    ///
    /// The rows are cancelled in portions of 1,000, as ``submitPendingOperations(onProgress:)`` submits them. A change that begins after the call stays.
    /// - Parameter onProgress: called after each portion, on the thread of the call or, in async code, on any.
    /// - Throws: ``ObjectError``: `.cancelled` where the task is cancelled between two portions (those before stay cancelled), `.store`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func cancelPendingOperations(onProgress: ((PendingProgress) -> Void)? = nil) throws {
        try perform(.cancelUnsubmitted, metadata.storedEntities, onProgress)
    }

    /// The same without blocking a cooperative thread.
    public final func cancelPendingOperations(onProgress: (@Sendable (PendingProgress) -> Void)? = nil) async throws {
        try await perform(.cancelUnsubmitted, metadata.storedEntities, onProgress)
    }

    /// Cancels every pending change of one object of the model. SMP 2.3: `cancelPendingOperations` of the MBO class.
    /// - Throws: as ``cancelPendingOperations(onProgress:)``, in whose portions it works.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func cancelPendingOperations(of entity: EntityMetadata, onProgress: ((PendingProgress) -> Void)? = nil) throws {
        try perform(.cancelAll, [entity], onProgress)
    }

    /// The same without blocking a cooperative thread.
    public final func cancelPendingOperations(of entity: EntityMetadata, onProgress: (@Sendable (PendingProgress) -> Void)? = nil) async throws {
        try await perform(.cancelAll, [entity], onProgress)
    }

    /// Cancels the pending changes of these objects, all in one transaction. SMP 2.3: `cancelPendingObjects`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func cancelPendingObjects(_ objects: some Sequence<Entity>) throws {
        try transaction { for object in objects { try object.cancelPending() } }
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) final func cancelPendingObjects(_ objects: some Sequence<Entity>) async throws {
        let objects = Array(objects)
        for object in objects { await object.endOfSave() }
        let prepared = try objects.map { try $0.preparePending("cancel") }
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
}

extension ModelledEntity {
    /// Submits every pending change of the class. SMP 2.3: `submitPendingOperations`.
    ///
    ///     try Customer.submitPendingOperations(in: crm)
    ///     try print(crm.hasPendingOperations())  // true until the server has answered
    ///
    /// - Throws: as ``PackageDatabase/submitPendingOperations(onProgress:)``, in whose portions it works.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public static func submitPendingOperations(in package: Package, onProgress: ((PendingProgress) -> Void)? = nil) throws {
        try package.submitPendingOperations(of: metadata, onProgress: onProgress)
    }

    /// The same without blocking a cooperative thread.
    public static func submitPendingOperations(in package: Package, onProgress: (@Sendable (PendingProgress) -> Void)? = nil) async throws {
        try await package.submitPendingOperations(of: metadata, onProgress: onProgress)
    }

    /// Cancels every pending change of the class. SMP 2.3: `cancelPendingOperations`.
    ///
    ///     try Customer.cancelPendingOperations(in: crm)
    ///     try customer.refresh()  // objects in memory are as they were
    ///
    /// - Throws: as ``PackageDatabase/cancelPendingOperations(onProgress:)``, in whose portions it works.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public static func cancelPendingOperations(in package: Package, onProgress: ((PendingProgress) -> Void)? = nil) throws {
        try package.cancelPendingOperations(of: metadata, onProgress: onProgress)
    }

    /// The same without blocking a cooperative thread.
    public static func cancelPendingOperations(in package: Package, onProgress: (@Sendable (PendingProgress) -> Void)? = nil) async throws {
        try await package.cancelPendingOperations(of: metadata, onProgress: onProgress)
    }
}
