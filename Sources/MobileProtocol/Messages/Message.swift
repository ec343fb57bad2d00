public import MobileStore

/// The request or answer of a message: the header's `method`.
///
/// An answer's method is the request's with the suffix `Result` or `Failed`.
public struct MessageMethod: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Registers the device; content ``Credentials``, answer ``SessionGrant``.
    public static let register = MessageMethod(rawValue: "register")
    /// Begins a new session of a known device; content ``Credentials``, answer ``SessionGrant``.
    public static let login = MessageMethod(rawValue: "login")
    /// Begins the connection of a registered device and checks that its session is still known; no content, answer
    /// ``ConnectionGrant``. An unknown session is refused with 401, as for all methods.
    public static let connect = MessageMethod(rawValue: "connect")
    /// Removes the device and its sessions; no content.
    public static let unregister = MessageMethod(rawValue: "unregister")
    /// Subscribes the client to a package; content ``SubscribeContent``.
    public static let subscribe = MessageMethod(rawValue: "subscribe")
    /// Ends the client's subscription of a package; no content.
    public static let unsubscribe = MessageMethod(rawValue: "unsubscribe")
    /// Pauses imports; no content.
    public static let suspend = MessageMethod(rawValue: "suspend")
    /// Continues imports after ``suspend``; no content.
    public static let resume = MessageMethod(rawValue: "resume")
    /// Requests all data again; no content.
    public static let recover = MessageMethod(rawValue: "recover")
    /// Sends the data that the server requested with ``ServerInquiry/performanceLog``; content ``ClientLogContent``.
    public static let log = MessageMethod(rawValue: "log")

    /// The method of the answer after success.
    public var result: MessageMethod { MessageMethod(rawValue: rawValue + "Result") }
    /// The method of the answer after a failure; content ``ProtocolFailure``.
    public var failed: MessageMethod { MessageMethod(rawValue: rawValue + "Failed") }

    /// Whether this is the answer after a failure.
    public var isFailure: Bool { rawValue.hasSuffix("Failed") }

    /// The method of the request that this answers; nil if this is not an answer.
    public var request: MessageMethod? {
        for suffix in ["Result", "Failed"] where rawValue.hasSuffix(suffix) && rawValue.utf8.count > suffix.utf8.count {
            return MessageMethod(rawValue: String(rawValue.dropLast(suffix.count)))
        }
        return nil
    }
}

/// The header of a message. Its keys are those of the original platform where it has one.
public struct MessageHeader: WireValue, Hashable {
    /// The requested or answered method.
    public var method: MessageMethod
    /// The id of the request, which its answer repeats; empty for a notice, which is not an answer.
    public var id: String
    /// Name and version of the package, such as `CRM:1.0` (`pkg`); nil if the message concerns no package.
    public var package: String?
    /// The object's name in the model (`mbo`); nil if the message concerns no object.
    public var object: String?
    /// The client id (`cid`): a GUID made once per local database.
    public var client: String?
    /// The application's id (`app`).
    public var application: String?
    /// The device's name (`device`).
    public var device: String?
    /// Log records that the receiver stores (`log`).
    public var log: [LogRecordEntry]

    /// Creates the header of a message; `id` is empty until it is sent.
    public init(
        method: MessageMethod, id: String = "", package: String? = nil, object: String? = nil, client: String? = nil,
        application: String? = nil, device: String? = nil, log: [LogRecordEntry] = []
    ) {
        self.method = method
        self.id = id
        self.package = package
        self.object = object
        self.client = client
        self.application = application
        self.device = device
        self.log = log
    }

    public init(json: JSONValue) throws(ProtocolError) {
        let members = try WireMembers(json, "message header")
        method = MessageMethod(rawValue: try members.string("method"))
        id = try members.optionalString("id") ?? ""
        package = try members.optionalString("pkg")
        object = try members.optionalString("mbo")
        client = try members.optionalString("cid")
        application = try members.optionalString("app")
        device = try members.optionalString("device")
        log = []
        if !members.isAbsent("log") {
            for record in try members.array("log") { log.append(try LogRecordEntry(json: record)) }
        }
    }

    public var json: JSONValue {
        var members: JSONObject = ["method": .string(method.rawValue), "id": .string(id)]
        members.set("pkg", package)
        members.set("mbo", object)
        members.set("cid", client)
        members.set("app", application)
        members.set("device", device)
        if !log.isEmpty { members["log"] = .array(log.map(\.json)) }
        return .object(members)
    }
}

/// One message: `{"header": {...}, "content": {...}}`.
public struct Message: WireValue, Hashable {
    /// The method with the ids of request, client and package.
    public var header: MessageHeader
    /// The content, an object; its form depends on the method.
    public var content: JSONObject

    /// Creates a message with this header and content.
    public init(_ header: MessageHeader, content: JSONObject = [:]) {
        self.header = header
        self.content = content
    }

    /// Creates a message with typed content.
    public init(_ header: MessageHeader, content: some WireValue) {
        self.init(header, content: content.json.object ?? [:])
    }

    public init(json: JSONValue) throws(ProtocolError) {
        let members = try WireMembers(json, "message")
        header = try MessageHeader(json: members.value("header", "an object"))
        content = try members.members("content")
    }

    public var json: JSONValue { ["header": header.json, "content": .object(content)] }

    /// The content as a type of this module.
    /// - Throws: ``ProtocolError/Code/invalidContent``.
    public func content<Content: WireValue>(as type: Content.Type = Content.self) throws(ProtocolError) -> Content {
        try Content(json: .object(content))
    }

    /// The answer after success: with the request's method, ids and package.
    public func result(_ content: JSONObject = [:]) -> Message {
        var header = header
        header.method = header.method.result
        header.log = []
        return Message(header, content: content)
    }

    /// The answer after a failure.
    public func failed(_ failure: ProtocolFailure) -> Message {
        var header = header
        header.method = header.method.failed
        header.log = []
        return Message(header, content: failure)
    }

    /// Reads the body of a request or answer: one message, or an array of messages.
    /// - Throws: ``ProtocolError/Code/invalidJSON``, ``ProtocolError/Code/invalidContent``, and
    ///   ``ProtocolError/Code/limitExceeded`` for more than ``ProtocolLimit/messages`` bytes.
    public static func messages(parsing bytes: [UInt8]) throws(ProtocolError) -> [Message] {
        guard bytes.count <= ProtocolLimit.messages else {
            throw ProtocolError(.limitExceeded, "messages of \(bytes.count) bytes: at most \(ProtocolLimit.messages) go at once")
        }
        let json = try JSONValue(wire: bytes)
        var messages: [Message] = []
        for element in json.array ?? [json] { messages.append(try Message(json: element)) }
        return messages
    }

    /// The body of a request or answer: an array of messages.
    public static func bytes(_ messages: [Message]) -> [UInt8] {
        JSONValue.array(messages.map(\.json)).bytes
    }
}
