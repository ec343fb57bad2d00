internal import MobilePostgreSQL

/// The address and the key with which a connection's statements can be cancelled. Any thread may use it, also at the same time: libpq only reads it.
@safe final class CancelHandle: @unchecked Sendable {
    private let handle: OpaquePointer

    init(_ handle: OpaquePointer) { unsafe self.handle = handle }

    deinit { unsafe PQfreeCancel(handle) }

    /// Sends the request on a connection of its own, and waits without a limit until the server has passed it on.
    /// - Throws: `.connectionFailed`: the request did not reach the server.
    func cancel() throws(PostgreSQLError) {
        let refusal = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer -> String? in
            unsafe PQcancel(handle, buffer.baseAddress, Int32(buffer.count)) == 1 ? nil : unsafe String(cString: buffer.baseAddress!)
        }
        if let refusal { throw PostgreSQLError(.connectionFailed, "a request to cancel did not reach the server: \(refusal.oneLine)") }
    }
}
