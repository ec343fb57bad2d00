internal import MobileCrypto
internal import MobileProtocol
internal import MobileStore

/// The outcome of one operation, in the form that the back end keeps.
struct OperationOutcome: Sendable {
    var result: ReplayResult
    /// Name and version of the package.
    var package: String
    /// The back end's own code of a rejection; empty if there is none.
    var backEndCode = ""
    /// The requested change; nil in a record of an earlier release.
    var change: OperationFrame.Change?
    /// The operation's name, for log records.
    var operation: String
    /// The time of the decision.
    var timestamp: String
    /// The row's key in the back end, for rows that were created or whose key was changed; nil for all others.
    var rowKey: Value?
    /// The digest of the operation's content; nil in a record of an earlier release, and where the client sent none.
    var digest: String?
    /// The digest of the row that the operation left, where its object refuses conflicts. A rejected operation has that of the operation which it
    /// follows: it left the row as it was.
    var left: String?
    /// The operation that it follows. It is not stored.
    var follows: Int64?
    /// Whether the outcome was recorded before, so that nothing was decided now. It is not stored.
    var isRecorded = false
    /// Whether the client had settled a recorded operation before it arrived: its record is removed with this upload. It is not stored.
    var isBelowFloor = false
    /// The back end's message about a rejection, with its statement: for the server's log, while the outcome is new. It is not stored.
    var detail = ""

    init(
        result: ReplayResult, package: String, backEndCode: String = "", change: OperationFrame.Change, operation: String, timestamp: String,
        rowKey: Value? = nil, digest: String? = nil
    ) {
        self.result = result
        self.package = package
        self.backEndCode = backEndCode
        self.change = change
        self.operation = operation
        self.timestamp = timestamp
        self.rowKey = rowKey
        self.digest = digest
    }

    init(json: JSONValue) throws {
        result = try ReplayResult(json: json)
        package = json["pkg"]?.string ?? ""
        backEndCode = json["eisCode"]?.string ?? ""
        change = json["change"]?.string.flatMap(OperationFrame.Change.init(rawValue:))
        operation = json["operation"]?.string ?? ""
        timestamp = json["timestamp"]?.string ?? ""
        rowKey = json["rowKey"].flatMap(Value.init(key:))
        digest = json["digest"]?.string
        left = json["left"]?.string
    }

    var json: JSONValue {
        var object = result.json.object ?? [:]
        object["pkg"] = .string(package)
        if let change { object["change"] = .string(change.rawValue) }
        object["operation"] = .string(operation)
        object["timestamp"] = .string(timestamp)
        if !backEndCode.isEmpty { object["eisCode"] = .string(backEndCode) }
        if let rowKey { object["rowKey"] = rowKey.keyJSON }
        if let digest { object["digest"] = .string(digest) }
        if let left { object["left"] = .string(left) }
        return .object(object)
    }

    /// Whether this is the outcome of another operation than the one with this digest. Where one of the two digests is missing, the ids must do.
    func isOfAnother(digest other: String?) -> Bool { digest.map { $0 != other ?? $0 } ?? false }

    /// Whether the client had settled the operation before it arrived, so that nothing was decided now.
    var isSettled: Bool { result.code == ResultCode.alreadySettled }

    /// Returns the log record of a rejection; that of an accepted operation only if successes are logged. A deferred operation has none: it waits for a
    /// decision.
    func logRecord(logsSuccesses: Bool) -> LogRecordEntry? {
        let isRejected = result.outcome == .rejected
        guard isRejected || result.outcome == .accepted && logsSuccesses && !isSettled else { return nil }
        return LogRecordEntry(
            messageId: result.id, level: isRejected ? .error : .info, code: isRejected ? result.code : ResultCode.success, eisCode: backEndCode,
            message: isRejected ? result.message : "\(operation) of \(result.object) was done", component: result.object,
            entityKey: String(result.key), operation: operation, requestId: String(result.id), timestamp: timestamp)
    }
}

extension OperationRecords {
    /// Returns the outcome of an operation; nil if it was not processed.
    func processed(_ operation: Int64, client: String) throws -> OperationOutcome? {
        try outcome(of: operation, client: client).map {
            var outcome = try OperationOutcome(json: JSONValue(parsing: $0))
            outcome.isRecorded = true
            return outcome
        }
    }

    func record(_ outcome: OperationOutcome, client: String) throws {
        try record(outcome.json.description, of: outcome.result.id, client: client)
    }
}

extension Value {
    /// A key as JSON: a number or string as it is, bytes as an object with their hexadecimal digits.
    var keyJSON: JSONValue {
        switch self {
        case .null: .null
        case .integer(let value): .integer(value)
        case .real(let value): JSONValue(value) ?? .null
        case .text(let value): .string(value)
        case .blob(let bytes): ["hex": .string(bytes.hexadecimal)]
        }
    }

    init?(key json: JSONValue) {
        switch json {
        case .integer(let value): self = .integer(value)
        case .string(let value): self = .text(value)
        case .number: self = .real(json.double ?? 0)
        case .object(let members):
            let digits = Array((members["hex"]?.string ?? "").utf8).map { $0 < 0x3A ? $0 &- 0x30 : $0 &- 0x57 }
            self = .blob(stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
        default: return nil
        }
    }
}
