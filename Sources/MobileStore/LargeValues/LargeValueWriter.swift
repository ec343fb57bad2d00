internal import MobileCore

/// Writes a new large value from front to back.
///
/// The content goes into the database in short transactions of the writer, beside the old value; nobody sees it before
/// ``finish()`` has returned and a row refers to it. Let go of the writer before that and the value never was.
@safe public final class LargeValueWriter {
    private let handle: OpaquePointer
    private let database: Database

    /// - Parameters:
    ///   - database: where ``Connection/prepareLargeValues()`` has been called.
    ///   - unit: what lengths and positions count.
    ///   - length: the announced length in units, which must then be met; `nil`: unknown.
    ///   - chunkSize: bytes of a chunk; `nil` (recommended) lets chunks fill whole pages.
    ///   - timeout: how long each write to the database may wait for the writer; `nil`: as long as it takes.
    /// - Throws: ``StoreError``.
    public init(
        in database: Database, unit: LargeValueUnit = .bytes, length: Int64? = nil, chunkSize: Int? = nil, timeout: Duration? = nil
    ) throws(StoreError) {
        if let length, length < 0 { throw StoreError(.misuse, "a large value of \(length) units: use 0 or more, or nil") }
        if let chunkSize, chunkSize < 1 { throw StoreError(.misuse, "chunks of \(chunkSize) bytes: use 1 or more, or nil") }
        var options = mc_blob_writer_options(
            unit: unit == .bytes ? MC_BLOB_BYTES : MC_BLOB_SCALARS, length: length ?? -1, chunk_size: chunkSize ?? 0,
            timeout_ns: timeout.wait)
        var handle: OpaquePointer?
        try unsafe StoreError.check { unsafe mc_blob_writer_open(database.pool, &options, &handle, $0) }
        unsafe self.handle = handle!  // MC_OK promises a writer
        self.database = database
    }

    deinit { unsafe mc_blob_writer_free(handle) }

    /// Units written so far.
    public var length: Int64 { unsafe mc_blob_writer_length(handle) }

    /// Bytes written so far.
    public var byteCount: Int64 { unsafe mc_blob_writer_bytes(handle) }

    /// Appends bytes. Pieces of a text may be cut anywhere.
    /// - Throws: ``StoreError``: `.type` (not UTF-8), `.overLength`, `.timeout`, `.full` and more. Refused input changes nothing;
    ///   after a failure of the database the value can only be given up.
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

    /// Appends bytes where they are meant for the end of the value.
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

    /// Writes what is buffered to the database.
    public func flush() throws(StoreError) {
        try unsafe StoreError.check { unsafe mc_blob_writer_flush(handle, $0) }
    }

    /// Appends the contents of a file.
    /// - Throws: ``StoreError``: `.notFound` (no such file), `.io`, and as ``write(_:)-(RawSpan)``.
    public func write(contentsOfFile path: String) throws(StoreError) {
        try unsafe StoreError.check { unsafe mc_blob_copy_from_file(handle, path, nil, $0) }
    }

    /// Writes the rest and makes the value complete. Afterwards the writer is of no use.
    /// - Throws: ``StoreError``: as ``write(_:)-(RawSpan)``, `.truncated` (shorter than announced), `.type` (the text ends
    ///   within a character).
    public func finish() throws(StoreError) -> LargeValue {
        var id: Int64 = 0
        try unsafe StoreError.check { unsafe mc_blob_writer_finish(handle, &id, $0) }
        return LargeValue(pinned: id, in: database)
    }
}
