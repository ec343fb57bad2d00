internal import MobileExecution

/// The streams' methods for `async` code. They run on the database's own threads, because waiting for a file or for the writer must
/// not block a cooperative thread. Like the blocking methods, they allow one call at a time on each stream.
extension LargeValueStream {
    /// Runs `work` on one of the database's threads.
    fileprivate nonisolated(nonsending) final func elsewhere<R: Sendable>(_ work: @escaping () throws -> R) async throws -> R {
        let errand = Errand(run: work)
        return try await database.queue.run { try errand.run() }
    }

    /// Does the same as the blocking `openForRead()`, on one of the database's threads.
    public nonisolated(nonsending) final func openForRead() async throws { try await elsewhere { try self.openForRead() } }

    /// Does the same as the blocking `openForWrite(_:)`, on one of the database's threads.
    public nonisolated(nonsending) final func openForWrite(_ newLength: Int64 = 0) async throws {
        try await elsewhere { try self.openForWrite(newLength) }
    }

    /// Does the same as the blocking `flush()`, on one of the database's threads.
    public nonisolated(nonsending) final func flush() async throws { try await elsewhere { try self.flush() } }

    /// Does the same as the blocking `close()`, on one of the database's threads.
    public nonisolated(nonsending) final func close() async throws { try await elsewhere { try self.close() } }

    /// Does the same as the blocking `seek(_:)`, on one of the database's threads.
    public nonisolated(nonsending) final func seek(_ position: Int64) async throws { try await elsewhere { try self.seek(position) } }

    /// Does the same as the blocking `remove()`, on one of the database's threads.
    public nonisolated(nonsending) final func remove() async throws { try await elsewhere { try self.remove() } }

    /// Does the same as the blocking `copyFromFile(_:)`, on one of the database's threads.
    public nonisolated(nonsending) final func copyFromFile(_ path: String) async throws { try await elsewhere { try self.copyFromFile(path) } }

    /// Does the same as the blocking `copyToFile(_:)`, on one of the database's threads.
    public nonisolated(nonsending) final func copyToFile(_ path: String) async throws { try await elsewhere { try self.copyToFile(path) } }
}

/// A call for another thread. This is safe because the caller, the stream's only user, waits for its end.
private struct Errand<R>: @unchecked Sendable {
    let run: () throws -> R
}

extension BigBinary {
    /// Does the same as the blocking `read(_:)`, on one of the database's threads.
    public nonisolated(nonsending) func read(_ length: Int) async throws -> [UInt8]? { try await elsewhere { try self.read(length) } }

    /// Does the same as the blocking `readByte()`, on one of the database's threads.
    public nonisolated(nonsending) func readByte() async throws -> Int { try await elsewhere { try self.readByte() } }

    /// Does the same as the blocking `write(_:)`, on one of the database's threads.
    public nonisolated(nonsending) func write(_ data: [UInt8]) async throws { try await elsewhere { try self.write(data) } }

    /// Does the same as the blocking `write(_:at:)`, on one of the database's threads.
    public nonisolated(nonsending) func write(_ data: [UInt8], at position: Int64) async throws {
        try await elsewhere { try self.write(data, at: position) }
    }

    /// Does the same as the blocking `writeByte(_:)`, on one of the database's threads.
    public nonisolated(nonsending) func writeByte(_ byte: UInt8) async throws { try await elsewhere { try self.writeByte(byte) } }
}

extension BigString {
    /// Does the same as the blocking `read(_:)`, on one of the database's threads.
    public nonisolated(nonsending) func read(_ length: Int) async throws -> String? { try await elsewhere { try self.read(length) } }

    /// Does the same as the blocking `readChar()`, on one of the database's threads.
    public nonisolated(nonsending) func readChar() async throws -> Int { try await elsewhere { try self.readChar() } }

    /// Does the same as the blocking `write(_:)`, on one of the database's threads.
    public nonisolated(nonsending) func write(_ data: String) async throws { try await elsewhere { try self.write(data) } }

    /// Does the same as the blocking `write(_:at:)`, on one of the database's threads.
    public nonisolated(nonsending) func write(_ data: String, at position: Int64) async throws {
        try await elsewhere { try self.write(data, at: position) }
    }

    /// Does the same as the blocking `writeChar(_:)`, on one of the database's threads.
    public nonisolated(nonsending) func writeChar(_ scalar: Unicode.Scalar) async throws { try await elsewhere { try self.writeChar(scalar) } }
}
