public import MobileStore

/// The result of one operation: an element of an `R` frame's array.
public struct ReplayResult: WireValue, Hashable {
    /// The back end's decision.
    public enum Outcome: String, Sendable, CaseIterable {
        /// The operation was done; the imports before this result contain its effects.
        case accepted
        /// The operation was not done; log records contain the reason.
        case rejected
        /// The operation was not done, and nothing was decided: the client sends it again later. The code is a recoverable one.
        case deferred
    }

    /// The operation's id.
    public var id: Int64
    /// The back end's decision.
    public var outcome: Outcome
    /// A ``ResultCode``.
    public var code: Int64
    /// The reason of a rejection or deferral; empty for an accepted operation.
    public var message: String
    /// The object's name in the model (`mbo`).
    public var object: String
    /// The row's surrogate key.
    public var key: Int64
    /// With ``ResultCode/changedSince``: the values of the back end's row by attribute, without large ones; nil if the row is not among the device's
    /// rows any more. Nil with any other code.
    public var row: JSONObject?
    /// The operation's place in the record of its back end; nil where the back end keeps none, and for operations that were not accepted.
    public var receipt: Receipt?

    /// Creates the result of one operation.
    public init(
        id: Int64, outcome: Outcome, code: Int64 = ResultCode.success, message: String = "", object: String, key: Int64, row: JSONObject? = nil
    ) {
        self.id = id
        self.outcome = outcome
        self.code = code
        self.message = message
        self.object = object
        self.key = key
        self.row = row
    }

    public init(json: JSONValue) throws(ProtocolError) {
        let members = try WireMembers(json, "replay result")
        id = try members.integer("id", in: 1 ... .max)
        outcome = try members.choice("outcome", of: Outcome.self)
        code = try members.optionalInteger("code") ?? outcome.defaultCode
        message = try members.optionalString("message") ?? ""
        object = try members.string("mbo")
        key = try members.integer("key")
        row = try members.optionalMembers("row")
        receipt = try Receipt(members)
    }

    public var json: JSONValue {
        var members: JSONObject = [
            "id": .integer(id), "outcome": .string(outcome.rawValue), "code": .integer(code), "message": .string(message),
            "mbo": .string(object), "key": .integer(key),
        ]
        if let row { members["row"] = .object(row) }
        if let receipt { (members["era"], members["number"]) = (.string(receipt.era), .integer(receipt.number)) }
        return .object(members)
    }
}

extension ReplayResult.Outcome {
    /// The code of a result that names none.
    fileprivate var defaultCode: Int64 {
        switch self {
        case .accepted: ResultCode.success
        case .rejected: ResultCode.failure
        case .deferred: ResultCode.unavailable
        }
    }
}

/// One log record: an element of an `L` frame's array, or of a message header's `log`. SMP 2.3: `SUPLogRecord`.
public struct LogRecordEntry: WireValue, Hashable {
    /// The levels of log records, from 1 (trace) to 7 (off).
    public enum Level: Int64, Sendable, CaseIterable {
        case trace = 1, debug, info, warn, error, fatal, off
    }

    /// The record's own id, given by its creator; nil in a server's record lets the client choose one.
    public var messageId: Int64?
    /// Whether this reports the deletion of the record; only ``messageId`` counts then. Default false.
    public var isDeleted = false
    /// The record's level; default error.
    public var level: Level
    /// A ``ResultCode``.
    public var code: Int64
    /// The back end's own code, such as SQLite's extended result code; empty if it has none.
    public var eisCode: String
    /// The text for people.
    public var message: String
    /// The object's name in the model.
    public var component: String
    /// The row's primary key as text.
    public var entityKey: String
    /// The operation's name or change.
    public var operation: String
    /// The id of the operation concerned, as text.
    public var requestId: String
    /// The time of the event: ISO 8601 in UTC with milliseconds, `YYYY-MM-DDTHH:MM:SS.sssZ`.
    public var timestamp: String

    /// Creates a record that is not deleted.
    public init(
        messageId: Int64? = nil, level: Level = .error, code: Int64, eisCode: String = "", message: String, component: String,
        entityKey: String = "", operation: String = "", requestId: String = "", timestamp: String
    ) {
        self.messageId = messageId
        self.level = level
        self.code = code
        self.eisCode = eisCode
        self.message = message
        self.component = component
        self.entityKey = entityKey
        self.operation = operation
        self.requestId = requestId
        self.timestamp = timestamp
    }

    /// Reports the deletion of a record.
    public init(deleted messageId: Int64) {
        self.init(messageId: messageId, code: 0, message: "", component: "", timestamp: "")
        isDeleted = true
    }

    public init(json: JSONValue) throws(ProtocolError) {
        let members = try WireMembers(json, "log record")
        if try members.optionalBoolean("deleted") ?? false {
            self.init(deleted: try members.integer("messageId"))
            return
        }
        self.init(
            messageId: try members.optionalInteger("messageId"),
            level: Level(rawValue: try members.optionalInteger("level", in: 1...7) ?? Level.error.rawValue) ?? .error,
            code: try members.integer("code"), eisCode: try members.optionalString("eisCode") ?? "", message: try members.string("message"),
            component: try members.optionalString("component") ?? "", entityKey: try members.optionalString("entityKey") ?? "",
            operation: try members.optionalString("operation") ?? "", requestId: try members.optionalString("requestId") ?? "",
            timestamp: try members.optionalString("timestamp") ?? "")
    }

    public var json: JSONValue {
        var members = JSONObject()
        members.set("messageId", messageId)
        guard !isDeleted else {
            members["deleted"] = .boolean(true)
            return .object(members)
        }
        members["level"] = .integer(level.rawValue)
        members["code"] = .integer(code)
        members["eisCode"] = .string(eisCode)
        members["message"] = .string(message)
        members["component"] = .string(component)
        members["entityKey"] = .string(entityKey)
        members["operation"] = .string(operation)
        members["requestId"] = .string(requestId)
        members["timestamp"] = .string(timestamp)
        return .object(members)
    }
}

/// An error that one end reports to the other: the payload of an `X` frame, the content of a `...Failed` message, and the body of an HTTP
/// error.
public struct ProtocolFailure: WireValue, Hashable {
    /// A ``ResultCode``.
    public var code: Int64
    /// The text for people.
    public var message: String

    /// Creates a failure.
    public init(code: Int64, message: String) {
        self.code = code
        self.message = message
    }

    public init(json: JSONValue) throws(ProtocolError) {
        let members = try WireMembers(json, "failure")
        code = try members.integer("code")
        message = try members.optionalString("message") ?? ""
    }

    public var json: JSONValue { ["code": .integer(code), "message": .string(message)] }
}
