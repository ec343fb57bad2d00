internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// Answers requests for segments and large values: `GET /mobile/v1/segments/NAME?grant=...`, also for a part by the field `Range`.
struct ContentService: Sendable {
    let grants: ContentGrants
    let files: SegmentFiles
    private let stateStore: any StateStore
    private let packages: [ServedPackage]
    private let redirect: String?
    private let recent: RecentPermissions

    init(
        _ grants: ContentGrants, _ stateStore: any StateStore, _ files: SegmentFiles, _ packages: [ServedPackage],
        _ configuration: ServerConfiguration
    ) {
        self.grants = grants
        self.stateStore = stateStore
        self.packages = packages
        self.files = files
        recent = RecentPermissions(configuration.segmentRules)
        redirect = configuration.segmentRedirect
    }

    /// Returns the name in a path; nil for a path of another service.
    static func name(in path: String) -> String? {
        let prefix = Endpoint.segments + "/"
        guard path.hasPrefix(prefix) else { return nil }
        return String(path.dropFirst(prefix.count))
    }

    /// Whether the answer to a request with this path needs neither a store of large contents nor a back end.
    func isAtHand(_ path: String) -> Bool { Self.name(in: path).map(files.isAtHand) ?? false }

    /// Answers a request for a segment at once; nil if that takes more than a file that is at hand and a check of a moment ago.
    func answerAtOnce(_ request: ServerRequest) -> ServerResponse? {
        guard request.method == "GET", isAtHand(request.path), let token = request.bearerToken, let session = recent.session(token: token),
            let permitted = try? grantedContent(of: request, session), recent.contains(permitted.permission, token: token)
        else { return nil }
        return try? response(to: request, permitted.name)
    }

    /// A content that a session may fetch.
    struct Permitted {
        let name: String
        fileprivate let permission: ContentPermission
        fileprivate let package: ServedPackage
    }

    /// Returns the content of a request; nil unless the session may fetch it now.
    /// - Parameter token: the token of the session, which was read in the same transaction.
    func permitted(
        _ request: ServerRequest, _ session: Accounts.Session, token: String, in connection: any StateConnection
    ) throws -> Permitted? {
        let time = ContinuousClock.now
        guard let granted = try grantedContent(of: request, session),
            try granted.package.isAllowed(granted.permission, granted.name, to: session.user, in: connection)
        else { return nil }
        recent.add(granted.permission, session, token: token, checkedAt: time)
        return granted
    }

    /// Returns the content of a request that has a grant for it, regardless of the present rights of the session.
    private func grantedContent(of request: ServerRequest, _ session: Accounts.Session) throws -> Permitted? {
        guard let name = Self.name(in: request.path), NamedContent.isName(name),
            let permission = try request.query["grant"].flatMap({ try grants.permission($0, for: name, of: session) }),
            let package = packages.first(where: { $0.deployed.identifier == permission.package })
        else { return nil }
        return Permitted(name: name, permission: permission, package: package)
    }

    func answer(_ request: ServerRequest, _ permitted: Permitted?) throws -> ServerResponse {
        // One answer to all refusals: it does not reveal whether there is such a content.
        guard let permitted, case let name = permitted.name, try files.provide(name, from: { try write(permitted, $0) }) else {
            throw RequestFailure(.notFound, "there is no such content for this session, or not any more; synchronize again")
        }
        return try response(to: request, name)
    }

    /// Sends a file, or the requested part of it.
    private func response(to request: ServerRequest, _ name: String) throws -> ServerResponse {
        let headers = [
            (name: "Accept-Ranges", value: "bytes"), (name: "ETag", value: "\"\(name)\""), (name: "Cache-Control", value: "private, immutable"),
        ]
        if let redirect {
            // The proxy sends the file, and answers for the parts of it.
            let path = redirect.hasSuffix("/") ? redirect + name : redirect + "/" + name
            return ServerResponse(
                status: 200, headers: headers + [(name: "X-Accel-Redirect", value: path)], contentType: Endpoint.segmentContentType)
        }
        var length: Int64 = 0, range = ByteRange.whole
        let body = try FileBody(path: files.path(of: name)) {
            length = $0
            range = ByteRange(request.headers["range"], length: $0)
            if case .part(let part) = range { return part }
            return 0..<$0
        }
        // Another request may have removed the file just now, to make room.
        guard let body else { throw RequestFailure.busy }
        switch range {
        case .whole: return ServerResponse(status: 200, headers: headers, contentType: Endpoint.segmentContentType, body: .file(body))
        case .part(let part):
            let field = (name: "Content-Range", value: "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(length)")
            return ServerResponse(status: 206, headers: headers + [field], contentType: Endpoint.segmentContentType, body: .file(body))
        case .unsatisfiable:
            return ServerResponse(status: 416, headers: [(name: "Content-Range", value: "bytes */\(length)")])
        }
    }

    /// Writes a content from its source.
    /// - Returns: whether the source still has it.
    private func write(_ permitted: Permitted, _ take: ([UInt8]) throws -> Void) throws -> Bool {
        if let value = permitted.permission.value { return try permitted.package.write(value, take) }
        guard let content = try stateStore.read({ try SegmentDirectory.content(permitted.name, in: $0) }) else { return false }
        try take(content)
        return true
    }
}
