import Foundation

/// A constant of the sources: a Swift property or a default of a parameter, or a constant of the C code.
struct SourceConstant: Sendable {
    /// The name. Swift: `Type.member`. C: the name alone if it begins with `MC_`, otherwise `file.NAME`.
    let name: String
    /// The number in the line, in bytes for sizes and in seconds for times.
    let value: Int64
    /// Whether the line declares the constant; false for a parameter with a default.
    let isDeclaration: Bool
    /// Whether the name or the comment describes a limit.
    let saysLimit: Bool
    /// The file and the line, for messages.
    let place: String
}

/// The expressions of ``SourceReader``. One in code is read again whenever the code runs: that takes longer than its use.
private struct SourceExpressions {
    let errorType = /^public (?:struct|enum|actor|(?:final )?class) (\w+)(?:<\w+>)?:[^{]*\b(?:Localized|Base)?Error\b/
    let errorExtension = /^(?:public )?extension ([\w.]+): [^{]*\bError\b/
    let declaration = #/^(?:@\S+ )*(?:(?:public|package|private|fileprivate|internal|static|final)(?:\(set\))? )*(?:let|var) /#
    let limitComment = #/\b(?:at most|longest|most|limit|largest|no more than)\b/#
    let assignment = #/\b(\w+)(?:: ?([\w.?]+))? (?:= |\{ )([-.\w(][^,{}]*)/#
    let limitName = /maximum|longest|most|largest|smallest|least|limit|perdevice|timeout|capacity|lifetime/
    let code = /^(?:public )?static let (\w+)(?:: Int64)? = (?:Code\(rawValue: "?([^")]+)"?\)|(\d+))/
    let token = /\s*(<<|[-+*()]|[.\w]+|\S)/

    /// Never changed; the regular expressions of the standard library are not sendable because they may contain a function.
    nonisolated(unsafe) static let shared = SourceExpressions()
}

/// Reads the constants of a checkout as text. The formatter's indentation shows the type of each line.
struct SourceReader: Sendable {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static var expressions: SourceExpressions { .shared }

    /// The checkout of this test, read once for all tests because it takes seconds.
    static let checkout = Result { try SourceReader() }

    /// The numeric constants of all Swift modules and of the C code.
    private(set) var constants: [SourceConstant] = []
    /// The names and raw values of the cases of each type of error codes, by its name.
    private(set) var codes: [String: [String: String]] = [:]
    /// The public types that conform to `Error`.
    private(set) var errorTypes: Set<String> = []
    /// The statuses of the core with their numbers.
    private(set) var statuses: [String: String] = [:]

    init() throws {
        // Generated classes have constants of their model, such as a credit limit, and none of this repository.
        for file in try Self.files(under: "Sources", ["swift"]) where file.deletingLastPathComponent().lastPathComponent != "Generated" {
            let text = try String(contentsOf: file, encoding: .utf8)
            Self.scan(text) { types, line, comment, number in
                let place = "\(file.lastPathComponent):\(number)"
                constants += Self.constants(in: line, of: types.joined(separator: "."), comment, place)
                readCode(line, of: types)
                // Few lines declare a public type, and an expression takes a hundred times as long as this comparison.
                guard line.hasPrefix("public ") || line.hasPrefix("extension ") else { return }
                if let type = line.firstMatch(of: Self.expressions.errorType) {
                    errorTypes.insert((types + [String(type.1)]).joined(separator: "."))
                } else if let type = line.firstMatch(of: Self.expressions.errorExtension) {
                    errorTypes.insert(String(type.1))
                }
            }
        }
        try readC()
    }

    // MARK: Files

    /// Returns the files of a folder of the checkout, in a stable order.
    static func files(under folder: String, _ extensions: Set<String>) throws -> [URL] {
        let found = FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil)
        guard let found else { throw CocoaError(.fileReadNoSuchFile) }
        return found.compactMap { $0 as? URL }.filter { extensions.contains($0.pathExtension) }.sorted { $0.path < $1.path }
    }

    /// Reads an article of the documentation.
    static func article(_ name: String) throws -> [Substring] {
        let file = try files(under: "Sources", ["md"]).first { $0.lastPathComponent == "\(name).md" }
        guard let file else { throw CocoaError(.fileReadNoSuchFile) }
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    }

    /// Returns the cells of a row of a table.
    static func cells(of line: Substring) -> [String] {
        line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast().map { $0.trimmingCharacters(in: .whitespaces) }
    }

    // MARK: Swift

    /// Calls `visit` with each line of code, its enclosing types, the comment before it, and its number.
    private static func scan(_ text: String, _ visit: ([String], Substring, String, Int) -> Void) {
        var open: [(indentation: Int, type: String)] = []
        var comment = ""
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let code = line.drop { $0 == " " }
            guard !code.isEmpty else { comment = ""; continue }
            if code.hasPrefix("//") { comment += code; continue }
            let indentation = line.utf8.count - code.utf8.count
            open.removeAll { $0.indentation >= indentation }
            visit(open.map(\.type), code, comment, number + 1)
            if let type = typeDeclared(in: code) { open.append((indentation, type)) }
            comment = ""
        }
    }

    private static let modifiers: Set<Substring> = ["public", "package", "private", "fileprivate", "internal", "open", "final", "indirect", "@safe"]
    private static let typeKeywords: Set<Substring> = ["struct", "enum", "class", "actor", "extension", "protocol"]

    private static func typeDeclared(in code: Substring) -> String? {
        var words = code.split(separator: " ", maxSplits: 7)[...]
        while let word = words.first, modifiers.contains(word) { words.removeFirst() }
        guard let keyword = words.popFirst(), typeKeywords.contains(keyword), let name = words.first else { return nil }
        return String(name.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." })
    }

    private static func constants(in line: Substring, of type: String, _ comment: String, _ place: String) -> [SourceConstant] {
        guard line.utf8.contains(where: { 48...57 ~= $0 }), line.contains(" = ") || line.contains("{ ") else { return [] }
        let isDeclaration = line.contains(expressions.declaration)
        let isStatic = isDeclaration && line.contains("static ")
        let commentSaysLimit = isStatic && comment.lowercased().contains(expressions.limitComment)
        return line.matches(of: expressions.assignment).compactMap { match in
            guard isDeclaration || match.2 != nil, let value = Arithmetic.value(of: match.3, symbols: [:]) else { return nil }
            let nameSaysLimit = match.1.lowercased().contains(expressions.limitName)
            return SourceConstant(
                name: "\(type).\(match.1)", value: value, isDeclaration: isDeclaration, saysLimit: nameSaysLimit || commentSaysLimit, place: place)
        }
    }

    private mutating func readCode(_ line: Substring, of types: [String]) {
        guard let type = types.last, type == "Code" || type == "ResultCode" else { return }
        guard let match = line.firstMatch(of: Self.expressions.code) else { return }
        codes[types.joined(separator: "."), default: [:]][String(match.1)] = String(match.2 ?? match.3 ?? "")
    }

    // MARK: C

    private mutating func readC() throws {
        var found: [(file: String, name: String, expression: Substring, line: Int)] = []
        let definition = #/(?:#define ([A-Z]\w+) |\b([A-Z][A-Z0-9_]+) = )([^,;}=]+)/#
        for file in try Self.files(under: "CSupport", ["c", "h"]) {
            let stem = file.deletingPathExtension().lastPathComponent
            let text = try String(contentsOf: file, encoding: .utf8)
            for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                guard line.utf8.contains(where: { 48...57 ~= $0 }), line.contains(" = ") || line.hasPrefix("#define"),
                    let code = line.split(separator: "//", maxSplits: 1, omittingEmptySubsequences: false).first
                else { continue }
                for match in code.matches(of: definition) { found.append((stem, String(match.1 ?? match.2 ?? ""), match.3, number + 1)) }
            }
        }
        var symbols: [String: Int64] = [:]
        for _ in 0..<2 {  // twice, because a constant may use one of a later file
            for constant in found { symbols[constant.name] = Arithmetic.value(of: constant.expression, symbols: symbols) ?? symbols[constant.name] }
        }
        let limit = /(?:^|_)(?:MAXIMUM|LIMIT|LONGEST|MOST|LARGEST|SMALLEST|TIMEOUT)(?:_|$)/
        for (file, name, expression, line) in found {
            guard let value = Arithmetic.value(of: expression, symbols: symbols) else { continue }
            if name.hasPrefix("MC_ERROR_"), value < 100 { statuses[name] = String(value) }
            constants.append(
                SourceConstant(
                    name: name.hasPrefix("MC_") ? name : "\(file).\(name)", value: value, isDeclaration: true,
                    saysLimit: !name.contains("_ERROR_") && name.contains(limit), place: "\(file):\(line)"))
        }
    }
}

/// The value of a constant expression in the sources, such as `64 << 10`, `.seconds(3 * 86_400)` or `INT64_C(64) << 30`.
struct Arithmetic {
    private static let units: [String: Int64] = [
        ".seconds": 1, "Duration.seconds": 1, ".milliseconds": 1, ".kilobytes": 1000, ".megabytes": 1_000_000, "INT64_C": 1,
    ]
    private var tokens: ArraySlice<Substring>
    private let symbols: [String: Int64]

    /// Evaluates an expression; nil for any other text.
    static func value(of text: Substring, symbols: [String: Int64]) -> Int64? {
        let tokens = text.matches(of: SourceExpressions.shared.token).map(\.1)
        var expression = Arithmetic(tokens: tokens[...], symbols: symbols)
        guard let value = expression.sum() else { return nil }
        // The rest of the line may belong to a list of parameters.
        return expression.tokens.allSatisfy { $0 == ")" } || expression.tokens.first == ")" ? value : nil
    }

    private mutating func sum() -> Int64? {
        guard var value = product() else { return nil }
        while let sign = tokens.first, sign == "+" || sign == "-" || sign == "<<" {
            tokens.removeFirst()
            guard let right = product() else { return nil }
            switch sign {
            case "+": value += right
            case "-": value -= right
            default: value <<= right
            }
        }
        return value
    }

    private mutating func product() -> Int64? {
        guard var value = factor() else { return nil }
        while tokens.first == "*" {
            tokens.removeFirst()
            guard let right = factor() else { return nil }
            value *= right
        }
        return value
    }

    private mutating func factor() -> Int64? {
        guard let token = tokens.popFirst() else { return nil }
        if token == "-" { return factor().map { -$0 } }
        if let number = Int64(token.replacing("_", with: "")) { return number }
        if let symbol = symbols[String(token)] { return symbol }
        let unit = token == "(" ? 1 : Self.units[String(token)]
        guard let unit, token == "(" || tokens.popFirst() == "(", let value = sum(), tokens.popFirst() == ")" else { return nil }
        return value * unit
    }
}
