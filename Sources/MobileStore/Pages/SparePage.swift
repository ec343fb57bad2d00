private import Synchronization

/// The memory of a page that was read last, for the next one: most pages are gone when the next one is asked for.
final class SparePage: Sendable {
    private let storage = Mutex<PageStorage?>(nil)

    /// A database does not hold on to more than this.
    private static let maximumBytes = 256 * 1024

    /// The page, which somebody may still read; nobody else gets it meanwhile.
    func take() -> PageStorage? {
        storage.withLock { storage in
            defer { storage = nil }
            return storage
        }
    }

    func keep(_ page: PageStorage) {
        guard page.memory <= Self.maximumBytes else { return }
        storage.withLock { $0 = page }
    }
}
