/// Where in a model's document something stands, such as `objects[2].relationships[0].target`.
public struct ModelPath: Sendable, Hashable, CustomStringConvertible {
    /// One step into the document.
    public enum Step: Sendable, Hashable { case key(String), index(Int) }

    /// The steps from the document's root; empty for the root itself.
    public var steps: [Step]

    /// The document's root.
    public static let root = ModelPath(steps: [])

    /// The place that `steps` lead to from the root.
    public init(steps: [Step]) { self.steps = steps }

    public subscript(key: String) -> ModelPath { ModelPath(steps: steps + [.key(key)]) }
    public subscript(index: Int) -> ModelPath { ModelPath(steps: steps + [.index(index)]) }

    /// Whether `other` is this place or inside of it.
    func contains(_ other: ModelPath) -> Bool { other.steps.starts(with: steps) }

    /// Keys joined by points, indexes in brackets; a key that is no plain word stands quoted in brackets: `columns["unit price"]`.
    public var description: String {
        var text = ""
        for step in steps {
            switch step {
            case .index(let index): text += "[\(index)]"
            case .key(let key) where SwiftNames.isIdentifier(key) || key == "$schema": text += text.isEmpty ? key : ".\(key)"
            case .key(let key): text += "[\"\(key)\"]"
            }
        }
        return text
    }
}

/// One thing that is wrong, or remarkable, in a model.
public struct ModelProblem: Sendable, Hashable, CustomStringConvertible {
    /// An error refuses the model; a warning tells what was decided in its place.
    public enum Severity: String, Sendable, Hashable { case error, warning }

    /// What kind of problem it is; stable, for programs. A struct, so that a new code breaks no switch.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The code as text.
        public let rawValue: String
        /// A code of this text.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The file cannot be read.
        public static let file = Code(rawValue: "file")
        /// Not JSON.
        public static let syntax = Code(rawValue: "syntax")
        /// A key that the format does not know.
        public static let unknownKey = Code(rawValue: "unknownKey")
        /// A key that must be there is not.
        public static let missing = Code(rawValue: "missing")
        /// Something twice that may be there once.
        public static let duplicate = Code(rawValue: "duplicate")
        /// A name that cannot be used.
        public static let name = Code(rawValue: "name")
        /// A name that stands for nothing in this model.
        public static let unresolved = Code(rawValue: "unresolved")
        /// A value of the wrong type, or out of its range.
        public static let value = Code(rawValue: "value")
        /// Two places of the model contradict each other.
        public static let conflict = Code(rawValue: "conflict")
        /// Object SQL or back-end SQL that cannot work.
        public static let sql = Code(rawValue: "sql")
        /// The length rules, or the page size.
        public static let length = Code(rawValue: "length")
    }

    /// Whether the problem refuses the model.
    public var severity: Severity
    /// What kind of problem it is, for programs.
    public var code: Code
    /// The model's file as it was given; `model` where the text came without one.
    public var file: String
    /// The place in the document.
    public var path: ModelPath
    /// Where the path's value begins in the file, both from 1; nil where the model did not come from text. The column counts bytes.
    public var line: Int?
    /// See ``line``.
    public var column: Int?
    /// What is wrong, with which value.
    public var cause: String
    /// What to do about it; nil where nothing can be proposed.
    public var suggestion: String?

    init(
        _ code: Code, _ path: ModelPath, _ cause: String, suggestion: String? = nil, severity: Severity = .error, file: String = "model",
        line: Int? = nil, column: Int? = nil
    ) {
        (self.severity, self.code, self.file, self.path) = (severity, code, file, path)
        (self.line, self.column, self.cause, self.suggestion) = (line, column, cause, suggestion)
    }

    /// Cause and suggestion: `there is no object "SalesOrdr"; did you mean "SalesOrder"?`
    public var message: String { suggestion.map { "\(cause); \($0)" } ?? cause }

    /// For people: `crm.mbo.json, objects[2].relationships[0].target: there is no object "SalesOrdr"; did you mean "SalesOrder"?`
    public var description: String {
        let place = path.steps.isEmpty ? "" : ", \(path)"
        return "\(file)\(place): \(severity == .warning ? "warning: " : "")\(message)"
    }

    /// For compilers and editors, which jump to the place: `crm.mbo.json:12:9: error: objects[2].name: ...`
    public var diagnostic: String {
        let position = line.map { ":\($0):\(column ?? 1)" } ?? ""
        let place = path.steps.isEmpty ? "" : "\(path): "
        return "\(file)\(position): \(severity.rawValue): \(place)\(message)"
    }
}

/// A model that cannot be used, with everything that is wrong in it.
public struct ModelError: Error, CustomStringConvertible {
    /// The errors in the order of the document; at least one.
    public let problems: [ModelProblem]

    init(_ problems: [ModelProblem]) {
        precondition(!problems.isEmpty, "an error has at least one problem")
        self.problems = problems
    }

    /// The model's file as it was given.
    public var file: String { problems[0].file }
    /// The first problem's place.
    public var path: ModelPath { problems[0].path }
    /// The first problem's kind, for programs.
    public var code: ModelProblem.Code { problems[0].code }
    /// The first problem's text, for people.
    public var message: String { problems[0].message }

    /// One line for each problem.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}
