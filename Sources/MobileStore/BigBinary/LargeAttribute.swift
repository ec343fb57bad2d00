/// What a large attribute needs of the object it belongs to. MobileObjects' entities are hosts.
public protocol LargeAttributeHost: AnyObject {
    /// Where the values are.
    var largeValueDatabase: Database { get throws }

    /// Whether the object has been created in the database.
    var isSavedForLargeValues: Bool { get }

    /// The id of the attribute's value as the object has it now; `nil` for NULL.
    func largeValue(ofAttribute index: Int) throws -> Int64?

    /// Makes a new value the attribute's. The object holds on to `value` until its row refers to it.
    func setLargeValue(_ value: LargeValue, ofAttribute index: Int) throws
}

/// What BigBinary and BigString have in common: the stream over one attribute of one object.
struct LargeAttribute {
    /// The object keeps its attributes, not the other way round.
    private weak var owner: (any LargeAttributeHost)?
    let index: Int
    let unit: LargeValueUnit
    private var stream = Stream.closed

    private enum Stream {
        case closed
        /// `nil`: a NULL that is read as an empty text.
        case reading(LargeValueReader?)
        case writing(LargeValueWriter)
    }

    init(of host: any LargeAttributeHost, index: Int, unit: LargeValueUnit) {
        owner = host
        self.index = index
        self.unit = unit
    }

    private func host() throws -> any LargeAttributeHost {
        guard let owner else { throw StoreError(.misuse, "\(name): its object is gone; keep the object as long as the stream") }
        return owner
    }

    /// Where the values are.
    var database: Database { get throws { try host().largeValueDatabase } }

    private var name: String { unit == .bytes ? "big binary" : "big string" }

    func checkSaved() throws {
        guard try host().isSavedForLargeValues else {
            throw StoreError(.notSaved, "\(name): its object has not been created in the database; create it first")
        }
    }

    func checkClosed() throws {
        guard case .closed = stream else { throw StoreError(.notClosed, "\(name): it is open; close it first") }
    }

    /// The reader; `nil` for a NULL text.
    func reader() throws -> LargeValueReader? {
        guard case .reading(let reader) = stream else { throw StoreError(.notOpen, "\(name): it is not open for reading") }
        return reader
    }

    func writer() throws -> LargeValueWriter {
        guard case .writing(let writer) = stream else { throw StoreError(.notOpen, "\(name): it is not open for writing") }
        return writer
    }

    func newReader() throws -> LargeValueReader? {
        guard let id = try host().largeValue(ofAttribute: index) else {
            guard unit == .scalars else { throw StoreError(.notFound, "\(name): its value is NULL; there is nothing to read") }
            return nil
        }
        return try LargeValueReader(id, in: host().largeValueDatabase)
    }

    mutating func openForRead() throws {
        try checkSaved()
        switch stream {
        case .reading: return
        case .writing: try close()
        case .closed: break
        }
        stream = .reading(try newReader())
    }

    mutating func openForWrite(_ newLength: Int64) throws {
        try checkSaved()
        guard newLength >= 0 else { throw StoreError(.misuse, "\(name): a length of \(newLength); use 0 for an unknown one") }
        stream = .closed
        stream = .writing(
            try LargeValueWriter(in: host().largeValueDatabase, unit: unit, length: newLength == 0 ? nil : newLength))
    }

    mutating func close() throws {
        switch stream {
        case .closed: throw StoreError(.notOpen, "\(name): it is not open")
        case .reading: stream = .closed
        case .writing(let writer):
            let value = try writer.finish()
            stream = .closed
            try host().setLargeValue(value, ofAttribute: index)
        }
    }

    func flush() throws {
        switch stream {
        case .closed: throw StoreError(.notOpen, "\(name): it is not open")
        case .reading: break
        case .writing(let writer): try writer.flush()
        }
    }

    func copyFromFile(_ path: String) throws {
        try checkSaved()
        try checkClosed()
        let writer = try LargeValueWriter(in: host().largeValueDatabase, unit: unit)
        try writer.write(contentsOfFile: path)
        try host().setLargeValue(writer.finish(), ofAttribute: index)
    }

    func copyToFile(_ path: String) throws {
        try checkSaved()
        try checkClosed()
        if let reader = try newReader() { return try reader.copy(toFile: path) }
        let empty = try LargeValueWriter(in: host().largeValueDatabase, unit: unit).finish()
        try LargeValueReader(empty.id, in: host().largeValueDatabase).copy(toFile: path)
    }

    var position: Int64 {
        switch stream {
        case .closed: 0
        case .reading(let reader): reader?.position ?? 0
        case .writing(let writer): writer.length
        }
    }

    var isOpen: Bool { if case .closed = stream { false } else { true } }

    func length() throws -> Int64? {
        if case .writing(let writer) = stream { return writer.length }
        guard let id = try host().largeValue(ofAttribute: index) else { return nil }
        return try LargeValueReader(id, in: host().largeValueDatabase).length
    }
}
