internal import MobileExecution
internal import MobileTransport

/// A piece of work with the network.
enum SyncCommand: Sendable, Equatable {
    case syncAll
    /// Primary: the model that the application named; the others are those that it refers to.
    case sync(sources: [Int], primary: Int?)
    case search(SearchRequest)
    case login(user: String, password: String)
}

/// The search that one call requests.
struct SearchRequest: Sendable, Equatable {
    var sources: [Int]
    var path: String
    var parameters: String
    var syncChanges: Bool
    var progressStep: Int
}

/// The receivers of a run's notifications.
struct RunAudience: Sendable {
    /// Whether the callbacks that the application has set are called.
    var callsCallbacks: Bool
    /// Called with every notification.
    var observer: (@Sendable (RhoConnectNotify) -> Void)?
    /// Called with the last notification; for searches and logins.
    var final: NotificationCallback?
}

/// The runs of one client: one after another, on one thread. A command that already waits is not added again.
final class RunQueue: Sendable {
    typealias Result = Promise<RhoConnectNotify, Never>

    /// A run that waits or works.
    struct Entry: Sendable {
        let command: SyncCommand
        let audience: RunAudience
        let cancellation = TransportCancellation()
        let result = Result()
        let work: @Sendable (Entry) -> RhoConnectNotify
    }

    private struct State {
        var waiting: [Entry] = []
        var current: Entry?
        var isWorking = false
    }
    private let state = SystemLock(State())
    private let worker = BlockingWork(threads: 1)

    /// The queue whose thread this is: a call from one of its callbacks must not wait for itself.
    @TaskLocal private static var current: RunQueue?
    var isOwnThread: Bool { Self.current === self }

    /// Whether a run is in progress or waits.
    var isBusy: Bool { state.withLock { $0.current != nil || !$0.waiting.isEmpty } }
    var isWaiting: Bool { state.withLock { !$0.waiting.isEmpty } }
    /// The command in progress.
    var currentCommand: SyncCommand? { state.withLock { $0.current?.command } }

    func submit(_ command: SyncCommand, _ audience: RunAudience, _ work: @escaping @Sendable (Entry) -> RhoConnectNotify) -> Result {
        let (result, starts) = state.withLock { state -> (Result, Bool) in
            // Only work whose notifications go to the same receivers is the same work.
            if audience.observer == nil, audience.final == nil,
                let same = state.waiting.first(where: {
                    $0.command == command && $0.audience.observer == nil && $0.audience.final == nil
                        && $0.audience.callsCallbacks == audience.callsCallbacks
                })
            {
                return (same.result, false)
            }
            let entry = Entry(command: command, audience: audience, work: work)
            state.waiting.append(entry)
            defer { state.isWorking = true }
            return (entry.result, !state.isWorking)
        }
        if starts { worker.start { [self] in drain() } }
        return result
    }

    private func drain() {
        while let entry = next() {
            let notify = Self.$current.withValue(self) { entry.work(entry) }
            state.withLock { $0.current = nil }
            entry.result.resolve(.success(notify))
        }
    }

    private func next() -> Entry? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isWorking = false
                return nil
            }
            state.current = state.waiting.removeFirst()
            return state.current
        }
    }

    /// Stops the run in progress, and waits for its end, except on its own thread.
    func stop() {
        guard let entry = state.withLock({ $0.current }) else { return }
        entry.cancellation.cancel()
        if !isOwnThread { _ = entry.result.wait() }
    }

    /// Stops the run in progress, without a wait.
    func cancelCurrent() { state.withLock { $0.current }?.cancellation.cancel() }

    /// Stops everything, without a wait.
    func close() {
        for entry in state.withLock({ ($0.current.map { [$0] } ?? []) + $0.waiting }) { entry.cancellation.cancel() }
    }
}

extension Promise where Value == RhoConnectNotify, Failure == Never {
    /// The result, awaited without blocking a thread.
    var notification: RhoConnectNotify {
        get async {
            await withCheckedContinuation { continuation in
                observe { if case .success(let notify) = $0 { continuation.resume(returning: notify) } }
            }
        }
    }
}
