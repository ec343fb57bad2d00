internal import Dispatch
internal import MobileMicrohttpd
internal import MobileProtocol

/// The context of the daemon's callbacks: the handler, and the requests in progress.
final class HTTPService: Sendable {
    let configuration: HTTPServer.Configuration
    let admission: @Sendable (ServerRequest) -> RequestAdmission
    let handler: @Sendable (ServerRequest) -> ServerResponse
    /// Cuts connections that take too long.
    let watch: ConnectionWatch
    /// Entered once per request, left at its end.
    let requests = DispatchGroup()
    let connections: HTTPConnections

    init(
        _ configuration: HTTPServer.Configuration, _ admission: @escaping @Sendable (ServerRequest) -> RequestAdmission,
        _ handler: @escaping @Sendable (ServerRequest) -> ServerResponse
    ) {
        self.configuration = configuration
        self.admission = admission
        self.handler = handler
        connections = HTTPConnections(places: max(1, configuration.maximumConnections))
        watch = ConnectionWatch(headerTime: configuration.headerTimeout, pause: configuration.idleTimeout)
    }

    /// Called by the daemon when a connection has been accepted, and before its descriptor is closed.
    static let connected: MHD_NotifyConnectionCallback = { context, connection, _, event in
        guard let context, let connection else { return }
        let service = Unmanaged<HTTPService>.fromOpaque(context).takeUnretainedValue(), descriptor = mhs_descriptor(connection)
        if mhs_is_start(event) {
            service.connections.open(connection)
            service.watch.awaitsHeader(descriptor, isNew: true)
        } else {
            service.connections.close(connection)
            service.watch.ended(descriptor)
        }
    }

    /// Called by the daemon with the header, then with each piece of the body, then once without a piece.
    static let access: MHD_AccessHandlerCallback = { context, connection, url, method, _, piece, pieceLength, request in
        guard let context, let connection, let url, let method, let pieceLength, let request else { return mhs_no() }
        let service = Unmanaged<HTTPService>.fromOpaque(context).takeUnretainedValue()
        guard let known = request.pointee else {
            let began = DaemonRequest(service, connection, path: String(cString: url), method: String(cString: method))
            request.pointee = Unmanaged.passRetained(began).toOpaque()
            service.requests.enter()
            return service.connections.beginRequest(connection) ? began.begin() : began.refuse()
        }
        let going = Unmanaged<DaemonRequest>.fromOpaque(known).takeUnretainedValue()
        guard pieceLength.pointee > 0, let piece else { return going.finish() }
        let result = going.receive(UnsafeRawBufferPointer(start: piece, count: pieceLength.pointee))
        pieceLength.pointee = 0
        return result
    }

    /// Called by the daemon when a request has ended in any way.
    static let completed: MHD_RequestCompletedCallback = { context, connection, request, _ in
        guard let context, let connection, let request, let known = request.pointee else { return }
        Unmanaged<DaemonRequest>.fromOpaque(known).release()
        request.pointee = nil
        let service = Unmanaged<HTTPService>.fromOpaque(context).takeUnretainedValue()
        service.connections.endRequest(connection)
        service.watch.awaitsHeader(mhs_descriptor(connection), isNew: false)
        service.requests.leave()
    }
}

/// One request on its way through the daemon. Only the connection's thread uses it.
private final class DaemonRequest {
    private let service: HTTPService
    private let connection: OpaquePointer
    private let path: String
    private let method: String
    private var body: Spool
    private var limits = BodyLimits(maximumLength: 0)
    private var headers: [String: String] = [:]
    /// The answer that is already certain while the rest of the body arrives.
    private var refusal: ProtocolFailure?
    /// The number of bytes that arrived after the refusal.
    private var dropped = 0
    private var descriptor: Int32 { mhs_descriptor(connection) }

    init(_ service: HTTPService, _ connection: OpaquePointer, path: String, method: String) {
        self.service = service
        self.connection = connection
        self.path = path
        self.method = method
        body = Spool([])
    }

    /// Handles the complete header. Refuses a request without permission, and a body of too great an announced length, before the body is sent.
    func begin() -> MHD_Result {
        headers = values(mhs_each_header, lowercased: true) { $0 + ", " + $1 }
        service.watch.answers(descriptor)
        switch service.admission(request()) {
        // The daemon closes the connection after an answer that does not wait for the body.
        case .answer(let response): return queue(response)
        case .body(let limits): self.limits = limits
        }
        let configuration = service.configuration
        limits.maximumLength = min(limits.maximumLength, configuration.maximumBodyLength)
        if let announced = headers["content-length"], Int(announced).map({ $0 > limits.maximumLength }) ?? true {
            return queue(DaemonRequest.response(tooLong(announced)))
        }
        body = Spool(
            memoryLimit: configuration.bodyMemoryLimit, maximumLength: limits.maximumLength, directory: configuration.temporaryDirectory)
        service.watch.awaitsBody(descriptor, limits)
        return mhs_yes()
    }

    /// Refuses a request that has no place, when its header is complete: its body is not read.
    func refuse() -> MHD_Result {
        let failure = ProtocolFailure(code: ResultCode.unavailable, message: "the server has no connection left; try again")
        var answer = DaemonRequest.response(failure)
        answer.headers += [ServerResponse.retryLater, (name: "Connection", value: "close")]
        return queue(answer)
    }

    /// Returns the request as received so far.
    private func request() -> ServerRequest {
        ServerRequest(
            method: method, path: path, query: values(mhs_each_parameter, lowercased: false) { $1 }, headers: headers,
            remoteAddress: SystemSocket.text(of: mhs_remote_address(connection)), body: body)
    }

    /// Handles a piece of the body.
    func receive(_ piece: UnsafeRawBufferPointer) -> MHD_Result {
        service.watch.received(piece.count, on: descriptor)
        if refusal != nil {
            // The daemon cannot answer in the middle of a body. The client may finish the body, within limits.
            dropped += piece.count
            return dropped > 1 << 20 ? mhs_no() : mhs_yes()
        }
        do {
            try body.append(piece.bytes)
        } catch {
            if error.code == .limitExceeded {
                refusal = tooLong("more than \(limits.maximumLength)")
            } else {
                service.configuration.log("request body: \(error)")
                refusal = ProtocolFailure(code: 507, message: "the server has no room for the request's body")
            }
        }
        return mhs_yes()
    }

    /// Handles the complete body.
    func finish() -> MHD_Result {
        service.watch.answers(descriptor)
        if let refusal { return queue(DaemonRequest.response(refusal)) }
        return queue(service.handler(request()))
    }

    private func tooLong(_ length: String) -> ProtocolFailure {
        limits.refusal
            ?? ProtocolFailure(
                code: ResultCode.tooLarge, message: "request body of \(length.prefix(20)) bytes: at most \(limits.maximumLength) are accepted")
    }

    private static func response(_ failure: ProtocolFailure) -> ServerResponse {
        ServerResponse(status: Int(failure.code), contentType: Endpoint.messageContentType, body: .bytes(failure.bytes))
    }

    /// Returns header fields or query parameters.
    private func values(
        _ each: (OpaquePointer, MHD_KeyValueIterator, UnsafeMutableRawPointer) -> Void, lowercased: Bool,
        joining: @escaping (String, String) -> String
    ) -> [String: String] {
        let collector = ValueCollector(lowercased: lowercased, joining: joining)
        each(
            connection,
            { context, _, key, value in
                guard let context, let key else { return mhs_yes() }
                let collector = Unmanaged<ValueCollector>.fromOpaque(context).takeUnretainedValue()
                collector.add(String(cString: key), value.map { String(cString: $0) } ?? "")
                return mhs_yes()
            }, Unmanaged.passUnretained(collector).toOpaque())
        return collector.values
    }

    /// Passes the response to the daemon, which keeps its own reference.
    private func queue(_ answer: ServerResponse) -> MHD_Result {
        guard let response = DaemonRequest.response(of: answer.body) else { return mhs_no() }
        defer { MHD_destroy_response(response) }
        for (name, value) in answer.headers where MHD_add_response_header(response, name, value) == mhs_no() { return mhs_no() }
        return MHD_queue_response(connection, UInt32(answer.status), response)
    }

    private static func response(of body: ServerResponse.Body) -> OpaquePointer? {
        switch body {
        case .none: return mhs_response_of_bytes(nil, 0)
        case .bytes(let bytes):
            return bytes.withUnsafeBytes { mhs_response_of_bytes($0.baseAddress, $0.count) }
        case .stream(let length, let next):
            let stream = Unmanaged.passRetained(ResponseStream(next))
            let response = MHD_create_response_from_callback(
                length.map { UInt64($0) } ?? mhs_unknown_length(), 65_536, ResponseStream.read, stream.toOpaque(), ResponseStream.free)
            if response == nil { stream.release() }
            return response
        }
    }
}

/// Collects fields from the daemon's iterator.
private final class ValueCollector {
    private(set) var values: [String: String] = [:]
    private let lowercased: Bool
    private let joining: (String, String) -> String

    init(lowercased: Bool, joining: @escaping (String, String) -> String) {
        self.lowercased = lowercased
        self.joining = joining
    }

    func add(_ key: String, _ value: String) {
        values.merge([lowercased ? key.lowercased() : key: value], uniquingKeysWith: joining)
    }
}

/// A body that is produced while it is sent: the rest of the current chunk, and the source of the next one.
private final class ResponseStream {
    private let next: () throws -> [UInt8]?
    private var chunk: [UInt8] = []
    private var position = 0

    init(_ next: @escaping () throws -> [UInt8]?) { self.next = next }

    static let read: MHD_ContentReaderCallback = { context, _, buffer, maximum in
        guard let context, let buffer else { return mhs_end_with_error() }
        let stream = Unmanaged<ResponseStream>.fromOpaque(context).takeUnretainedValue()
        do {
            return try stream.fill(UnsafeMutableRawBufferPointer(start: buffer, count: maximum)) ?? mhs_end_of_stream()
        } catch {
            // The status was already sent. The only remaining way to report the failure is a visible truncation.
            return mhs_end_with_error()
        }
    }

    static let free: MHD_ContentReaderFreeCallback = { context in
        if let context { Unmanaged<ResponseStream>.fromOpaque(context).release() }
    }

    /// Fills the front of `buffer`; nil at the end.
    private func fill(_ buffer: UnsafeMutableRawBufferPointer) throws -> Int? {
        while position == chunk.count {
            guard let more = try next() else { return nil }
            chunk = more
            position = 0
        }
        let count = min(buffer.count, chunk.count - position)
        buffer.copyBytes(from: chunk[position..<position + count])
        position += count
        return count
    }
}
