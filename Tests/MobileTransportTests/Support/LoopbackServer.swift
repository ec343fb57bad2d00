import MobileCrypto
import MobileProtocol
import MobileServer
import MobileTransport

/// A real HTTP server on a free port of the loopback interface, and a real client for it.
struct LoopbackServer {
    let http: HTTPServer
    let transport = HTTPTransport()

    init(_ configuration: HTTPServer.Configuration = .init(), _ handler: @escaping @Sendable (ServerRequest) -> ServerResponse) throws {
        http = try HTTPServer(configuration, handler: handler)
    }

    func request(_ method: String = "GET", _ path: String = "/", _ body: TransportRequest.Body = .none) -> TransportRequest {
        TransportRequest(method: method, url: "http://127.0.0.1:\(http.port)\(path)", body: body)
    }
}

extension HTTPServer {
    /// Starts a server whose port remains free after it has stopped: below the ports that the system assigns automatically.
    static func onOwnPort(handler: @escaping @Sendable (ServerRequest) -> ServerResponse) throws -> HTTPServer {
        for _ in 0..<100 {
            if let server = try? HTTPServer(port: .random(in: 10_000..<30_000), handler: handler) { return server }
        }
        return try HTTPServer(handler: handler)
    }
}

/// A check sum that depends on the order of the bytes.
final class StreamDigest {
    private var digest: SHA256
    private(set) var count = 0

    init() throws { digest = try SHA256() }

    func add(_ bytes: RawSpan) throws {
        try digest.update(bytes)
        count += bytes.byteCount
    }

    func finish() throws -> String { try digest.finish().hexadecimal }
}

/// Makes a response that echoes the request's body.
func echo(_ request: ServerRequest) -> ServerResponse {
    ServerResponse(status: 200, body: .stream { try request.body.nextChunk() })
}
