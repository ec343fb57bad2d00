internal import MobileExecution
public import MobileTransport

/// The effect of a simulated network on one request.
public enum NetworkFault: Sendable, Hashable {
    /// No server listens: the request ends with ``TransportError/Code/cannotConnect``, and the server gets nothing.
    case refuse
    /// The connection breaks after this number of bytes of the request's body; a body that is not longer breaks at its end, just before
    /// the server would answer. The server does not get a complete request.
    case cutUpload(after: Int)
    /// The server does all its work, but not even its status arrives.
    case cutResponse
    /// The connection breaks after this number of bytes of the response's body; a body that is not longer breaks at its end.
    case cutDownload(after: Int)
    /// The response begins after this time.
    case delay(Duration)
}

/// The behaviour of a simulated network. Equal values cause equal behaviour, request by request.
public struct NetworkConditions: Sendable {
    /// The time from one end to the other; default none.
    public var latency = Duration.zero
    /// Bytes per second in each direction; nil (default) for no limit.
    public var bytesPerSecond: Int?
    /// The maximum length of the random chunks into which bodies are cut, in bytes; default 16 KB.
    public var longestChunk = 16_384
    /// The fault of the n-th request, from 0; default none.
    public var fault: @Sendable (_ request: Int, _ random: inout SeededGenerator) -> NetworkFault? = { _, _ in nil }

    /// Creates a network without delays and faults.
    public init() {}

    /// Creates a network on which requests fail at random.
    /// - Parameters:
    ///   - probability: the probability of a fault in a request, 0...1.
    ///   - maximumBytes: connections break after 0 to this number of bytes of a body.
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

/// A request at the server's end of a simulated network.
public struct SimulatedRequest {
    /// The method in upper case.
    public let method: String
    /// The path without query, as it was sent, beginning with a slash.
    public let path: String
    /// The query as it was sent; empty without one.
    public let query: String
    /// The header fields as they were sent.
    public let headers: [(name: String, value: String)]
    /// The next chunk of the body, nil at its end. Throws if the connection breaks; a server then discards the request.
    public let nextChunk: () throws -> [UInt8]?
}

/// A response at the server's end of a simulated network.
public struct SimulatedResponse {
    /// The HTTP status code.
    public let status: Int
    /// The header fields.
    public let headers: [(name: String, value: String)]
    /// The next chunk of the body, nil at its end. If it throws, the connection breaks.
    public let nextChunk: () throws -> [UInt8]?

    /// Creates a handler's answer: the head, and the body piece by piece until nil.
    public init(status: Int, headers: [(name: String, value: String)] = [], nextChunk: @escaping () throws -> [UInt8]? = { nil }) {
        self.status = status
        self.headers = headers
        self.nextChunk = nextChunk
    }
}

/// A network that exists only in memory: it calls the server's function directly, and refuses, delays and breaks connections as set.
///
/// No threads, no sockets, no waiting: time is that of a ``VirtualClock``, random numbers come from a seed. A year of devices and faults
/// therefore runs in minutes, and the run that found a bug can be repeated.
public final class SimulatedTransport: Transport {
    /// The server's function. Called on the sending thread.
    public typealias Handler = @Sendable (SimulatedRequest) throws -> SimulatedResponse

    /// The clock that latency, bandwidth and delays advance.
    public let clock: VirtualClock
    private let handler: Handler

    private struct State {
        var conditions: NetworkConditions
        var random: SeededGenerator
        var requests = 0
    }
    private let state: SystemLock<State>

    /// Creates a transport to a handler in this process. The same seed gives the same faults.
    public init(
        conditions: NetworkConditions = NetworkConditions(), seed: UInt64 = 1, clock: VirtualClock = VirtualClock(),
        handler: @escaping Handler
    ) {
        self.clock = clock
        self.handler = handler
        state = SystemLock(State(conditions: conditions, random: SeededGenerator(seed: seed)))
    }

    /// The behaviour of the network from the next request on.
    public var conditions: NetworkConditions {
        get { state.withLock { $0.conditions } }
        set { state.withLock { $0.conditions = newValue } }
    }

    /// The number of requests sent, with any result.
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
