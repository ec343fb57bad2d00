/// One request of a client.
public struct TransportRequest {
    /// What is sent as the request's body.
    public enum Body {
        /// No body.
        case none
        /// A body that lies in memory.
        case bytes([UInt8])
        /// The content of a file as it is when the request begins.
        case file(path: String)
        /// A body that is made while it is sent: `next` gives the next chunk of any size and nil at the end, on the sending thread,
        /// as fast as the network takes it. `length` in bytes becomes `Content-Length` if it is known; else HTTP chunks are sent.
        /// Such a body can be sent only once: where a kept connection breaks just then, the request ends as
        /// ``TransportError/Code/interrupted``.
        case stream(length: Int? = nil, next: () throws -> [UInt8]?)
    }

    /// Which responses are results, and which are errors.
    public enum ExpectedStatus: Sendable {
        /// 200 to 299; everything else is thrown as ``TransportError/Code/httpStatus`` and its body is not received.
        case success
        /// Any status is a result; its body is received.
        case any
    }

    /// The method in upper case; default `GET`.
    public var method: String
    /// The absolute URL, `http` or `https`, percent-encoded.
    public var url: String
    /// Header fields in the order in which they are sent. `Content-Length` and `Transfer-Encoding` follow from the body.
    public var headers: [(name: String, value: String)]
    /// The body.
    public var body: Body
    /// Which responses are results; default ``ExpectedStatus/success``.
    public var expects = ExpectedStatus.success
    /// How long looking up the name, connecting and agreeing on TLS may take together; default 10 s.
    public var connectTimeout = Duration.seconds(10)
    /// How long nothing may move on the connection while an answer is awaited or a body is on its way; default 60 s. The time that
    /// `receive` and the body's source take does not count. nil: no limit.
    public var stallTimeout: Duration? = .seconds(60)
    /// How long the whole request may take; default nil, no limit.
    public var totalTimeout: Duration?
    /// Ends the request from another thread; nil if nobody wants to.
    public var cancellation: TransportCancellation?

    /// A request.
    public init(method: String = "GET", url: String, headers: [(name: String, value: String)] = [], body: Body = .none) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// The URL as it may appear in errors and logs: queries can hold users' data.
    public var urlWithoutQuery: String { String(url.prefix { $0 != "?" && $0 != "#" }) }
}

/// One response without its body.
public struct TransportResponse: Sendable {
    /// The HTTP status code.
    public var status: Int
    /// The header fields in the order in which they came.
    public var headers: [(name: String, value: String)]
    /// Bytes of the request's body that were sent.
    public var bytesSent: Int64
    /// Bytes of the response's body that were received.
    public var bytesReceived: Int64
    /// Whether the request went over a connection that was open already.
    public var reusedConnection: Bool

    /// A response's head and what was measured; made by transports.
    public init(
        status: Int, headers: [(name: String, value: String)] = [], bytesSent: Int64 = 0, bytesReceived: Int64 = 0,
        reusedConnection: Bool = false
    ) {
        self.status = status
        self.headers = headers
        self.bytesSent = bytesSent
        self.bytesReceived = bytesReceived
        self.reusedConnection = reusedConnection
    }

    /// The first field of this name, whatever its case; nil if there is none.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}
