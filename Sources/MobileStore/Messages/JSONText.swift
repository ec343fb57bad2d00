internal import MobileCore

/// Conversions between JSON text and ``JSONValue``. One call into the core parses a whole message into a flat list of nodes, from
/// which the tree is made here.
enum JSONText {
    /// Returns the text of a double; nil for infinities and NaN, which JSON does not have.
    static func number(_ value: Double) -> String? {
        let text = unsafe [CChar](unsafeUninitializedCapacity: MC_JSON_DOUBLE_SIZE) { buffer, length in
            length = unsafe mc_json_double_to_text(value, buffer.baseAddress!)
        }
        return text.isEmpty ? nil : String(decoding: text.lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Returns the double nearest to a JSON number; nil for other text, and beyond the largest double.
    static func double(_ text: String) -> Double? {
        var text = text
        var value = 0.0
        let isNumber = text.withUTF8 { utf8 in
            unsafe utf8.withMemoryRebound(to: CChar.self) { text in
                guard let start = text.baseAddress else { return false }
                return unsafe mc_json_text_to_double(start, text.count, &value)
            }
        }
        return isNumber ? value : nil
    }

    /// Returns whether the whole text is one JSON number.
    static func isNumber(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { utf8 in
            unsafe utf8.withMemoryRebound(to: CChar.self) { text in
                guard let start = text.baseAddress else { return false }
                return unsafe mc_json_is_number(start, text.count)
            }
        }
    }

    /// Appends a JSON string with its quotes and escapes.
    static func append(string: String, to bytes: inout [UInt8]) {
        var string = string
        string.withUTF8 { utf8 in
            // Escaping makes the string up to six times as long; usually it needs none.
            let escaped = unsafe [UInt8](unsafeUninitializedCapacity: mc_json_escape_bound(utf8.count)) { buffer, length in
                var bad = 0
                length = unsafe buffer.withMemoryRebound(to: CChar.self) { out in
                    unsafe utf8.withMemoryRebound(to: CChar.self) { text in
                        unsafe mc_json_escape(text.baseAddress, text.count, out.baseAddress!, &bad)
                    }
                }
            }
            bytes += escaped
        }
    }
}

extension JSONValue {
    /// Parses a text with exactly one JSON value (RFC 8259), which may have blanks around it.
    /// - Parameters:
    ///   - bytes: the text in UTF-8.
    ///   - maximumDepth: the largest number of nested arrays and objects, 1...1024.
    /// - Throws: ``StoreError/Code/json`` with the offset of the first invalid byte (a key that occurs twice in an object is
    ///   invalid), ``StoreError/Code/truncated`` when the text is incomplete, ``StoreError/Code/limit`` when it
    ///   is nested too deeply.
    public init(parsing bytes: [UInt8], maximumDepth: Int = 64) throws(StoreError) {
        guard (1...MC_JSON_DEPTH_LIMIT).contains(maximumDepth) else {
            throw StoreError(.misuse, "JSON message: a depth of \(maximumDepth); use 1 to \(MC_JSON_DEPTH_LIMIT)")
        }
        let result: Result<JSONValue, StoreError> = unsafe bytes.withUnsafeBytes { unsafe JSONValue.read($0, maximumDepth) }
        self = try result.get()
    }

    /// Parses one JSON value from a string.
    /// - Throws: as ``init(parsing:maximumDepth:)-([UInt8],_)``.
    public init(parsing text: String, maximumDepth: Int = 64) throws(StoreError) {
        try self.init(parsing: [UInt8](text.utf8), maximumDepth: maximumDepth)
    }

    private static func read(_ bytes: UnsafeRawBufferPointer, _ maximumDepth: Int) -> Result<JSONValue, StoreError> {
        var message: OpaquePointer?
        var error = mc_error()
        var nothing: UInt8 = 0
        let status = unsafe withUnsafePointer(to: &nothing) { empty in
            unsafe mc_message_parse(bytes.baseAddress ?? UnsafeRawPointer(empty), bytes.count, UInt32(maximumDepth), &message, &error)
        }
        guard status == MC_OK, let message = unsafe message else { return .failure(StoreError(error)) }
        defer { unsafe mc_message_free(message) }
        var count = 0
        let nodes = unsafe UnsafeBufferPointer(start: mc_message_nodes(message, &count), count: count)
        return .success(unsafe JSONValue(nodes, 0))
    }

    /// Makes the tree of one node.
    private init(_ nodes: UnsafeBufferPointer<mc_json_node>, _ index: Int) {
        let node = unsafe nodes[index]
        switch mc_json_kind(UInt32(unsafe node.kind)) {
        case MC_JSON_FALSE: self = .boolean(false)
        case MC_JSON_TRUE: self = .boolean(true)
        case MC_JSON_INTEGER: self = .integer(unsafe node.integer)
        case MC_JSON_NUMBER: self = .number(unsafe node.string)
        case MC_JSON_STRING: self = .string(unsafe node.string)
        case MC_JSON_ARRAY:
            var elements: [JSONValue] = []
            elements.reserveCapacity(Int(unsafe node.length))
            var next = index + 1
            while next < Int(unsafe node.end) {
                elements.append(unsafe JSONValue(nodes, next))
                next = Int(unsafe nodes[next].end)
            }
            self = .array(elements)
        case MC_JSON_OBJECT:
            var members: [JSONObject.Member] = []
            members.reserveCapacity(Int(unsafe node.length))
            var key = index + 1
            while key < Int(unsafe node.end) {
                members.append(unsafe .init(key: nodes[key].string, value: JSONValue(nodes, key + 1)))
                key = Int(unsafe nodes[key + 1].end)
            }
            self = .object(JSONObject(checked: members))
        default: self = .null
        }
    }

    /// The value as compact JSON text, in UTF-8.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    /// Appends the value as compact JSON text.
    /// - Precondition: the text of a ``number(_:)`` is a JSON number; parsed numbers and those made from a double always are.
    public func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .boolean(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): bytes += String(value).utf8
        case .number(let text):
            precondition(JSONText.isNumber(text), "\(text) is not a JSON number")
            bytes += text.utf8
        case .string(let value): JSONText.append(string: value, to: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let object):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in object.members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                JSONText.append(string: member.key, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }
}

extension mc_json_node {
    /// The text of a string or number as a Swift string.
    fileprivate var string: String {
        unsafe String(decoding: UnsafeRawBufferPointer(start: text, count: Int(length)), as: UTF8.self)
    }
}
