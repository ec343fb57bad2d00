internal import MobileStore

/// The body of a response, read in the way of the original clients: JSON begins with the first `{` and ends with the last `}`. The secure-comment
/// prefix, a byte order mark and stray text around the object therefore need no rule of their own.
final class ResponseBody: Sendable {
    /// The bytes, decompressed.
    let bytes: [UInt8]
    /// The object; nil if there is none. Its parts are read on demand.
    let document: JSONDocument?

    /// The most bytes of a body, compressed and decompressed.
    static let maximumLength = 64 << 20
    /// The most arrays and objects inside of each other; deeper text does not count as JSON.
    static let maximumDepth = 256

    static let empty = ResponseBody([])

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        guard let first = bytes.firstIndex(of: UInt8(ascii: "{")), let last = bytes.lastIndex(of: UInt8(ascii: "}")), first < last else {
            document = nil
            return
        }
        let document = try? JSONDocument(
            parsing: bytes.span.extracting(first...last).bytes, maximumDepth: Self.maximumDepth, duplicateKeys: .lastWins)
        self.document = document?.root.isObject == true ? document : nil
    }

    /// Decompresses a body with the header field `Content-Encoding`.
    /// - Throws: `StoreError`: the body is damaged, or longer than ``maximumLength``.
    convenience init(_ bytes: [UInt8], contentEncoding: String?) throws(StoreError) {
        switch contentEncoding?.lowercased() {
        // An empty body needs no frame: some servers send the field with a 204.
        case "gzip", "x-gzip": self.init(bytes.isEmpty ? [] : try Gzip.inflate(bytes, maximumLength: Self.maximumLength))
        case nil, "", "identity": self.init(bytes)
        case let other?: throw StoreError(.compression, "the answer has the encoding \(other.prefix(40)), which was not offered")
        }
    }

    /// The whole text, with the prefix; invalid UTF-8 is replaced.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// A member of the object; a value that does not exist, if there is none. Of two members with one name, the last one counts.
    func member(_ name: String) -> JSONNode? {
        guard let node = document?.root[name], node.exists else { return nil }
        return node
    }

    /// The whole object as a tree; nil if there is none.
    var object: JSONObject? { document.flatMap { JSONValue(lastMembersOf: $0.root).object } }
}

extension JSONNode {
    /// The value as a tree.
    var value: JSONValue { JSONValue(lastMembersOf: self) }
    /// The members of an object as a tree; nil for anything else.
    var object: JSONObject? { isObject ? value.object : nil }
}
