/// A binary attribute of any length, read and written in pieces. Positions and lengths count bytes. SMP 2.3: `SUPBigBinary`.
@safe public final class BigBinary: LargeValueStream {
    /// The attribute at `index` of `host`, which outlives it.
    public init(of host: any LargeValueHost, attribute index: Int) { super.init(of: host, attribute: index, unit: .bytes) }

    /// Reads up to `length` bytes: fewer before the end, `nil` at the end.
    /// - Throws: ``StoreError``: `.notOpen` when not open for reading, `.corrupt`.
    public func read(_ length: Int) throws -> [UInt8]? {
        guard let bytes = try reader()?.bytes(upTo: length) else { return nil }
        return bytes.isEmpty && length > 0 ? nil : bytes
    }

    /// Fills a buffer; returns the number of bytes, 0 at the end.
    /// - Throws: ``StoreError``: `.notOpen` when not open for reading, `.corrupt`.
    public func read(into buffer: inout MutableRawSpan) throws -> Int { try reader()?.read(into: &buffer) ?? 0 }

    /// Reads one byte; returns -1 at the end.
    /// - Throws: ``StoreError``: `.notOpen` when not open for reading.
    public func readByte() throws -> Int { try read(1).map { Int($0[0]) } ?? -1 }

    /// Appends bytes; buffered.
    /// - Throws: ``StoreError``: `.notOpen` when not open for writing, `.overLength` beyond the announced length.
    public func write(_ data: [UInt8]) throws { try writer().write(data) }

    /// Appends bytes where they lie; see `write(_:)`.
    public func write(_ data: RawSpan) throws { try writer().write(data) }

    /// Writes at a position, which has to be the end.
    /// - Throws: ``StoreError``: `.appendOnly` before the end, and as `write(_:)`.
    public func write(_ data: [UInt8], at position: Int64) throws { try unsafe writer().write(data.span.bytes, at: position) }

    /// Appends one byte.
    /// - Throws: as `write(_:)`.
    public func writeByte(_ byte: UInt8) throws { try writer().write([byte]) }
}
