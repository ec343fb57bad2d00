internal import MobileCore

/// The core's handle of one value of an ordinary table. It is released at the end of its connection's closure.
@safe final class ColumnValueHandle {
    private(set) var handle: OpaquePointer?

    init(
        _ connection: Connection,
        opening open: (OpaquePointer, UnsafeMutablePointer<OpaquePointer?>, UnsafeMutablePointer<mc_error>) -> mc_status
    ) throws(StoreError) {
        let sqlite = unsafe mc_connection_sqlite(try connection.core())
        var handle: OpaquePointer?
        try unsafe StoreError.check { unsafe open(sqlite, &handle, $0) }
        unsafe self.handle = handle
        connection.lend(to: self)
    }

    deinit { connectionEnds() }

    /// Returns the core's handle.
    /// - Throws: ``StoreError/Code/misuse`` outside of the connection's closure.
    func open() throws(StoreError) -> OpaquePointer {
        guard let handle = unsafe handle else {
            throw StoreError(.misuse, "a value was read or written after the closure that its connection was given to")
        }
        return unsafe handle
    }
}

extension ColumnValueHandle: ConnectionBorrower {
    func connectionEnds() {
        unsafe mc_column_value_free(handle)
        unsafe handle = nil
    }
}
