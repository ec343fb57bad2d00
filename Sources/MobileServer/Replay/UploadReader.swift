internal import MobileProtocol
internal import MobileStore

/// Reads a complete upload from a request's body, twice if necessary: once to check all of it, once to replay it.
struct UploadReader {
    private let body: Spool

    init(_ body: Spool) { self.body = body }

    /// One operation, with the positions of the contents of its large attributes.
    struct Operation {
        let frame: OperationFrame
        /// Contents of large attributes by name; nil for NULL.
        var largeValues: [String: UploadedValue?] = [:]
    }

    /// Returns the header alone.
    func header() throws -> SynchronizeHeader {
        var frames = UploadFrames(body)
        guard case .header(let header)? = try frames.next() else { throw RequestFailure(.badRequest, "the upload is empty") }
        return header
    }

    /// Returns the operations in order.
    func operations() throws -> UploadOperations { try UploadOperations(UploadFrames(body)) }

    /// Visits the log records, those of one frame at a time.
    func forEachLogRecordFrame(_ visit: ([LogRecordEntry]) throws -> Void) throws {
        var frames = UploadFrames(body)
        while let frame = try frames.next() {
            switch frame {
            case .header: continue
            case .logRecords(let records): try visit(records)
            // Log records come before the operations.
            default: return
            }
        }
    }
}

/// A position in an upload. A copy is a bookmark: it reads the same frames again.
///
/// Memory: one frame and one piece of the body.
struct UploadFrames {
    private let body: Spool
    private var reader = FrameReader(.upload)
    /// The position of the reader's next bytes in the body.
    private var position = 0

    init(_ body: Spool) { self.body = body }

    /// Returns the next frame's content; nil after the end.
    /// - Throws: ``ProtocolError`` if the stream is damaged or ends too early.
    mutating func next() throws -> FrameContent? {
        let body = body
        var position = position
        defer { self.position = position }
        return try reader.next(from: {
            let piece = try body.chunk(at: position)
            position += piece?.count ?? 0
            return piece
        })?.content
    }
}

/// The operations of an upload from a position on, read on demand. A copy is a bookmark.
struct UploadOperations {
    private var frames: UploadFrames
    /// The next operation, without its large values. Its frame had to be read to find the end of the previous operation.
    private(set) var upcoming: OperationFrame?

    /// - Parameter frames: positioned at the beginning.
    init(_ frames: UploadFrames) throws {
        self.frames = frames
        try advance()
    }

    /// Returns the next operation, complete; nil after the last one.
    /// - Throws: ``ProtocolError`` if the stream is damaged or ends too early, ``RequestFailure`` for a large value that is compressed.
    mutating func next() throws -> UploadReader.Operation? {
        guard let upcoming else { return nil }
        var operation = UploadReader.Operation(frame: upcoming)
        self.upcoming = nil
        try advance { part, content in
            guard part.compression == .none else {
                throw RequestFailure(.badRequest, "operation \(upcoming.id): large values are uploaded without compression")
            }
            operation.largeValues[part.attribute] = .some(part.length.map { UploadedValue(length: $0, frames: content) })
        }
        return operation
    }

    /// Returns the next operation of a batch; nil where another batch begins.
    mutating func next(ofBatch batch: Int64) throws -> UploadReader.Operation? { upcoming?.batch == batch ? try next() : nil }

    /// Advances to the next operation or to the end.
    /// - Parameter visit: called with each large value on the way, and the position where its content begins.
    private mutating func advance(_ visit: (LargeValuePart, UploadFrames) throws -> Void = { _, _ in }) throws {
        while let frame = try frames.next() {
            switch frame {
            case .operation(let operation):
                upcoming = operation
                return
            case .largeValue(let part): try visit(part, frames)
            default: continue
            }
        }
    }
}

/// The content of a large attribute, at its position in an upload that has been checked to its end.
public struct UploadedValue {
    /// The length in bytes.
    public let length: Int64
    /// The position of its beginning.
    fileprivate let frames: UploadFrames

    /// Reads the content from its beginning, in pieces of at most one frame.
    public func forEachPiece(_ visit: ([UInt8]) throws -> Void) throws {
        var frames = frames
        while case .data(let piece)? = try frames.next() { try visit(piece) }
    }

    /// Returns the whole content, for callers that cannot use pieces.
    public func bytes() throws -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(length))
        try forEachPiece { bytes += $0 }
        return bytes
    }
}
