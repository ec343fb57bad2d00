internal import MobileProtocol
internal import MobileStore

/// Reads a complete upload from a request's body, twice if need be: once to see that all of it is right, once to do it.
struct UploadReader {
    private let body: Spool

    init(_ body: Spool) { self.body = body }

    /// One operation with the contents of its large attributes.
    struct Operation {
        let frame: OperationFrame
        /// Contents of large attributes by name: bytes, or nil for NULL.
        var largeValues: [String: [UInt8]?] = [:]
    }

    /// The header alone.
    func header() throws -> SynchronizeHeader {
        body.rewind()
        var reader = FrameReader(.upload)
        guard case .header(let header)? = try reader.next(from: { try body.nextChunk() })?.content else {
            throw RequestFailure(.badRequest, "the upload is empty")
        }
        return header
    }

    /// Walks over all operations in order.
    /// - Parameters:
    ///   - keepsContents: whether ``Operation/largeValues`` gets the bytes; otherwise only which ones there are.
    ///   - body: called with each operation when its last large value is complete.
    /// - Throws: ``ProtocolError`` where the stream is damaged or ends too early, and what `visit` throws.
    func forEachOperation(keepsContents: Bool, _ visit: (Operation) throws -> Void) throws {
        body.rewind()
        var reader = FrameReader(.upload)
        var operation: Operation?
        var part: LargeValuePart?
        var content: [UInt8] = []
        while let frame = try reader.next(from: { try body.nextChunk() }) {
            switch frame.content {
            case .operation(let next):
                if let operation { try visit(operation) }
                operation = Operation(frame: next)
            case .largeValue(let value):
                guard value.compression == .none else {
                    throw RequestFailure(.badRequest, "operation \(operation?.frame.id ?? 0): large values are uploaded without compression")
                }
                part = value
                content = []
            case .data(let bytes):
                if keepsContents { content += bytes }
            case .partEnd:
                if let part { operation?.largeValues[part.attribute] = .some(part.length == nil ? nil : content) }
                part = nil
            case .streamEnd:
                if let operation { try visit(operation) }
            default:
                break
            }
        }
    }

    /// Walks over the log records, those of one frame at a time.
    func forEachLogRecordFrame(_ visit: ([LogRecordEntry]) throws -> Void) throws {
        body.rewind()
        var reader = FrameReader(.upload)
        while let frame = try reader.next(from: { try body.nextChunk() }) {
            switch frame.content {
            case .header: continue
            case .logRecords(let records): try visit(records)
            // They come before the operations.
            default: return
            }
        }
    }

    /// Walks over the batches: operations that are done together or not at all.
    func forEachBatch(_ visit: ([Operation]) throws -> Void) throws {
        var batch: [Operation] = []
        try forEachOperation(keepsContents: true) { operation in
            if let last = batch.last, last.frame.batch != operation.frame.batch {
                try visit(batch)
                batch = []
            }
            batch.append(operation)
        }
        if !batch.isEmpty { try visit(batch) }
    }
}
