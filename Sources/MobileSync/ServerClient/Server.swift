internal import MobileObjects
internal import MobileProtocol
internal import MobileStore
internal import MobileTransport

/// The server as one application uses it: requests out, typed answers or a ``SyncError`` back. Blocks; one thread at a time per value.
struct Server: Sendable {
    private let application: Application
    private let transport: any Transport
    private let base: String
    private let headers: [(name: String, value: String)]
    private let stallTimeout: Duration
    private let cancellation: TransportCancellation?
    private let monitor: RequestMonitor
    private let trace: MessageTrace?

    /// - Parameters:
    ///   - package: the package that sends the requests; nil for the application itself.
    ///   - transport: the transport to use; nil for the application's.
    ///   - cancellation: ends the requests that have no other one; nil for requests that run to their end.
    ///   - trace: the part of the package's traffic that is written to its console; default only what its debug settings request.
    init(
        _ application: Application, _ properties: ConnectionProperties, for package: PackageDatabase? = nil, transport: (any Transport)? = nil,
        stallTimeout: Duration = .seconds(60), trace level: MessageTraceLevel = .off, cancellation: TransportCancellation? = nil
    ) {
        self.cancellation = cancellation
        trace = package.flatMap { MessageTrace($0, level) }
        monitor = RequestMonitor(
            component: package?.metadata.name ?? application.identifier, traceService: application.traceService,
            performance: package?.environment.performance)
        self.application = application
        self.transport = transport ?? application.transport
        let host = properties.serverName.contains(":") ? "[\(properties.serverName)]" : properties.serverName
        var path = properties.urlSuffix
        while path.hasSuffix("/") { path.removeLast() }
        if !path.isEmpty, !path.hasPrefix("/") { path = "/" + path }
        base = "\(properties.networkProtocol.rawValue)://\(host):\(properties.portNumber)\(path)"
        headers = properties.httpHeaders.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        self.stallTimeout = stallTimeout
    }

    // MARK: The application's own requests

    /// Checks whether a server is reachable and speaks this version of the protocol.
    /// - Throws: ``SyncError/Code/serverNotReached`` if there is none, ``SyncError/Code/serverFailure`` for another version.
    func probe() throws(SyncError) {
        let status: ServerStatus
        do {
            var request = TransportRequest(url: base + Endpoint.status, headers: headers)
            request.connectTimeout = .seconds(10)
            request.stallTimeout = stallTimeout
            status = try ServerStatus(parsing: receive(request).body)
        } catch {
            throw failure(error, "look for the server at \(base)")
        }
        guard status.versions.contains(ProtocolVersion.current) else {
            throw SyncError(
                .applicationRuntime, .serverFailure,
                "the server at \(base) speaks versions \(status.versions.map(String.init).joined(separator: ", ")) of the protocol, this client \(ProtocolVersion.current)"
            )
        }
    }

    /// Registers the device with the credentials of its connection properties.
    func register(_ properties: ConnectionProperties) throws(SyncError) -> (token: String, settings: ApplicationSettings) {
        let login = properties.loginCredentials
        let credentials = Credentials(user: login?.user ?? "", password: login?.password ?? "", activationCode: properties.activationCode)
        return try session(.register, credentials)
    }

    /// Begins a new session.
    func login(_ login: LoginCredentials) throws(SyncError) -> (token: String, settings: ApplicationSettings) {
        try session(.login, Credentials(user: login.user, password: login.password ?? ""))
    }

    private func session(_ method: MessageMethod, _ credentials: Credentials) throws(SyncError) -> (token: String, settings: ApplicationSettings) {
        let answer = try send(Message(header(method), content: credentials), token: nil)
        do throws(ProtocolError) {
            let grant = try answer.content(as: SessionGrant.self)
            return (grant.token, ApplicationSettings(grant.settings))
        } catch {
            throw failure(error, "read the answer to \(method.rawValue)")
        }
    }

    /// Asks whether the server still knows the session.
    /// - Throws: ``SyncError/Code/authenticationFailed`` if it does not.
    func connect(_ token: String) throws(SyncError) -> ApplicationSettings {
        let answer = try send(Message(header(.connect)), token: token)
        do throws(ProtocolError) {
            return ApplicationSettings(try answer.content(as: ConnectionGrant.self).settings)
        } catch {
            throw failure(error, "read the answer to connect")
        }
    }

    func unregister(_ token: String) throws(SyncError) {
        _ = try send(Message(header(.unregister)), token: token)
    }

    /// Uploads the document of an end-to-end trace.
    func upload(trace document: [UInt8], token: String) throws(SyncError) {
        var request = TransportRequest(
            method: "POST", url: base + Endpoint.traces, headers: fields(token, Endpoint.traceContentType), body: .bytes(document))
        request.stallTimeout = stallTimeout
        do { _ = try receive(request) } catch { throw failure(error, "upload a trace to \(base)") }
    }

    // MARK: Messages

    /// Returns a header with the application's and the device's ids.
    func header(_ method: MessageMethod, package: String? = nil, client: String? = nil) -> MessageHeader {
        MessageHeader(
            method: method, id: Application.randomDeviceID(), package: package, client: client, application: application.identifier,
            device: application.deviceID)
    }

    /// Sends one message and waits for its answer.
    /// - Parameter log: takes the log records in the answer's header, from an acceptance as well as a refusal.
    /// - Throws: the server's refusal under its own code, ``SyncError/Code/serverNotReached``, ``SyncError/Code/synchronizationCommunication``.
    func send(_ message: Message, token: String?, log: ([LogRecordEntry]) -> Void = { _ in }) throws(SyncError) -> Message {
        let action = "send \(message.header.method.rawValue) to \(base)"
        let answers: [Message], retryAfter: Duration?
        trace?.write(.sent, message)
        do {
            var request = TransportRequest(
                method: "POST", url: base + Endpoint.messages, headers: fields(token, Endpoint.messageContentType),
                body: .bytes(Message.bytes([message])))
            request.stallTimeout = stallTimeout
            let response = try receive(request)
            answers = try Message.messages(parsing: response.body)
            retryAfter = RetryAfter.delay(in: response.headers, now: application.surroundings.now())
        } catch {
            throw failure(error, action)
        }
        for answer in answers { trace?.write(.received, answer) }
        guard let answer = answers.first(where: { $0.header.id == message.header.id && $0.header.method.request == message.header.method }) else {
            throw SyncError(.synchronize, .synchronizationCommunication, "\(action): the answer is missing")
        }
        if !answer.header.log.isEmpty { log(answer.header.log) }
        guard answer.header.method.isFailure else { return answer }
        let refusal: ProtocolFailure
        do throws(ProtocolError) { refusal = try answer.content() } catch { throw failure(error, action) }
        throw reported(SyncError(.synchronize, .init(rawValue: Int(refusal.code)), refusal.message, retryAfter: retryAfter))
    }

    // MARK: The synchronization channel

    /// Sends an upload and receives the download.
    /// - Parameters:
    ///   - upload: the name of an upload that the server already has, in place of `body`.
    ///   - body: returns the upload in pieces, nil at its end.
    ///   - receive: takes the download in pieces.
    ///   - finish: called after the last piece; throws if the download is not complete.
    func synchronize(
        token: String, cancellation: TransportCancellation, upload: String? = nil, body: @escaping () throws -> [UInt8]?,
        receive: (RawSpan) throws -> Void,
        finish: () throws -> Void
    ) throws(SyncError) {
        var request = TransportRequest(
            method: "POST", url: base + Endpoint.synchronize, headers: fields(token, Endpoint.frameContentType), body: .stream(next: body))
        request.stallTimeout = stallTimeout
        request.cancellation = cancellation
        if let upload {
            request.headers.append((name: "Upload-ID", value: upload))
            request.body = .bytes([])
        }
        do {
            try monitor.observe(request) { [transport] request, count in
                var request = request
                if upload == nil {
                    request.body = .stream {
                        let piece = try count.locally { try body() }
                        count.sent += Int64(piece?.count ?? 0)
                        return piece
                    }
                }
                return try transport.send(request) { chunk in
                    count.received += Int64(chunk.byteCount)
                    try count.locally { try receive(chunk) }
                }.status
            }
            try finish()
        } catch {
            throw failure(error, "synchronize with \(base)")
        }
    }

    // MARK: Long uploads

    /// Brings a long upload to the server, in pieces.
    /// - Returns: false if the server takes none.
    func upload(_ upload: LargeUpload, token: String, cancellation: TransportCancellation) throws(SyncError) -> Bool {
        do {
            return try upload.send(
                application.surroundings.random, isCancelled: { cancellation.isCancelled },
                offset: {
                    do { return try position(of: request("HEAD", upload, token, cancellation)) } catch let error as TransportError
                        where error.status == 404
                    {
                        return nil
                    }
                },
                { piece, offset in
                    var request = request("PUT", upload, token, cancellation)
                    request.headers.append((name: "Upload-Offset", value: String(offset)))
                    request.headers.append((name: "Upload-Length", value: String(upload.spool.length)))
                    request.body = .bytes(piece)
                    return try position(of: request) ?? 0
                })
        } catch {
            throw failure(error, "upload to \(base)")
        }
    }

    /// Lets the server remove an upload that has been answered. It does so by itself after a day.
    func forget(_ upload: LargeUpload, token: String, cancellation: TransportCancellation) {
        _ = try? transport.send(request("DELETE", upload, token, cancellation))
    }

    private func request(_ method: String, _ upload: LargeUpload, _ token: String, _ cancellation: TransportCancellation) -> TransportRequest {
        var request = TransportRequest(method: method, url: base + Endpoint.uploads + upload.id, headers: fields(token, Endpoint.frameContentType))
        request.stallTimeout = stallTimeout
        request.cancellation = cancellation
        return request
    }

    /// Sends a request about an upload.
    /// - Returns: the number of bytes that the server has; also where a piece did not fit.
    private func position(of request: TransportRequest) throws -> Int? {
        do {
            return try transport.send(request).response.header(Endpoint.uploadOffset).flatMap { Int($0) }
        } catch let error as TransportError where error.status == 409 {
            return error.headers.last { $0.name.isField(Endpoint.uploadOffset) }.flatMap { Int($0.value) }
        }
    }

    // MARK: Announcements

    /// Listens for changes until the connection ends.
    /// - Parameters:
    ///   - header: the client, and its state of the groups whose changes it wants.
    ///   - visit: takes the events, on the calling thread.
    /// - Throws: the server's refusal under its own code, ``SyncError/Code/serverNotReached``, ``SyncError/Code/cancelled``.
    func listen(
        _ header: SynchronizeHeader, token: String, cancellation: TransportCancellation, _ visit: @escaping (ServerEvent) throws -> Void
    ) throws(SyncError) {
        var fields = fields(token, Endpoint.messageContentType)
        fields.append((name: "Accept", value: Endpoint.eventContentType))
        var request = TransportRequest(method: "POST", url: base + Endpoint.events, headers: fields, body: .bytes(header.json.bytes))
        request.stallTimeout = ChangeNotifications.silence
        request.cancellation = cancellation
        var reader = ServerEventReader()
        do {
            _ = try transport.send(request) { piece in
                let bytes = piece.withUnsafeBytes { Array($0) }
                try reader.take(bytes, visit)
            }
        } catch {
            throw failure(error, "listen at \(base)")
        }
    }

    // MARK: Contents

    /// Fetches a content that a download has named.
    /// - Parameters:
    ///   - offset: the number of bytes that the client has.
    ///   - receive: takes the bytes after these in pieces; all bytes if the status is 200.
    /// - Returns: the status of the answer.
    /// - Throws: ``SyncError/Code/notFound`` for a content that is gone.
    func fetch(
        _ name: String, grant: String, from offset: Int64, token: String, cancellation: TransportCancellation, receive: (RawSpan) throws -> Void
    ) throws(SyncError) -> Int {
        var request = TransportRequest(url: "\(base)\(Endpoint.segments)/\(name)?grant=\(grant)", headers: headers)
        request.headers.append((name: "Authorization", value: "Bearer \(token)"))
        if offset > 0 { request.headers.append((name: "Range", value: "bytes=\(offset)-")) }
        request.stallTimeout = stallTimeout
        request.cancellation = cancellation
        var status = 0
        do {
            try monitor.observe(request) { request, count in
                status =
                    try transport.send(request) { chunk in
                        count.received += Int64(chunk.byteCount)
                        try count.locally { try receive(chunk) }
                    }.status
                return status
            }
        } catch {
            throw failure(error, "fetch a content from \(base)")
        }
        return status
    }

    /// Sends a small request and returns its answer.
    private func receive(_ request: TransportRequest) throws -> (body: [UInt8], headers: [(name: String, value: String)]) {
        var request = request
        request.cancellation = cancellation
        var answer: (body: [UInt8], headers: [(name: String, value: String)]) = ([], [])
        try monitor.observe(request) { request, count in
            if case .bytes(let bytes) = request.body { count.sent = Int64(bytes.count) }
            let (response, received) = try transport.send(request, maximumLength: ProtocolLimit.messages)
            count.received = Int64(received.count)
            answer = (received, response.headers)
            return response.status
        }
        return answer
    }

    private func fields(_ token: String?, _ contentType: String) -> [(name: String, value: String)] {
        var fields = headers
        fields.append((name: "Content-Type", value: contentType))
        if let token { fields.append((name: "Authorization", value: "Bearer \(token)")) }
        return fields
    }

    // MARK: Errors

    /// Converts an error of the network to a ``SyncError``.
    private func failure(_ error: any Error, _ action: String) -> SyncError {
        switch error {
        case let error as SyncError: return error
        case let error as TransportError: return failure(error, action)
        case let error as ProtocolError where error.code == .spool:
            return SyncError(.persistence, .localDatabase, "\(action): \(error.message)", cause: error)
        case let error as ProtocolError:
            return reported(SyncError(.synchronize, .synchronizationCommunication, "\(action): \(error)", cause: error))
        default: return SyncError(.synchronize, .unknown, "\(action): \(error)", cause: error)
        }
    }

    private func failure(_ error: TransportError, _ action: String) -> SyncError {
        switch error.code {
        case .httpStatus:
            let status = error.status ?? 0
            // The server gives its reason in the body; a proxy on the way does not.
            let refusal = try? ProtocolFailure(parsing: error.body)
            let code = refusal.map { Int($0.code) } ?? status
            let message = refusal?.message ?? "\(action): HTTP status \(status)"
            let headers = Dictionary(error.headers.map { ($0.name, $0.value) }) { $0 + ", " + $1 }
            let retryAfter = RetryAfter.delay(in: error.headers, now: application.surroundings.now())
            return reported(SyncError(.synchronize, .init(rawValue: code), message, cause: error, retryAfter: retryAfter), headers)
        case .cancelled: return SyncError(.synchronize, .cancelled, "\(action): cancelled", cause: error)
        case .cannotConnect, .timeout, .interrupted:
            return SyncError(.synchronize, .serverNotReached, "\(action): \(error.message)", cause: error)
        case .tls: return SyncError(.connectionProperty, .serverNotReached, "\(action): \(error.message)", cause: error)
        default: return reported(SyncError(.synchronize, .synchronizationCommunication, "\(action): \(error.message)", cause: error))
        }
    }

    /// Reports errors of authentication, authorization and communication to the application's callback.
    private func reported(_ error: SyncError, _ headers: [String: String] = [:]) -> SyncError {
        switch error.code {
        case .authenticationFailed, .notAuthorized, .synchronizationCommunication:
            application.reportHTTP(code: error.code.rawValue, message: error.message, headers: headers)
        default: break
        }
        return error
    }
}

extension ApplicationSettings {
    /// Creates settings from the server's answer; a value other than a text is kept as its JSON text.
    init(_ object: JSONObject) {
        self.init(values: Dictionary(uniqueKeysWithValues: object.map { ($0.key, $0.value.string ?? $0.value.description) }))
    }
}
