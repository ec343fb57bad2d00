internal import MobileExecution
internal import MobileProtocol

/// The functions that an HTTP server calls, and the threads that they need.
struct HTTPApplication: Sendable {
    /// The way of a request to its answer.
    enum Route: Equatable, Sendable {
        /// The answer waits for nothing; the loop's thread creates it.
        case immediate
        /// As ``immediate``, also for connections without a place, and while the server drains.
        case life
        /// Reports whether the server can work.
        case readiness
        /// A worker of this lane creates the answer.
        case lane(WorkLanes.Lane)
    }

    var lanes: [WorkLanes.Lane: WorkLanes.Limits]
    /// Determines the way of a request from its header. Waits for nothing.
    var route: @Sendable (ServerRequest) -> Route = { _ in .lane(.requests) }
    var admission: @Sendable (ServerRequest) -> RequestAdmission
    var handler: @Sendable (ServerRequest) -> ServerResponse
    /// Answers a request without a body if that waits for nothing; nil for others.
    var answerAtOnce: @Sendable (ServerRequest) -> ServerResponse? = { _ in nil }
    /// Returns the beginning of a late answer, for requests that have one. Waits for nothing.
    var interim: @Sendable (ServerRequest) -> InterimAnswer? = { _ in nil }
    /// Calls its argument once, on any thread, with the answer to a request of the route ``Route/readiness``.
    var readiness: @Sendable (@escaping @Sendable (ServerResponse) -> Void) -> Void = { $0(ServerResponse(status: 200)) }

    /// A server that is a function alone.
    init(
        _ configuration: HTTPServer.Configuration, _ admission: @escaping @Sendable (ServerRequest) -> RequestAdmission,
        _ handler: @escaping @Sendable (ServerRequest) -> ServerResponse
    ) {
        let waiting = max(0, configuration.waitingRequests), patience = configuration.waitingTime
        lanes = [
            .requests: .init(running: max(1, configuration.workers), waiting: waiting, patience: patience),
            .admissions: .init(running: Self.admissions, waiting: waiting, patience: patience), .pieces: .init(running: Self.pieces),
        ]
        self.admission = admission
        self.handler = handler
    }

    /// The number of headers that are checked at a time.
    static let admissions = 8
    /// The number of pieces of bodies that are read or written at a time.
    static let pieces = 16
    /// The number of requests for messages and traces that are answered at a time.
    static let messages = 16
    /// The number of requests for segments and large values that are answered at a time; sending them needs no thread.
    static let contents = 16
    /// The number of threads for requests without a session, in addition to those for their logins.
    static let strangers = 4

    /// A server of packages: a flood of logins or of synchronizations does not hold up other requests.
    init(serving server: MobileServer) {
        let limits = server.configuration.limits
        func lane(_ running: Int) -> WorkLanes.Limits {
            .init(running: running, waiting: limits.waitingRequests, patience: limits.waitingTime)
        }
        lanes = [
            .admissions: lane(Self.admissions), .strangers: lane(limits.logins + Self.strangers), .messages: lane(Self.messages),
            .synchronizations: lane(limits.synchronizations), .contents: lane(Self.contents), .pieces: .init(running: Self.pieces),
        ]
        route = { server.route(of: $0) }
        admission = { server.admit($0) }
        answerAtOnce = { server.answerAtOnce($0) }
        handler = { server.respond(to: $0) }
        readiness = { server.readiness.answer($0) }
        interim = { $0.path == Endpoint.synchronize ? .download() : nil }
    }
}
