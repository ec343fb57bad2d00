public import Foundation

/// A position in a model's document, such as `objects[2].relationships[0].target`.
public struct ModelPath: Sendable, Hashable, CustomStringConvertible {
    /// One step into the document.
    public enum Step: Sendable, Hashable { case key(String), index(Int) }

    /// The steps from the document's root; empty for the root itself.
    public var steps: [Step]

    /// The document's root.
    public static let root = ModelPath(steps: [])

    /// Creates the path that `steps` lead to from the root.
    public init(steps: [Step]) { self.steps = steps }

    // Never inlined: the validator makes hundreds of paths, and each would be a copy of the code that appends to an array.
    public subscript(key: String) -> ModelPath { @inline(never) get { ModelPath(steps: steps + [.key(key)]) } }
    public subscript(index: Int) -> ModelPath { @inline(never) get { ModelPath(steps: steps + [.index(index)]) } }

    /// Whether `other` is this place or a place inside it.
    func contains(_ other: ModelPath) -> Bool { other.steps.starts(with: steps) }

    /// Keys joined by points, indexes in brackets; a key that is not a plain word is quoted in brackets: `columns["unit price"]`.
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

/// One error or warning about a model.
public struct ModelProblem: Sendable, Hashable, CustomStringConvertible {
    /// An error refuses the model; a warning reports the decision made instead.
    public enum Severity: String, Sendable, Hashable { case error, warning }

    /// The kind of a problem; stable, for programs. A struct, so that a new code breaks no switch.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The code as text.
        public let rawValue: String
        /// Creates a code with this text.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The file cannot be read.
        public static let file = Code(rawValue: "file")
        /// Not JSON.
        public static let syntax = Code(rawValue: "syntax")
        /// A key that the format does not define.
        public static let unknownKey = Code(rawValue: "unknownKey")
        /// A required key is missing.
        public static let missing = Code(rawValue: "missing")
        /// A key, name or value occurs twice but may occur only once.
        public static let duplicate = Code(rawValue: "duplicate")
        /// A name that cannot be used.
        public static let name = Code(rawValue: "name")
        /// A name of an element that this model does not have.
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
    /// The kind of the problem, for programs.
    public var code: Code
    /// The model's file as it was given; `model` if the text was given without one.
    public var file: String
    /// The place in the document.
    public var path: ModelPath
    /// The line where the path's value begins in the file, from 1; nil if the model was not read from text.
    public var line: Int?
    /// The column where the path's value begins, in bytes from 1; nil if the model was not read from text.
    public var column: Int?
    /// The cause, with the value that is wrong.
    public var cause: String
    /// The proposed correction; nil if there is none.
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

/// A model that cannot be used, with all its errors.
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

extension ModelError: LocalizedError, CustomDebugStringConvertible {
    /// The description.
    public var errorDescription: String? { description }
    /// The description.
    public var failureReason: String? { description }
    /// The remedy of the first problem: its own suggestion, otherwise the remedy of its code in the article *Errors*; nil for codes of a newer release.
    public var recoverySuggestion: String? { problems[0].suggestion ?? Self.remedies[code] }
    /// The problems, one a line, and the code and the remedy of the first: what a program prints that ends with the error.
    public var debugDescription: String { "\(description) (ModelError \(code.rawValue))" + (recoverySuggestion.map { ". \($0)" } ?? "") }

    private static let remedies: [ModelProblem.Code: String] = [
        .file: "Check path and permissions.",
        .syntax: "Correct the line.",
        .unknownKey: "Correct the key, or remove it.",
        .missing: "Add it.",
        .duplicate: "Remove or rename one.",
        .name: "Choose another name.",
        .unresolved: "Correct the name.",
        .value: "Correct the value.",
        .conflict: "Change one of them.",
        .sql: "Correct the statement.",
        .length: "Correct the length, mark the attribute as large, or raise the page size.",
    ]
}
