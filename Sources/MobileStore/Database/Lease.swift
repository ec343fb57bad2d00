internal import MobileCore

/// One connection on loan from the pool: goes back when the last owner lets go of it.
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

    /// Gives the connection back, whose statements are then worth nothing. Once only: later calls do nothing.
    func end() {
        guard connection.invalidate() else { return }
        unsafe mc_pool_return(database.pool, handle)
    }

    /// Whether this thread holds the connection no further out.
    var isOutermost: Bool { unsafe mc_connection_depth(handle) == 1 }

    func begin() throws(StoreError) {
        try unsafe StoreError.check { unsafe mc_connection_begin(handle, $0) }
    }

    /// Runs `body` in a transaction, or in a part of the one that this thread is in already, and gives the connection back. A write within
    /// a write is undone alone when it throws. A read within anything needs nothing of its own: an observer reads behind the commit
    /// that it is told of, where there is no transaction.
    func transaction<R>(reads: Bool = false, _ body: (Connection) throws -> R) throws -> R {
        defer { end() }
        guard isOutermost else {
            return reads || !connection.isWriter ? try body(connection) : try connection.savepoint { try body(connection) }
        }
        try begin()
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
        // Committed is committed: space that cannot be freed now is freed by a later write that drops values, or at open.
        if dropsValues { _ = try? database.freeRemovedValues() }
        return result
    }
}
