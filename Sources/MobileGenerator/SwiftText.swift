internal import MobileModel

/// Swift source on its way to a file: lines with the right indentation.
struct SwiftText {
    private(set) var text = ""
    private var depth = 0

    /// A line; an empty one has no trailing space.
    mutating func line(_ line: String = "") {
        text += line.isEmpty ? "\n" : String(repeating: "    ", count: depth) + line + "\n"
    }

    /// `head {`, the lines of `body` one level deeper, `}`.
    mutating func block(_ head: String, _ body: (inout SwiftText) -> Void) {
        line(head + " {")
        depth += 1
        body(&self)
        depth -= 1
        line("}")
    }

    /// A function: `name(parameters) effects -> result { body }`; a signature that is too long for a line has its parameters on one of their own.
    mutating func function(_ name: String, _ parameters: [String], _ effects: String, _ body: (inout SwiftText) -> Void) {
        let list = parameters.joined(separator: ", "), head = "\(name)(\(list)) \(effects)"
        guard depth * 4 + head.count + 2 > Self.lineLength else { return block(head, body) }
        line(name + "(")
        depth += 1
        line(list)
        depth -= 1
        block(") \(effects)", body)
    }

    /// Characters of a line of code, where it can be broken.
    private static let lineLength = 140

    /// Documentation: each line of `text` behind `///`.
    mutating func documentation(_ text: String) {
        for part in text.split(separator: "\n", omittingEmptySubsequences: false) {
            line(part.isEmpty ? "///" : "/// \(part)")
        }
    }

    /// A line comment: each line of `text` behind `//`.
    mutating func comment(_ text: String) {
        for part in text.split(separator: "\n", omittingEmptySubsequences: false) { line("// \(part)") }
    }

    /// A string literal in double quotes.
    static func literal(_ string: String) -> String { ReadableJSON.quoted(string) { "\\u{\($0)}" } }

    /// A sentence that ends as one.
    static func sentence(_ text: String) -> String {
        let trimmed = text.drop { $0.isWhitespace }
        return trimmed.last.map { ".!?:".contains($0) } == true ? String(trimmed) : "\(trimmed)."
    }
}
