/// A text attribute of any length, read and written in pieces. Positions and lengths count Unicode scalars. SMP 2.3: `SUPBigString`.
@safe public final class BigString: LargeValueStream {
    /// Makes a stream for the attribute at `index` of `host`, which must outlive it.
    public init(of host: any LargeValueHost, attribute index: Int) { super.init(of: host, attribute: index, unit: .scalars) }

    /// Reads `length` scalars: fewer when the value ends earlier, `nil` at its end.
    /// - Throws: ``StoreError``: `.notOpen` when not open for reading, `.corrupt`.
    public func read(_ length: Int) throws -> String? {
        guard let text = try reader()?.text(upTo: length) else { return nil }
        return text.isEmpty && length > 0 ? nil : text
    }

    /// Fills a buffer with up to `length` whole characters as UTF-8, without making a string.
    /// - Parameters:
    ///   - length: the largest number of characters (Unicode scalars) to read.
    ///   - buffer: a buffer of at least 4 bytes, which hold any character.
    /// - Returns: the number of bytes, 0 at the end; ``LargeValueStream/position`` counts the scalars.
    /// - Throws: ``StoreError``: `.notOpen` when not open for reading, `.misuse` (a smaller buffer), `.corrupt`.
    public func read(_ length: Int, utf8 buffer: inout MutableRawSpan) throws -> Int {
        try reader()?.readText(upTo: length, into: &buffer).bytes ?? 0
    }

    /// Reads one scalar and returns its value, or -1 at the end.
    /// - Throws: ``StoreError``: `.notOpen` when not open for reading.
    public func readChar() throws -> Int { try read(1)?.unicodeScalars.first.map { Int($0.value) } ?? -1 }

    /// Appends text to the stream's buffer.
    /// - Throws: ``StoreError``: `.notOpen` when not open for writing, `.overLength` beyond the announced length.
    public func write(_ data: String) throws { try writer().write(data) }

    /// Appends UTF-8, which may be cut anywhere.
    /// - Throws: ``StoreError``: `.type` when it is not UTF-8, and as `write(_:)`.
    public func write(utf8 data: RawSpan) throws { try writer().write(data) }

    /// Writes at a position, which must be the end.
    /// - Throws: ``StoreError``: `.appendOnly` before the end, and as `write(_:)`.
    public func write(_ data: String, at position: Int64) throws { try unsafe writer().write(Array(data.utf8).span.bytes, at: position) }

    /// Appends one scalar.
    /// - Throws: as `write(_:)`.
    public func writeChar(_ scalar: Unicode.Scalar) throws { try writer().write(String(Character(scalar))) }
}
