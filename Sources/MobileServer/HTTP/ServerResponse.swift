/// The answer of the server's logic.
///
///     return ServerResponse(status: 200, contentType: "application/json", body: .bytes(json))
///     return ServerResponse(status: 200, contentType: "application/octet-stream", body: .stream { try download.nextChunk() })
public struct ServerResponse {
    /// The body of a response.
    public enum Body {
        /// No body.
        case none
        /// A body in memory.
        case bytes([UInt8])
        /// A body that is produced while it is sent: `next` returns the next chunk (of any size, up to 64 KB works best), and nil at the end. It is
        /// called on the connection's thread, after the handler has returned, as fast as the client reads. If it throws, the connection is cut, so
        /// that the client sees a truncated body and not a complete one. The closure is released when the response is finished or its connection is
        /// closed. `length` in bytes, if it is known, becomes `Content-Length`; otherwise the body is sent in HTTP chunks.
        case stream(length: Int? = nil, next: () throws -> [UInt8]?)
    }

    /// The HTTP status code, 200...599.
    public var status: Int
    /// Header fields in the order in which they are sent. The HTTP layer itself sets `Content-Length`, `Transfer-Encoding`, `Date` and `Connection`.
    public var headers: [(name: String, value: String)]
    /// The body.
    public var body: Body

    /// Creates a response.
    public init(status: Int, headers: [(name: String, value: String)] = [], contentType: String? = nil, body: Body = .none) {
        self.status = status
        self.headers = headers + (contentType.map { [("Content-Type", $0)] } ?? [])
        self.body = body
    }

    /// The header field of every 503: the number of seconds before the next attempt. Clients spread their attempts over a longer time.
    static let retryLater = (name: "Retry-After", value: "5")
}
