internal import MobileExecution
internal import MobileTransport
internal import Synchronization

/// One call of `synchronize` or `beginSynchronize`, from the moment it is queued.
final class SynchronizationRequest: Sendable {
    /// Names of the groups, in the order of the model.
    let groups: [String]
    /// What the caller passed; comes back with every status.
    let context: String?
    /// Sends the outbox, downloads nothing.
    let isUploadOnly: Bool
    let listener: (any SynchronizationStatusListener)?
    let outcome = Promise<SynchronizationResult, SyncError>()
    private let cancelled = Mutex(false)

    init(groups: [String], context: String? = nil, isUploadOnly: Bool = false, listener: (any SynchronizationStatusListener)? = nil) {
        self.groups = groups
        self.context = context
        self.isUploadOnly = isUploadOnly
        self.listener = listener
    }

    var isCancelled: Bool { cancelled.withLock { $0 } }
    func cancel() { cancelled.withLock { $0 = true } }
}

/// The requests for the synchronization thread as a value, first come first served: those that wait and those that it serves. A request is one
/// of the two from the moment it is queued until its synchronization has ended, so that whoever looks for it finds it.
///
/// Neighbours that want the same kind of synchronization are served by one; a request with a listener goes alone, because its listener's states
/// are those of its own synchronization.
struct RequestQueue: Sendable {
    /// The requests that one synchronization serves.
    struct Run: Sendable {
        let requests: [SynchronizationRequest]
        /// Ends what it has under way on the network.
        let cancellation = TransportCancellation()
    }

    private(set) var waiting: [SynchronizationRequest] = []
    /// What runs; more than one where a callback of a synchronization has begun another.
    private(set) var runs: [Run] = []
    /// Whether a thread works on the queue: the one that finds it false starts it.
    private(set) var isServed = false
    /// False between ``disable()`` and ``enable()``.
    private(set) var isEnabled = true

    /// What becomes of a request.
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

    /// The requests that one synchronization serves next; nil, and the queue no longer served, when there are none.
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

    /// A request that is served before all that wait; nil while synchronization is disabled.
    mutating func takeAtOnce(_ request: SynchronizationRequest) -> Run? { isEnabled ? begin([request]) : nil }

    private mutating func begin(_ requests: [SynchronizationRequest]) -> Run {
        let run = Run(requests: requests)
        runs.append(run)
        return run
    }

    /// The synchronization has ended.
    mutating func end(_ run: Run) { runs.removeAll { $0.cancellation === run.cancellation } }

    mutating func enable() { isEnabled = true }

    /// Nothing is queued any more.
    /// - Returns: what is there still.
    mutating func disable() -> [SynchronizationRequest] {
        isEnabled = false
        return waiting + runs.flatMap(\.requests)
    }

    /// The runs that nobody wants any longer.
    var unwanted: [Run] { runs.filter { $0.requests.allSatisfy(\.isCancelled) } }

    /// The groups of several requests, each once, in the order in which `all` has them.
    static func union(_ requests: [SynchronizationRequest], inOrderOf all: [String]) -> [String] {
        let wanted = Set(requests.flatMap(\.groups))
        return all.filter(wanted.contains)
    }
}
