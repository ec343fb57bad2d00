internal import MobileCore

/// Writes a new large value from its beginning to its end.
///
/// The content goes into the database in short write transactions, next to the old value. It is invisible until ``finish()`` has
/// returned and a row refers to it. Releasing the object before discards the value.
@safe public final class LargeValueWriter {
    private let handle: OpaquePointer
    private let database: Database

    /// Begins a new value.
    /// - Parameters:
    ///   - database: a database in which ``Connection/prepareLargeValues()`` has been called.
    ///   - unit: the unit of lengths and positions.
    ///   - length: the exact length in units; `nil`: unknown.
    ///   - chunkSize: the size of a chunk in bytes; `nil` (recommended) makes chunks that fill whole pages.
    ///   - timeout: the time that each write to the database may wait for the writer; `nil`: without a limit.
    /// - Throws: ``StoreError``.
    public init(
        in database: Database, unit: LargeValueUnit = .bytes, length: Int64? = nil, chunkSize: Int? = nil, timeout: Duration? = nil
    ) throws(StoreError) {
        if let length, length < 0 { throw StoreError(.misuse, "a large value of \(length) units: use 0 or more, or nil") }
        if let chunkSize, chunkSize < 1 { throw StoreError(.misuse, "chunks of \(chunkSize) bytes: use 1 or more, or nil") }
        var options = mc_blob_writer_options(
            size: MemoryLayout<mc_blob_writer_options>.size, version: MC_VERSION_NUMBER, unit: unit == .bytes ? MC_BLOB_BYTES : MC_BLOB_SCALARS,
            length: length == 0 ? Int64(MC_BLOB_EMPTY) : length ?? 0, chunk_size: chunkSize ?? 0,
            timeout_ns: timeout.wait)
        var handle: OpaquePointer?
        try unsafe StoreError.check { unsafe mc_blob_writer_open(database.pool, &options, &handle, $0) }
        unsafe self.handle = handle!  // MC_OK promises a writer
        self.database = database
    }

    deinit { unsafe mc_blob_writer_free(handle) }

    /// The number of units written so far.
    public var length: Int64 { unsafe mc_blob_writer_length(handle) }

    /// The number of bytes written so far.
    public var byteCount: Int64 { unsafe mc_blob_writer_bytes(handle) }

    /// Appends bytes. Pieces of a text may be cut anywhere.
    /// - Throws: ``StoreError``: `.type` (not UTF-8), `.overLength`, `.timeout`, `.full` and more. Refused input changes nothing;
    ///   after a failure of the database the value can only be discarded.
    public func write(_ bytes: RawSpan) throws(StoreError) {
        try unsafe bytes.withUnsafeBytes { bytes throws(StoreError) in try unsafe write(bytes) }
    }

    /// Appends bytes; see ``write(_:)-(RawSpan)``.
    public func write(_ bytes: [UInt8]) throws(StoreError) {
        if let failure = unsafe bytes.withUnsafeBytes({ unsafe failure(ofWriting: $0) }) { throw failure }
    }

    /// Appends text; see ``write(_:)-(RawSpan)``.
    public func write(_ text: String) throws(StoreError) {
        var text = text
        if let failure = text.withUTF8({ unsafe failure(ofWriting: UnsafeRawBufferPointer($0)) }) { throw failure }
    }

    /// Appends bytes, if `position` is the end of the value.
    /// - Throws: ``StoreError/Code/appendOnly`` when `position` (in units) is not the end.
    public func write(_ bytes: RawSpan, at position: Int64) throws(StoreError) {
        guard position == length else {
            throw StoreError(.appendOnly, "large value: a write at \(position), but it can only grow at its end, \(length)")
        }
        try write(bytes)
    }

    package func write(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        if let failure = unsafe failure(ofWriting: bytes) { throw failure }
    }

    private func failure(ofWriting bytes: UnsafeRawBufferPointer) -> StoreError? {
        unsafe StoreError.failure { unsafe mc_blob_writer_write(handle, bytes.baseAddress, bytes.count, $0) }
    }

    /// Writes the buffered content to the database.
    public func flush() throws(StoreError) {
        try unsafe StoreError.check { unsafe mc_blob_writer_flush(handle, $0) }
    }

    /// Appends the contents of a file.
    /// - Throws: ``StoreError``: `.notFound` (no such file), `.io`, and as ``write(_:)-(RawSpan)``.
    public func write(contentsOfFile path: String) throws(StoreError) {
        try unsafe StoreError.check { unsafe mc_blob_copy_from_file(handle, path, nil, $0) }
    }

    /// Writes the rest and completes the value. The writer cannot be used afterwards.
    /// - Throws: ``StoreError``: as ``write(_:)-(RawSpan)``, `.truncated` (shorter than announced), `.type` (the text ends
    ///   within a character).
    public func finish() throws(StoreError) -> LargeValue {
        var id: Int64 = 0
        try unsafe StoreError.check { unsafe mc_blob_writer_finish(handle, &id, $0) }
        return LargeValue(pinned: id, in: database)
    }
}
