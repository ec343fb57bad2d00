internal import MobileObjects
internal import MobileProtocol
internal import MobileStore

/// Produces the bytes of an upload while they are sent: header, the submitted log records, the operations of the outbox in their order, each followed
/// by its large values. Memory: one page of operations and a few pieces of one value, regardless of the size of the outbox.
///
/// The upload contains the operations that were in the outbox at the creation of the stream. Later ones go with the next synchronization.
final class UploadStream {
    private let outbox: OutboxReader
    /// Nil for an upload without log records.
    private let log: LogRecordReader?
    /// The ids of the log records and of the deletions that were uploaded so far.
    private(set) var logRecords: [Int64] = []
    private let progress: SynchronizationProgress
    private let trace: MessageTrace?
    private var writer = FrameWriter(.upload)
    private var stage: Stage
    private var page: ArraySlice<OutboxRecord> = []
    private var last: Int64 = 0

    private enum Stage {
        case header(SynchronizeHeader)
        case logRecords
        case operations
        /// The large values that the previous operation still needs.
        case values(OutboxRecord, ArraySlice<OutboxRecord.LargeValue>)
        case value(OutboxRecord, ArraySlice<OutboxRecord.LargeValue>, LargeValueReader)
        case ended
    }

    init(
        _ header: SynchronizeHeader, _ log: LogRecordReader?, _ outbox: OutboxReader, _ progress: SynchronizationProgress, trace: MessageTrace?
    ) {
        self.log = log
        self.trace = trace
        self.outbox = outbox
        self.progress = progress
        stage = .header(header)
    }

    /// Returns the next piece; nil at the end.
    func next() throws -> [UInt8]? {
        while writer.bufferedCount < ProtocolLimit.dataFrame, !writer.isEnded { stage = try step() }
        let bytes = writer.take()
        try progress.sent(bytes: bytes.count)
        return bytes.isEmpty ? nil : bytes
    }

    private func step() throws -> Stage {
        switch stage {
        case .header(let header):
            try progress.enter(.sendingHeader)
            try write(.header(header))
            return .logRecords
        case .logRecords:
            let entries = try log?.entries(after: logRecords.last ?? 0) ?? []
            guard !entries.isEmpty else { return .operations }
            try write(.logRecords(entries))
            logRecords += entries.compactMap(\.messageId)
            return .logRecords
        case .operations:
            guard let operation = try nextOperation() else {
                try progress.enter(.finishingUpload)
                try write(.streamEnd)
                return .ended
            }
            try progress.enter(.sendingTable, object: operation.entity)
            try write(.operation(operation.frame))
            progress.sentOperation()
            return .values(operation, operation.largeValues[...])
        case .values(let operation, let values):
            guard let value = values.first else { return .operations }
            return try begin(value, of: operation, rest: values.dropFirst())
        case .value(let operation, let rest, let reader):
            let bytes = try reader.bytes(upTo: ProtocolLimit.dataFrame)
            guard bytes.isEmpty else {
                try write(.data(bytes))
                return .value(operation, rest, reader)
            }
            try write(.partEnd(.bytes(reader.byteCount)))
            return .values(operation, rest)
        case .ended:
            return .ended
        }
    }

    private func begin(
        _ value: OutboxRecord.LargeValue, of operation: OutboxRecord, rest: ArraySlice<OutboxRecord.LargeValue>
    ) throws -> Stage {
        try progress.enter(.sendingData, object: operation.entity)
        let reader = try value.id.map { try outbox.reader(of: $0) }
        try write(
            .largeValue(
                LargeValuePart(
                    object: operation.entity, attribute: value.attribute, owner: .operation(id: operation.id), length: reader?.byteCount)))
        guard let reader else {
            try write(.partEnd(.bytes(0)))
            return .values(operation, rest)
        }
        return .value(operation, rest, reader)
    }

    private func write(_ content: FrameContent) throws {
        trace?.write(.sent, content)
        try writer.write(content)
    }

    private func nextOperation() throws -> OutboxRecord? {
        if page.isEmpty { page = try outbox.operations(after: last)[...] }
        guard let operation = page.popFirst() else { return nil }
        last = operation.id
        return operation
    }
}
