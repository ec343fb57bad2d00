/// Reads one JSON document (RFC 8259), strictly: no comments, no trailing commas, no second equal key in an object, at most
/// ``maximumDepth`` levels.
struct JSONSyntaxParser {
    static let maximumDepth = 64

    private let bytes: [UInt8]
    private var position = 0
    private var line = 1
    private var lineStart = 0
    private var path = ModelPath.root

    /// The place and the reason of a failure.
    struct Failure: Error {
        let path: ModelPath
        let line: Int, column: Int
        let code: ModelProblem.Code
        let cause: String
        let suggestion: String?
    }

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads the document into a tree. A leading byte order mark is skipped.
    static func parse(_ bytes: [UInt8]) throws(Failure) -> JSONSyntaxNode {
        var parser = JSONSyntaxParser(bytes)
        if String(validating: bytes, as: UTF8.self) == nil {
            throw parser.failure("the file is not UTF-8", suggestion: "save it in that encoding")
        }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { (parser.position, parser.lineStart) = (3, 3) }
        let root = try parser.value(depth: 0)
        parser.skipSpace()
        guard parser.position == bytes.count else { throw parser.failure("there is text after the end of the document") }
        return root
    }

    private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func failure(_ cause: String, suggestion: String? = nil, code: ModelProblem.Code = .syntax) -> Failure {
        Failure(path: path, line: line, column: position - lineStart + 1, code: code, cause: cause, suggestion: suggestion)
    }

    private func unexpected(_ expected: String) -> Failure {
        guard let byte else { return failure("expected \(expected), found the end of the file") }
        let suggestion =
            switch byte {
            case UInt8(ascii: "/"), UInt8(ascii: "#"): "JSON has no comments; use \"documentation\" keys"
            case UInt8(ascii: "'"): "JSON strings are in double quotes"
            case UInt8(ascii: "]"), UInt8(ascii: "}"): "remove the comma before it, or write what is missing"
            default: String?.none
            }
        let rest = String(decoding: bytes[position...].prefix(4), as: UTF8.self)
        return failure("expected \(expected), found '\(rest.first.map(String.init) ?? "?")'", suggestion: suggestion)
    }

    private mutating func skipSpace() {
        while let byte {
            switch byte {
            case 0x20, 0x09, 0x0D: position += 1
            case 0x0A:
                position += 1
                line += 1
                lineStart = position
            default: return
            }
        }
    }

    private mutating func value(depth: Int) throws(Failure) -> JSONSyntaxNode {
        skipSpace()
        let (line, column) = (line, position - lineStart + 1)
        guard depth < Self.maximumDepth else { throw failure("more than \(Self.maximumDepth) levels of nesting") }
        let value: JSONSyntaxNode.Value
        switch byte {
        case UInt8(ascii: "{"): value = .object(try members(depth: depth))
        case UInt8(ascii: "["): value = .array(try elements(depth: depth))
        case UInt8(ascii: "\""): value = .string(try string())
        case let found? where found == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(found): value = .number(try number())
        case UInt8(ascii: "t"): value = try word("true", .boolean(true))
        case UInt8(ascii: "f"): value = try word("false", .boolean(false))
        case UInt8(ascii: "n"): value = try word("null", .null)
        default: throw unexpected("a value")
        }
        return JSONSyntaxNode(value: value, line: line, column: column)
    }

    private mutating func members(depth: Int) throws(Failure) -> [JSONSyntaxNode.Member] {
        var members: [JSONSyntaxNode.Member] = []
        var seen: Set<String> = []
        let outer = path
        position += 1
        skipSpace()
        if byte == UInt8(ascii: "}") {
            position += 1
            return []
        }
        while true {
            skipSpace()
            guard byte == UInt8(ascii: "\"") else { throw unexpected("a key in double quotes") }
            let (keyLine, keyColumn) = (line, position - lineStart + 1)
            let key = try string()
            path = outer[key]
            guard seen.insert(key).inserted else {
                throw Failure(
                    path: path, line: keyLine, column: keyColumn, code: .duplicate, cause: "the key \"\(key)\" is there twice",
                    suggestion: "remove one")
            }
            skipSpace()
            guard byte == UInt8(ascii: ":") else { throw unexpected("':' after the key") }
            position += 1
            members.append(.init(key: key, keyLine: keyLine, keyColumn: keyColumn, node: try value(depth: depth + 1)))
            path = outer
            if try endsAfterElement(UInt8(ascii: "}"), "',' or '}'") { return members }
        }
    }

    private mutating func elements(depth: Int) throws(Failure) -> [JSONSyntaxNode] {
        var elements: [JSONSyntaxNode] = []
        let outer = path
        position += 1
        skipSpace()
        if byte == UInt8(ascii: "]") {
            position += 1
            return []
        }
        while true {
            path = outer[elements.count]
            elements.append(try value(depth: depth + 1))
            path = outer
            if try endsAfterElement(UInt8(ascii: "]"), "',' or ']'") { return elements }
        }
    }

    /// Reads past an element: returns true at the end of its list, false at a comma before the next element.
    private mutating func endsAfterElement(_ end: UInt8, _ expected: String) throws(Failure) -> Bool {
        skipSpace()
        guard let found = byte, found == end || found == UInt8(ascii: ",") else { throw unexpected(expected) }
        position += 1
        return found == end
    }

    private mutating func word(_ word: StaticString, _ value: JSONSyntaxNode.Value) throws(Failure) -> JSONSyntaxNode.Value {
        let expected = Array("\(word)".utf8)
        guard bytes[position...].starts(with: expected) else { throw unexpected("a value") }
        position += expected.count
        return value
    }

    private mutating func number() throws(Failure) -> String {
        let start = position
        if byte == UInt8(ascii: "-") { position += 1 }
        let first = byte
        guard digits() else { throw unexpected("a digit") }
        if first == UInt8(ascii: "0"), bytes[start..<position].filter({ $0 != UInt8(ascii: "-") }).count > 1 {
            throw failure("a number begins with a superfluous 0")
        }
        if byte == UInt8(ascii: ".") {
            position += 1
            guard digits() else { throw unexpected("a digit") }
        }
        if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
            position += 1
            if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { position += 1 }
            guard digits() else { throw unexpected("a digit") }
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func digits() -> Bool {
        let start = position
        while let byte, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        return position > start
    }

    private mutating func string() throws(Failure) -> String {
        var content: [UInt8] = []
        position += 1
        while let byte {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\"):
                position += 1
                content += try escape().utf8
            case 0..<0x20:
                throw failure("a control character in a string", suggestion: "write it as an escape, such as \\n")
            default:
                content.append(byte)
                position += 1
            }
        }
        throw failure("a string does not end")
    }

    private mutating func escape() throws(Failure) -> String {
        guard let byte else { throw failure("a string does not end") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return String(UnicodeScalar(byte))
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape()
        default: throw failure("an unknown escape '\\\(Character(UnicodeScalar(byte)))' in a string")
        }
    }

    private mutating func unicodeEscape() throws(Failure) -> String {
        let first = try codeUnit()
        if let scalar = UnicodeScalar(first) { return String(scalar) }
        guard first < 0xDC00, bytes[position...].starts(with: Array("\\u".utf8)) else { throw failure("half of a surrogate pair") }
        position += 2
        let second = try codeUnit()
        guard (0xDC00...0xDFFF).contains(second), let scalar = UnicodeScalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)) else {
            throw failure("half of a surrogate pair")
        }
        return String(scalar)
    }

    private mutating func codeUnit() throws(Failure) -> UInt32 {
        let digits = bytes[position...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
            let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw failure("expected four hexadecimal digits after \\u") }
        position += 4
        return unit
    }
}
