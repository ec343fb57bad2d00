public import Foundation
public import MobileModel
public import MobileProtocol
public import MobileStore

/// A state of a back end.
public struct BackEndPosition: Sendable, Hashable {
    /// The life of the data. A system that was restored from a backup, or set up again, has another one, and positions of two histories say nothing
    /// about each other.
    public let historyID: String
    /// The state inside of the history.
    public let state: String

    /// Creates a position.
    public init(historyID: String, state: String) { (self.historyID, self.state) = (historyID, state) }
}

/// The changes of a partition's rows since a mark.
public struct BackEndChanges: Sendable {
    /// The keys of all rows that were created, changed or deleted in the partition since the mark, apart from deleted ones that ``covers`` finds. Further keys
    /// do no harm, so a back end may return those of all partitions. Nil if the back end does not know; the server then loads all rows and compares them.
    public let keys: [RowKey]?
    /// The mark of the state that this read sees, for the next time: a text whose content is the back end's. Nil if there is none. Texts of more than 512 bytes
    /// are kept apart, and read only when the back end's position has moved; some tens of KB are a good limit.
    public let mark: String?
    /// For a back end that does not have the keys of deleted rows: whether all present rows near a key are among ``keys``. The server asks this about each row
    /// that it knows of the partition. One that is covered, and not among ``keys``, is gone. Nil (default) if no row has vanished: the server then
    /// does not look at the rows that it knows.
    public let covers: (@Sendable (RowKey) -> Bool)?

    /// Creates the answer of a back end.
    public init(keys: [RowKey]?, mark: String?, covers: (@Sendable (RowKey) -> Bool)? = nil) {
        (self.keys, self.mark, self.covers) = (keys, mark, covers)
    }

    /// Whether nothing in the partition has changed. Without keys, its last rows may have vanished.
    var areNone: Bool { keys?.isEmpty == true && covers == nil }

    /// The answer of a back end that cannot find changes.
    public static let unknown = BackEndChanges(keys: nil, mark: nil)
}

/// One row that a back end has loaded.
public struct BackEndRow: Sendable {
    enum Content: Sendable {
        case values(JSONObject)
        /// The form of the cache, from a back end that makes it by itself.
        case loaded(LoadedRow)
        /// A row that its attributes cannot hold.
        case unfit(UnfitRow)
    }

    let content: Content

    /// Creates a row.
    /// - Parameter values: the value of each attribute that is not large, by name, in the form of the protocol: decimals as JSON numbers, dates and
    ///   times as strings (`2026-11-23`, `06:05:00`, `2026-11-23T06:05:00.000Z`), binary values in base64. A missing value is NULL. A row with a value that
    ///   its attribute cannot hold is held back.
    public init(_ values: JSONObject) { content = .values(values) }

    init(_ row: LoadedRow) { content = .loaded(row) }
    init(_ row: UnfitRow) { content = .unfit(row) }
}

/// The digest of one large value.
public struct LargeValueDigest: Sendable {
    /// The key of its row.
    public let key: RowKey
    /// The name of the attribute.
    public let attribute: String
    /// The SHA-256 of the value's bytes; of a text those of its UTF-8.
    public let digest: [UInt8]
    /// The number of bytes.
    public let length: Int64
    /// Whether the bytes of a text are UTF-8; nil where the back end has no others. A row with another text is held back.
    var isText: Bool?

    /// Creates a digest. The bytes of a text are UTF-8.
    public init(key: RowKey, attribute: String, digest: [UInt8], length: Int64) {
        (self.key, self.attribute, self.digest, self.length) = (key, attribute, digest, length)
    }
}

/// The result of reading a large value.
public enum BackEndValue: Sendable {
    /// The back end has no such row.
    case noRow
    /// The value is NULL.
    case null
    /// The value was passed on.
    case content
}

/// One operation of a device, ready for the back end.
public struct BackEndOperation {
    /// The id of the operation: unique per client. Client and id together are an idempotency key.
    public let id: Int64
    /// The client that has submitted the operation.
    public let client: String
    /// The object.
    public let object: ObjectModel
    /// The operation as the model describes it, with its statements and parameters.
    public let operation: OperationModel
    /// The row's key before the operation; nil for a row to create, and for a row that the server does not know.
    public let key: RowKey?
    /// The values to write, by attribute, in the form of ``BackEndRow``. Attributes that refer to a parent have the parent's key, also of one that the
    /// batch has created. Values of a new row whose attribute the back end generates are placeholders of the device.
    public let values: JSONObject
    /// The values of the operation's own parameters, by name.
    public let parameters: JSONObject
    /// The large values to write, by attribute; nil for NULL.
    public let largeValues: [String: UploadedValue?]
    /// The parts of the parents' keys, by the attributes that hold them, with the attributes of the parents.
    let parentKeys: [String: (part: Value, key: AttributeModel)]
}

/// The reason for which a back end has not done something.
public struct BackEndFailure: Error, Sendable {
    /// The kinds of failures.
    public enum Kind: Sendable {
        /// The back end will not do this; the user must look at it.
        case refused
        /// Nothing was decided: the back end is busy or out of reach. The device keeps the operation and sends it again.
        case recoverable
        /// The connection broke while the batch was committed. The device sends the operation again, and the record of operations shows then whether it
        /// was done.
        case outcomeUnknown
    }

    /// The kind.
    public let kind: Kind
    /// The code for the device, as in HTTP. Of a recoverable failure 409 (busy) or 503 (out of reach).
    public let code: Int64
    /// The message for the device: a sentence in the terms of the model.
    public let message: String
    /// The back end's own code; empty if there is none.
    public let backEndCode: String
    /// The back end's own message, for the server's log; empty if ``message`` is complete.
    public let detail: String

    private init(_ kind: Kind, _ code: Int64, _ message: String, _ backEndCode: String, _ detail: String) {
        (self.kind, self.code, self.message, self.backEndCode, self.detail) = (kind, code, message, backEndCode, detail)
    }

    /// A refusal.
    /// - Parameters:
    ///   - message: the sentence for the user of the device.
    ///   - code: default 412, a constraint. 409 and 503 are codes of failures that pass, and become 500 here.
    ///   - backEndCode: the back end's own code; default none.
    ///   - detail: the back end's own message, for the server's log; default none.
    public static func refused(
        _ message: String, code: Int64 = ResultCode.constraint, backEndCode: String = "", detail: String = ""
    ) -> BackEndFailure {
        BackEndFailure(.refused, ResultCode.isRecoverable(code) ? ResultCode.failure : code, message, backEndCode, detail)
    }

    /// The back end is occupied by others: code 409.
    public static func busy(backEndCode: String = "", detail: String = "") -> BackEndFailure {
        BackEndFailure(.recoverable, ResultCode.conflict, "the back end is busy; try again", backEndCode, detail)
    }

    /// The back end does not answer: code 503.
    public static func outOfReach(backEndCode: String = "", detail: String = "") -> BackEndFailure {
        BackEndFailure(.recoverable, ResultCode.unavailable, outOfReachMessage, backEndCode, detail)
    }

    /// The connection broke while the batch was committed: code 503.
    public static func outcomeUnknown(backEndCode: String = "", detail: String = "") -> BackEndFailure {
        BackEndFailure(.outcomeUnknown, ResultCode.unavailable, outOfReachMessage, backEndCode, detail)
    }

    private static let outOfReachMessage = "the back end is out of reach; try again"
}

extension BackEndFailure: LocalizedError, CustomStringConvertible {
    /// The message; with the back end's own, where there is one.
    public var description: String { detail.isEmpty ? message : "\(message) (\(detail))" }
    /// The message.
    public var errorDescription: String? { message }
    /// The back end's own message; ``message`` where that is complete.
    public var failureReason: String? { detail.isEmpty ? message : detail }
    /// The next step, by the kind of the failure.
    public var recoverySuggestion: String? {
        switch kind {
        case .refused: "Correct the values and submit again, or cancel."
        case .recoverable: "None needed. The device keeps the operation and sends it again."
        case .outcomeUnknown: "None needed. The device sends the operation again, and the record of operations shows then whether it was done."
        }
    }
}
