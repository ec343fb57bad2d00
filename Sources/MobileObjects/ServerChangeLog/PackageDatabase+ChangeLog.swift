import MobileStore

/// The change log of the package: off until it is enabled, and remembered by the database.
///
///     try crm.enableChangeLog()
///     try await crm.synchronize()
///     for change in try crm.takeChangeLogs() where change.entityType == Customer.entityType { list.reload(change.surrogateKey) }
extension PackageDatabase {
    /// Writes the server's changes into the change log, from the next synchronization on. SMP 2.3: `enableChangeLog`.
    /// - Throws: ``ObjectError/Code/store``, as all of these methods.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func enableChangeLog() throws { try write("enable the change log") { try $0.setLogsChanges(true) } }

    /// The same without blocking a cooperative thread.
    public final func enableChangeLog() async throws { try await write("enable the change log") { try $0.setLogsChanges(true) } }

    /// Stops writing the change log, which saves time; its entries stay. SMP 2.3: `disableChangeLog`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func disableChangeLog() throws { try write("disable the change log") { try $0.setLogsChanges(false) } }

    /// The same without blocking a cooperative thread.
    public final func disableChangeLog() async throws { try await write("disable the change log") { try $0.setLogsChanges(false) } }

    /// Whether the change log is written; false in a new database.
    public final var isChangeLogEnabled: Bool {
        get throws { try read { try PackageSettings($0).integer(.changeLog) == 1 } }
    }

    /// Returns the entries that a query finds, all by default. Without another order they are in the order of the objects in the model and of their
    /// surrogate keys. The query's conditions and order name the attributes `entityType`, `entity`, `surrogateKey`, `operationType` (`U` or `D`),
    /// `rootEntityType`, `rootEntity` and `rootSurrogateKey`. SMP 2.3: `getChangeLogs:`.
    /// - Throws: ``ObjectError``: `.noSuchAttribute`, `.invalidValue`, `.invalidQuery` (one that selects, joins or groups), `.store`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func changeLogs(_ query: Query = Query()) throws -> [ChangeLog] {
        // The entries that a running transaction has noted are part of it.
        if let running = TransactionScope.transaction(of: self) { return try ObjectError.gate { try running.changeLogs(query) } }
        return try read { try $0.changeLogs(query, self.metadata) }
    }

    /// The same without blocking a cooperative thread.
    public final func changeLogs(_ query: Query = Query()) async throws -> [ChangeLog] {
        try await read { try $0.changeLogs(query, self.metadata) }
    }

    /// Empties the log, including entries that a synchronization has added since it was last read: call it where no synchronization can run, such as
    /// in `onSynchronize`, or use `takeChangeLogs(_:)`. SMP 2.3: `deleteChangeLogs`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func deleteChangeLogs() throws { try write("delete change logs") { try $0.deleteChangeLogs() } }

    /// The same without blocking a cooperative thread.
    public final func deleteChangeLogs() async throws { try await write("delete change logs") { try $0.deleteChangeLogs() } }

    /// Reads the entries that a query finds and deletes these and no others, in one transaction: entries that a synchronization adds meanwhile remain
    /// for the next call. Inside of a `transaction(_:)` the deletion is committed with the changes that the caller makes for the entries.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func takeChangeLogs(_ query: Query = Query()) throws -> [ChangeLog] {
        try write("take change logs") { try $0.takeChangeLogs(query) }
    }

    /// The same without blocking a cooperative thread.
    public final func takeChangeLogs(_ query: Query = Query()) async throws -> [ChangeLog] {
        try await write("take change logs") { try $0.takeChangeLogs(query) }
    }
}
