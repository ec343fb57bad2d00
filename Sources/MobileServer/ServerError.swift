public import Foundation

/// An error of the server's setup or of its use as a library. A client's error is not thrown: it is answered.
public struct ServerError: Error, Sendable {
    /// The kind of failure: stable, for programs.
    public let code: Code
    /// A description in one line: the attempted action, its package, object, table or file, and the finding.
    public let message: String
    /// The underlying failure; nil if there is none.
    public let cause: (any Error)?

    package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The kind of a failure. A struct, so that a new kind breaks no `switch`.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A value of the configuration that cannot be used.
        public static let configuration = Code(rawValue: "configuration")
        /// A package that cannot be deployed with its present model.
        public static let package = Code(rawValue: "package")
        /// The file of a back end does not exist or is not a database.
        public static let missingBackEnd = Code(rawValue: "missingBackEnd")
        /// A binding names a table that the back end does not have.
        public static let missingTable = Code(rawValue: "missingTable")
        /// A binding names a column that the back end's table or load does not have.
        public static let missingColumn = Code(rawValue: "missingColumn")
        /// A statement of the model that the back end does not understand.
        public static let statement = Code(rawValue: "statement")
        /// The load of an object returned rows that cannot be cached, such as two rows with the same key.
        public static let load = Code(rawValue: "load")
        /// The cache database cannot be opened, or belongs to another release.
        public static let cache = Code(rawValue: "cache")
        /// No such package, object, group or user.
        public static let notFound = Code(rawValue: "notFound")
        /// Another process, or another server of this one, listens on the port.
        public static let portInUse = Code(rawValue: "portInUse")
        /// The address is not one of this machine's, or the system refused to listen on it.
        public static let cannotListen = Code(rawValue: "cannotListen")
        /// The threads of the HTTP server could not be started.
        public static let cannotStart = Code(rawValue: "cannotStart")
    }
}

extension ServerError: CustomStringConvertible {
    public var description: String { message }
}

extension ServerError: LocalizedError, CustomDebugStringConvertible {
    /// The message.
    public var errorDescription: String? { message }
    /// The message.
    public var failureReason: String? { message }
    /// The remedy, as in the article *Errors*; nil for codes of a newer release.
    public var recoverySuggestion: String? { Self.remedies[code] }
    /// Message, code and remedy: what a program prints that ends with the error.
    public var debugDescription: String { "\(message) (ServerError \(code.rawValue))" + (recoverySuggestion.map { ". \($0)" } ?? "") }

    private static let remedies: [Code: String] = [
        .configuration: "Correct the value; the message names the range.",
        .package: "Correct the model.",
        .missingBackEnd: "Correct the path or the address.",
        .missingTable: "Correct the binding, or create the table.",
        .missingColumn: "Correct the binding, or create the column.",
        .statement: "Correct the statement.",
        .load: "Correct the load.",
        .cache: "Check the file. A deleted cache makes devices register and load again.",
        .notFound: "Correct the name.",
        .portInUse: "Choose another port, or 0 for any free one.",
        .cannotListen: "Correct the address, or use a port above 1023.",
        .cannotStart: "Check certificate, key and the limits of the process.",
    ]
}
