internal import MobileCore

extension Database {
    /// Runs `body` on the writing connection without the file's write lock: it reads one snapshot, which begins with its first read, and fills
    /// temporary tables, which stay until the connection is closed. So a long preparation keeps no other connection of the file from writing; those of
    /// this object wait.
    ///
    /// A change of the file's own tables would take the lock for the rest of the body, or fail because another connection has written meanwhile.
    /// - Throws: as ``write(timeout:label:interruption:_:)``; ``StoreError`` `.misuse` inside of another read or write of this thread.
    package func stage<R>(timeout: Duration? = nil, label: String = "", _ body: (Connection) throws -> R) throws -> R {
        try lease(.write, timeout: timeout, label: label, interruption: nil).stage(body)
    }
}
