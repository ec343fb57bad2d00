internal import MobileModel

/// Swift source text: lines with the right indentation.
struct SwiftText {
    private(set) var text = ""
    private var depth = 0

    /// Writes a line; an empty one has no trailing space.
    mutating func line(_ line: String = "") {
        text += line.isEmpty ? "\n" : String(repeating: "    ", count: depth) + line + "\n"
    }

    /// Writes `head {`, the lines of `body` one level deeper, and `}`.
    mutating func block(_ head: String, _ body: (inout SwiftText) -> Void) {
        line(head + " {")
        depth += 1
        body(&self)
        depth -= 1
        line("}")
    }

    /// Writes `name(parameters) effects -> result { body }`. If the signature is too long for a line, the parameters have a line of their own.
    mutating func function(_ name: String, _ parameters: [String], _ effects: String, _ body: (inout SwiftText) -> Void) {
        let list = parameters.joined(separator: ", "), head = "\(name)(\(list)) \(effects)"
        guard depth * 4 + head.count + 2 > Self.lineLength else { return block(head, body) }
        line(name + "(")
        depth += 1
        line(list)
        depth -= 1
        block(") \(effects)", body)
    }

    /// The maximum length of a line of code that can be broken, in characters.
    private static let lineLength = 140

    /// Writes the attribute of a blocking form, which has a twin for asynchronous code: there the compiler refuses it, also where it would take it
    /// without a word, at the top level of a program and in closures without `await`.
    mutating func blockingForm() { line("@available(*, noasync, message: \"it blocks the thread: write `try await`, in an async function\")") }

    /// Writes documentation: each line of `text` after `///`.
    ///
    /// The text may come from a database. An end of a line that is overlooked, such as CR LF, which is one character, would make code of the rest.
    mutating func documentation(_ text: String) {
        for part in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            line(part.isEmpty ? "///" : "/// \(part)")
        }
    }

    /// Writes a line comment: each line of `text` after `//`.
    mutating func comment(_ text: String) {
        for part in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) { line("// \(part)") }
    }

    /// A string literal in double quotes.
    static func literal(_ string: String) -> String { ReadableJSON.quoted(string) { "\\u{\($0)}" } }

    /// Ends a text with a full stop if it does not end as a sentence.
    static func sentence(_ text: String) -> String {
        let trimmed = text.drop { $0.isWhitespace }
        return trimmed.last.map { ".!?:".contains($0) } == true ? String(trimmed) : "\(trimmed)."
    }
}
