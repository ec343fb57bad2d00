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

/// Bytes that tell their position, so that a lost or doubled piece shows.
func patternBytes(_ count: Int, from start: Int = 0) -> [UInt8] {
    (start..<start + count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
}

/// A check sum that depends on the order of the bytes.
struct RollingSum: Equatable {
    var sum: UInt64 = 1469598103934665603
    var count = 0

    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            sum = (sum ^ UInt64(byte)) &* 1099511628211
            count += 1
        }
    }
}

/// A response that echoes the request's body.
func echo(_ request: ServerRequest) -> ServerResponse {
    ServerResponse(status: 200, body: .stream { try request.body.nextChunk() })
}
