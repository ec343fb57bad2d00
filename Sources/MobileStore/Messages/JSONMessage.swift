/// A parsed JSON message: `{"header": {...}, "content": ...}`.
///
///     let message = try JSONMessage(parsing: bytes)
///     guard message.header["method"].string == "importRows" else { return }
///     for row in message.content["rows"] { show(row[0].integer, row[1].string) }
///
/// Parsing checks the whole text but builds no tree: the cost of reading the header does not depend on the content. `bytes(header:content:)`
/// writes messages.
public struct JSONMessage: Sendable {
    /// The header, an object with method, package and ids.
    public let header: JSONNode
    /// The content; in a message without content, a value that does not exist.
    public let content: JSONNode

    /// Makes a message from a value of a document.
    /// - Throws: ``StoreError/Code/type`` when the value is not an object with an object as `header`, or has members other than
    ///   `header` and `content`.
    public init(_ node: JSONNode) throws(StoreError) {
        guard node.isObject else { throw StoreError(.type, "message: expected an object with header and content") }
        header = node["header"]
        content = node["content"]
        guard header.isObject else { throw StoreError(.type, "message: its \"header\" is missing or not an object") }
        if let other = node.keys.first(where: { $0 != "header" && $0 != "content" }) {
            throw StoreError(.type, "message: it has a member \"\(other.prefix(80))\", but only header and content are allowed")
        }
    }

    /// Parses one message.
    /// - Throws: as ``JSONDocument/init(parsing:maximumDepth:duplicateKeys:)-(RawSpan,_,_)`` and ``init(_:)``.
    public init(
        parsing bytes: [UInt8], maximumDepth: Int = 64, duplicateKeys: JSONDocument.DuplicateKeys = .refused
    ) throws(StoreError) {
        try self.init(JSONDocument(parsing: bytes, maximumDepth: maximumDepth, duplicateKeys: duplicateKeys).root)
    }

    /// Parses one message, or an array of messages.
    /// - Throws: as ``init(parsing:maximumDepth:duplicateKeys:)``.
    public static func messages(
        parsing bytes: [UInt8], maximumDepth: Int = 64, duplicateKeys: JSONDocument.DuplicateKeys = .refused
    ) throws(StoreError) -> [JSONMessage] {
        let root = try JSONDocument(parsing: bytes, maximumDepth: maximumDepth, duplicateKeys: duplicateKeys).root
        guard root.isArray else { return [try JSONMessage(root)] }
        var messages: [JSONMessage] = []
        messages.reserveCapacity(root.count)
        for element in root { messages.append(try JSONMessage(element)) }
        return messages
    }

    /// Writes a message as compact text, in UTF-8.
    /// - Parameters:
    ///   - header: the message's header.
    ///   - content: a function that writes one value.
    /// - Throws: the error of `content`; ``StoreError/Code/misuse`` when it writes no value or more than one.
    public static func bytes(
        header: JSONObject, content: (inout JSONWriter) throws(StoreError) -> Void
    ) throws(StoreError) -> [UInt8] {
        var writer = try JSONWriter()
        try writer.object { writer throws(StoreError) in
            try writer.member("header", .object(header))
            try writer.key("content")
            try content(&writer)
        }
        return try writer.finish()
    }

    /// Writes a message whose content is a tree.
    /// - Throws: as ``JSONWriter/value(_:)-(JSONValue)``.
    public static func bytes(header: JSONObject, content: JSONValue = .object([:])) throws(StoreError) -> [UInt8] {
        try bytes(header: header) { writer throws(StoreError) in try writer.value(content) }
    }
}
