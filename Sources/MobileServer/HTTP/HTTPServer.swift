internal import Dispatch
internal import MobileExecution
internal import MobileMicrohttpd

/// The thin HTTP layer: a function from request to response, run under libmicrohttpd with one thread per connection.
///
///     let http = try HTTPServer(serving: server)
///     print("listening on port \(http.port)")
///     http.stop()
///
/// The handler runs on the connection's own thread, so it may block. It is called concurrently for different connections, and only after the
/// request's body is complete. Before the first byte of the body is read, the admission decides whether the body is accepted, and within which
/// limits. A client that is too slow is cut off. Connections are kept alive between requests.
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
        /// The maximum number of connections; default 512. For one more, the connection that has been idle longest is closed. If all are in use, a
        /// request is refused with status 503.
        public var maximumConnections = 512
        /// The time after which a connection without any traffic is closed, in whole seconds; default 120.
        public var idleTimeout: Duration = .seconds(120)
        /// The time limit of a request's header, from the connection's beginning. For a later request, it begins after a pause of at most
        /// ``idleTimeout``. Default 30 seconds.
        public var headerTimeout: Duration = .seconds(30)
        /// The server's certificate, followed by its intermediate certificates, as PEM text; nil (default) for plain HTTP.
        public var certificate: String?
        /// The private key of ``certificate``, as PEM text.
        public var privateKey: String?

        /// The destination of log lines: called with one line per request body that could not be stored. Default: discards the lines.
        public var log: @Sendable (String) -> Void = { _ in }

        /// Creates the default configuration.
        public init() {}
    }

    /// The port that the server listens on.
    public let port: UInt16

    let service: HTTPService
    /// The running daemon and its socket; nil once stopped.
    private let running: SystemLock<Running?>

    private struct Running: @unchecked Sendable {  // the daemon is thread-safe; it is stopped once, by the caller that takes it out
        let daemon: OpaquePointer
        let socket: Int32
    }

    /// Starts a server.
    /// - Parameters:
    ///   - configuration: the address, the port and the limits.
    ///   - admission: checks each request when its header is complete, with an empty body; called on the connections' threads. Default: accepts every
    ///     body.
    ///   - handler: creates the response; called on the connections' threads.
    /// - Throws: ``ServerError/Code/portInUse``, ``ServerError/Code/cannotListen``, ``ServerError/Code/cannotStart``.
    public init(
        _ configuration: Configuration,
        admission: @escaping @Sendable (ServerRequest) -> RequestAdmission = { _ in .body(BodyLimits(maximumLength: .max)) },
        handler: @escaping @Sendable (ServerRequest) -> ServerResponse
    ) throws(ServerError) {
        let socket = try ListeningSocket(address: configuration.address, port: configuration.port)
        let service = HTTPService(configuration, admission, handler)
        // The daemon's callbacks borrow the service: `self` owns it and stops the daemon before releasing it.
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
            throw ServerError(
                .cannotStart,
                "cannot serve on port \(socket.port): \(isSecure ? "certificate and key do not fit, or " : "")no thread could be started")
        }
        service.watch.start()
        self.service = service
        port = socket.port
        running = SystemLock(Running(daemon: daemon, socket: socket.descriptor))
    }

    /// Starts a server with the default configuration.
    /// - Parameters:
    ///   - port: the port to listen on; 0 for any free one.
    ///   - address: the address to listen on.
    ///   - handler: creates the response; called on the connections' threads.
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

    /// Stops listening, waits for the requests in progress, and closes all connections. A second call does nothing. Must not be called from the
    /// handler.
    /// - Parameter timeout: the time to wait for requests; after it, their connections are cut. The handler itself is always waited for.
    public func stop(timeout: Duration = .seconds(10)) {
        let taken = running.withLock { running in
            defer { running = nil }
            return running
        }
        guard let taken else { return }
        _ = MHD_quiesce_daemon(taken.daemon)
        // The daemon only stops accepting. After the shutdown, the system refuses new connections.
        SystemSocket.shut(taken.socket, .both)
        let (seconds, attoseconds) = timeout.components
        _ = service.requests.wait(timeout: .now() + Double(seconds) + Double(attoseconds) * 1e-18)
        MHD_stop_daemon(taken.daemon)
        service.watch.stop()
        SystemSocket.giveBack(taken.socket)
    }
}
