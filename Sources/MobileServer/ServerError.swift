/// What the server throws where it is set up and used as a library. What a client did wrong is not thrown: it is answered.
public struct ServerError: Error, Sendable {
    /// What kind of failure it is: stable, for programs.
    public let code: Code
    /// What was tried, with which package, object, table or file, and what was found; one line.
    public let message: String
    /// The failure below this one; nil where it began here.
    public let cause: (any Error)?

    init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
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
        /// A package that cannot be deployed as its model stands.
        public static let package = Code(rawValue: "package")
        /// The file of a back end is not there or is no database.
        public static let missingBackEnd = Code(rawValue: "missingBackEnd")
        /// A binding names a table that the back end has not.
        public static let missingTable = Code(rawValue: "missingTable")
        /// A binding names a column that the back end's table or load has not.
        public static let missingColumn = Code(rawValue: "missingColumn")
        /// A statement of the model that the back end does not understand.
        public static let statement = Code(rawValue: "statement")
        /// The load of an object gave what cannot be cached, such as one key twice.
        public static let load = Code(rawValue: "load")
        /// The cache database cannot be opened, or belongs to another release.
        public static let cache = Code(rawValue: "cache")
        /// No such package, object, group or user.
        public static let notFound = Code(rawValue: "notFound")
    }
}

extension ServerError: CustomStringConvertible {
    public var description: String { message }
}
