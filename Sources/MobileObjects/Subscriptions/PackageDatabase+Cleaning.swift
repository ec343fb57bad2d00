import MobileStore

extension PackageDatabase {
    /// Empties the client data of the package and leaves it unsubscribed. SMP 2.3: `cleanAllData`.
    /// - Throws: ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func cleanAllData() throws { try write("clean all data") { try $0.cleanAllData() } }

    /// The same without blocking a cooperative thread.
    public final func cleanAllData() async throws { try await write("clean all data") { try $0.cleanAllData() } }
}

extension Transaction {
    /// Empties the client data of the package: rows, pending changes, outbox, logs, tokens; the package is unsubscribed then. Keys, settings,
    /// personalization and local objects stay. SMP 2.3: `cleanAllData`.
    package func cleanAllData() throws {
        try keepCounter()
        for entity in metadata.storedEntities where !entity.isLocal {
            try connection.execute("DELETE FROM \(entity.sql.table)")
            try connection.execute("DELETE FROM \(entity.sql.originalTable)")
        }
        for table in ["_outbox", "_outbox_large", "_accepted", "_basis", "_unconfirmed", "_log_record", "_change_log", "_group", "_subscription"] {
            try connection.execute("DELETE FROM \(EntitySQL.quote(table))")
        }
        try PackageSettings(connection).forgetStaleRows()
        try setSubscribed(false)
        sweepsLargeValues = true
    }
}
