/// An error of starting the HTTP server.
public struct HTTPServerError: Error, Sendable, CustomStringConvertible {
    /// A stable name of a kind of failure.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Another process, or another server of this one, listens on the port.
        public static let portInUse = Code(rawValue: "portInUse")
        /// The address is not one of this machine's, or the system refused to listen on it.
        public static let cannotListen = Code(rawValue: "cannotListen")
        /// The server's threads could not be started.
        public static let cannotStart = Code(rawValue: "cannotStart")
    }

    /// The kind of failure.
    public let code: Code
    /// The attempted action, the reason of its failure, and a remedy; one line.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
