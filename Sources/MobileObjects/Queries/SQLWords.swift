/// One word of an SQL text, as written.
struct SQLWord: Equatable {
    enum Kind: Equatable { case word, quotedName, parameter, string, number, symbol }

    let kind: Kind
    /// The text of the word, with its quotes.
    let text: String

    /// The name, without quotes; nil for words that are not names.
    var name: String? {
        switch kind {
        case .word: text
        case .quotedName: String(text.dropFirst().dropLast()).replacing("\"\"", with: "\"")
        default: nil
        }
    }

    func isKeyword(_ keyword: String) -> Bool { kind == .word && text.uppercased() == keyword }
}

/// Splits SQL into its words by SQLite's lexical rules, without comments. The text was validated with the model.
struct SQLWords {
    private(set) var words: [SQLWord] = []
    private let scalars: [UnicodeScalar]
    private var position = 0

    init(_ sql: String) {
        scalars = Array(sql.unicodeScalars)
        while position < scalars.count { readWord() }
    }

    private mutating func readWord() {
        let start = position
        switch scalars[position] {
        case let scalar where scalar.properties.isWhitespace: position += 1
        case "-" where next == "-": skip { $0 != "\n" }
        case "/" where next == "*":
            position += 2
            while position < scalars.count, !(scalars[position] == "*" && next == "/") { position += 1 }
            position = min(position + 2, scalars.count)
        case "'": add(.string, from: start) { $0.quoted("'") }
        case "\"": add(.quotedName, from: start) { $0.quoted("\"") }
        case "`": add(.quotedName, from: start) { $0.quoted("`") }
        case "[": add(.quotedName, from: start) { $0.quoted("]") }
        case ":":
            add(.parameter, from: start) { words in
                words.position += 1
                words.skip(Self.isNamePart)
            }
        case "0"..."9": add(.number, from: start) { $0.skip { Self.isNamePart($0) || $0 == "." } }
        case let scalar where Self.isNamePart(scalar): add(.word, from: start) { $0.skip(Self.isNamePart) }
        case "<", ">", "=", "!", "|":
            add(.symbol, from: start) { words in
                words.position += 1
                if words.position < words.scalars.count, ["=", ">", "<", "|"].contains(words.scalars[words.position]) { words.position += 1 }
            }
        default: add(.symbol, from: start) { $0.position += 1 }
        }
    }

    private var next: UnicodeScalar? { position + 1 < scalars.count ? scalars[position + 1] : nil }

    private mutating func add(_ kind: SQLWord.Kind, from start: Int, _ read: (inout SQLWords) -> Void) {
        read(&self)
        words.append(SQLWord(kind: kind, text: String(String.UnicodeScalarView(scalars[start..<position]))))
    }

    private mutating func skip(_ belongs: (UnicodeScalar) -> Bool) {
        while position < scalars.count, belongs(scalars[position]) { position += 1 }
    }

    /// Moves to the position after the closing quote; a doubled quote stands for itself.
    private mutating func quoted(_ end: UnicodeScalar) {
        position += 1
        while position < scalars.count {
            if scalars[position] == end {
                guard next == end, end != "]" else { break }
                position += 1
            }
            position += 1
        }
        position = min(position + 1, scalars.count)
    }

    private static func isNamePart(_ scalar: UnicodeScalar) -> Bool {
        scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "_" || scalar == "$" || scalar.value > 0x7F
    }
}
