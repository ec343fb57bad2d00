internal import MobileObjects
internal import MobileProtocol
internal import MobileStore

/// One operation of the outbox in the form in which it travels.
struct OutgoingOperation {
    let frame: OperationFrame
    let largeValues: [LargeValue]

    struct LargeValue {
        let attribute: String
        /// The value's id in the store; nil for NULL.
        let id: Int64?
    }

    init(_ record: OutboxRecord) {
        frame = OperationFrame(
            id: record.id, object: record.entity, change: .init(record.change),
            operation: record.operation.isEmpty ? nil : record.operation, batch: record.batch, key: record.surrogateKey,
            attributes: record.attributes, primaryKey: record.primaryKey, refs: record.references,
            parameters: record.parameters)
        largeValues = record.largeValues.map { LargeValue(attribute: $0.attribute, id: $0.id) }
    }
}

/// Reads the outbox a page at a time, as it was when the reader was made.
struct OutboxReader {
    private let package: PackageDatabase
    private let end: Int64
    private static let pageSize = 64

    init(_ package: PackageDatabase) throws {
        self.package = package
        end = try package.lastOutboxID
    }

    /// The operations that follow `id`, in their order; none at the end.
    func operations(after id: Int64) throws -> [OutgoingOperation] {
        try package.outbox(after: id, limit: Self.pageSize).filter { $0.id <= end }.map(OutgoingOperation.init)
    }

    /// The bytes of a large value.
    func source(of id: Int64) throws -> LargeValueSource { LargeValueSource(try LargeValueReader(id, in: package.store)) }
}

/// A large value in pieces of the size of a data frame.
final class LargeValueSource {
    private let reader: LargeValueReader

    init(_ reader: LargeValueReader) { self.reader = reader }

    /// Bytes altogether.
    var length: Int64 { reader.byteCount }

    /// The next piece; nil at the end.
    func next() throws -> [UInt8]? {
        let bytes = try reader.bytes(upTo: ProtocolLimit.dataFrame)
        return bytes.isEmpty ? nil : bytes
    }
}

extension OperationFrame.Change {
    fileprivate init(_ change: OutboxRecord.Change) {
        self =
            switch change {
            case .create: .create
            case .update: .update
            case .delete: .delete
            case .other: .other
            }
    }
}
