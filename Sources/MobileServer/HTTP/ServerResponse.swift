/// What the server's logic answers.
///
///     return ServerResponse(status: 200, contentType: "application/json", body: .bytes(json))
///     return ServerResponse(status: 200, contentType: "application/octet-stream", body: .stream { try download.nextChunk() })
public struct ServerResponse {
    /// The body of a response.
    public enum Body {
        /// No body.
        case none
        /// A body that lies in memory.
        case bytes([UInt8])
        /// A body that is made while it is sent: `next` gives the next chunk (of any size, up to 64 KB works best) and nil at
        /// the end. It is called on the connection's thread, after the handler has returned, as fast as the client reads.
        /// If it throws, the connection is cut, so that the client sees a truncated body and not a complete one.
        /// The closure is let go when the response is finished or its connection is gone.
        /// `length` in bytes, if it is known, becomes `Content-Length`; else the body goes in HTTP chunks.
        case stream(length: Int? = nil, next: () throws -> [UInt8]?)
    }

    /// The HTTP status code, 200...599.
    public var status: Int
    /// Header fields in the order in which they are sent. `Content-Length`, `Transfer-Encoding`, `Date` and `Connection` are the
    /// HTTP face's own business.
    public var headers: [(name: String, value: String)]
    /// The body.
    public var body: Body

    /// A response.
    public init(status: Int, headers: [(name: String, value: String)] = [], contentType: String? = nil, body: Body = .none) {
        self.status = status
        self.headers = headers + (contentType.map { [("Content-Type", $0)] } ?? [])
        self.body = body
    }

    /// The header field that goes with every 503: how many seconds clients leave the server alone. They come back spread over more than that.
    static let retryLater = (name: "Retry-After", value: "5")
}
