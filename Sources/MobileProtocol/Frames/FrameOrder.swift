/// The position in a frame stream, and the frames that may follow. Writer and reader both use it.
///
///     upload:     H L* ( O ( V D* E )* )* Z
///     download:   W* H ( K | L )* ( ( T D* E | V D* E | S )* G )* ( R | L )* Z
///
/// A download may break off with `X` in place of any frame, also before `H`. `Z` and `X` are last.
struct FrameOrder: Sendable {
    private enum Place: Sendable {
        /// Before `H`.
        case start
        /// After the upload's header, or after an operation: the last one.
        case operations(last: OperationFrame?)
        /// After the download's header.
        case prelude
        /// Between the parts of a group that `G` has not ended.
        case group
        /// After a group.
        case groups
        /// After the first result.
        case results
        /// In a part.
        case rows(TablePart)
        case value(LargeValuePart, received: Int64)
        /// After `Z` or `X`.
        case ended
    }

    let direction: FrameDirection
    private var place = Place.start
    /// The operation to which the upload's value parts belong.
    private var lastOperation: OperationFrame?

    init(_ direction: FrameDirection) { self.direction = direction }

    /// Whether the stream is complete.
    var isEnded: Bool {
        if case .ended = place { true } else { false }
    }

    /// Checks that a frame of this type may follow, before its payload is known.
    /// - Throws: ``ProtocolError/Code/malformedFrame``, or ``ProtocolError/Code/trailingBytes`` after the end.
    func check(_ type: FrameType, at offset: Int64) throws(ProtocolError) {
        if isEnded {
            throw ProtocolError(.trailingBytes, "frame \"\(type.letter)\": the stream has ended before it", byteOffset: offset)
        }
        guard allowed.contains(type) else {
            let expected = allowed.map { String($0.letter) }.joined(separator: ", ")
            throw ProtocolError(
                .malformedFrame, "frame \"\(type.letter)\" in the wrong place of the \(direction): expected one of \(expected)",
                byteOffset: offset)
        }
    }

    private var allowed: [FrameType] {
        switch place {
        case .start: direction == .upload ? [.header] : [.wait, .header, .failure]
        case .operations(nil): [.logRecords, .operation, .streamEnd]
        case .operations: [.operation, .largeValue, .streamEnd]
        case .prelude: [.keyRange, .logRecords, .table, .segment, .largeValue, .groupEnd, .replayResults, .streamEnd, .failure]
        case .group: [.table, .segment, .largeValue, .groupEnd, .failure]
        case .groups: [.table, .segment, .largeValue, .groupEnd, .replayResults, .logRecords, .streamEnd, .failure]
        case .results: [.replayResults, .logRecords, .streamEnd, .failure]
        case .rows, .value: direction == .upload ? [.data, .partEnd] : [.data, .partEnd, .failure]
        case .ended: []
        }
    }

    /// Advances by one frame.
    /// - Throws: the errors of ``check(_:at:)``, and ``ProtocolError/Code/invalidContent`` for a frame that contradicts the ones before it.
    mutating func advance(_ content: FrameContent, at offset: Int64) throws(ProtocolError) {
        try check(content.type, at: offset)
        switch content {
        case .header: place = .operations(last: nil)
        case .answer: place = .prelude
        case .operation(let operation):
            try checkFollows(operation, at: offset)
            lastOperation = operation
            place = .operations(last: operation)
        case .wait, .keyRange: break
        case .logRecords:
            if case .groups = place { place = .results }
        case .table(let part): place = .rows(part)
        case .segment: place = .group
        case .largeValue(let part):
            try checkOwner(part, at: offset)
            place = .value(part, received: 0)
        case .data(let bytes): try receive(bytes.count, at: offset)
        case .partEnd(let end): try endPart(end, at: offset)
        case .groupEnd: place = .groups
        case .replayResults: place = .results
        case .failure, .streamEnd: place = .ended
        }
    }

    /// Checks that ids grow and that the operations of a batch are consecutive: a receiver can execute a batch as soon as the next one begins.
    private func checkFollows(_ operation: OperationFrame, at offset: Int64) throws(ProtocolError) {
        guard let last = lastOperation else { return }
        guard operation.id > last.id else {
            throw ProtocolError(
                .invalidContent, "operation \(operation.id): ids grow, and the one before it is \(last.id)", byteOffset: offset)
        }
        guard operation.batch == last.batch || operation.batch > last.id else {
            throw ProtocolError(
                .invalidContent, "operation \(operation.id): batch \(operation.batch) has ended before it", byteOffset: offset)
        }
    }

    private func checkOwner(_ part: LargeValuePart, at offset: Int64) throws(ProtocolError) {
        switch (part.owner, direction) {
        case (.row, .download): return
        case (.operation(let id), .upload) where id == lastOperation?.id: return
        default:
            throw ProtocolError(
                .invalidContent,
                direction == .upload
                    ? "large value part: expected the id of the operation before it" : "large value part: expected the key of a row",
                byteOffset: offset)
        }
    }

    private mutating func receive(_ count: Int, at offset: Int64) throws(ProtocolError) {
        if case .rows(let part) = place, part.mode == .reset {
            throw ProtocolError(.invalidContent, "data of \"\(part.object)\": a part with mode \"reset\" has none", byteOffset: offset)
        }
        guard case .value(let part, let received) = place else { return }
        if let content = part.content {
            throw ProtocolError(
                .invalidContent, "data of \"\(part.attribute)\": its content \(content.name.prefix(80)) is fetched on its own", byteOffset: offset)
        }
        if let submitted = part.submitted {
            throw ProtocolError(.invalidContent, "data of \"\(part.attribute)\": its content is that of operation \(submitted)", byteOffset: offset)
        }
        let (total, overflow) = received.addingReportingOverflow(Int64(count))
        let limit = part.length.map { part.compression == .none ? $0 : .max } ?? 0
        guard !overflow, total <= limit else {
            throw ProtocolError(
                .invalidContent, "data of \"\(part.attribute)\": more than the announced \(part.length ?? 0) bytes", byteOffset: offset)
        }
        place = .value(part, received: total)
    }

    private mutating func endPart(_ end: PartEnd, at offset: Int64) throws(ProtocolError) {
        switch (place, end) {
        case (.rows, .rows): break
        case (.value(let part, let received), .bytes(let count)):
            let length = part.length ?? 0
            guard count == length, part.compression != .none || part.content != nil || part.submitted != nil || received == length else {
                throw ProtocolError(
                    .invalidContent, "end of \"\(part.attribute)\": expected \(length) bytes, \(min(count, received)) came",
                    byteOffset: offset)
            }
        default:
            throw ProtocolError(.invalidContent, "end of part: rows end with \"rows\", values with \"bytes\"", byteOffset: offset)
        }
        place = direction == .upload ? .operations(last: lastOperation) : .group
    }
}
