internal import MobileProtocol
internal import MobileStore

/// Whether a server can work.
enum Readiness: Equatable, Sendable {
    case ready
    /// Ready, with kinds of troubles that an operator should look at: `quarantine` for rows of back ends that devices do not get.
    case warned([String])
    /// Kinds of parts that do not answer. Names and reasons are lines of the log: the answer goes to clients without a session.
    case failed([String])

    static var live: ServerResponse { response(200, #"{"status": "live"}"#) }

    var response: ServerResponse {
        switch self {
        case .ready: return Self.response(200, #"{"status": "ready"}"#)
        case .warned(let kinds): return Self.response(200, #"{"status": "ready", "warnings": [\#(Self.list(kinds))]}"#)
        case .failed(let kinds): return Self.response(503, #"{"status": "not ready", "failed": [\#(Self.list(kinds))]}"#)
        }
    }

    private static func list(_ kinds: [String]) -> String { kinds.map { "\"\($0)\"" }.joined(separator: ", ") }

    private static func response(_ status: Int, _ text: String) -> ServerResponse {
        ServerResponse(
            status: status, headers: [(name: "Cache-Control", value: "no-store")], contentType: Endpoint.messageContentType,
            body: .bytes(Array(text.utf8)))
    }
}
