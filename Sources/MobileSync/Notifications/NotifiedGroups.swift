internal import MobileExecution
internal import MobileObjects

/// The groups that the server has news of, until they are synchronized: each group at most once in its interval, and again after a failure that may
/// pass.
final class NotifiedGroups: Sendable {
    private struct State {
        var owed = Set<String>()
        /// The earliest time of the next synchronization, by group.
        var notBefore: [String: ContinuousClock.Instant] = [:]
        var isSynchronizing = false
        var failures = 0
        var timer: WorkTimer?
        var isStopped = false
    }

    private let state = SystemLock(State())
    /// Queues a synchronization of the groups; returns its result, or nil if it cannot be queued now.
    private let synchronize: @Sendable ([String]) -> Promise<SynchronizationResult, SyncError>?
    private let interval: @Sendable (String) -> Duration
    private let policy: RetryPolicy
    private let random: RandomNumberSource
    private let work: any SerialWork

    init(
        _ policy: RetryPolicy, _ random: RandomNumberSource, _ work: any SerialWork, interval: @escaping @Sendable (String) -> Duration,
        synchronize: @escaping @Sendable ([String]) -> Promise<SynchronizationResult, SyncError>?
    ) {
        (self.policy, self.random, self.work) = (policy, random, work)
        (self.interval, self.synchronize) = (interval, synchronize)
    }

    /// Adds groups, and synchronizes what is due.
    func add(_ groups: some Sequence<String>) {
        state.withLock { $0.owed.formUnion(groups) }
        proceed()
    }

    /// Forgets all groups. A synchronization in progress ends by itself.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            state.owed = []
            state.timer?.cancel()
        }
    }

    private func proceed() {
        let due = state.withLock { state -> [String] in
            guard !state.isStopped, !state.isSynchronizing, !state.owed.isEmpty else { return [] }
            let now = ContinuousClock.now
            let due = state.owed.filter { state.notBefore[$0].map { $0 <= now } ?? true }
            guard !due.isEmpty else {
                let next = state.owed.compactMap { state.notBefore[$0] }.min() ?? now
                set(&state, after: next - now)
                return []
            }
            state.owed.subtract(due)
            state.isSynchronizing = true
            for group in due { state.notBefore[group] = now + interval(group) }
            return due.sorted()
        }
        guard !due.isEmpty else { return }
        guard let outcome = synchronize(due) else {
            return ended(due, .failure(SyncError(.synchronize, .unavailable, "synchronization is disabled")))
        }
        outcome.observe { [self] in ended(due, $0) }
    }

    private func ended(_ groups: [String], _ result: Result<SynchronizationResult, SyncError>) {
        state.withLock { state in
            state.isSynchronizing = false
            guard case .failure(let error) = result else {
                state.failures = 0
                return
            }
            // A refusal of the application, and errors that a repetition does not help against, wait for the next news.
            guard error.isRecoverable || error.isTemporary, !state.isStopped else { return }
            var random = random
            let delay = policy.delay(failures: state.failures, retryAfter: error.retryAfter, using: &random)
            state.failures += 1
            state.owed.formUnion(groups)
            for group in groups { state.notBefore[group] = .now + delay }
        }
        proceed()
    }

    private func set(_ state: inout State, after delay: Duration) {
        state.timer?.cancel()
        state.timer = work.timer(after: delay) { [weak self] in self?.proceed() }
    }
}
