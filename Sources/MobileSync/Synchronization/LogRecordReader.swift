internal import MobileObjects
internal import MobileProtocol

/// Reads the submitted log records a page at a time, up to the last one at the creation of the reader.
struct LogRecordReader {
    private let package: PackageDatabase
    private let end: Int64
    private static let pageSize = 100
    /// The lengths to which uploaded texts are cut, so that a record fits into a frame regardless of its contents.
    private static let longestMessage = 32_768, longestField = 1024

    init(_ package: PackageDatabase) throws {
        self.package = package
        end = try package.lastSubmittedLogRecord
    }

    /// Returns the records that follow `id`, in the form of the protocol; empty at the end.
    func entries(after id: Int64) throws -> [LogRecordEntry] {
        try package.submittedLogRecords(after: id, limit: Self.pageSize).filter { $0.record.messageID <= end }.map { record, isDeleted in
            guard !isDeleted else { return LogRecordEntry(deleted: record.messageID) }
            return LogRecordEntry(
                messageId: record.messageID, level: record.level.onWire, code: Int64(record.code),
                eisCode: Self.cut(record.eisCode ?? ""), message: Self.cut(record.message, to: Self.longestMessage),
                component: Self.cut(record.component), entityKey: Self.cut(record.entityKey), operation: Self.cut(record.operation),
                requestId: Self.cut(record.requestID),
                timestamp: record.timestampText)
        }
    }

    private static func cut(_ text: String, to length: Int = longestField) -> String {
        text.utf8.count <= length ? text : String(text.unicodeScalars.prefix(length))
    }
}
