internal import MobileExecution

/// The `async` twins of the streams' methods: the same, on a thread of the database's own, because waiting for a file or for the writer must
/// not block a cooperative thread. One call at a time on each stream, as with the others.
extension LargeValueStream {
    /// Runs `work` on one of the database's threads.
    fileprivate nonisolated(nonsending) final func elsewhere<R: Sendable>(_ work: @escaping () throws -> R) async throws -> R {
        let errand = Errand(run: work)
        return try await database.queue.run { try errand.run() }
    }

    /// The `async` twin of `openForRead()`.
    public nonisolated(nonsending) final func openForRead() async throws { try await elsewhere { try self.openForRead() } }

    /// The `async` twin of `openForWrite(_:)`.
    public nonisolated(nonsending) final func openForWrite(_ newLength: Int64 = 0) async throws {
        try await elsewhere { try self.openForWrite(newLength) }
    }

    /// The `async` twin of `flush()`.
    public nonisolated(nonsending) final func flush() async throws { try await elsewhere { try self.flush() } }

    /// The `async` twin of `close()`.
    public nonisolated(nonsending) final func close() async throws { try await elsewhere { try self.close() } }

    /// The `async` twin of `seek(_:)`.
    public nonisolated(nonsending) final func seek(_ position: Int64) async throws { try await elsewhere { try self.seek(position) } }

    /// The `async` twin of `copyFromFile(_:)`.
    public nonisolated(nonsending) final func copyFromFile(_ path: String) async throws { try await elsewhere { try self.copyFromFile(path) } }

    /// The `async` twin of `copyToFile(_:)`.
    public nonisolated(nonsending) final func copyToFile(_ path: String) async throws { try await elsewhere { try self.copyToFile(path) } }
}

/// A call on its way to another thread. Sound because its caller, who alone may use the stream, waits for its end.
private struct Errand<R>: @unchecked Sendable {
    let run: () throws -> R
}

extension BigBinary {
    /// The `async` twin of `read(_:)`.
    public nonisolated(nonsending) func read(_ length: Int) async throws -> [UInt8]? { try await elsewhere { try self.read(length) } }

    /// The `async` twin of `readByte()`.
    public nonisolated(nonsending) func readByte() async throws -> Int { try await elsewhere { try self.readByte() } }

    /// The `async` twin of `write(_:)`.
    public nonisolated(nonsending) func write(_ data: [UInt8]) async throws { try await elsewhere { try self.write(data) } }

    /// The `async` twin of `write(_:at:)`.
    public nonisolated(nonsending) func write(_ data: [UInt8], at position: Int64) async throws {
        try await elsewhere { try self.write(data, at: position) }
    }

    /// The `async` twin of `writeByte(_:)`.
    public nonisolated(nonsending) func writeByte(_ byte: UInt8) async throws { try await elsewhere { try self.writeByte(byte) } }
}

extension BigString {
    /// The `async` twin of `read(_:)`.
    public nonisolated(nonsending) func read(_ length: Int) async throws -> String? { try await elsewhere { try self.read(length) } }

    /// The `async` twin of `readChar()`.
    public nonisolated(nonsending) func readChar() async throws -> Int { try await elsewhere { try self.readChar() } }

    /// The `async` twin of `write(_:)`.
    public nonisolated(nonsending) func write(_ data: String) async throws { try await elsewhere { try self.write(data) } }

    /// The `async` twin of `write(_:at:)`.
    public nonisolated(nonsending) func write(_ data: String, at position: Int64) async throws {
        try await elsewhere { try self.write(data, at: position) }
    }

    /// The `async` twin of `writeChar(_:)`.
    public nonisolated(nonsending) func writeChar(_ scalar: Unicode.Scalar) async throws { try await elsewhere { try self.writeChar(scalar) } }
}
