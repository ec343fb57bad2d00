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

    init(_ grants: ContentGrants, _ stateStore: any StateStore, _ packages: [ServedPackage], _ configuration: ServerConfiguration) {
        self.grants = grants
        self.stateStore = stateStore
        self.packages = packages
        files = SegmentFiles(configuration)
        redirect = configuration.segmentRedirect
    }

    /// Returns the name in a path; nil for a path of another service.
    static func name(in path: String) -> String? {
        let prefix = Endpoint.segments + "/"
        guard path.hasPrefix(prefix) else { return nil }
        return String(path.dropFirst(prefix.count))
    }

    func answer(_ request: ServerRequest, _ session: Accounts.Session) throws -> ServerResponse {
        // One answer to all refusals: it does not reveal whether there is such a content.
        guard let name = Self.name(in: request.path), NamedContent.isName(name),
            let permission = try request.query["grant"].flatMap({ try grants.permission($0, for: name, of: session) }),
            let package = packages.first(where: { $0.deployed.identifier == permission.package }),
            try package.isAllowed(permission, name, to: session.user),
            try files.provide(name, from: { try write(name, permission, of: package, $0) })
        else { throw RequestFailure(.notFound, "there is no such content for this session, or not any more; synchronize again") }
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
    private func write(
        _ name: String, _ permission: ContentPermission, of package: ServedPackage, _ take: ([UInt8]) throws -> Void
    ) throws -> Bool {
        if let value = permission.value { return try package.write(value, take) }
        guard let content = try stateStore.read({ try SegmentDirectory.content(name, in: $0) }) else { return false }
        try take(content)
        return true
    }
}
