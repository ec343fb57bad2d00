internal import Dispatch
internal import MobileExecution
internal import MobileMicrohttpd
internal import MobileProtocol

/// The context of the daemon's callbacks. Threads: the loop's, apart from constants.
final class HTTPService: @unchecked Sendable {
    /// The willingness of the server.
    enum Phase: Sendable {
        case serving
        /// Serves, and reports that it is about to leave.
        case leaving
        /// Ends what it has begun, and refuses further requests.
        case refusing
    }

    let configuration: HTTPServer.Configuration
    let application: HTTPApplication
    let loop: HTTPLoop
    let lanes: WorkLanes
    /// Entered once per request, left at its end.
    let requests = DispatchGroup()
    let connections: HTTPConnections
    /// The number of connections that listen for events.
    let listeners = SystemLock(0)
    /// Cuts connections that take too long.
    var watch: ConnectionWatch
    var phase = Phase.serving
    /// The daemon's descriptor of the listening socket, once it does not accept connections any more; read after the loop has ended.
    private(set) var formerListener: Int32?
    private var going: [OpaquePointer: DaemonRequest] = [:]

    init(_ configuration: HTTPServer.Configuration, _ application: HTTPApplication, places: Int) throws(ServerError) {
        self.configuration = configuration
        self.application = application
        loop = try HTTPLoop()
        lanes = WorkLanes(application.lanes)
        connections = HTTPConnections(places: places)
        watch = ConnectionWatch(headerTime: configuration.headerTimeout, pause: configuration.idleTimeout)
    }

    /// The time between two checks of all time limits: once a second, or as often as a short limit requires.
    var tickInterval: Duration {
        let shortest = application.lanes.values.compactMap(\.patience).reduce(min(configuration.headerTimeout, configuration.heartbeat, .seconds(4)))
        { min($0, $1) }
        return max(.milliseconds(20), min(.seconds(1), shortest / 4))
    }

    /// Ends all connections and jobs that are too late.
    func tick() {
        watch.cutLate()
        lanes.refuseLate()
        let now = ContinuousClock.now
        for request in going.values {
            request.beat(now)
            guard let events = request.events, !events.beat(now, every: min(configuration.heartbeat, .seconds(55))) else { continue }
            request.cut()
        }
    }

    /// Returns the refusal of a new request; nil if it is to be answered.
    func refusal(hasPlace: Bool) -> ServerResponse? {
        if phase == .refusing { return .unavailable("the server is about to stop; try again", retryAfter: ServerResponse.spreadDelay()) }
        return hasPlace ? nil : .unavailable("the server has no connection left; try again", retryAfter: ServerResponse.retryLater.value)
    }

    /// Refuses further requests, and sends the clients that listen away: they come again, to another process if there is one.
    func refuse() {
        phase = .refusing
        for request in going.values { request.events?.finish() }
    }

    /// Stops accepting connections.
    func stopListening(_ daemon: HTTPDaemon, _ socket: Int32) {
        // The library leaves it to its caller from now on, who may close it when the daemon has stopped.
        formerListener = MHD_quiesce_daemon(daemon.pointer)
        // The daemon only stops accepting. After the shutdown, the system refuses new connections.
        SystemSocket.shut(socket, .both)
    }

    /// Prepares the end of the daemon, which must not have suspended connections.
    func resumeAll() {
        for request in going.values { request.resume() }
    }

    // MARK: Callbacks

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

    /// Called by the daemon with the header, then with each piece of the body, then once without a piece; and after each suspension.
    static let access: MHD_AccessHandlerCallback = { context, connection, url, method, _, piece, pieceLength, request in
        guard let context, let connection, let url, let method, let pieceLength, let request else { return mhs_no() }
        let service = Unmanaged<HTTPService>.fromOpaque(context).takeUnretainedValue()
        guard let known = request.pointee else {
            let began = DaemonRequest(service, connection, path: String(cString: url), method: String(cString: method))
            request.pointee = Unmanaged.passRetained(began).toOpaque()
            service.requests.enter()
            service.going[connection] = began
            return began.proceed(hasPlace: service.connections.beginRequest(connection))
        }
        let going = Unmanaged<DaemonRequest>.fromOpaque(known).takeUnretainedValue()
        guard pieceLength.pointee > 0, let piece else { return going.proceed(hasPlace: true) }
        let result = going.receive(UnsafeRawBufferPointer(start: piece, count: pieceLength.pointee))
        pieceLength.pointee = 0
        return result
    }

    /// Called by the daemon when a request has ended in any way.
    static let completed: MHD_RequestCompletedCallback = { context, connection, request, _ in
        guard let context, let connection, let request, let known = request.pointee else { return }
        let ended = Unmanaged<DaemonRequest>.fromOpaque(known).takeRetainedValue()
        request.pointee = nil
        ended.end()
        let service = Unmanaged<HTTPService>.fromOpaque(context).takeUnretainedValue()
        service.going[connection] = nil
        service.connections.endRequest(connection)
        service.watch.awaitsHeader(mhs_descriptor(connection), isNew: false)
        service.requests.leave()
    }
}
