internal import MobileCore

/// JSON text that has been read, without a tree: parts that nobody asks for cost nothing.
///
///     let document = try JSONDocument(parsing: bytes)
///     let id = document.root["header"]["id"].string
///     for row in document.root["content"]["rows"] { show(row[0].integer, row[1].string) }
///
/// It keeps the bytes, and its values point into them. It never changes, so it may be read on any thread.
@safe public final class JSONDocument: @unchecked Sendable {  // the core's message does not change after it was read
    private let bytes: UnsafeMutableRawBufferPointer
    private let message: OpaquePointer
    fileprivate let nodes: UnsafePointer<mc_json_node>

    /// What to do with a key that occurs twice in one object.
    public enum DuplicateKeys: Sendable {
        /// An error at the second one.
        case refused
        /// The last one is found.
        case lastWins
    }

    /// Reads one JSON value (RFC 8259) that may have blanks around it, and nothing else. The bytes are copied.
    /// - Parameter maximumDepth: levels of arrays and objects, 1...1024.
    /// - Throws: as ``JSONValue/init(parsing:maximumDepth:)-([UInt8],_)``.
    public init(
        parsing bytes: RawSpan, maximumDepth: Int = 64, duplicateKeys: DuplicateKeys = .refused
    ) throws(StoreError) {
        guard (1...MC_JSON_DEPTH_LIMIT).contains(maximumDepth) else {
            throw StoreError(.misuse, "JSON message: a depth of \(maximumDepth); use 1 to \(MC_JSON_DEPTH_LIMIT)")
        }
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, bytes.byteCount), alignment: 1)
        unsafe bytes.withUnsafeBytes { unsafe copy.copyMemory(from: $0) }
        var options = mc_message_options(
            depth: UInt32(maximumDepth),
            duplicates: duplicateKeys == .refused ? MC_JSON_DUPLICATES_REFUSED : MC_JSON_DUPLICATES_KEPT)
        var message: OpaquePointer?
        do throws(StoreError) {
            try unsafe StoreError.check { unsafe mc_message_read(copy.baseAddress!, bytes.byteCount, &options, &message, $0) }
        } catch {
            unsafe copy.deallocate()
            throw error
        }
        unsafe self.bytes = copy
        unsafe self.message = message!  // MC_OK promises a message
        var count = 0
        unsafe nodes = mc_message_nodes(self.message, &count)
    }

    /// Reads one JSON value from an array of bytes.
    /// - Throws: as ``init(parsing:maximumDepth:duplicateKeys:)-(RawSpan,_,_)``.
    public convenience init(
        parsing bytes: [UInt8], maximumDepth: Int = 64, duplicateKeys: DuplicateKeys = .refused
    ) throws(StoreError) {
        try self.init(parsing: bytes.span.bytes, maximumDepth: maximumDepth, duplicateKeys: duplicateKeys)
    }

    deinit {
        unsafe mc_message_free(message)
        unsafe bytes.deallocate()
    }

    /// The value.
    public var root: JSONNode { JSONNode(self, 0) }

    fileprivate func member(_ key: String, of object: UInt32) -> UInt32 {
        var key = key
        return unsafe key.withUTF8 { utf8 in
            unsafe utf8.withMemoryRebound(to: CChar.self) { text in
                guard let start = text.baseAddress else { return unsafe mc_message_member(message, object, "", 0) }
                return unsafe mc_message_member(message, object, start, text.count)
            }
        }
    }

    fileprivate func element(_ index: Int, of array: UInt32) -> UInt32 {
        index < 0 ? 0 : unsafe mc_message_element(message, array, index)
    }

    /// The core's message.
    func withCore<R>(_ body: (OpaquePointer) throws(StoreError) -> R) throws(StoreError) -> R { try unsafe body(message) }
}

/// A value of a ``JSONDocument``, where it lies. What does not exist is a value of no kind, whose parts do not exist either.
@safe public struct JSONNode: Sendable {
    let document: JSONDocument
    /// Its number among the document's nodes; `nil`: there is no such value.
    let number: UInt32?

    fileprivate init(_ document: JSONDocument, _ number: UInt32?) {
        self.document = document
        self.number = number
    }

    private var node: UnsafePointer<mc_json_node>? { unsafe number.map { unsafe document.nodes + Int($0) } }

    private var kind: mc_json_kind? { unsafe node.map { unsafe mc_json_kind(UInt32($0.pointee.kind)) } }

    /// Whether there is such a value; null is one.
    public var exists: Bool { number != nil }

    /// Whether it is null.
    public var isNull: Bool { kind == MC_JSON_NULL }

    /// Whether it is a string, an array, an object.
    public var isString: Bool { kind == MC_JSON_STRING }
    public var isArray: Bool { kind == MC_JSON_ARRAY }
    public var isObject: Bool { kind == MC_JSON_OBJECT }

    /// The boolean; `nil` for anything else.
    public var boolean: Bool? { kind == MC_JSON_TRUE ? true : kind == MC_JSON_FALSE ? false : nil }

    /// The integer of 64 bits; `nil` for anything else, also for numbers with fraction or exponent.
    public var integer: Int64? { kind == MC_JSON_INTEGER ? unsafe node?.pointee.integer : nil }

    /// The nearest double of a number; `nil` for anything else, and beyond the largest double.
    public var double: Double? {
        guard let node = unsafe node, kind == MC_JSON_INTEGER || kind == MC_JSON_NUMBER, let text = unsafe node.pointee.text else { return nil }
        var value = 0.0
        return unsafe mc_json_text_to_double(text, Int(node.pointee.length), &value) ? value : nil
    }

    /// A number as it is written: 12.34 never passes through a double. `nil` for anything else.
    public var numberText: String? { kind == MC_JSON_INTEGER || kind == MC_JSON_NUMBER ? text : nil }

    /// The string; `nil` for anything else.
    public var string: String? { kind == MC_JSON_STRING ? text : nil }

    private var text: String? {
        guard let node = unsafe node else { return nil }
        return unsafe String(decoding: UnsafeRawBufferPointer(start: node.pointee.text, count: Int(node.pointee.length)), as: UTF8.self)
    }

    /// The UTF-8 of a string, or of a number as it is written, where it lies; empty for anything else.
    public var utf8: RawSpan {
        @_lifetime(borrow self)
        get {
            let isText = kind == MC_JSON_STRING || kind == MC_JSON_INTEGER || kind == MC_JSON_NUMBER
            let start = unsafe isText ? node?.pointee.text : nil
            let buffer = unsafe UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(node!.pointee.length))
            return unsafe _overrideLifetime(RawSpan(_unsafeBytes: buffer), borrowing: self)
        }
    }

    /// Elements of an array, members of an object; 0 for anything else.
    public var count: Int { isArray || isObject ? unsafe Int(node!.pointee.length) : 0 }

    /// The value under a key. Walks the members.
    public subscript(key: String) -> JSONNode {
        guard let number else { return self }
        let member = document.member(key, of: number)
        return JSONNode(document, member == 0 ? nil : member)
    }

    /// The element of an array. Walks the elements before it: go through arrays with `for`.
    public subscript(index: Int) -> JSONNode {
        guard let number else { return self }
        let element = document.element(index, of: number)
        return JSONNode(document, element == 0 ? nil : element)
    }

    /// The keys of an object in their order; none for anything else.
    public var keys: [String] {
        guard isObject, let number else { return [] }
        var keys: [String] = []
        var key = number + 1
        for _ in 0..<count {
            keys.append(JSONNode(document, key).text ?? "")
            key = unsafe document.nodes[Int(key) + 1].end
        }
        return keys
    }
}

extension JSONNode: Sequence {
    /// Goes through the elements of an array or the values of an object, in order; through nothing for anything else.
    @safe public struct Iterator: IteratorProtocol {
        private let document: JSONDocument
        private let step: UInt32  // values of objects have a key before them
        private var nextNumber: UInt32
        private let end: UInt32

        fileprivate init(_ node: JSONNode) {
            document = node.document
            step = node.isObject ? 1 : 0
            nextNumber = (node.number ?? 0) + 1 + step
            end = unsafe node.isArray || node.isObject ? node.node!.pointee.end : 0
        }

        /// The next value; `nil` behind the last one.
        public mutating func next() -> JSONNode? {
            guard nextNumber < end else { return nil }
            let node = JSONNode(document, nextNumber)
            unsafe nextNumber = document.nodes[Int(nextNumber)].end + step
            return node
        }
    }

    public func makeIterator() -> Iterator { Iterator(self) }
}
