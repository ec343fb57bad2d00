internal import MobileExecution
internal import MobileTransport

/// One call of `synchronize` or `beginSynchronize`, from the moment it is queued.
final class SynchronizationRequest: Sendable {
    /// Names of the groups, in the order of the model.
    let groups: [String]
    /// The caller's context, which every status includes.
    let context: String?
    /// Whether the request only sends the outbox and downloads nothing.
    let isUploadOnly: Bool
    /// Whether the server's announcement of changes is the reason.
    let isNotified: Bool
    let listener: (any SynchronizationStatusListener)?
    let outcome = Promise<SynchronizationResult, SyncError>()
    private let cancelled = SystemLock(false)

    init(
        groups: [String], context: String? = nil, isUploadOnly: Bool = false, isNotified: Bool = false,
        listener: (any SynchronizationStatusListener)? = nil
    ) {
        self.groups = groups
        self.context = context
        self.isUploadOnly = isUploadOnly
        self.isNotified = isNotified
        self.listener = listener
    }

    var isCancelled: Bool { cancelled.withLock { $0 } }
    func cancel() { cancelled.withLock { $0 = true } }
}

/// The requests for the synchronization thread as a value, in the order of their arrival: those that wait and those that it serves. A request is one
/// of the two from the moment it is queued until its synchronization has ended, so that a search never misses it.
///
/// One synchronization serves adjacent requests of the same kind. A request with a listener is served alone, because its listener's states are those
/// of its own synchronization.
struct RequestQueue: Sendable {
    /// The requests that one synchronization serves.
    struct Run: Sendable {
        let requests: [SynchronizationRequest]
        /// Ends the requests of the run on the network.
        let cancellation: TransportCancellation
    }

    private(set) var waiting: [SynchronizationRequest] = []
    /// The running synchronizations; more than one if a callback of a synchronization has begun another one.
    private(set) var runs: [Run] = []
    /// Whether a thread serves the queue: the caller that finds it false starts one.
    private(set) var isServed = false
    /// False between ``disable()`` and ``enable()``.
    private(set) var isEnabled = true

    /// The result of an attempt to queue a request.
    enum Admission: Equatable, Sendable {
        /// - Parameter startsWork: the caller has to start serving the queue.
        case queued(startsWork: Bool)
        /// Synchronization is disabled.
        case refused
    }

    mutating func add(_ request: SynchronizationRequest) -> Admission {
        guard isEnabled else { return .refused }
        waiting.append(request)
        defer { isServed = true }
        return .queued(startsWork: !isServed)
    }

    /// Takes the requests that one synchronization serves next. Returns nil, and ends the service of the queue, if there are none.
    mutating func take() -> Run? {
        guard let first = waiting.first else {
            isServed = false
            return nil
        }
        var count = 1
        if first.listener == nil {
            while count < waiting.count, waiting[count].listener == nil, waiting[count].isUploadOnly == first.isUploadOnly { count += 1 }
        }
        defer { waiting.removeFirst(count) }
        return begin(Array(waiting[..<count]))
    }

    /// Begins a request before all that wait; nil while synchronization is disabled.
    /// - Parameter cancellation: ends it on the network, with the request that it is a part of; nil for one of its own.
    mutating func takeAtOnce(_ request: SynchronizationRequest, _ cancellation: TransportCancellation? = nil) -> Run? {
        isEnabled ? begin([request], cancellation ?? TransportCancellation()) : nil
    }

    /// Removes a request that waits; false if it does not wait any longer.
    mutating func withdraw(_ request: SynchronizationRequest) -> Bool {
        guard let index = waiting.firstIndex(where: { $0 === request }) else { return false }
        waiting.remove(at: index)
        return true
    }

    /// Whether the synchronization of a request also serves requests that are not cancelled.
    func isShared(_ request: SynchronizationRequest) -> Bool {
        runs.contains { run in run.requests.contains { $0 === request } && !run.requests.allSatisfy(\.isCancelled) }
    }

    private mutating func begin(_ requests: [SynchronizationRequest], _ cancellation: TransportCancellation = TransportCancellation()) -> Run {
        let run = Run(requests: requests, cancellation: cancellation)
        runs.append(run)
        return run
    }

    /// The synchronization has ended.
    mutating func end(_ run: Run) { runs.removeAll { $0.cancellation === run.cancellation } }

    mutating func enable() { isEnabled = true }

    /// Refuses further requests.
    /// - Returns: the requests that wait or run.
    mutating func disable() -> [SynchronizationRequest] {
        isEnabled = false
        return waiting + runs.flatMap(\.requests)
    }

    /// The runs whose requests are all cancelled.
    var unwanted: [Run] { runs.filter { $0.requests.allSatisfy(\.isCancelled) } }

    /// Returns the groups of several requests, each once, in the order of `all`.
    static func union(_ requests: [SynchronizationRequest], inOrderOf all: [String]) -> [String] {
        let wanted = Set(requests.flatMap(\.groups))
        return all.filter(wanted.contains)
    }
}
