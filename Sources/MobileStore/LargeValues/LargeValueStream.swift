/// The object that a large attribute belongs to. MobileObjects' entities are hosts.
public protocol LargeValueHost: AnyObject {
    /// The database that holds the values.
    var largeValueDatabase: Database { get throws }

    /// Whether the object has been created in the database.
    var isSavedForLargeValues: Bool { get }

    /// Returns the id of the object's present value of the attribute; `nil` for NULL.
    func largeValue(ofAttribute index: Int) throws -> Int64?

    /// Sets the attribute to a new value, or to NULL. The object keeps `value` until its row refers to it.
    func setLargeValue(_ value: LargeValue?, ofAttribute index: Int) throws
}

/// A stream over one large attribute of one object: the common part of ``BigBinary`` and ``BigString``. Lengths and positions count
/// bytes in a ``BigBinary``, Unicode scalars in a ``BigString``.
///
/// Writing stores a new value in the database next to the old one, invisible to readers. `close()` makes it the object's value. Saving or
/// updating the object publishes it; until then, readers see the old value. An open stream blocks no other thread.
///
/// A stream belongs to its object and follows the same rule: only one thread or isolation uses it at a time.
@safe public class LargeValueStream {
    /// The object, weakly: it owns its attributes, not the other way round.
    private weak var owner: (any LargeValueHost)?
    private let index: Int
    private let unit: LargeValueUnit
    private var state = State.closed

    private enum State {
        case closed
        /// `nil` is a NULL, which is read as an empty text.
        case reading(LargeValueReader?)
        case writing(LargeValueWriter)
    }

    init(of host: any LargeValueHost, attribute index: Int, unit: LargeValueUnit) {
        owner = host
        self.index = index
        self.unit = unit
    }

    // MARK: Opening and closing

    /// Opens the stream for reading at the beginning. Has no effect on a stream that is open for reading. A stream that is open for writing is
    /// closed first, which makes the new value the object's. NULL is read as an empty text.
    /// - Throws: ``StoreError``: `.notSaved`, `.notFound` when the value of a ``BigBinary`` is NULL.
    public final func openForRead() throws {
        try checkSaved()
        switch state {
        case .reading: return
        case .writing: try close()
        case .closed: break
        }
        state = .reading(try newReader())
    }

    /// Opens the stream for writing a new value, which replaces the old one. An earlier value that was written but not closed is discarded.
    /// - Parameter newLength: the exact length in bytes or scalars; 0 when it is not known.
    /// - Throws: ``StoreError``: `.notSaved`, `.misuse` for a negative length.
    public final func openForWrite(_ newLength: Int64 = 0) throws {
        try checkSaved()
        guard newLength >= 0 else { throw StoreError(.misuse, "\(name): a length of \(newLength); use 0 for an unknown one") }
        state = .closed
        state = .writing(try LargeValueWriter(in: host().largeValueDatabase, unit: unit, length: newLength == 0 ? nil : newLength))
    }

    /// Writes the buffer to the database. A crash before `close()` still loses the new value.
    /// - Throws: ``StoreError``: `.notOpen`.
    public final func flush() throws {
        switch state {
        case .closed: throw StoreError(.notOpen, "\(name): it is not open")
        case .reading: break
        case .writing(let writer): try writer.flush()
        }
    }

    /// Closes the stream. A new value becomes the object's value.
    /// - Throws: ``StoreError``: `.notOpen`, `.truncated` when the value is shorter than announced, `.type` when a text ends within a
    ///   character.
    public final func close() throws {
        switch state {
        case .closed: throw StoreError(.notOpen, "\(name): it is not open")
        case .reading: state = .closed
        case .writing(let writer):
            let value = try writer.finish()
            state = .closed
            try host().setLargeValue(value, ofAttribute: index)
        }
    }

    /// Removes the object's value: it is NULL, which saving or updating the object publishes. Until then, readers see the old value. Has no effect on a
    /// value that is NULL.
    /// - Throws: ``StoreError``: `.notSaved`, `.notClosed` when the stream is open; the object's error where the attribute needs a value.
    public final func remove() throws {
        try checkSaved()
        try checkClosed()
        guard try host().largeValue(ofAttribute: index) != nil else { return }
        try host().setLargeValue(nil, ofAttribute: index)
    }

    // MARK: Position and length

    /// Moves to a position, from 0 to the length, in bytes or scalars.
    /// - Throws: ``StoreError``: `.notOpen` when not open for reading, `.misuse` beyond the end.
    public final func seek(_ position: Int64) throws {
        if let reader = try reader() { return try reader.seek(to: position) }
        guard position == 0 else { throw StoreError(.misuse, "\(name): position \(position) of an empty text") }
    }

    /// The position of the open stream, in bytes or scalars; 0 when it is closed.
    public final var position: Int64 {
        switch state {
        case .closed: 0
        case .reading(let reader): reader?.position ?? 0
        case .writing(let writer): writer.length
        }
    }

    /// The length of the object's value in bytes or scalars; while the stream is open for writing, that of the part written so far; `nil` for NULL.
    public final var length: Int64? {
        get throws {
            if case .writing(let writer) = state { return writer.length }
            guard let id = try host().largeValue(ofAttribute: index) else { return nil }
            return try LargeValueReader(id, in: host().largeValueDatabase).length
        }
    }

    /// Whether a new value is being written that is not the object's yet.
    package final var isOpenForWriting: Bool {
        if case .writing = state { true } else { false }
    }

    // MARK: Files

    /// Replaces the value by the contents of a file, UTF-8 for a ``BigString``.
    /// - Throws: ``StoreError``: `.notSaved`, `.notClosed` when the stream is open, `.notFound` (no such file), `.type` (not UTF-8), `.io`.
    public final func copyFromFile(_ path: String) throws {
        try checkSaved()
        try checkClosed()
        let writer = try LargeValueWriter(in: host().largeValueDatabase, unit: unit)
        try writer.write(contentsOfFile: path)
        try host().setLargeValue(writer.finish(), ofAttribute: index)
    }

    /// Replaces a file by the value. A NULL of a ``BigString`` makes the file empty.
    /// - Throws: ``StoreError``: `.notSaved`, `.notClosed`, `.notFound` when the value of a ``BigBinary`` is NULL, `.io`.
    public final func copyToFile(_ path: String) throws {
        try checkSaved()
        try checkClosed()
        if let reader = try newReader() { return try reader.copy(toFile: path) }
        let empty = try LargeValueWriter(in: host().largeValueDatabase, unit: unit).finish()
        try LargeValueReader(empty.id, in: host().largeValueDatabase).copy(toFile: path)
    }

    // MARK: For the two kinds of streams

    private func host() throws -> any LargeValueHost {
        guard let owner else { throw StoreError(.misuse, "\(name): its object is gone; keep the object as long as the stream") }
        return owner
    }

    /// The database that holds the values.
    final var database: Database { get throws { try host().largeValueDatabase } }

    /// Returns the reader; `nil` for a NULL text.
    final func reader() throws -> LargeValueReader? {
        guard case .reading(let reader) = state else { throw StoreError(.notOpen, "\(name): it is not open for reading") }
        return reader
    }

    final func writer() throws -> LargeValueWriter {
        guard case .writing(let writer) = state else { throw StoreError(.notOpen, "\(name): it is not open for writing") }
        return writer
    }

    private var name: String { unit == .bytes ? "big binary" : "big string" }

    private func checkSaved() throws {
        guard try host().isSavedForLargeValues else {
            throw StoreError(.notSaved, "\(name): its object has not been created in the database; create it first")
        }
    }

    private func checkClosed() throws {
        guard case .closed = state else { throw StoreError(.notClosed, "\(name): it is open; close it first") }
    }

    private func newReader() throws -> LargeValueReader? {
        guard let id = try host().largeValue(ofAttribute: index) else {
            guard unit == .scalars else { throw StoreError(.notFound, "\(name): its value is NULL; there is nothing to read") }
            return nil
        }
        return try LargeValueReader(id, in: host().largeValueDatabase)
    }
}
