/// The words of a Swift source, without comments and the text of literals: those that the compiler looks up. Code that is interpolated into a literal
/// is included.
struct SwiftSource {
    struct Word: Equatable {
        let text: String
        /// The line, from 1.
        let line: Int
        /// The number of open braces.
        let depth: Int
        /// The nearest characters around it that are not spaces; 0 at either end of the source.
        let before: UInt8
        let after: UInt8
    }

    private(set) var words: [Word] = []
    private let bytes: [UInt8]
    private var position = 0
    private var line = 1
    private var depth = 0
    private var last: UInt8 = 0

    init(_ text: String) {
        bytes = Array(text.utf8)
        readCode(isInterpolation: false)
    }

    private func isAt(_ text: StaticString, _ offset: Int = 0) -> Bool {
        let start = position + offset
        guard start + text.utf8CodeUnitCount <= bytes.count else { return false }
        return text.withUTF8Buffer { $0.elementsEqual(bytes[start..<start + $0.count]) }
    }

    private mutating func skip() {
        if bytes[position] == UInt8(ascii: "\n") { line += 1 }
        position += 1
    }

    /// Reads up to the end, or up to the parenthesis that ends an interpolation.
    private mutating func readCode(isInterpolation: Bool) {
        var parentheses = 0
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "/"), isAt("//") {
                while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
            } else if byte == UInt8(ascii: "/"), isAt("/*") {
                skipComment()
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "#"), let pounds = poundsBeforeQuote {
                readLiteral(pounds: pounds)
                last = UInt8(ascii: "\"")
            } else if Self.isWord(byte) {
                readWord()
            } else {
                switch byte {
                case UInt8(ascii: "{"): depth += 1
                case UInt8(ascii: "}"): depth -= 1
                case UInt8(ascii: "("): parentheses += 1
                case UInt8(ascii: ")"):
                    parentheses -= 1
                    if isInterpolation, parentheses < 0 { return position += 1 }
                default: break
                }
                if !Self.isSpace(byte) { last = byte }
                skip()
            }
        }
    }

    private mutating func readWord() {
        let start = position
        while position < bytes.count, Self.isWord(bytes[position]) { position += 1 }
        let after = bytes[position...].first { !Self.isSpace($0) } ?? 0
        words.append(Word(text: String(decoding: bytes[start..<position], as: UTF8.self), line: line, depth: depth, before: last, after: after))
        last = bytes[position - 1]
    }

    /// Skips a comment. Comments nest.
    private mutating func skipComment() {
        var open = 0
        repeat {
            if isAt("/*") {
                open += 1
                position += 2
            } else if isAt("*/") {
                open -= 1
                position += 2
            } else {
                skip()
            }
        } while open > 0 && position < bytes.count
    }

    /// The number of `#` here before a quotation mark; nil where no literal begins.
    private var poundsBeforeQuote: Int? {
        let rest = bytes[position...], pounds = rest.prefix { $0 == UInt8(ascii: "#") }.count
        return rest.dropFirst(pounds).first == UInt8(ascii: "\"") ? pounds : nil
    }

    private mutating func readLiteral(pounds: Int) {
        position += pounds
        let quotes = isAt("\"\"\"") ? 3 : 1
        let end = Array(repeating: UInt8(ascii: "\""), count: quotes) + Array(repeating: UInt8(ascii: "#"), count: pounds)
        let escape = [UInt8(ascii: "\\")] + Array(repeating: UInt8(ascii: "#"), count: pounds)
        position += quotes
        while position < bytes.count, !bytes[position...].starts(with: end) {
            guard bytes[position...].starts(with: escape) else {
                skip()
                continue
            }
            position += escape.count
            let isInterpolated = isAt("(")
            skip()
            if isInterpolated { readCode(isInterpolation: true) }
        }
        position += end.count
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "_"), 0x80...: true
        default: false
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") }
}
