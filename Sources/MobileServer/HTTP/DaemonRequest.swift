internal import MobileMicrohttpd
internal import MobileProtocol

/// One request on its way through the daemon.
///
///     header --> admitting --> admitted --> body --> answering --> answered --> done
///                (worker)                            (worker)
///                                                       +-- takes long --> interim answer
///
/// The connection is suspended while a worker has the request. A request without a body goes from `header` to `body` at once, and is admitted when it
/// is complete. Why: a daemon closes the connection after an answer that precedes the end of the request.
///
/// Threads: the loop's alone. Jobs receive values, and post their results to the loop.
final class DaemonRequest: @unchecked Sendable {
    private enum Phase {
        case header, admitting, body, answering, done
        case admitted(RequestAdmission)
        case answered(Answer)
    }

    /// A response, and the first chunk of its stream.
    private struct Answer {
        let response: ServerResponse
        let first: ProducedChunk?
        /// The body of an interim answer.
        var body: ResponseStream?
    }

    let service: HTTPService
    private var path: String
    private let method: String
    private var headers: [String: String]
    private let route: HTTPApplication.Route
    /// nil once the request has ended.
    private var connection: OpaquePointer?
    private var isSuspended = false
    private var phase = Phase.header
    private var body = RequestBody()
    private var limits = BodyLimits(maximumLength: 0)
    /// Whether the request has no body, and is admitted when it is complete.
    private var hasNoBody = false
    /// The answer that is already certain while the rest of the body arrives.
    private var refusal: ProtocolFailure?
    /// The number of bytes that arrived after the refusal.
    private var dropped = 0
    private let descriptor: Int32
    /// The response to a client that listens; the daemon keeps it alive.
    private(set) weak var events: EventStream?
    /// The beginning of a late answer, and the time at which the work on the answer began.
    private var interim: (answer: InterimAnswer, began: ContinuousClock.Instant)?
    /// Whether an interim answer was given, and its body, which the daemon keeps alive.
    private var hasInterimAnswer = false
    private weak var interimBody: ResponseStream?

    init(_ service: HTTPService, _ connection: OpaquePointer, path: String, method: String) {
        self.service = service
        self.connection = connection
        self.path = path
        self.method = method
        descriptor = mhs_descriptor(connection)
        headers = HTTPFields.headers(of: connection)
        route = service.application.route(ServerRequest(method: method, path: path, headers: headers))
    }

    // MARK: Suspension

    func suspend() {
        guard let connection, !isSuspended else { return }
        isSuspended = true
        MHD_suspend_connection(connection)
    }

    func resume() {
        guard let connection, isSuspended else { return }
        isSuspended = false
        MHD_resume_connection(connection)
    }

    /// Cuts the connection; the daemon finds that out.
    func cut() {
        if connection != nil { SystemSocket.shut(descriptor, .both) }
    }

    /// Notes the end of the request, in any way.
    func end() {
        connection = nil
        phase = .done
    }

    // MARK: Steps

    /// Handles a call of the daemon without a piece of the body.
    func proceed(hasPlace: Bool) -> MHD_Result {
        switch phase {
        case .header: return begin(hasPlace: hasPlace)
        case .admitted(let admission): return accept(admission)
        case .body: return finish()
        case .answered(let answer): return queue(answer)
        case .admitting, .answering, .done: return mhs_yes()
        }
    }

    /// Handles the complete header. Refuses a request without permission, and a body of too great an announced length, before the body is sent.
    private func begin(hasPlace: Bool) -> MHD_Result {
        service.watch.answers(descriptor)
        let isHealth = route == .life || route == .readiness
        if !isHealth, let refusal = service.refusal(hasPlace: hasPlace) { return queue(refusal) }
        guard headers["transfer-encoding"] != nil || headers["content-length"].map({ $0 != "0" }) ?? false else {
            hasNoBody = true
            phase = .body
            return mhs_yes()
        }
        guard case .lane = route else { return accept(service.application.admission(request())) }
        admit { self.arrive(.admitted($0)) }
        return mhs_yes()
    }

    /// Suspends the connection until a worker has checked the header. Calls `next` on the loop's thread.
    private func admit(_ next: @escaping @Sendable (RequestAdmission) -> Void) {
        phase = .admitting
        suspend()
        let service = service, request = HandedOver(request())
        service.lanes.start(.admissions) {
            let admission = HandedOver(service.application.admission(request.value))
            service.loop.post { next(admission.value) }
        } orRefuse: {
            service.loop.post { next(.answer(.overload)) }
        }
    }

    private func arrive(_ phase: Phase) {
        self.phase = phase
        resume()
    }

    private func accept(_ admission: RequestAdmission) -> MHD_Result {
        switch admission {
        // The daemon closes the connection after an answer that does not wait for the body.
        case .answer(let response): return queue(response)
        case .body(let limits): self.limits = limits
        }
        let configuration = service.configuration
        limits.maximumLength = min(limits.maximumLength, configuration.maximumBodyLength)
        if let announced = headers["content-length"], Int(announced).map({ $0 > limits.maximumLength }) ?? true {
            return queue(DaemonRequest.response(tooLong(announced)))
        }
        body = RequestBody(
            Spool(memoryLimit: configuration.bodyMemoryLimit, maximumLength: limits.maximumLength, directory: configuration.temporaryDirectory))
        phase = .body
        service.watch.awaitsBody(descriptor, limits)
        return mhs_yes()
    }

    /// Handles a piece of the body. The daemon may pass the rest of its buffer although the connection has just been suspended.
    func receive(_ piece: UnsafeRawBufferPointer) -> MHD_Result {
        service.watch.received(piece.count, on: descriptor)
        if refusal == nil, piece.count > limits.maximumLength - body.length { refusal = tooLong("more than \(limits.maximumLength)") }
        if refusal != nil {
            // The daemon cannot answer in the middle of a body. The client may finish the body, within limits.
            dropped += piece.count
            return dropped > 1 << 20 ? mhs_no() : mhs_yes()
        }
        body.append(piece)
        if body.isPortion, !isSuspended {
            suspend()
            let service = service, portion = body.take()
            service.lanes.start(.pieces) {
                let failure = Self.move(portion.value, service)
                service.loop.post { self.store(failure) }
            }
        }
        return mhs_yes()
    }

    /// Continues with the body after a part of it has been stored.
    private func store(_ failure: ProtocolFailure?) {
        if let failure { refusal = failure }
        resume()
    }

    private static func move(_ portion: RequestBody.Portion, _ service: HTTPService) -> ProtocolFailure? {
        do { try portion.move() } catch {
            service.configuration.log("request body: \(error)")
            return ProtocolFailure(code: 507, message: "the server has no room for the request's body")
        }
        return nil
    }

    /// Handles the complete request.
    private func finish() -> MHD_Result {
        service.watch.answers(descriptor)
        if let refusal { return queue(DaemonRequest.response(refusal)) }
        switch route {
        case .immediate, .life: return queue(service.application.handler(request()))
        case .readiness:
            if service.phase != .serving { return queue(Readiness.failed(["draining"]).response) }
            phase = .answering
            suspend()
            let service = service
            service.application.readiness { response in
                let answer = HandedOver(Answer(response: response, first: nil))
                service.loop.post { self.arrive(.answered(answer.value)) }
            }
        case .lane(let lane) where hasNoBody:
            if let response = service.application.answerAtOnce(request()) { return queue(response) }
            admit { admission in
                switch admission {
                case .answer(let response): self.arrive(.answered(Answer(response: response, first: nil)))
                case .body: self.answer(in: lane)
                }
            }
        case .lane(let lane): answer(in: lane)
        }
        return mhs_yes()
    }

    /// Suspends the connection until a worker has created the answer.
    private func answer(in lane: WorkLanes.Lane) {
        phase = .answering
        suspend()
        let service = service, request = HandedOver(request()), portion = body.take()
        body = RequestBody()
        interim = service.application.interim(request.value).map { (answer: $0, began: .now) }
        service.lanes.start(lane) {
            let answer = HandedOver(Self.answer(request.value, portion.value, service))
            service.loop.post { self.arrive(answer.value) }
        } orRefuse: {
            let answer = HandedOver(Answer(response: .overload, first: nil))
            service.loop.post { self.arrive(answer.value) }
        }
    }

    private func arrive(_ answer: Answer) {
        guard let interim = interim?.answer else { return arrive(.answered(answer)) }
        finish(interim, with: answer)
    }

    /// Passes the answer on, as the rest of an interim one if there is one.
    private func finish(_ interim: InterimAnswer, with answer: Answer) {
        self.interim = nil
        guard hasInterimAnswer else { return arrive(.answered(answer)) }
        if answer.response.status == 200, case .stream(_, let next) = answer.response.body, let first = answer.first {
            interimBody?.arrive(HandedOver(next), first: first)
        } else {
            interimBody?.arrive(last: interim.failure(answer.response))
        }
    }

    /// Begins the answer if the work on it takes long, and continues it.
    func beat(_ now: ContinuousClock.Instant) {
        guard let (interim, began) = interim else { return }
        if hasInterimAnswer {
            interimBody?.beat(interim, at: now)
        } else if now - began >= interim.interval, connection != nil {
            hasInterimAnswer = true
            let response = ServerResponse(status: 200, headers: interim.headers, contentType: interim.contentType, body: .none)
            let body = ResponseStream(interim, at: now, for: self)
            interimBody = body
            arrive(.answered(Answer(response: response, first: nil, body: body)))
        }
    }

    /// Creates the answer; runs in a job.
    private static func answer(_ request: ServerRequest, _ portion: RequestBody.Portion, _ service: HTTPService) -> Answer {
        if let failure = move(portion, service) { return Answer(response: response(failure), first: nil) }
        let response = service.application.handler(request)
        guard case .stream(_, let next) = response.body else { return Answer(response: response, first: nil) }
        // The first chunk does not need a job of its own.
        return Answer(response: response, first: ProducedChunk(HandedOver(next)))
    }

    /// Returns the request as received so far.
    private func request() -> ServerRequest {
        let peer = connection.map { SystemSocket.text(of: mhs_remote_address($0)) } ?? ""
        let items = connection.map { HTTPFields.parameters(of: $0) } ?? []
        return ServerRequest(
            method: method, path: path, query: Dictionary(items.map { ($0.name, $0.value) }) { $1 }, queryItems: items, headers: headers,
            remoteAddress: ClientAddress.of(peer: peer, headers: headers, trusting: service.configuration.trustedProxies), body: body.spool)
    }

    private func tooLong(_ length: String) -> ProtocolFailure {
        limits.refusal
            ?? ProtocolFailure(
                code: ResultCode.tooLarge, message: "request body of \(length.prefix(20)) bytes: at most \(limits.maximumLength) are accepted")
    }

    private static func response(_ failure: ProtocolFailure) -> ServerResponse {
        ServerResponse(status: Int(failure.code), contentType: Endpoint.messageContentType, body: .bytes(failure.bytes))
    }

    // MARK: Response

    private func queue(_ response: ServerResponse) -> MHD_Result {
        var first: ProducedChunk?
        if case .stream(_, let next) = response.body { first = ProducedChunk(HandedOver(next)) }
        return queue(Answer(response: response, first: first))
    }

    /// Passes the response to the daemon, which keeps its own reference.
    private func queue(_ answer: Answer) -> MHD_Result {
        phase = .done
        guard let connection, let response = answer.response.events.map(stream) ?? response(of: answer) else { return mhs_no() }
        defer { MHD_destroy_response(response) }
        var headers = answer.response.headers
        if service.phase == .refusing, !headers.contains(where: { $0.name == "Connection" }) { headers.append((name: "Connection", value: "close")) }
        // libmicrohttpd refuses an empty value; the receiver takes a blank for one.
        for (name, value) in headers where MHD_add_response_header(response, name, value.isEmpty ? " " : value) == mhs_no() { return mhs_no() }
        return MHD_queue_response(connection, UInt32(answer.response.status), response)
    }

    /// Begins a response of events. The connection rests from now on: only what it needs is kept.
    private func stream(_ listener: EventListener) -> OpaquePointer? {
        (headers, path) = ([:], "")
        mhs_expect_slow_events(descriptor, Self.eventSendBuffer)
        let stream = EventStream(listener, for: self, time: service.configuration.listeningTime)
        let context = Unmanaged.passRetained(stream)
        // The library's own block is used only for clients of HTTP/1.0; chunks are made in the connection's memory.
        let response = MHD_create_response_from_callback(mhs_unknown_length(), 64, EventStream.read, context.toOpaque(), EventStream.free)
        guard response != nil else {
            context.release()
            return nil
        }
        events = stream
        if service.phase == .refusing { stream.finish() }
        return response
    }

    /// The bytes of events that the system keeps for a client that does not read.
    private static let eventSendBuffer: Int32 = 16_384

    private func response(of answer: Answer) -> OpaquePointer? {
        if let body = answer.body { return stream(body) }
        switch answer.response.body {
        case .none: return mhs_response_of_bytes(nil, 0)
        case .bytes(let bytes):
            return bytes.withUnsafeBytes { mhs_response_of_bytes($0.baseAddress, $0.count) }
        case .stream(let length, let next):
            guard let first = answer.first else { return nil }
            return stream(ResponseStream(HandedOver(next), first: first, for: self), length: length)
        case .file(let file): return mhs_response_of_file(file.descriptor, UInt64(file.offset), UInt64(file.length))
        }
    }

    private func stream(_ body: ResponseStream, length: Int? = nil) -> OpaquePointer? {
        let stream = Unmanaged.passRetained(body)
        let response = MHD_create_response_from_callback(
            length.map { UInt64($0) } ?? mhs_unknown_length(), 65_536, ResponseStream.read, stream.toOpaque(), ResponseStream.free)
        if response == nil { stream.release() }
        return response
    }
}
