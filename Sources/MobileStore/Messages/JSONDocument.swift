internal import MobileCore

/// One value of a message, with the layout of the core's `mc_json_node`; a static assertion in its header guards the layout.
/// Client code knows the layout, so that reading a value needs no call.
@frozen @usableFromInline @safe
struct JSONCell {
    @usableFromInline let text: UnsafePointer<UInt8>?
    @usableFromInline let integer: Int64
    @usableFromInline let length: UInt32
    @usableFromInline let end: UInt32
    @usableFromInline let offset: UInt32
    @usableFromInline let kind: UInt8
    @usableFromInline let places: UInt8

    @inlinable var isText: Bool { kind >= JSONKind.integer && kind <= JSONKind.string }
    @inlinable var isNumber: Bool { kind == JSONKind.integer || kind == JSONKind.number }
}

/// The numbers of the core's `mc_json_kind`.
@usableFromInline
enum JSONKind {
    @inlinable static var null: UInt8 { 0 }
    @inlinable static var `false`: UInt8 { 1 }
    @inlinable static var `true`: UInt8 { 2 }
    @inlinable static var integer: UInt8 { 3 }
    @inlinable static var number: UInt8 { 4 }
    @inlinable static var string: UInt8 { 5 }
    @inlinable static var array: UInt8 { 6 }
    @inlinable static var object: UInt8 { 7 }
}

/// A parsed JSON text without a tree: unused parts cost nothing.
///
///     let document = try JSONDocument(parsing: bytes)
///     let id = document.root["header"]["id"].string
///     for row in document.root["content"]["rows"] { show(row[0].integer, row[1].string) }
///
/// It owns the bytes, and its values point into them. It never changes, so any thread may read it.
@safe public final class JSONDocument: @unchecked Sendable {  // the core's message does not change after parsing
    private let bytes: UnsafeMutableRawBufferPointer
    private let message: OpaquePointer
    @usableFromInline let cells: UnsafePointer<JSONCell>

    /// The handling of a key that occurs twice in one object.
    public enum DuplicateKeys: Sendable {
        /// The second one is an error.
        case refused
        /// Look-ups find the last one.
        case lastWins
    }

    /// Parses a text with exactly one JSON value (RFC 8259), which may have blanks around it. The bytes are copied.
    /// - Parameters:
    ///   - bytes: the text in UTF-8.
    ///   - maximumDepth: the largest number of nested arrays and objects, 1...1024.
    ///   - duplicateKeys: the handling of a key that occurs twice in an object.
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
            size: MemoryLayout<mc_message_options>.size, version: MC_VERSION_NUMBER, depth: UInt32(maximumDepth),
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
        unsafe cells = UnsafeRawPointer(mc_message_nodes(self.message, &count)).assumingMemoryBound(to: JSONCell.self)
    }

    /// Parses a text in an array of bytes.
    /// - Throws: as ``init(parsing:maximumDepth:duplicateKeys:)-(RawSpan,_,_)``.
    public convenience init(
        parsing bytes: [UInt8], maximumDepth: Int = 64, duplicateKeys: DuplicateKeys = .refused
    ) throws(StoreError) {
        try unsafe self.init(parsing: bytes.span.bytes, maximumDepth: maximumDepth, duplicateKeys: duplicateKeys)
    }

    deinit {
        unsafe mc_message_free(message)
        unsafe bytes.deallocate()
    }

    /// The value of the text.
    public var root: JSONNode { unsafe JSONNode(self, cells) }

    fileprivate func member(_ key: String, of object: UInt32) -> JSONNode {
        var key = key
        let number = key.withUTF8 { utf8 in
            unsafe utf8.withMemoryRebound(to: CChar.self) { text in
                guard let start = text.baseAddress else { return unsafe mc_message_member(message, object, "", 0) }
                return unsafe mc_message_member(message, object, start, text.count)
            }
        }
        return node(number)
    }

    fileprivate func element(_ index: Int, of array: UInt32) -> JSONNode {
        node(index < 0 ? 0 : unsafe mc_message_element(message, array, index))
    }

    /// Makes the value of a node. 0 is the root, which is not part of any value: it means that there is no such value.
    private func node(_ number: UInt32) -> JSONNode { unsafe JSONNode(self, number == 0 ? nil : cells + Int(number)) }

    @usableFromInline
    func double(_ cell: UnsafePointer<JSONCell>) -> Double? {
        var value = 0.0
        return unsafe mc_json_node_double(UnsafeRawPointer(cell).assumingMemoryBound(to: mc_json_node.self), &value) ? value : nil
    }

    /// The core's message.
    func withCore<R>(_ body: (OpaquePointer) throws(StoreError) -> R) throws(StoreError) -> R { try unsafe body(message) }
}

/// A value inside of a ``JSONDocument``. Missing members and elements are values that do not exist, and their parts do not exist either.
@frozen
@safe public struct JSONNode: @unchecked Sendable {  // its memory does not change while it refers to its document
    @usableFromInline let document: JSONDocument
    /// `nil`: the value does not exist.
    @usableFromInline let cell: UnsafePointer<JSONCell>?

    @inlinable
    init(_ document: JSONDocument, _ cell: UnsafePointer<JSONCell>?) {
        self.document = document
        unsafe self.cell = cell
    }

    /// Its number among the document's nodes; `nil`: the value does not exist.
    var number: UInt32? { unsafe cell.map { unsafe UInt32($0 - document.cells) } }

    @inlinable
    func isKind(_ kind: UInt8) -> Bool { unsafe cell?.pointee.kind == kind }

    /// Whether the value exists; null does.
    @inlinable
    public var exists: Bool { unsafe cell != nil }

    /// Whether the value is null.
    @inlinable
    public var isNull: Bool { isKind(JSONKind.null) }

    /// Whether the value is a string.
    @inlinable
    public var isString: Bool { isKind(JSONKind.string) }

    /// Whether the value is an array.
    @inlinable
    public var isArray: Bool { isKind(JSONKind.array) }

    /// Whether the value is an object.
    @inlinable
    public var isObject: Bool { isKind(JSONKind.object) }

    /// The boolean; `nil` for anything else.
    @inlinable
    public var boolean: Bool? { isKind(JSONKind.true) ? true : isKind(JSONKind.false) ? false : nil }

    /// The integer of 64 bits; `nil` for anything else, including numbers with fraction or exponent.
    @inlinable
    public var integer: Int64? { isKind(JSONKind.integer) ? unsafe cell?.pointee.integer : nil }

    /// The double nearest to a number; `nil` for anything else, and beyond the largest double.
    @inlinable
    public var double: Double? {
        guard let cell = unsafe cell, unsafe cell.pointee.isNumber else { return nil }
        return unsafe document.double(cell)
    }

    /// The text of a number, which never passes through a double; `nil` for anything else.
    public var numberText: String? { isKind(JSONKind.integer) || isKind(JSONKind.number) ? text : nil }

    /// The string; `nil` for anything else.
    public var string: String? { isString ? text : nil }

    private var text: String? {
        guard let cell = unsafe cell else { return nil }
        return unsafe String(decoding: UnsafeBufferPointer(start: cell.pointee.text, count: Int(cell.pointee.length)), as: UTF8.self)
    }

    /// The UTF-8 of a string or of a number's text, not copied; empty for anything else.
    @inlinable
    public var utf8: RawSpan {
        @_lifetime(borrow self)
        get {
            var buffer = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
            if let cell = unsafe cell, unsafe cell.pointee.isText {
                unsafe buffer = UnsafeRawBufferPointer(start: cell.pointee.text, count: Int(cell.pointee.length))
            }
            return unsafe _overrideLifetime(RawSpan(_unsafeBytes: buffer), borrowing: self)
        }
    }

    /// The number of elements of an array or of members of an object; 0 for anything else.
    @inlinable
    public var count: Int {
        guard let cell = unsafe cell, isArray || isObject else { return 0 }
        return unsafe Int(cell.pointee.length)
    }

    /// Finds the value under a key by walking the members.
    public subscript(key: String) -> JSONNode {
        guard let number else { return self }
        return document.member(key, of: number)
    }

    /// Finds the element of an array by walking the elements before it; use `for` to iterate over an array.
    public subscript(index: Int) -> JSONNode {
        guard let number else { return self }
        return document.element(index, of: number)
    }

    /// The keys of an object in their order; empty for anything else.
    public var keys: [String] {
        guard isObject, let number else { return [] }
        var keys: [String] = []
        var key = Int(number) + 1
        for _ in 0..<count {
            keys.append(unsafe JSONNode(document, document.cells + key).text ?? "")
            key = unsafe Int(document.cells[key + 1].end)
        }
        return keys
    }
}

extension JSONNode: Sequence {
    /// Iterates over the elements of an array or the values of an object, in order; empty for anything else.
    @frozen
    @safe public struct Iterator: IteratorProtocol {
        @usableFromInline let document: JSONDocument
        @usableFromInline let cells: UnsafePointer<JSONCell>
        @usableFromInline let step: Int  // skips the key before the value of an object
        @usableFromInline var number: Int
        @usableFromInline let end: Int

        @inlinable
        init(_ node: JSONNode) {
            document = node.document
            unsafe cells = node.document.cells
            step = node.isObject ? 1 : 0
            if let cell = unsafe node.cell, node.isArray || node.isObject {
                number = unsafe cell - node.document.cells + 1 + (node.isObject ? 1 : 0)
                end = unsafe Int(cell.pointee.end)
            } else {
                (number, end) = (0, 0)
            }
        }

        /// Returns the next value; `nil` after the last one.
        @inlinable
        public mutating func next() -> JSONNode? {
            guard number < end else { return nil }
            let cell = unsafe cells + number
            number = unsafe Int(cell.pointee.end) + step
            return unsafe JSONNode(document, cell)
        }
    }

    /// Returns an iterator over the parts in order.
    @inlinable
    public func makeIterator() -> Iterator { Iterator(self) }
}
