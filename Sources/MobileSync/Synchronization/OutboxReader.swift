internal import MobileObjects
internal import MobileProtocol
internal import MobileStore

/// Reads the outbox a page at a time, up to the last operation that could be sent at the creation of the reader.
struct OutboxReader {
    private let package: PackageDatabase
    /// The client id whose operations are read; empty for the present one.
    private let client: String
    /// The id of the last operation that is sent; 0 when there is none.
    let end: Int64
    private static let pageSize = 64

    init(_ package: PackageDatabase, ofClient client: String = "") throws {
        (self.package, self.client) = (package, client)
        end = try package.lastSendableID(ofClient: client)
    }

    /// Returns the operations that follow `id`, in their order; empty at the end.
    func operations(after id: Int64) throws -> [OutboxRecord] {
        try package.outbox(after: id, limit: Self.pageSize, ofClient: client).filter { $0.id <= end }
    }

    /// Returns a reader of the bytes of a large value.
    func reader(of id: Int64) throws -> LargeValueReader { try LargeValueReader(id, in: package.store) }
}

extension OutboxRecord {
    /// The operation in the form of the protocol, without its large values.
    var frame: OperationFrame {
        OperationFrame(
            id: id, object: entity, change: .init(change), operation: operation.isEmpty ? nil : operation, batch: batch, key: surrogateKey,
            attributes: attributes, primaryKey: primaryKey, refs: references, parameters: parameters, digest: digest,
            original: original, follows: follows)
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
