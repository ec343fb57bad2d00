internal import MobileCrypto
internal import MobileProtocol
internal import MobileStore

extension MobileServer {
    /// The maximum size of the packages and client states of one listening connection, in bytes.
    static let longestInterest = 1 << 20
    /// The maximum number of packages on one listening connection.
    static let packagesPerListener = 16
    /// The maximum size of a report of changes, in bytes.
    static let longestReport = 64 << 10

    /// Answers `/mobile/v1/events`: the stream begins, and its events follow.
    func listen(_ request: ServerRequest, _ session: Accounts.Session) throws -> ServerResponse {
        let listener = try events.listen(Self.interests(of: request), session)
        var response = ServerResponse(
            status: 200,
            headers: [
                ("Cache-Control", "no-store"),
                // Proxies would otherwise collect events.
                ("X-Accel-Buffering", "no"),
            ], contentType: Endpoint.eventContentType)
        response.events = listener
        return response
    }

    /// Returns the packages that a client listens for: the header of an upload each. `GET` names a package and its groups in the query, for a client
    /// without parameters of its own.
    private static func interests(of request: ServerRequest) throws -> [SynchronizeHeader] {
        guard request.method == "POST" else {
            guard let package = request.query["pkg"], let client = request.query["cid"] else {
                throw RequestFailure(.badRequest, "listening: expected \"pkg\" and \"cid\" in the query")
            }
            let groups = (request.query["groups"] ?? "default").split(separator: ",").map(String.init)
            return [SynchronizeHeader(client: client, package: package, groups: groups)]
        }
        let json: JSONValue
        do { json = try JSONValue(parsing: request.body.remainingBytes(maximum: longestInterest)) } catch let error as StoreError {
            throw RequestFailure(.badRequest, "listening: \(error.message)")
        }
        let interests = json.array ?? [json]
        guard (1...packagesPerListener).contains(interests.count) else {
            throw RequestFailure(.badRequest, "listening for \(interests.count) packages: use 1 to \(packagesPerListener)")
        }
        return try interests.map { try SynchronizeHeader(json: $0) }
    }

    /// Answers `/mobile/v1/changes`.
    func takeChanges(_ request: ServerRequest) throws -> ServerResponse {
        try checkOperator(request)
        try events.take(ChangeReport(parsing: request.body.remainingBytes(maximum: Self.longestReport)))
        return ServerResponse(status: 204)
    }

    /// - Throws: ``RequestFailure`` unless the request has an operator's token.
    func checkOperator(_ request: ServerRequest) throws {
        guard let token = request.bearerToken else { throw RequestFailure(.unauthorized, "the request carries no operator's token") }
        // Digests have one length, and their comparison takes constant time.
        let digest = try SHA256.digest(of: token)
        var isKnown = false
        for known in configuration.operatorTokens where try digest.equalsInConstantTime(SHA256.digest(of: known)) { isKnown = true }
        guard isKnown else { throw RequestFailure(.unauthorized, "the token does not belong to an operator") }
    }
}
