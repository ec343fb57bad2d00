/// The notation of names in SQL.
enum SQLText {
    /// Returns a name in SQL notation, regardless of its characters.
    static func quoted(_ name: String) -> String {
        "\"" + name.replacing("\"", with: "\"\"") + "\""
    }
}

/// An SQL text of a model with its named parameters (`:name`, `:old.name`) replaced by numbered ones.
struct ParameterizedSQL: Sendable, Equatable {
    /// The text with `?1`, `?2`... in the order of first use.
    let text: String
    /// The names without colon; the first is that of `?1`.
    let names: [String]

    /// - Parameter first: the number of the first parameter, for a text that becomes part of a longer one; default 1.
    init(_ sql: String, first: Int = 1) {
        var reader = ParameterReader(bytes: Array(sql.utf8), first: first)
        reader.read()
        text = String(decoding: reader.output, as: UTF8.self)
        names = reader.names
    }
}

/// Reads SQL by SQLite's lexical rules, so that a colon in a string, a quoted name or a comment stays unchanged.
private struct ParameterReader {
    let bytes: [UInt8]
    let first: Int
    var output: [UInt8] = []
    var names: [String] = []
    var position = 0

    init(bytes: [UInt8], first: Int) {
        self.bytes = bytes
        self.first = first
        output.reserveCapacity(bytes.count)
    }

    mutating func read() {
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"): copyQuoted(until: bytes[position])
            case UInt8(ascii: "["): copyQuoted(until: UInt8(ascii: "]"))
            case UInt8(ascii: "-") where starts(with: "--"): copy(upTo: "\n")
            case UInt8(ascii: "/") where starts(with: "/*"): copy(upTo: "*/")
            // A conversion of PostgreSQL.
            case UInt8(ascii: ":") where starts(with: "::"):
                output += Array("::".utf8)
                position += 2
            case UInt8(ascii: ":") where isNamePart(at: position + 1): readParameter()
            default:
                output.append(bytes[position])
                position += 1
            }
        }
    }

    private func starts(with text: StaticString) -> Bool {
        let end = position + text.utf8CodeUnitCount
        return end <= bytes.count && text.withUTF8Buffer { $0.elementsEqual(bytes[position..<end]) }
    }

    private mutating func copy(upTo end: StaticString) {
        let start = position
        position += 2
        while position < bytes.count, !starts(with: end) { position += 1 }
        position = min(bytes.count, position + end.utf8CodeUnitCount)
        output += bytes[start..<position]
    }

    /// A doubled quote ends one quoted stretch and begins the next, which has the same effect.
    private mutating func copyQuoted(until end: UInt8) {
        let start = position
        position += 1
        while position < bytes.count, bytes[position] != end { position += 1 }
        position = min(bytes.count, position + 1)
        output += bytes[start..<position]
    }

    private func isNamePart(at index: Int) -> Bool {
        guard index < bytes.count else { return false }
        switch bytes[index] {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "_"), 0x80...:
            return true
        default: return false
        }
    }

    private mutating func readParameter() {
        var name = readName()
        if name == "old", position < bytes.count, bytes[position] == UInt8(ascii: "."), isNamePart(at: position + 1) {
            name += "." + readName()
        }
        let index = names.firstIndex(of: name) ?? names.count
        if index == names.count { names.append(name) }
        output += Array("?\(first + index)".utf8)
    }

    /// Reads the name after the colon or point at `position`.
    private mutating func readName() -> String {
        let start = position + 1
        position = start
        while isNamePart(at: position) { position += 1 }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }
}
