/// One request of a client.
public struct TransportRequest {
    /// The request's body.
    public enum Body {
        /// No body.
        case none
        /// A body in memory.
        case bytes([UInt8])
        /// The content of a file at the beginning of the request.
        case file(path: String)
        /// A body that is produced while it is sent: `next` returns the next chunk of any size and nil at the end, on the sending thread,
        /// as fast as the network takes it. A known `length` in bytes becomes `Content-Length`; otherwise HTTP chunks are sent. Such a body
        /// can be sent only once: if a kept connection breaks at that moment, the request ends with
        /// ``TransportError/Code/interrupted``.
        case stream(length: Int? = nil, next: () throws -> [UInt8]?)
    }

    /// The responses that are results; the others are errors.
    public enum ExpectedStatus: Sendable {
        /// 200 to 299; any other status is thrown as ``TransportError/Code/httpStatus``, and its body is not passed to `receive`.
        case success
        /// Any status is a result; its body is received.
        case any
    }

    /// The method in upper case; default `GET`.
    public var method: String
    /// The absolute URL, `http` or `https`, percent-encoded.
    public var url: String
    /// Header fields in the order in which they are sent. The body determines `Content-Length` and `Transfer-Encoding`. A body that is not in memory, or
    /// has more than 32 KiB, is announced with `Expect: 100-continue`, unless there is a field `Expect` with an empty value, which itself is not sent: for
    /// servers that do not know it. A shorter one leaves together with the fields.
    public var headers: [(name: String, value: String)]
    /// The body.
    public var body: Body
    /// Whether the request is sent over one connection only. By default (false), a request that gets no response over a kept connection is sent again over
    /// a new one, although the server may have processed it. With true, it ends with ``TransportError/Code/interrupted``.
    public var isSentOnce = false
    /// The responses that are results; default ``ExpectedStatus/success``.
    public var expects = ExpectedStatus.success
    /// The maximum time of name look-up, connection and TLS together; default 10 s.
    public var connectTimeout = Duration.seconds(10)
    /// The maximum time without traffic on the connection, while an answer is awaited or a body is sent; default 60 s. The time that
    /// `receive` and the body's source take does not count. nil: no limit.
    public var stallTimeout: Duration? = .seconds(60)
    /// The maximum time of the whole request; default nil, no limit.
    public var totalTimeout: Duration?
    /// An object that can end the request from another thread; nil if that is not needed.
    public var cancellation: TransportCancellation?

    /// Creates a request.
    public init(method: String = "GET", url: String, headers: [(name: String, value: String)] = [], body: Body = .none) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// The URL for errors and logs: queries can hold users' data.
    public var urlWithoutQuery: String { String(url.prefix { $0 != "?" && $0 != "#" }) }
}

/// One response without its body.
public struct TransportResponse: Sendable {
    /// The HTTP status code.
    public var status: Int
    /// The header fields in the order in which they arrived.
    public var headers: [(name: String, value: String)]
    /// The number of bytes of the request's body that were sent.
    public var bytesSent: Int64
    /// The number of bytes of the response's body that were received.
    public var bytesReceived: Int64
    /// Whether the request used a connection that was already open.
    public var reusedConnection: Bool

    /// Creates a response from its head and the measured numbers; for transports.
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

    /// The first field of this name in any case; nil if there is none.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.isField(name) }?.value
    }
}
