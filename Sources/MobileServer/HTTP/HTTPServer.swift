internal import Dispatch
internal import MobileExecution
internal import MobileMicrohttpd

/// The thin HTTP layer: a function from request to response, run under libmicrohttpd.
///
///     let http = try HTTPServer(serving: server)
///     print("listening on port \(http.port)")
///     http.stop()
///
/// One thread reads and writes all connections and never blocks. The handler runs on a thread of a pool, so it may block. It is called concurrently for
/// different connections, and only after the request's body is complete. Before the first byte of the body is read, the admission decides whether the
/// body is accepted, and within which limits. A client that is too slow is cut off. Connections are kept alive between requests; an idle one occupies
/// memory for its buffers, and no thread.
///
/// Requests wait for a thread in a queue of limited length and time, and are refused with status 503 beyond it.
public final class HTTPServer: Sendable {
    /// The address, the limits and the certificate of a server.
    public struct Configuration: Sendable {
        /// The address to listen on; default `127.0.0.1`, `0.0.0.0` or `::` for all.
        public var address = "127.0.0.1"
        /// The port to listen on; 0 (default) for any free one.
        public var port: UInt16 = 0
        /// The maximum length of a request body in bytes; a longer one is answered with status 413. Default 4 GB.
        public var maximumBodyLength = 4 << 30
        /// The maximum length of a request body that is kept in memory, in bytes; a longer one goes to a temporary file. Default 1 MB.
        public var bodyMemoryLimit = 1 << 20
        /// The directory of temporary files; nil (default) for `TMPDIR`, otherwise `/tmp`.
        public var temporaryDirectory: String?
        /// The maximum number of connections; default 10,000. For one more, the connection that has been idle longest is closed. If all are in use, a
        /// request is refused with status 503. The limit of the process's open files applies as well: ``HTTPServer/connectionPlaces``.
        public var maximumConnections = 10_000
        /// The number of requests that a handler answers at a time, each on a thread of its own; default 64. A server of packages uses the numbers of
        /// ``RequestLimits`` instead.
        public var workers = 64
        /// The maximum number of requests that wait for a thread; default 256. One more is refused with status 503. A server of packages uses
        /// ``RequestLimits/waitingRequests`` instead.
        public var waitingRequests = 256
        /// The time that a request waits for a thread; default 10 s. After that, it is refused with status 503. A server of packages uses
        /// ``RequestLimits/waitingTime`` instead.
        public var waitingTime: Duration = .seconds(10)
        /// The time after which a connection without any traffic is closed, in whole seconds; default 120.
        public var idleTimeout: Duration = .seconds(120)
        /// The time limit of a request's header, from the connection's beginning. For a later request, it begins after a pause of at most
        /// ``idleTimeout``. Default 30 seconds.
        public var headerTimeout: Duration = .seconds(30)
        /// The time after which a connection that listens for events gets a sign of life; default 45 s. Dead connections are found by it, and clients
        /// that do not read are cut. At most 55 s: proxies close a connection after a minute without a byte.
        public var heartbeat: Duration = .seconds(45)
        /// The longest time of a connection that listens for events; default one hour. After it the client comes again, and its session is checked.
        public var listeningTime: Duration = .seconds(3600)
        /// The server's certificate, followed by its intermediate certificates, as PEM text; nil (default) for plain HTTP.
        public var certificate: String?
        /// The private key of ``certificate``, as PEM text.
        public var privateKey: String?
        /// The addresses of proxies whose header field `X-Forwarded-For` names the client; default none. A request over a connection from another
        /// address has that address, regardless of its header.
        public var trustedProxies: Set<String> = []

        /// The destination of log lines: called with one line per request body that could not be stored. Default: discards the lines.
        public var log: @Sendable (String) -> Void = { _ in }

        /// Creates the default configuration.
        public init() {}
    }

    /// The port that the server listens on.
    public let port: UInt16

    /// The number of connections that have a place: ``Configuration/maximumConnections``, or less if the process may not open that number of files.
    public let connectionPlaces: Int

    /// The number of connections that listen for events.
    public var listeners: Int { service.listeners.withLock { $0 } }

    let service: HTTPService
    /// The running daemon and its socket; nil once stopped.
    private let running: SystemLock<Running?>
    private let stopped = DispatchSemaphore(value: 0)

    private struct Running {
        let daemon: HTTPDaemon
        let socket: Int32
    }

    /// The number of open files that are left for databases and temporary files.
    static let reservedDescriptors = 256

    /// Starts a server.
    /// - Parameters:
    ///   - configuration: the address, the port and the limits.
    ///   - admission: checks each request when its header is complete, with an empty body; called on threads of the pool. Default: accepts every body.
    ///   - handler: creates the response; called on threads of the pool.
    /// - Throws: ``ServerError/Code/portInUse``, ``ServerError/Code/cannotListen``, ``ServerError/Code/cannotStart``.
    public convenience init(
        _ configuration: Configuration,
        admission: @escaping @Sendable (ServerRequest) -> RequestAdmission = { _ in .body(BodyLimits(maximumLength: .max)) },
        handler: @escaping @Sendable (ServerRequest) -> ServerResponse
    ) throws(ServerError) {
        try self.init(configuration, HTTPApplication(configuration, admission, handler))
    }

    init(_ configuration: Configuration, _ application: HTTPApplication) throws(ServerError) {
        let socket = try ListeningSocket(address: configuration.address, port: configuration.port)
        let available = DescriptorLimit.current - Self.reservedDescriptors - HTTPConnections.room
        let places = max(1, min(configuration.maximumConnections, available))
        let service: HTTPService
        do { service = try HTTPService(configuration, application, places: places) } catch {
            SystemSocket.giveBack(socket.descriptor)
            throw error
        }
        // The daemon's callbacks borrow the service: the loop's thread owns it until the daemon has stopped.
        var options = mhs_options()
        options.listener = socket.descriptor
        options.maximum_connections = UInt32(clamping: places + HTTPConnections.room)
        options.idle_seconds = UInt32(clamping: configuration.idleTimeout.components.seconds)
        options.connection_memory = Self.connectionMemory
        options.handler = HTTPService.access
        options.completed = HTTPService.completed
        options.connected = HTTPService.connected
        options.context = Unmanaged.passUnretained(service).toOpaque()
        let daemon = HTTPServer.start(options, configuration).map { HTTPDaemon(pointer: $0) }
        guard let daemon, service.loop.start(daemon, interval: service.tickInterval, tick: { service.tick() }, end: { service.resumeAll() }) else {
            SystemSocket.giveBack(socket.descriptor)
            let isSecure = configuration.certificate != nil
            throw ServerError(
                .cannotStart,
                "cannot serve on port \(socket.port): \(isSecure ? "certificate and key do not fit, or " : "")no thread could be started")
        }
        self.service = service
        port = socket.port
        connectionPlaces = places
        running = SystemLock(Running(daemon: daemon, socket: socket.descriptor))
    }

    /// The bytes of buffers of each connection. The header of a request must fit.
    static let connectionMemory = 7168

    /// Starts a server with the default configuration.
    /// - Parameters:
    ///   - port: the port to listen on; 0 for any free one.
    ///   - address: the address to listen on.
    ///   - handler: creates the response; called on threads of the pool.
    /// - Throws: as ``init(_:admission:handler:)``.
    public convenience init(
        port: UInt16 = 0, address: String = "127.0.0.1", handler: @escaping @Sendable (ServerRequest) -> ServerResponse
    ) throws(ServerError) {
        var configuration = Configuration()
        configuration.port = port
        configuration.address = address
        try self.init(configuration, handler: handler)
    }

    /// Starts a server that serves packages.
    /// - Parameters:
    ///   - configuration: the address, the port and the limits.
    ///   - server: the server that answers; it is not closed when the HTTP server stops.
    /// - Throws: as ``init(_:admission:handler:)``.
    public convenience init(_ configuration: Configuration = Configuration(), serving server: MobileServer) throws(ServerError) {
        try self.init(configuration, HTTPApplication(serving: server))
    }

    private static func start(_ options: mhs_options, _ configuration: Configuration) -> OpaquePointer? {
        var options = options
        guard let certificate = configuration.certificate else { return mhs_start(&options) }
        return certificate.withCString { certificate in
            (configuration.privateKey ?? "").withCString { privateKey in
                options.certificate = certificate
                options.private_key = privateKey
                return mhs_start(&options)
            }
        }
    }

    deinit { stop(timeout: .zero) }

    /// Stops listening, waits for the requests in progress, refuses further ones, and closes all connections. A second call does nothing. Must not be
    /// called from the handler.
    /// - Parameter timeout: the time to wait for requests; after it, their connections are cut. The handler itself is always waited for.
    public func stop(timeout: Duration = .seconds(10)) {
        let taken = running.withLock { running in
            defer { running = nil }
            return running
        }
        guard let taken else { return }
        stopped.signal()
        let service = service
        service.loop.post {
            service.refuse()
            service.stopListening(taken.daemon, taken.socket)
        }
        _ = service.requests.wait(timeout: .now() + timeout / .seconds(1))
        service.loop.stop()
        // Before the handlers end: connections that the loop has not accepted are cut with it.
        SystemSocket.giveBack(taken.socket)
        if let descriptor = service.formerListener { SystemSocket.giveBack(descriptor) }
        service.lanes.stop()
    }

    /// Leaves without disturbing a client, then stops: for an update of the server, or a machine that is about to be switched off.
    ///
    /// First the server reports at `/ready` that it is about to leave, and serves as before: a load balancer has this time to send requests elsewhere.
    /// Then it refuses further requests with status 503 and `Retry-After`, and closes their connections. Requests in progress are finished, including
    /// those that wait for a thread. Must not be called from the handler. ``stop(timeout:)`` from another thread shortens it.
    /// - Parameters:
    ///   - notice: the time between the report and the first refusal.
    ///   - timeout: the time to wait for requests after that; then their connections are cut.
    /// - Returns: whether all requests were finished in time.
    @discardableResult
    public func drain(notice: Duration = .seconds(1), timeout: Duration = .seconds(30)) -> Bool {
        guard running.withLock({ $0 != nil }) else { return true }
        let service = service
        service.loop.post { service.phase = .leaving }
        if stopped.wait(timeout: .now() + notice / .seconds(1)) == .success { return false }
        let isRefusing = DispatchSemaphore(value: 0)
        let isPosted = service.loop.post {
            service.refuse()
            isRefusing.signal()
        }
        guard isPosted else { return false }
        isRefusing.wait()
        let isFinished = service.requests.wait(timeout: .now() + timeout / .seconds(1)) == .success
        stop(timeout: .zero)
        return isFinished
    }
}
