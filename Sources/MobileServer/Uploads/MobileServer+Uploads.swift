internal import MobileProtocol

extension MobileServer {
    /// Whether a path names an upload.
    static func isUpload(_ path: String) -> Bool { path.hasPrefix(Endpoint.uploads) }

    /// Answers `/mobile/v1/uploads/ID`.
    func answerUpload(_ request: ServerRequest, _ session: Accounts.Session) throws -> ServerResponse {
        let key = try Self.key(request.path.dropFirst(Endpoint.uploads.count), session)
        switch request.method {
        case "HEAD":
            guard let known = try uploads.state(of: key) else { throw RequestFailure(.notFound, "there is no such upload") }
            return Self.position(200, known.offset, isComplete: known.isComplete)
        case "DELETE":
            try uploads.remove(key)
            return ServerResponse(status: 204)
        default: return try takePiece(request, key)
        }
    }

    private func takePiece(_ request: ServerRequest, _ key: UploadStore.Key) throws -> ServerResponse {
        guard let offset = request.headers[Endpoint.uploadOffset].flatMap({ Int($0) }),
            let length = request.headers[Endpoint.uploadLength].flatMap({ Int($0) }), length > 0
        else { throw RequestFailure(.badRequest, "a piece of an upload: expected the fields Upload-Offset and Upload-Length") }
        switch try uploads.add(request.body, at: offset, length: length, to: key) {
        case .stored(let offset, let isComplete): return Self.position(204, offset, isComplete: isComplete)
        case .conflict(let offset): return Self.position(409, offset, isComplete: false)
        case .damaged:
            throw RequestFailure(.badRequest, "the bytes of the upload have another digest than its name; it is gone, send it again")
        }
    }

    /// Returns the body of a synchronization: the request's own, or the upload that it names.
    func synchronizedBody(_ request: ServerRequest, _ session: Accounts.Session) throws -> Spool {
        guard let id = request.headers[Endpoint.uploadID] else { return request.body }
        guard request.body.length == 0 else { throw RequestFailure(.badRequest, "a synchronization with an upload has no body") }
        return try uploads.spool(of: Self.key(id, session))
    }

    private static func key(_ id: some StringProtocol, _ session: Accounts.Session) throws(RequestFailure) -> UploadStore.Key {
        guard let key = UploadStore.Key(id, of: session) else {
            throw RequestFailure(.badRequest, "the name of an upload is its SHA-256 in 64 hexadecimal digits in lower case")
        }
        return key
    }

    private static func position(_ status: Int, _ offset: Int, isComplete: Bool) -> ServerResponse {
        ServerResponse(
            status: status,
            headers: [("Upload-Offset", String(offset)), ("Upload-Complete", isComplete ? "?1" : "?0"), ("Cache-Control", "no-store")])
    }
}
