import Foundation

/// A public method or initializer as a source file declares it, with its comment.
struct DocumentedMethod {
    let type: String
    /// As documentation links it: `write(timeout:label:interruption:_:)`.
    let name: String
    /// The declaration up to the end of its parameters, in one line.
    let declaration: String
    /// The lines of the comment, without slashes.
    let comment: [String]
    /// The comment of the extension or type, and the last `MARK` before the method.
    let surroundings: String

    var qualifiedName: String { "\(type).\(name)" }
    var baseName: Substring { name.prefix { $0 != "(" } }

    /// The code in the comment: lines that are indented by four spaces, after an empty line.
    var examples: [[String]] {
        var examples: [[String]] = [], isAfterEmpty = false, isInside = false
        for line in comment {
            isInside = line.hasPrefix("    ") && (isInside || isAfterEmpty)
            if isInside {
                if isAfterEmpty { examples.append([]) }
                examples[examples.count - 1].append(String(line.dropFirst(4)))
            }
            isAfterEmpty = line.isEmpty
        }
        return examples
    }

    /// Whether the comment refers to the form that blocks, or to another overload.
    var isTwin: Bool {
        ["The same", "Does the same", "The `async` twin of", "As the blocking form"].contains { comment.first?.hasPrefix($0) == true }
    }

    /// Whether the comment, or that of the extension, says that generated code calls the method.
    var isForGeneratedCode: Bool {
        let text = comment.joined(separator: " ") + surroundings
        return ["ooks that generated", "by generated", "or generated"].contains { text.contains($0) }
    }
}

extension DocumentedMethod {
    /// The public methods and initializers of the types with these names, in all files of a folder; operators and overrides are left out.
    /// The formatter's layout is relied upon: types begin and end in the first column, their members in the fifth.
    static func all(of types: Set<String>, in folder: URL) throws -> [DocumentedMethod] {
        try swiftFiles(in: folder).flatMap { try methods(of: types, lines(of: $0)) }
    }

    private static func methods(of types: Set<String>, _ lines: [String]) -> [DocumentedMethod] {
        var methods: [DocumentedMethod] = [], type = "", typeComment = "", mark = ""
        for (number, line) in lines.enumerated() {
            if let name = typeName(line) {
                (type, typeComment, mark) = (name, comment(before: number, of: lines, indent: "").joined(separator: " "), "")
            } else if line.hasPrefix("    // MARK: ") {
                mark = line
            } else if types.contains(type), isPublicMethod(line) {
                let declaration = declaration(at: number, of: lines)
                guard let name = documentationName(declaration) else { continue }
                methods.append(
                    DocumentedMethod(
                        type: type, name: name, declaration: declaration, comment: comment(before: number, of: lines, indent: "    "),
                        surroundings: typeComment + mark))
            }
        }
        return methods
    }

    /// The name of the type that a line in the first column declares or extends.
    private static func typeName(_ line: String) -> String? {
        guard let first = line.utf8.first, first == UInt8(ascii: "@") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) else { return nil }
        let words = line.split(separator: " ")
        guard let keyword = words.firstIndex(where: { ["extension", "class", "struct", "protocol", "enum", "actor"].contains($0) }),
            keyword + 1 < words.count
        else { return nil }
        return String(words[keyword + 1].prefix { $0.isLetter || $0.isNumber || $0 == "." })
    }

    private static func isPublicMethod(_ line: String) -> Bool {
        guard line.utf8.starts(with: "    ".utf8), line.utf8.dropFirst(4).first != UInt8(ascii: " ") else { return false }
        let words = line.split(separator: " ")
        guard let keyword = words.firstIndex(where: { $0 == "func" || ["init(", "init<", "init?"].contains($0.prefix(5)) }) else { return false }
        let modifiers = words[..<keyword]
        return (modifiers.contains("public") || modifiers.contains("open")) && !modifiers.contains("override")
    }

    /// The lines from a number on until their parentheses are closed.
    private static func declaration(at number: Int, of lines: [String]) -> String {
        var text = ""
        for line in lines[number...] {
            text += line.trimmingCharacters(in: .whitespaces) + " "
            if text.contains("("), text.count(where: { $0 == "(" }) == text.count(where: { $0 == ")" }) { break }
        }
        return text
    }

    /// Base name and labels; nil for an operator.
    private static func documentationName(_ declaration: String) -> String? {
        guard let start = declaration.firstRange(of: "func ")?.upperBound ?? declaration.firstRange(of: "init")?.lowerBound else { return nil }
        let base = declaration[start...].prefix { !"(<? ".contains($0) }.filter { $0 != "`" }
        guard base.first?.isLetter == true else { return nil }
        // The parameters begin with the first parenthesis: those of generic parameters have none.
        let parameters = declaration[start...].drop { $0 != "(" }.dropFirst()
        var depth = 0, parts = [""]
        for character in parameters.replacing("->", with: "") {
            if "([{<".contains(character) { depth += 1 }
            if ")]}>".contains(character) { depth -= 1 }
            if depth < 0 { break }
            if character == ",", depth == 0 { parts.append("") } else { parts[parts.count - 1].append(character) }
        }
        let labels = parts.compactMap { $0.split(separator: " ").first }.map { $0.prefix { $0 != ":" } + ":" }
        return "\(base)(\(labels.joined()))"
    }

    private static func comment(before number: Int, of lines: [String], indent: String) -> [String] {
        let above = lines[..<number].reversed().drop { $0.hasPrefix(indent + "@") }
        return above.prefix { $0.hasPrefix(indent + "///") }.reversed().map { line in
            let text = line.dropFirst(indent.count + 3)
            return String(text.hasPrefix(" ") ? text.dropFirst() : text)
        }
    }

    static func swiftFiles(in folder: URL) throws -> [URL] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }.sorted().map { folder.appending(path: $0) }
    }

    static func lines(of file: URL) throws -> [String] {
        let text = try String(contentsOf: file, encoding: .utf8)
        return text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { String(Substring($0)) }
    }
}

/// Code of a test between `// Example: <method>` and `// Example: end`, which a comment shows.
struct RunningExample {
    /// The method that it is about: `Database.close()`.
    let method: String
    /// The lines, without the indentation of the mark.
    var lines: [String] = []

    /// The examples in all files of a folder whose names end in `ExampleTests`.
    static func all(in folder: URL) throws -> [RunningExample] {
        var examples: [RunningExample] = []
        for file in try DocumentedMethod.swiftFiles(in: folder) where file.lastPathComponent.hasSuffix("ExampleTests.swift") {
            var part: RunningExample?, indent = 0
            for line in try DocumentedMethod.lines(of: file) {
                let code = line.drop { $0 == " " }
                if code == "// Example: end" {
                    if let part { examples.append(part) }
                    part = nil
                } else if code.hasPrefix("// Example: ") {
                    (part, indent) = (RunningExample(method: String(code.dropFirst(12))), line.count - code.count)
                } else {
                    part?.lines.append(String(line.dropFirst(indent)))
                }
            }
        }
        return examples
    }
}
