internal import MobileProtocol

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
        /// called on a worker's thread, one call at a time, after the handler has returned, two chunks ahead of the client at most. If it throws, the
        /// connection is cut, so that the client sees a truncated body and not a complete one. The closure is released when the response is finished or its connection is
        /// closed. `length` in bytes, if it is known, becomes `Content-Length`; otherwise the body is sent in HTTP chunks.
        case stream(length: Int? = nil, next: () throws -> [UInt8]?)
        /// A part of a file.
        case file(FileBody)
    }

    /// The HTTP status code, 200...599.
    public var status: Int
    /// Header fields in the order in which they are sent. The HTTP layer itself sets `Content-Length`, `Transfer-Encoding`, `Date` and `Connection`.
    public var headers: [(name: String, value: String)]
    /// The body.
    public var body: Body
    /// The events that follow the header, in place of a body; nil for all other responses. Only the HTTP layer sends them.
    var events: EventListener?

    /// Creates a response.
    public init(status: Int, headers: [(name: String, value: String)] = [], contentType: String? = nil, body: Body = .none) {
        self.status = status
        self.headers = headers + (contentType.map { [("Content-Type", $0)] } ?? [])
        self.body = body
    }

    /// The header field of a 503 for one client: the number of seconds before the next attempt. Clients spread their attempts over a longer time.
    static let retryLater = (name: "Retry-After", value: "5")

    /// Returns a number of seconds for a 503 that concerns many clients at once: they return spread over 15 seconds, not together.
    static func spreadDelay() -> String { String(Int.random(in: 5...20)) }

    /// The answer to a request that cannot be answered now.
    static func unavailable(_ message: String, retryAfter: String) -> ServerResponse {
        ServerResponse(
            status: 503, headers: [(name: "Retry-After", value: retryAfter), (name: "Connection", value: "close")],
            contentType: Endpoint.messageContentType, body: .bytes(ProtocolFailure(code: ResultCode.unavailable, message: message).bytes))
    }

    /// The answer to a request that found no thread in time. The connection stays.
    static var overload: ServerResponse {
        var response = unavailable("the server is busy; try again", retryAfter: spreadDelay())
        response.headers.removeAll { $0.name == "Connection" }
        return response
    }
}
