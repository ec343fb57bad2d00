public import MobileProtocol

/// One request as the server's logic receives it: complete, regardless of the network.
///
/// The HTTP layer creates it from a connection; tests and simulated networks create it directly.
public struct ServerRequest {
    /// The method in upper case, such as `POST`.
    public var method: String
    /// The path without query, percent-decoded, beginning with a slash.
    public var path: String
    /// The query's parameters, percent-decoded; if a name occurs twice, the last value counts.
    public var query: [String: String]
    /// The same in the order in which they were sent, each value of a name that occurs several times.
    public var queryItems: [(name: String, value: String)]
    /// The header fields under their names in lower case; fields of one name are joined with a comma and a space.
    public var headers: [String: String]
    /// The address of the other end without port, such as `127.0.0.1`; empty if there is none.
    public var remoteAddress: String
    /// The whole body, ready to be read from its first byte. A long body is in a temporary file.
    public var body: Spool

    /// Creates a request; without `queryItems` they are those of `query`, in any order. The HTTP server calls it, and so do callers that use a service without one.
    public init(
        method: String = "GET", path: String, query: [String: String] = [:], queryItems: [(name: String, value: String)]? = nil,
        headers: [String: String] = [:], remoteAddress: String = "", body: Spool = Spool([])
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.queryItems = queryItems ?? query.map { ($0.key, $0.value) }
        self.headers = headers
        self.remoteAddress = remoteAddress
        self.body = body
    }

    /// The token of an `Authorization: Bearer` field; nil without one.
    public var bearerToken: String? {
        guard let field = headers["authorization"] else { return nil }
        let parts = field.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1])
    }
}
