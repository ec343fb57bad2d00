/// A binary attribute of any length, read and written in pieces. SMP 2.3: `SUPBigBinary`.
///
/// What is written goes beside the old value, in the database but unseen; `close()` makes it the object's new value, and saving
/// or updating the object makes it everybody's. Until then readers have the old value, and an open stream blocks nobody.
///
/// It belongs to its object, and is used where that is used: one thread or isolation at a time.
@safe public final class BigBinary {
    var attribute: LargeAttribute

    /// The attribute at `index` of `host`, which outlives it.
    public init(of host: any LargeAttributeHost, attribute index: Int) {
        attribute = LargeAttribute(of: host, index: index, unit: .bytes)
    }

    /// Opens for reading at the beginning. Without effect when open for reading already; when open for writing, what was
    /// written becomes the object's value first.
    /// - Throws: ``StoreError``: `.notSaved`, `.notFound` when the value is NULL.
    public func openForRead() throws { try attribute.openForRead() }

    /// Opens for writing: the old value will be replaced. What an earlier stream wrote and did not close is given up.
    /// - Parameter newLength: the length in bytes, which must then be met exactly; 0 when it is not known.
    /// - Throws: ``StoreError``: `.notSaved`.
    public func openForWrite(_ newLength: Int64 = 0) throws { try attribute.openForWrite(newLength) }

    /// Up to so many bytes; fewer at the end, `nil` behind it.
    /// - Throws: ``StoreError``: `.notOpen` when not open for reading, `.corrupt`.
    public func read(_ length: Int) throws -> [UInt8]? {
        guard let bytes = try attribute.reader()?.bytes(upTo: length) else { return nil }
        return bytes.isEmpty && length > 0 ? nil : bytes
    }

    /// Fills a buffer; the number of bytes, 0 at the end.
    /// - Throws: ``StoreError``: `.notOpen` when not open for reading, `.corrupt`.
    public func read(into buffer: inout MutableRawSpan) throws -> Int { try attribute.reader()?.read(into: &buffer) ?? 0 }

    /// One byte, or -1 at the end.
    /// - Throws: ``StoreError``: `.notOpen` when not open for reading.
    public func readByte() throws -> Int { try read(1).map { Int($0[0]) } ?? -1 }

    /// Goes to a position, from 0 to the length, in bytes.
    /// - Throws: ``StoreError``: `.notOpen` when not open for reading, `.misuse` beyond the end.
    public func seek(_ position: Int64) throws { try attribute.reader()?.seek(to: position) }

    /// Appends bytes; buffered.
    /// - Throws: ``StoreError``: `.notOpen` when not open for writing, `.overLength` beyond the announced length.
    public func write(_ data: [UInt8]) throws { try attribute.writer().write(data) }

    /// Appends bytes where they lie; see `write(_:)`.
    public func write(_ data: RawSpan) throws { try attribute.writer().write(data) }

    /// Writes at a position, which has to be the end.
    /// - Throws: ``StoreError``: `.appendOnly` before the end, and as `write(_:)`.
    public func write(_ data: [UInt8], at position: Int64) throws {
        try unsafe attribute.writer().write(data.span.bytes, at: position)
    }

    /// Appends one byte.
    /// - Throws: as `write(_:)`.
    public func writeByte(_ byte: UInt8) throws { try attribute.writer().write([byte]) }

    /// Writes what is buffered to the database, where it survives a crash only as a part of nothing: see `close()`.
    /// - Throws: ``StoreError``: `.notOpen`.
    public func flush() throws { try attribute.flush() }

    /// Closes. What was written becomes the object's value.
    /// - Throws: ``StoreError``: `.notOpen`, `.truncated` when the announced length has not been met.
    public func close() throws { try attribute.close() }

    /// Replaces the value by the contents of a file.
    /// - Throws: ``StoreError``: `.notSaved`, `.notClosed` when a stream is open, `.notFound` (no such file), `.io`.
    public func copyFromFile(_ path: String) throws { try attribute.copyFromFile(path) }

    /// Replaces a file by the value.
    /// - Throws: ``StoreError``: `.notSaved`, `.notClosed`, `.notFound` when the value is NULL, `.io`.
    public func copyToFile(_ path: String) throws { try attribute.copyToFile(path) }

    /// The length of the object's value, of an open writing stream what was written so far; `nil` for NULL.
    public var length: Int64? { get throws { try attribute.length() } }

    /// Where the open stream stands; 0 when none is.
    public var position: Int64 { attribute.position }

    /// Whether a stream is open.
    public var isOpen: Bool { attribute.isOpen }
}
