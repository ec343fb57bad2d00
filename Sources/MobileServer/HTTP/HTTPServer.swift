internal import Dispatch
internal import MobileMicrohttpd
internal import Synchronization

/// The thin HTTP face: a function from request to response, run under libmicrohttpd with one thread per connection.
///
///     let http = try HTTPServer(serving: server)
///     print("listening on port \(http.port)")
///     http.stop()
///
/// The handler runs on the connection's own thread, so it may block; it is called concurrently for different connections, and only
/// when the request's body is complete. Before a byte of that is taken, the admission says whether it may come, and within which limits; who is too
/// slow is cut off. Connections are kept alive between requests.
public final class HTTPServer: Sendable {
    /// How the server listens and what it accepts.
    public struct Configuration: Sendable {
        /// The address to listen on; default `127.0.0.1`, `0.0.0.0` or `::` for all.
        public var address = "127.0.0.1"
        /// The port to listen on; 0 (default) for any free one.
        public var port: UInt16 = 0
        /// The longest request body in bytes; a longer one is answered with status 413. Default 4 GB.
        public var maximumBodyLength = 4 << 30
        /// Bytes of a request body that are kept in memory; a longer one goes to a temporary file. Default 1 MB.
        public var bodyMemoryLimit = 1 << 20
        /// Where temporary files are made; nil (default) for `TMPDIR`, else `/tmp`.
        public var temporaryDirectory: String?
        /// Connections at a time; default 512. For one more, the one that has been kept open unused for longest is closed; where all are in use,
        /// a request is refused with status 503.
        public var maximumConnections = 512
        /// A connection on which nothing moves for so long is closed, in whole seconds; default 120.
        public var idleTimeout: Duration = .seconds(120)
        /// How long a request's header may take, from the connection's beginning; after a pause of at most ``idleTimeout`` for a later one.
        /// Default 30 seconds.
        public var headerTimeout: Duration = .seconds(30)
        /// The server's certificate, followed by those that vouch for it, as PEM text; nil (default) for plain HTTP.
        public var certificate: String?
        /// The private key of ``certificate``, as PEM text.
        public var privateKey: String?

        /// Called with one line per request that could not be kept. Default nothing.
        public var log: @Sendable (String) -> Void = { _ in }

        /// The defaults.
        public init() {}
    }

    /// The port that the server listens on.
    public let port: UInt16
    /// The configuration that the server was started with.
    public let configuration: Configuration

    let service: HTTPService
    /// The running daemon and its socket; nil once stopped.
    private let running: Mutex<Running?>

    private struct Running: @unchecked Sendable {  // the daemon is thread-safe; it is stopped once, by whoever takes it out
        let daemon: OpaquePointer
        let socket: Int32
    }

    /// Starts a server.
    /// - Parameters:
    ///   - configuration: where it listens, and its limits.
    ///   - admission: looks at each request when its header is there, with an empty body; called on the connections' threads. Default: every
    ///     body may come.
    ///   - handler: makes the response; called on the connections' threads.
    /// - Throws: ``HTTPServerError/Code/portInUse``, ``HTTPServerError/Code/cannotListen``, ``HTTPServerError/Code/cannotStart``.
    public init(
        _ configuration: Configuration,
        admission: @escaping @Sendable (ServerRequest) -> RequestAdmission = { _ in .body(BodyLimits(maximumLength: .max)) },
        handler: @escaping @Sendable (ServerRequest) -> ServerResponse
    ) throws(HTTPServerError) {
        let socket = try ListeningSocket(address: configuration.address, port: configuration.port)
        let service = HTTPService(configuration, admission, handler)
        // The daemon's callbacks borrow the service: `self` owns it and stops the daemon before letting it go.
        var options = mhs_options()
        options.listener = socket.descriptor
        options.maximum_connections = UInt32(clamping: max(1, configuration.maximumConnections) + HTTPConnections.room)
        options.idle_seconds = UInt32(clamping: configuration.idleTimeout.components.seconds)
        options.connection_memory = 192 * 1024
        options.handler = HTTPService.access
        options.completed = HTTPService.completed
        options.connected = HTTPService.connected
        options.context = Unmanaged.passUnretained(service).toOpaque()
        guard let daemon = HTTPServer.start(options, configuration) else {
            SystemSocket.giveBack(socket.descriptor)
            let isSecure = configuration.certificate != nil
            throw HTTPServerError(
                .cannotStart,
                "cannot serve on port \(socket.port): \(isSecure ? "certificate and key do not fit, or " : "")no thread could be started")
        }
        service.watch.start()
        self.configuration = configuration
        self.service = service
        port = socket.port
        running = Mutex(Running(daemon: daemon, socket: socket.descriptor))
    }

    /// Starts a server with the default configuration.
    /// - Parameters:
    ///   - port: the port to listen on; 0 for any free one.
    ///   - address: the address to listen on.
    ///   - handler: makes the response; called on the connections' threads.
    /// - Throws: as ``init(_:admission:handler:)``.
    public convenience init(
        port: UInt16 = 0, address: String = "127.0.0.1", handler: @escaping @Sendable (ServerRequest) -> ServerResponse
    ) throws(HTTPServerError) {
        var configuration = Configuration()
        configuration.port = port
        configuration.address = address
        try self.init(configuration, handler: handler)
    }

    /// Starts a server that serves packages.
    /// - Parameters:
    ///   - configuration: where it listens, and its limits.
    ///   - server: what answers; it is not closed when this stops.
    /// - Throws: as ``init(_:admission:handler:)``.
    public convenience init(_ configuration: Configuration = Configuration(), serving server: MobileServer) throws(HTTPServerError) {
        try self.init(configuration, admission: { server.admit($0) }, handler: { server.respond(to: $0) })
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

    /// Stops listening, waits for the requests that are being answered, and closes all connections. A second call does nothing.
    /// Must not be called from the handler.
    /// - Parameter timeout: how long to wait for requests; after it their connections are cut. The handler itself is always
    ///   waited for.
    public func stop(timeout: Duration = .seconds(10)) {
        let taken = running.withLock { running in
            defer { running = nil }
            return running
        }
        guard let taken else { return }
        _ = MHD_quiesce_daemon(taken.daemon)
        // The daemon only looks away; this tells clients that nobody listens any more.
        SystemSocket.shut(taken.socket, .both)
        let (seconds, attoseconds) = timeout.components
        _ = service.requests.wait(timeout: .now() + Double(seconds) + Double(attoseconds) * 1e-18)
        MHD_stop_daemon(taken.daemon)
        service.watch.stop()
        SystemSocket.giveBack(taken.socket)
    }
}
