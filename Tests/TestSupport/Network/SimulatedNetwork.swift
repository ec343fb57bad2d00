public import MobileTransport
internal import Synchronization

/// What a simulated network does to one request.
public enum NetworkFault: Sendable, Hashable {
    /// Nobody listens: the request ends as ``TransportError/Code/cannotConnect``, the server sees nothing.
    case refuse
    /// The connection breaks after so many bytes of the request's body; a body that is not longer breaks at its end, just before
    /// the server would answer. The server does not get a complete request.
    case cutUpload(after: Int)
    /// The server does all its work, but not even its status comes back.
    case cutResponse
    /// The connection breaks after so many bytes of the response's body; a body that is not longer breaks at its end.
    case cutDownload(after: Int)
    /// The server takes so long until its response begins.
    case delay(Duration)
}

/// How a simulated network behaves. The same values give the same behaviour, request by request.
public struct NetworkConditions: Sendable {
    /// Time from one end to the other; default none.
    public var latency = Duration.zero
    /// Bytes per second in each direction; nil (default) for no limit.
    public var bytesPerSecond: Int?
    /// Cuts bodies into chunks of random lengths from 1 byte to this many; default 16 KB.
    public var longestChunk = 16_384
    /// What happens to the n-th request, from 0; default nothing.
    public var fault: @Sendable (_ request: Int, _ random: inout SeededGenerator) -> NetworkFault? = { _, _ in nil }

    /// A network without delays and faults.
    public init() {}

    /// A network on which requests fail at random.
    /// - Parameters:
    ///   - probability: how likely it is that something happens to a request, 0...1.
    ///   - maximumBytes: breaks happen after 0 to so many bytes of a body.
    public static func unreliable(probability: Double, maximumBytes: Int) -> NetworkConditions {
        var conditions = NetworkConditions()
        conditions.fault = { _, random in
            guard Double.random(in: 0..<1, using: &random) < probability else { return nil }
            switch Int.random(in: 0..<4, using: &random) {
            case 0: return .refuse
            case 1: return .cutUpload(after: .random(in: 0...maximumBytes, using: &random))
            case 2: return .cutResponse
            default: return .cutDownload(after: .random(in: 0...maximumBytes, using: &random))
            }
        }
        return conditions
    }
}

/// A request as it comes out of a simulated network.
public struct SimulatedRequest {
    /// The method in upper case.
    public let method: String
    /// The path without query, as it was sent, beginning with a slash.
    public let path: String
    /// The query as it was sent; empty without one.
    public let query: String
    /// The header fields as they were sent.
    public let headers: [(name: String, value: String)]
    /// The next chunk of the body, nil at its end. Throws where the connection breaks; a server then forgets the request.
    public let nextChunk: () throws -> [UInt8]?
}

/// A response as it goes into a simulated network.
public struct SimulatedResponse {
    /// The HTTP status code.
    public let status: Int
    /// The header fields.
    public let headers: [(name: String, value: String)]
    /// The next chunk of the body, nil at its end. Where it throws, the connection breaks.
    public let nextChunk: () throws -> [UInt8]?

    /// What a handler answers: its head, and its body piece by piece until nil.
    public init(status: Int, headers: [(name: String, value: String)] = [], nextChunk: @escaping () throws -> [UInt8]? = { nil }) {
        self.status = status
        self.headers = headers
        self.nextChunk = nextChunk
    }
}

/// A network that exists only in memory: it calls the server's function directly, and breaks, delays and refuses as it is told.
///
/// No threads, no sockets, no waiting: time passes on a ``VirtualClock``, chance comes from a seed. So a year of devices and
/// faults runs in minutes, and the run that found a bug can be repeated.
public final class SimulatedTransport: Transport {
    /// The server's function. Called on the sending thread.
    public typealias Handler = @Sendable (SimulatedRequest) throws -> SimulatedResponse

    /// The clock that latency, bandwidth and delays move.
    public let clock: VirtualClock
    private let handler: Handler

    private struct State {
        var conditions: NetworkConditions
        var random: SeededGenerator
        var requests = 0
    }
    private let state: Mutex<State>

    /// A transport to a handler in this process. The same seed gives the same faults.
    public init(
        conditions: NetworkConditions = NetworkConditions(), seed: UInt64 = 1, clock: VirtualClock = VirtualClock(),
        handler: @escaping Handler
    ) {
        self.clock = clock
        self.handler = handler
        state = Mutex(State(conditions: conditions, random: SeededGenerator(seed: seed)))
    }

    /// How the network behaves from the next request on.
    public var conditions: NetworkConditions {
        get { state.withLock { $0.conditions } }
        set { state.withLock { $0.conditions = newValue } }
    }

    /// How many requests were sent, whatever became of them.
    public var requestCount: Int { state.withLock { $0.requests } }

    public func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        let (conditions, random, fault) = state.withLock { state in
            let fault = state.conditions.fault(state.requests, &state.random)
            state.requests += 1
            return (state.conditions, SeededGenerator(seed: state.random.next()), fault)
        }
        let source = try request.body.makeSource()
        let passage = SimulatedPassage(request, source, conditions, random, fault, clock)
        return try passage.send(to: handler, receive)
    }
}
