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
    let outcome = Outcome<SynchronizationResult>()
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

/// The requests that wait for the synchronization thread, first come first served. Neighbours that want the same kind of
/// synchronization are served by one; a request with a listener goes alone, because its listener's states are those of its own synchronization.
struct RequestQueue: Sendable {
    private(set) var waiting: [SynchronizationRequest] = []
    /// Whether a thread works on the queue: the one that finds it false starts it.
    private(set) var isServed = false

    /// - Returns: true when the caller has to start the work.
    mutating func add(_ request: SynchronizationRequest) -> Bool {
        waiting.append(request)
        defer { isServed = true }
        return !isServed
    }

    /// The requests that one synchronization serves next; empty, and the queue no longer served, when there are none.
    mutating func take() -> [SynchronizationRequest] {
        guard let first = waiting.first else {
            isServed = false
            return []
        }
        var count = 1
        if first.listener == nil {
            while count < waiting.count, waiting[count].listener == nil, waiting[count].isUploadOnly == first.isUploadOnly { count += 1 }
        }
        defer { waiting.removeFirst(count) }
        return Array(waiting[..<count])
    }

    /// The groups of several requests, each once, in the order in which `all` has them.
    static func union(_ requests: [SynchronizationRequest], inOrderOf all: [String]) -> [String] {
        let wanted = Set(requests.flatMap(\.groups))
        return all.filter(wanted.contains)
    }
}
