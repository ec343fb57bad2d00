/// A JSON message: `{"header": {...}, "content": {...}}`.
public struct JSONMessage: Sendable, Hashable {
    /// What the message is about: method, package, ids.
    public var header: JSONObject
    /// What it carries; usually an object.
    public var content: JSONValue

    public init(header: JSONObject = [:], content: JSONValue = .object([:])) {
        self.header = header
        self.content = content
    }

    /// Takes the message out of a JSON value.
    /// - Throws: ``StoreError/Code/type`` where it is not an object with an object as `header`, or has members other than
    ///   `header` and `content`. A missing `content` is an empty object.
    public init(_ value: JSONValue) throws(StoreError) {
        guard let object = value.object else { throw StoreError(.type, "message: expected an object with header and content") }
        guard let header = object["header"]?.object else { throw StoreError(.type, "message: its \"header\" is missing or no object") }
        if let other = object.keys.first(where: { $0 != "header" && $0 != "content" }) {
            throw StoreError(.type, "message: there is no member \"\(other.prefix(80))\" beside header and content")
        }
        self.init(header: header, content: object["content"] ?? .object([:]))
    }

    /// Reads one message.
    /// - Throws: as ``JSONValue/init(parsing:maximumDepth:)-([UInt8],_)`` and ``init(_:)``.
    public init(parsing bytes: [UInt8]) throws(StoreError) {
        try self.init(JSONValue(parsing: bytes))
    }

    /// Reads one message, or an array of messages.
    /// - Throws: as ``init(parsing:)``.
    public static func messages(parsing bytes: [UInt8]) throws(StoreError) -> [JSONMessage] {
        let value = try JSONValue(parsing: bytes)
        guard let elements = value.array else { return [try JSONMessage(value)] }
        var messages: [JSONMessage] = []
        for element in elements { messages.append(try JSONMessage(element)) }
        return messages
    }

    /// The message as a JSON value.
    public var value: JSONValue { ["header": .object(header), "content": content] }

    /// The message as compact JSON text, in UTF-8.
    public var bytes: [UInt8] { value.bytes }
}
