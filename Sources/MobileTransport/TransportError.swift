/// The failure of a request.
public struct TransportError: Error, Sendable, CustomStringConvertible {
    /// A stable name of a kind of failure.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The host has no address, or no server listens there: the request has not been sent.
        public static let cannotConnect = Code(rawValue: "cannotConnect")
        /// Connecting, waiting or the whole request took longer than allowed.
        public static let timeout = Code(rawValue: "timeout")
        /// The connection was cut before the response was complete; the other end may have executed the request.
        public static let interrupted = Code(rawValue: "interrupted")
        /// ``TransportCancellation/cancel()`` was called, or the task was cancelled.
        public static let cancelled = Code(rawValue: "cancelled")
        /// The other end is not trusted, or does not trust this one.
        public static let tls = Code(rawValue: "tls")
        /// The response has an unexpected status; see ``TransportError/status``.
        public static let httpStatus = Code(rawValue: "httpStatus")
        /// The response's body is longer than the caller accepts.
        public static let responseTooLong = Code(rawValue: "responseTooLong")
        /// The URL, a header field or an option is invalid, or a file to send cannot be read.
        public static let badRequest = Code(rawValue: "badRequest")
        /// Any other failure, such as a lack of memory.
        public static let other = Code(rawValue: "other")
    }

    /// The kind of failure.
    public let code: Code
    /// The action, the place and the failure; one line, without the URL's query.
    public let message: String
    /// The HTTP status of the response; nil without a response.
    public let status: Int?
    /// The header fields of a response with an unexpected status.
    public let headers: [(name: String, value: String)]
    /// The body of a response with an unexpected status, its first 64 KB.
    public let body: [UInt8]
    /// The underlying failure; nil if there is none.
    public let cause: (any Error)?
    /// Whether it is certain that the request was not sent, because no connection was established.
    public let isBeforeConnection: Bool

    /// Creates an error; with the server's answer if there is one.
    public init(
        _ code: Code, _ message: String, status: Int? = nil, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        cause: (any Error)? = nil, isBeforeConnection: Bool? = nil
    ) {
        self.code = code
        self.message = message
        self.status = status
        self.headers = headers
        self.body = body
        self.cause = cause
        self.isBeforeConnection = isBeforeConnection ?? (code == .cannotConnect || code == .tls)
    }

    public var description: String { message }

    /// The number of bytes kept of the body of an unexpected response.
    package static let keptBody = 65_536
}
