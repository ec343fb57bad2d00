/// A file of lines `"code" = "text";`, with comments as in C.
struct StringsFile {
    /// The texts by their codes.
    private(set) var messages: [Int: String] = [:]

    private var rest: Substring
    private var line = 1
    private let name: String

    /// - Throws: ``ObjectError/Code/invalidText`` with the line of the first mistake.
    init(_ text: String, name: String) throws {
        rest = text[...]
        self.name = name
        while try skipBlanks() {
            let key = try quoted()
            guard let code = Int(key) else { throw mistake("the key \"\(key.prefix(80))\" is not the number of an error") }
            try take("=")
            let message = try skipBlanks() ? quoted() : ""
            try take(";")
            guard messages.updateValue(message, forKey: code) == nil else { throw mistake("code \(code) has a second text") }
        }
    }

    /// Skips white space and comments. Returns false at the end of the text.
    private mutating func skipBlanks() throws -> Bool {
        while let character = rest.first {
            if character.isWhitespace {
                step()
            } else if rest.hasPrefix("//") {
                while let character = rest.first, !character.isNewline { step() }
            } else if rest.hasPrefix("/*") {
                while !rest.hasPrefix("*/") {
                    guard !rest.isEmpty else { throw mistake("a comment has no end") }
                    step()
                }
                step()
                step()
            } else {
                return true
            }
        }
        return false
    }

    private mutating func step() {
        if rest.removeFirst().isNewline { line += 1 }
    }

    private mutating func take(_ character: Character) throws {
        guard try skipBlanks(), rest.first == character else { throw mistake("expected \"\(character)\"") }
        step()
    }

    private mutating func quoted() throws -> String {
        guard rest.first == "\"" else { throw mistake("expected a text in quotes") }
        step()
        var text = ""
        while let character = rest.first {
            step()
            switch character {
            case "\"": return text
            case "\\": text.append(try escaped())
            default: text.append(character)
            }
        }
        throw mistake("a text has no end")
    }

    private mutating func escaped() throws -> Character {
        guard let character = rest.first else { throw mistake("a text has no end") }
        step()
        switch character {
        case "n": return "\n"
        case "t": return "\t"
        case "\"", "\\": return character
        default: throw mistake("\\\(character) is not a valid escape; use \\n, \\t, \\\" and \\\\")
        }
    }

    private func mistake(_ what: String) -> ObjectError { ObjectError(.invalidText, "\(name), line \(line): \(what)") }
}
