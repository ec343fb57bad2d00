internal import MobileCore

/// A connection on loan from the pool; it is returned when the last owner releases the lease.
@safe final class Lease {
    enum Purpose { case write, read, longRead, pages }

    let database: Database
    let connection: Connection
    private let interruption: Interruption?
    private let handle: OpaquePointer

    init(_ handle: OpaquePointer, of database: Database, interruption: Interruption?) {
        unsafe self.handle = handle
        self.database = database
        self.interruption = interruption
        connection = unsafe Connection(handle, of: database)
    }

    deinit { end() }

    /// Returns the connection to the pool, which makes its statements invalid. Later calls do nothing.
    func end() {
        guard connection.invalidate() else { return }
        unsafe mc_pool_return(database.pool, handle)
    }

    /// Whether no enclosing read or write of this thread holds the connection.
    var isOutermost: Bool { unsafe mc_connection_depth(handle) == 1 }

    func begin() throws(StoreError) {
        try unsafe StoreError.check { unsafe mc_connection_begin(handle, $0) }
    }

    /// Runs `body` in a transaction, or as a part of the thread's running transaction, and returns the connection. When a write within a
    /// write throws, only the inner one is undone. A nested read begins no transaction, and may run without one: an observer's read takes
    /// place after the reported commit.
    func transaction<R>(reads: Bool = false, _ body: (Connection) throws -> R) throws -> R {
        defer { end() }
        guard isOutermost else {
            return reads || !connection.isWriter ? try body(connection) : try connection.savepoint { try body(connection) }
        }
        try begin()
        return try finish(body)
    }

    /// Runs `body` in a transaction that takes no lock before it writes.
    func stage<R>(_ body: (Connection) throws -> R) throws -> R {
        defer { end() }
        guard isOutermost else { throw StoreError(.misuse, "stage: another read or write of this thread is in progress") }
        _ = try connection.execute("BEGIN")
        return try finish(body)
    }

    /// Runs `body` in the transaction that has begun, and commits it.
    private func finish<R>(_ body: (Connection) throws -> R) throws -> R {
        let result: R
        do {
            result = try body(connection)
            connection.takeBack()
        } catch {
            connection.takeBack()
            unsafe mc_connection_rollback(handle)
            throw error
        }
        try unsafe StoreError.check { unsafe mc_connection_commit(handle, $0) }
        let dropsValues = unsafe mc_blob_has_dropped(handle)
        end()
        // A failure here must not fail the commit: a later write that drops values frees the space.
        if dropsValues { _ = try? database.freeRemovedValues() }
        return result
    }
}
