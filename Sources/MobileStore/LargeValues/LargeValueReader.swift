internal import MobileCore

/// Reads one large value, from its beginning or from any position, in a few KB of memory.
///
/// Each call takes a reader of the database only for its own duration, so an open value blocks no other thread. The value remains
/// unchanged until this object is released, even when the row that referred to it is changed or deleted.
@safe public final class LargeValueReader {
    private let handle: OpaquePointer
    private let database: Database
    /// Kept, because the core only borrows it.
    private let interruption: Interruption?

    /// The value's id.
    public let id: Int64
    /// The value's length in its unit.
    public let length: Int64
    /// The value's length in bytes.
    public let byteCount: Int64
    /// The unit of ``length`` and ``position``.
    public let unit: LargeValueUnit

    /// Opens a value at its beginning.
    ///
    ///     let reader = try LargeValueReader(photo, in: database, timeout: .seconds(2))
    ///     while case let piece = try reader.bytes(upTo: 65_536), !piece.isEmpty { try send(piece) }
    ///
    /// - Parameters:
    ///   - id: the value's id.
    ///   - database: the database that has it.
    ///   - timeout: the time that the opening, and each later call, may wait for a connection; `nil`: see
    ///     ``ConnectionProfile/connectionTimeout``.
    ///   - interruption: an object with which another thread can end the wait or the work of a call. No other read or write may use it during a call.
    /// - Throws: ``StoreError``: `.notFound` when there is no complete value of this id, `.timeout`, `.interrupted`, `.closed`, which
    ///   all later calls that read may throw, too.
    public init(_ id: Int64, in database: Database, timeout: Duration? = nil, interruption: Interruption? = nil) throws(StoreError) {
        var handle: OpaquePointer?
        var options = unsafe mc_blob_reader_default_options()
        unsafe options.timeout_ns = (timeout ?? database.connectionTimeout).wait
        unsafe options.ticket = interruption?.ticket
        try unsafe StoreError.check { unsafe mc_blob_reader_open(database.pool, id, &options, &handle, $0) }
        unsafe self.handle = handle!  // MC_OK promises a reader
        self.database = database
        self.interruption = interruption
        self.id = id
        let description = unsafe mc_blob_reader_description(self.handle)
        length = description.length
        byteCount = description.bytes
        unit = description.unit == MC_BLOB_BYTES ? .bytes : .scalars
    }

    deinit { unsafe mc_blob_reader_free(handle) }

    /// The position of the next read, in units.
    public var position: Int64 { unsafe mc_blob_reader_position(handle) }

    /// Moves to a position, at the same cost anywhere in the value.
    /// - Parameter position: from 0 to ``length``, in units.
    /// - Throws: ``StoreError``: `.misuse` (beyond the end), `.corrupt`.
    public func seek(to position: Int64) throws(StoreError) {
        try unsafe StoreError.check { unsafe mc_blob_reader_seek(handle, position, $0) }
    }

    /// Fills `buffer` from the present position.
    /// - Returns: the number of bytes: smaller than the buffer only at the end, then 0.
    /// - Throws: ``StoreError/Code/corrupt`` when a chunk is missing; the position is then unchanged.
    public func read(into buffer: inout MutableRawSpan) throws(StoreError) -> Int {
        var length = 0
        try unsafe buffer.withUnsafeMutableBytes { bytes throws(StoreError) in
            guard let start = bytes.baseAddress else { return }
            try unsafe StoreError.check { unsafe mc_blob_reader_read(handle, start, bytes.count, &length, $0) }
        }
        return length
    }

    /// Reads up to `count` bytes; fewer when the value ends earlier, none at its end.
    public func bytes(upTo count: Int) throws(StoreError) -> [UInt8] {
        var failure: StoreError?
        let size = max(0, Int(min(Int64(count), byteCount)))
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            guard let start = buffer.baseAddress else { return }
            unsafe failure = StoreError.failure { unsafe mc_blob_reader_read(handle, start, size, &filled, $0) }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Fills `buffer`, of at least 4 bytes, with up to `count` whole characters of a text.
    /// - Returns: the number of scalars and of bytes; 0 at the end.
    /// - Throws: ``StoreError``: `.misuse` when the value is bytes or the buffer is smaller, `.corrupt`.
    public func readText(upTo count: Int, into buffer: inout MutableRawSpan) throws(StoreError) -> (scalars: Int, bytes: Int) {
        var length = 0, scalars: Int64 = 0
        try unsafe buffer.withUnsafeMutableBytes { bytes throws(StoreError) in
            guard let start = bytes.baseAddress else { throw StoreError(.misuse, "a buffer of 0 bytes: use at least 4, which hold any character") }
            try unsafe StoreError.check { error in
                unsafe mc_blob_reader_read_text(
                    handle, Int64(count), start.assumingMemoryBound(to: CChar.self), bytes.count, &length, &scalars, error)
            }
        }
        return (Int(scalars), length)
    }

    /// Reads up to `count` Unicode scalars of a text; fewer when the value ends earlier, an empty string at its end.
    /// - Throws: ``StoreError``: `.misuse` when the value is bytes, `.corrupt`.
    public func text(upTo count: Int) throws(StoreError) -> String {
        var text = ""
        var left = Int64(max(0, count))
        while left > 0 {
            let (piece, scalars) = try piece(upTo: left)
            if scalars == 0 { break }
            if text.isEmpty { text = piece } else { text += piece }
            left -= scalars
        }
        return text
    }

    private func piece(upTo count: Int64) throws(StoreError) -> (String, Int64) {
        var failure: StoreError?
        var scalars: Int64 = 0
        let capacity = Int(min(count, 65536)) * 4
        let piece = unsafe String(unsafeUninitializedCapacity: capacity) { buffer in
            var length = 0
            unsafe failure = StoreError.failure { error in
                unsafe buffer.withMemoryRebound(to: CChar.self) { text in
                    unsafe mc_blob_reader_read_text(handle, count, text.baseAddress!, capacity, &length, &scalars, error)
                }
            }
            return length
        }
        if let failure { throw failure }
        return (piece, scalars)
    }

    /// Copies the whole value to a file, which is replaced only after the complete value was written.
    /// - Throws: ``StoreError``: `.io`, `.full`, `.corrupt`; the file is then unchanged.
    public func copy(toFile path: String) throws(StoreError) {
        try unsafe StoreError.check { unsafe mc_blob_copy_to_file(handle, path, nil, $0) }
    }
}
