internal import MobileCrypto
internal import MobileExecution
public import MobileServer
internal import MobileStore

/// A face of a `MobileServer` that speaks the protocol of RhoConnect servers, so that their clients can use it unchanged.
///
///     let face = try RhoConnectServer(server, sources: [RhoConnectSource("Product", adapter: products)])
///     let http = try HTTPServer { face.respond(to: $0) }
///
/// Accounts are those of the server. All state is in the server's state store, so that it runs on PostgreSQL and in several processes as well. Both URL
/// styles are served: the newer one below `/rc/v1` and `/app/v1`, the older one below `/application` and `/api/application`.
public final class RhoConnectServer: Sendable {
    /// The decision about a login.
    public enum LoginDecision: Sendable {
        /// The login is accepted for this user, usually the one that was given.
        case accepted(user: String)
        /// It is refused: 401 with the text; nil for `Unable to authenticate 'NAME'`.
        case refused(String?)
    }

    /// The settings of the face.
    public struct Configuration: Sendable {
        /// Decides about logins; nil (default): the accounts of the server. A thrown error is answered with 500 and its text.
        public var authenticate: (@Sendable (_ login: String, _ password: String) throws -> LoginDecision)?
        /// The token of administrative calls; nil (default): they are refused.
        public var administrationToken: String?
        /// The time of a session from its last response, in seconds; default one year.
        public var sessionLife: Int64 = 31_536_000
        /// The time for which a bulk file serves the requests of its user or of all users, in seconds; default 3600. RhoConnect: `bulk_sync_poll_interval`.
        public var bulkReuse: Int64 = 3600
        /// Milliseconds since 1970, UTC; default the clock of the server.
        public var clock: (@Sendable () -> Int64)?

        /// Makes the default settings.
        public init() {}
    }

    let server: MobileServer
    let sources: [String: RhoConnectSource]
    let configuration: Configuration
    private let bulkWork = BulkWork()

    /// Makes a face, and its tables in the state of the server.
    /// - Parameters:
    ///   - server: the server, which stays open as long as the face is used.
    ///   - sources: the sources, with different names.
    ///   - configuration: logins, tokens, times.
    /// - Throws: `ServerError` for two sources of one name, and the errors of the state.
    public init(_ server: MobileServer, sources: [RhoConnectSource], configuration: Configuration = Configuration()) throws {
        for (index, source) in sources.enumerated() where sources[..<index].contains(where: { $0.name == source.name }) {
            throw ServerError(.configuration, "RhoConnect source \"\(source.name)\": it is there twice")
        }
        self.server = server
        self.sources = Dictionary(sources.map { ($0.name, $0) }) { $1 }
        self.configuration = configuration
        try server.stateStore.write(label: "rhoconnect tables") { try RhoTables.create(in: $0) }
    }

    var now: Int64 { (configuration.clock ?? server.configuration.clock)() }
    var store: any StateStore { server.stateStore }

    /// Runs a job that makes a bulk file, on a thread of its own.
    func runBulkJob(_ job: @escaping @Sendable () -> Void) { bulkWork.start(job) }

    /// Waits until the bulk files that this process makes are done.
    package func waitForBulkFiles() { bulkWork.wait() }

    /// Answers one request. Never throws: a failure is an answer as well.
    public func respond(to request: ServerRequest) -> ServerResponse {
        do {
            return try RhoRequest(request).answer(by: self)
        } catch let failure as RhoFailure {
            return failure.response
        } catch {
            // Its text may name tables, files and values.
            server.configuration.log(LogSanitizer.escaped("RhoConnect \(request.method) \(request.path.prefix(80)): \(error)"))
            if server.isUnavailable(error) { return RhoFailure.text(503, "the server is busy; try again").response }
            return RhoFailure.text(500, "the server could not do this; its log says why").response
        }
    }
}

/// A failure with its answer, a plain text.
struct RhoFailure: Error {
    let status: Int
    let text: String

    static func text(_ status: Int, _ text: String) -> RhoFailure { RhoFailure(status: status, text: text) }

    var response: ServerResponse { ServerResponse(status: status, contentType: "text/plain", body: .bytes([UInt8](text.utf8))) }

    static let notAuthenticated = text(401, "Not authenticated")
    static let unknownClient = text(500, "Unknown client")
    static let unknownSource = text(500, "Unknown source")
}
