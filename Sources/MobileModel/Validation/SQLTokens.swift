/// One token of an SQL text.
package enum SQLToken: Equatable {
    /// A keyword or a plain name.
    case word(String)
    /// A name in double quotes, brackets or backticks, without them.
    case quotedName(String)
    /// `:name` or `:old.name`, without the colon.
    case parameter(String)
    case string
    case number
    case symbol(Character)

    /// The name, if the token is one; otherwise nil.
    package var name: String? {
        switch self {
        case .word(let name), .quotedName(let name): name
        default: nil
        }
    }

    /// Whether the token is this keyword, in any case.
    package func isKeyword(_ keyword: String) -> Bool {
        if case .word(let word) = self { word.uppercased() == keyword } else { false }
    }
}

/// Splits SQL into tokens by SQLite's lexical rules: enough to find names and parameters, and to skip strings and comments.
package struct SQLTokens {
    package private(set) var tokens: [SQLToken] = []
    /// The reason why the text is not SQL, such as a string that does not end; nil if there is none.
    package private(set) var problem: String?

    private let scalars: [UnicodeScalar]
    private var position = 0

    package init(_ sql: String) {
        scalars = Array(sql.unicodeScalars)
        while position < scalars.count, problem == nil { readToken() }
    }

    /// The names of all parameters, each once, in the order of their first use.
    package var parameters: [String] {
        var seen: Set<String> = []
        return tokens.compactMap { if case .parameter(let name) = $0, seen.insert(name).inserted { name } else { nil } }
    }

    private var current: UnicodeScalar { scalars[position] }
    private var next: UnicodeScalar? { position + 1 < scalars.count ? scalars[position + 1] : nil }

    private static func isNamePart(_ scalar: UnicodeScalar) -> Bool {
        scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "_" || scalar == "$" || scalar.value > 0x7F
    }

    private mutating func readToken() {
        switch current {
        case _ where current.properties.isWhitespace: position += 1
        case "-" where next == "-": position = scalars[position...].firstIndex(of: "\n") ?? scalars.count
        case "/" where next == "*": skipComment()
        case "'": if quoted(until: "'") != nil { tokens.append(.string) }
        case "\"": if let name = quoted(until: "\"") { tokens.append(.quotedName(name)) }
        case "`": if let name = quoted(until: "`") { tokens.append(.quotedName(name)) }
        case "[": if let name = quoted(until: "]") { tokens.append(.quotedName(name)) }
        case ":" where next == ":":  // a conversion of PostgreSQL
            tokens += [.symbol(":"), .symbol(":")]
            position += 2
        case ":": readParameter()
        case "?", "@": problem = "a parameter is written as \":name\", not as \"\(current)\""
        case "0"..."9": readNumber()
        case _ where (current == "x" || current == "X") && next == "'":
            position += 1
            if quoted(until: "'") != nil { tokens.append(.string) }
        case _ where Self.isNamePart(current): tokens.append(.word(nameParts()))
        default:
            tokens.append(.symbol(Character(current)))
            position += 1
        }
    }

    private mutating func nameParts() -> String {
        let start = position
        while position < scalars.count, Self.isNamePart(current) { position += 1 }
        return text(scalars[start..<position])
    }

    private mutating func readParameter() {
        position += 1
        var name = position < scalars.count ? nameParts() : ""
        if name == "old", position < scalars.count, current == ".", let next, Self.isNamePart(next) {
            position += 1
            name += "." + nameParts()
        }
        if name.isEmpty { problem = "a ':' without a parameter's name" } else { tokens.append(.parameter(name)) }
    }

    private mutating func readNumber() {
        while position < scalars.count, Self.isNamePart(current) || current == "." { position += 1 }
        tokens.append(.number)
    }

    private mutating func skipComment() {
        position += 2
        while position < scalars.count {
            if current == "*", next == "/" {
                position += 2
                return
            }
            position += 1
        }
        problem = "a comment does not end"
    }

    /// The content of quotes; a doubled quote is one quote.
    private mutating func quoted(until end: UnicodeScalar) -> String? {
        var content: [UnicodeScalar] = []
        position += 1
        while position < scalars.count {
            if current == end {
                guard next == end, end != "]" else {
                    position += 1
                    return text(content[...])
                }
                position += 1
            }
            content.append(current)
            position += 1
        }
        problem = end == "'" ? "a string does not end" : "a quoted name does not end"
        return nil
    }

    private func text(_ scalars: ArraySlice<UnicodeScalar>) -> String { String(String.UnicodeScalarView(scalars)) }
}
