/// A text attribute of any length, read and written in pieces. Positions and lengths count Unicode scalars. SMP 2.3: `SUPBigString`.
///
/// What is written goes beside the old value, in the database but unseen; `close()` makes it the object's new value, and saving
/// or updating the object makes it everybody's. Until then readers have the old value, and an open stream blocks nobody.
///
/// It belongs to its object, and is used where that is used: one thread or isolation at a time.
@safe public final class BigString {
    var attribute: LargeAttribute

    /// The attribute at `index` of `host`, which outlives it.
    public init(of host: any LargeAttributeHost, attribute index: Int) {
        attribute = LargeAttribute(of: host, index: index, unit: .scalars)
    }

    /// Opens for reading at the beginning; NULL is read as an empty text. Without effect when open for reading already; when open
    /// for writing, what was written becomes the object's value first.
    /// - Throws: ``StoreError``: `.notSaved`.
    public func openForRead() throws { try attribute.openForRead() }

    /// Opens for writing: the old value will be replaced. What an earlier stream wrote and did not close is given up.
    /// - Parameter newLength: the length in scalars, which must then be met exactly; 0 when it is not known.
    /// - Throws: ``StoreError``: `.notSaved`.
    public func openForWrite(_ newLength: Int64 = 0) throws { try attribute.openForWrite(newLength) }

    /// Up to so many scalars; fewer at the end, `nil` behind it.
    /// - Throws: ``StoreError``: `.notOpen` when not open for reading, `.corrupt`.
    public func read(_ length: Int) throws -> String? {
        guard let text = try attribute.reader()?.text(upTo: length) else { return nil }
        return text.isEmpty && length > 0 ? nil : text
    }

    /// Fills a buffer with up to so many whole characters as UTF-8, without making a string of them.
    /// - Parameters:
    ///   - length: the most characters (Unicode scalars) that are read.
    ///   - buffer: at least 4 bytes, which hold any character.
    /// - Returns: the number of bytes, 0 at the end; how many scalars they are tells ``position``.
    /// - Throws: ``StoreError``: `.notOpen` when not open for reading, `.misuse` (a smaller buffer), `.corrupt`.
    public func read(_ length: Int, utf8 buffer: inout MutableRawSpan) throws -> Int {
        try attribute.reader()?.readText(upTo: length, into: &buffer).bytes ?? 0
    }

    /// One scalar's number, or -1 at the end.
    /// - Throws: ``StoreError``: `.notOpen` when not open for reading.
    public func readChar() throws -> Int { try read(1)?.unicodeScalars.first.map { Int($0.value) } ?? -1 }

    /// Goes to a position, from 0 to the length, in scalars.
    /// - Throws: ``StoreError``: `.notOpen` when not open for reading, `.misuse` beyond the end.
    public func seek(_ position: Int64) throws {
        if let reader = try attribute.reader() { return try reader.seek(to: position) }
        guard position == 0 else { throw StoreError(.misuse, "big string: position \(position) of an empty text") }
    }

    /// Appends text; buffered.
    /// - Throws: ``StoreError``: `.notOpen` when not open for writing, `.overLength` beyond the announced length.
    public func write(_ data: String) throws { try attribute.writer().write(data) }

    /// Appends UTF-8, cut anywhere.
    /// - Throws: ``StoreError``: `.type` when it is not UTF-8, and as `write(_:)`.
    public func write(utf8 data: RawSpan) throws { try attribute.writer().write(data) }

    /// Writes at a position, which has to be the end.
    /// - Throws: ``StoreError``: `.appendOnly` before the end, and as `write(_:)`.
    public func write(_ data: String, at position: Int64) throws {
        try unsafe attribute.writer().write(Array(data.utf8).span.bytes, at: position)
    }

    /// Appends one scalar.
    /// - Throws: as `write(_:)`.
    public func writeChar(_ scalar: Unicode.Scalar) throws { try attribute.writer().write(String(Character(scalar))) }

    /// Writes what is buffered to the database.
    /// - Throws: ``StoreError``: `.notOpen`.
    public func flush() throws { try attribute.flush() }

    /// Closes. What was written becomes the object's value.
    /// - Throws: ``StoreError``: `.notOpen`, `.truncated` when the announced length has not been met, `.type` when the text ends
    ///   within a character.
    public func close() throws { try attribute.close() }

    /// Replaces the value by the contents of a file of UTF-8.
    /// - Throws: ``StoreError``: `.notSaved`, `.notClosed` when a stream is open, `.notFound` (no such file), `.type`, `.io`.
    public func copyFromFile(_ path: String) throws { try attribute.copyFromFile(path) }

    /// Replaces a file by the value; NULL makes it empty.
    /// - Throws: ``StoreError``: `.notSaved`, `.notClosed`, `.io`.
    public func copyToFile(_ path: String) throws { try attribute.copyToFile(path) }

    /// The length of the object's value in scalars, of an open writing stream what was written so far; `nil` for NULL.
    public var length: Int64? { get throws { try attribute.length() } }

    /// Where the open stream stands; 0 when none is.
    public var position: Int64 { attribute.position }

    /// Whether a stream is open.
    public var isOpen: Bool { attribute.isOpen }
}
