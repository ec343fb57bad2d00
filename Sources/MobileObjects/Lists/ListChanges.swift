import MobileStore
import Synchronization

/// Counts the commits that may have changed a list. The list asks; nobody is called.
final class ListChanges: Sendable {
    /// The database that is watched.
    let store: Database
    private let counter: Counter
    private let observation: Observation

    /// What the observer counts in, apart from the list, so that the list may go while a commit is told.
    private final class Counter: Sendable {
        let commits = Atomic(0)
    }

    init(_ store: Database, of tables: Set<String>) throws(StoreError) {
        let counter = Counter()
        (self.store, self.counter) = (store, counter)
        observation = try store.observe(tables) { _ in counter.commits.add(1, ordering: .acquiringAndReleasing) }
    }

    /// Commits so far.
    var count: Int { counter.commits.load(ordering: .acquiring) }
}
