/// A binary attribute of any length, read and written in pieces. Positions and lengths count bytes. SMP 2.3: `SUPBigBinary`.
@safe public final class BigBinary: LargeValueStream {
    /// Makes a stream for the attribute at `index` of `host`, which must outlive it.
    public init(of host: any LargeValueHost, attribute index: Int) { super.init(of: host, attribute: index, unit: .bytes) }

    /// Reads `length` bytes: fewer when the value ends earlier, `nil` at its end.
    /// - Throws: ``StoreError``: `.notOpen` when not open for reading, `.corrupt`.
    public func read(_ length: Int) throws -> [UInt8]? {
        guard let bytes = try reader()?.bytes(upTo: length) else { return nil }
        return bytes.isEmpty && length > 0 ? nil : bytes
    }

    /// Fills a buffer and returns the number of bytes, 0 at the end.
    /// - Throws: ``StoreError``: `.notOpen` when not open for reading, `.corrupt`.
    public func read(into buffer: inout MutableRawSpan) throws -> Int { try reader()?.read(into: &buffer) ?? 0 }

    /// Reads one byte and returns it, or -1 at the end.
    /// - Throws: ``StoreError``: `.notOpen` when not open for reading.
    public func readByte() throws -> Int { try read(1).map { Int($0[0]) } ?? -1 }

    /// Appends bytes to the stream's buffer.
    /// - Throws: ``StoreError``: `.notOpen` when not open for writing, `.overLength` beyond the announced length.
    public func write(_ data: [UInt8]) throws { try writer().write(data) }

    /// Appends bytes in place, without an array; see `write(_:)`.
    public func write(_ data: RawSpan) throws { try writer().write(data) }

    /// Writes at a position, which must be the end.
    /// - Throws: ``StoreError``: `.appendOnly` before the end, and as `write(_:)`.
    public func write(_ data: [UInt8], at position: Int64) throws { try unsafe writer().write(data.span.bytes, at: position) }

    /// Appends one byte.
    /// - Throws: as `write(_:)`.
    public func writeByte(_ byte: UInt8) throws { try writer().write([byte]) }
}
