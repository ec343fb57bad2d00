/// The CHECK conditions of a table of SQLite, which has them in its CREATE TABLE statement alone.
struct TableChecks {
    struct Condition {
        /// The name of the constraint; nil without one.
        let name: String?
        /// The condition without its parentheses.
        let sql: String
        /// The words and quoted names in it that may be columns.
        let names: [String]
    }

    private(set) var conditions: [Condition] = []

    /// Returns the columns that a condition mentions.
    static func columns(of condition: Condition, among names: [String]) -> [String] {
        names.filter { name in condition.names.contains { $0.caseInsensitivelyEquals(name) } }
    }

    /// Returns the columns that an expression mentions. The texts in it do not count, even if they are equal to a name.
    static func columns(mentionedIn sql: String, among names: [String]) -> [String] {
        let found = Self.names(in: tokens(of: sql)[...])
        return names.filter { name in found.contains { $0.caseInsensitivelyEquals(name) } }
    }

    /// - Parameter sql: a CREATE TABLE statement; another text has no conditions.
    init(of sql: String) {
        let tokens = Self.tokens(of: sql)
        var position = 0
        while position < tokens.count {
            defer { position += 1 }
            guard tokens[position].text.caseInsensitivelyEquals("CHECK"), !tokens[position].isQuoted, position + 1 < tokens.count,
                tokens[position + 1].text == "("
            else { continue }
            var depth = 0, end = position + 1
            while end < tokens.count {
                if !tokens[end].isQuoted { depth += tokens[end].text == "(" ? 1 : tokens[end].text == ")" ? -1 : 0 }
                if depth == 0 { break }
                end += 1
            }
            guard end < tokens.count else { return }
            let inner = tokens[(position + 2)..<end]
            let isNamed = position >= 2 && !tokens[position - 2].isQuoted && tokens[position - 2].text.caseInsensitivelyEquals("CONSTRAINT")
            conditions.append(
                Condition(
                    name: isNamed ? tokens[position - 1].text : nil, sql: Self.text(of: inner, in: sql),
                    names: Self.names(in: inner)))
            position = end
        }
    }

    /// The source of tokens, with one space between two that are apart; literals stay as they are.
    private static func text(of tokens: ArraySlice<Token>, in sql: String) -> String {
        var text = "", end: String.Index?
        for token in tokens {
            if let end, end < token.range.lowerBound { text += " " }
            text += sql[token.range]
            end = token.range.upperBound
        }
        return text
    }

    struct Token {
        let text: String
        /// The first character of a quoted name or literal; nil for other tokens.
        let quote: Character?
        let range: Range<String.Index>

        var isQuoted: Bool { quote != nil }
    }

    /// Finds the tokens of a statement: words, quoted names and literals, and single other characters; comments are left out.
    ///
    /// It reads scalars, as the engines read single characters: for Swift, the end of a line with a carriage return is one character, and so is a quote with
    /// an accent after it.
    /// - Parameter namesInBrackets: whether brackets quote a name, as in SQLite.
    static func tokens(of sql: String, namesInBrackets: Bool = true) -> [Token] {
        let scalars = sql.unicodeScalars
        var tokens: [Token] = [], position = scalars.startIndex
        func next(_ index: String.Index) -> String.Index { scalars.index(after: index) }
        func begins(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Bool {
            scalars[position] == first && next(position) < scalars.endIndex && scalars[next(position)] == second
        }
        while position < scalars.endIndex {
            let start = position, scalar = scalars[position]
            if begins("-", "-") {
                position = scalars[position...].firstIndex(of: "\n") ?? scalars.endIndex
            } else if begins("/", "*") {
                position = next(next(position))
                while position < scalars.endIndex, !begins("*", "/") { position = next(position) }
                if position < scalars.endIndex { position = next(next(position)) }
            } else if "\"'`".unicodeScalars.contains(scalar) || scalar == "[" && namesInBrackets {
                let close: Unicode.Scalar = scalar == "[" ? "]" : scalar
                var text = String.UnicodeScalarView()
                position = next(position)
                while position < scalars.endIndex {
                    let found = scalars[position]
                    position = next(position)
                    if found == close {
                        guard close != "]", position < scalars.endIndex, scalars[position] == close else { break }
                        position = next(position)
                    }
                    text.append(found)
                }
                tokens.append(Token(text: String(text), quote: Character(scalar), range: start..<position))
            } else if isWordPart(scalar), scalar != "$" {
                while position < scalars.endIndex, isWordPart(scalars[position]) { position = next(position) }
                tokens.append(Token(text: String(scalars[start..<position]), quote: nil, range: start..<position))
            } else {
                position = next(position)
                if !scalar.properties.isWhitespace { tokens.append(Token(text: String(scalar), quote: nil, range: start..<position)) }
            }
        }
        return tokens
    }

    /// Whether a word may have the character: for both engines, each one outside of ASCII is a letter.
    private static func isWordPart(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "$": true
        default: !scalar.isASCII
        }
    }

    /// The words and quoted names of a condition that may be columns: no literals, functions, types, collations, and names before a point.
    private static func names(in tokens: ArraySlice<Token>) -> [String] {
        tokens.indices.filter { index in
            guard tokens[index].quote != "'" else { return false }
            if index > tokens.startIndex, tokens[index - 1].isWord("AS") || tokens[index - 1].isWord("COLLATE") { return false }
            guard index + 1 < tokens.endIndex else { return true }
            let next = tokens[index + 1]
            // The letter of a literal of bytes.
            if next.quote == "'", next.range.lowerBound == tokens[index].range.upperBound, tokens[index].isWord("x") { return false }
            return !next.isWord("(") && !next.isWord(".")
        }.map { tokens[$0].text }
    }
}

extension TableChecks.Token {
    /// Whether the token is this word or character, without quotes and in any case.
    fileprivate func isWord(_ word: String) -> Bool { !isQuoted && text.caseInsensitivelyEquals(word) }
}
