internal import MobileExecution
import MobileStore

/// Waits, without a thread, for commits that touch some tables. Commits between two waits count as one.
final class CommitWatch: Sendable {
    /// The database that is watched.
    let store: Database
    private let signal: Signal
    private let observation: Observation

    /// - Parameter concerns: whether a commit that touches the tables counts.
    init(_ store: Database, of tables: Set<String>, where concerns: @escaping @Sendable (CommittedChanges) -> Bool) throws(StoreError) {
        let signal = Signal()
        (self.store, self.signal) = (store, signal)
        observation = try store.observe(tables) { changes in
            if concerns(changes) { signal.raise() }
        }
    }

    /// Waits for the next commit, or for the first one since the last call.
    /// - Returns: false when the task is cancelled or the watch has ended.
    func changed() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in signal.wait(continuation) }
        } onCancel: {
            signal.cancel()
        }
    }

    /// Ends the watch: no further commit is reported.
    func end() { signal.end() }

    /// The observer's signal, separate from the watch, so that the watch may go away during the notification of a commit.
    private final class Signal: Sendable {
        private struct State {
            var isRaised = false
            var isOver = false
            var waiting: CheckedContinuation<Bool, Never>?
        }
        private let state = SystemLock(State())

        func raise() {
            let waiting = state.withLock { state in
                guard let waiting = state.waiting else {
                    state.isRaised = true
                    return nil as CheckedContinuation<Bool, Never>?
                }
                state.waiting = nil
                return waiting
            }
            waiting?.resume(returning: true)
        }

        func wait(_ continuation: CheckedContinuation<Bool, Never>) {
            let answer = state.withLock { state -> Bool? in
                if state.isOver { return false }
                if state.isRaised {
                    state.isRaised = false
                    return true
                }
                state.waiting = continuation
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }

        /// Ends the watch: a cancelled task stays cancelled, and its iterator with it.
        func cancel() { end() }

        func end() {
            let waiting = state.withLock { state in
                defer { state.waiting = nil }
                state.isOver = true
                return state.waiting
            }
            waiting?.resume(returning: false)
        }
    }
}

/// The watches of a package database, which end when it is closed.
final class CommitWatches: ClosingObserver, Sendable {
    private struct Entry {
        weak var watch: CommitWatch?
    }
    private let entries = SystemLock<[Entry]>([])

    func add(_ watch: CommitWatch) {
        entries.withLock { entries in
            entries.removeAll { $0.watch == nil }
            entries.append(Entry(watch: watch))
        }
    }

    /// Ends the watches of a database.
    func closed(_ store: Database) {
        let ended = entries.withLock { entries in
            let watches = entries.compactMap(\.watch).filter { $0.store === store }
            entries.removeAll { entry in entry.watch == nil || watches.contains { $0 === entry.watch } }
            return watches
        }
        for watch in ended { watch.end() }
    }
}
