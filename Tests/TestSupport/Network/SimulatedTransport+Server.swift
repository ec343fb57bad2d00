internal import Foundation
internal import MobileProtocol
public import MobileServer
internal import MobileTransport

extension SimulatedTransport {
    /// Makes a simulated network with a server's function at its other end: like the HTTP face, but without HTTP.
    ///
    ///     let transport = SimulatedTransport(server: { server.respond(to: $0) }, seed: 7)
    ///
    /// - Parameters:
    ///   - server: the function that makes the response; it gets only complete requests, as from the HTTP face.
    ///   - conditions: the behaviour of the network.
    ///   - seed: the seed of the random numbers.
    ///   - clock: the clock that latency, bandwidth and delays move.
    public convenience init(
        server: @escaping @Sendable (ServerRequest) -> ServerResponse, conditions: NetworkConditions = NetworkConditions(),
        seed: UInt64 = 1, clock: VirtualClock = VirtualClock()
    ) {
        self.init(conditions: conditions, seed: seed, clock: clock) { request in
            let response = server(try ServerRequest(request))
            switch response.body {
            case .none: return SimulatedResponse(status: response.status, headers: response.headers)
            case .bytes(let bytes):
                var rest: [UInt8]? = bytes.isEmpty ? nil : bytes
                return SimulatedResponse(status: response.status, headers: response.headers) {
                    defer { rest = nil }
                    return rest
                }
            case .stream(_, let next): return SimulatedResponse(status: response.status, headers: response.headers, nextChunk: next)
            case .file(let file):
                return SimulatedResponse(status: response.status, headers: response.headers) { try file.nextChunk() }
            }
        }
    }
}

extension ServerRequest {
    /// Waits for the whole body, as the HTTP face does.
    init(_ request: SimulatedRequest) throws {
        let body = Spool()
        while let chunk = try request.nextChunk() { try body.append(chunk) }
        var components = URLComponents()
        components.percentEncodedQuery = request.query
        let query = (components.queryItems ?? []).map { ($0.name, $0.value ?? "") }
        self.init(
            method: request.method, path: request.path.removingPercentEncoding ?? request.path,
            query: Dictionary(query, uniquingKeysWith: { $1 }), queryItems: query.map { (name: $0.0, value: $0.1) },
            headers: Dictionary(request.headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { "\($0), \($1)" }),
            body: body)
    }
}
