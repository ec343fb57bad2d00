/// The text of a search as an expression of SQLite's FTS5. Every word is quoted, so that no character of a user has a meaning there.
struct SearchExpression {
    /// The maximum number of words; more make a statement slow, and no user types them.
    private static let maximumWords = 64

    /// The expression; nil for a text without words.
    let sql: String?

    /// - Parameter columns: the columns of the index to search; empty: all.
    /// - Throws: ``ObjectError/Code/invalidQuery`` for too many words.
    init(_ search: TextSearch, columns: [Int]) throws {
        let phrases = Self.phrases(search.text)
        guard phrases.count <= Self.maximumWords else {
            throw ObjectError(.invalidQuery, "search: the text has \(phrases.count) words; a search takes \(Self.maximumWords) at most")
        }
        let terms = phrases.enumerated().map { index, phrase in
            let isBeginning =
                switch search.beginnings {
                case .all: true
                case .last: index == phrases.count - 1 && !phrase.isClosed
                case .none: false
                }
            return "\"\(phrase.text)\"" + (isBeginning ? "*" : "")
        }
        guard !terms.isEmpty else {
            sql = nil
            return
        }
        let words = terms.joined(separator: search.requirement == .all ? " AND " : " OR ")
        sql = columns.isEmpty ? words : "{\(columns.map { "c\($0)" }.joined(separator: " "))} : (\(words))"
    }

    private struct Phrase {
        var text: String
        /// Whether it was between quotes: it is complete then.
        var isClosed: Bool
    }

    /// Returns the words of a text, those between double quotes together. A quote that is not closed reaches to the end.
    private static func phrases(_ text: String) -> [Phrase] {
        text.split(separator: "\"", omittingEmptySubsequences: false).enumerated().flatMap { index, part -> [Phrase] in
            let words = part.unicodeScalars.split { !isOfWord($0) && !isMark($0) }.filter { $0.contains(where: isOfWord) }.map { String($0) }
            guard index % 2 == 1, !words.isEmpty else { return words.map { Phrase(text: $0, isClosed: false) } }
            return [Phrase(text: words.joined(separator: " "), isClosed: true)]
        }
    }

    /// Returns whether a character makes words for the tokenizer `unicode61`: letters and digits.
    private static func isOfWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber, .letterNumber, .otherNumber,
            .privateUse:
            true
        default: false
        }
    }

    /// Returns whether a character combines with the one before it.
    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }
}
