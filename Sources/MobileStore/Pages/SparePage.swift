internal import MobileExecution

/// The memory of recent pages, reused for the next ones when it is no longer referenced. It keeps two pages, because two threads may read at
/// the same time.
final class SparePage: Sendable {
    private let pages = SystemLock<[PageStorage]>([])

    /// A larger page is not kept.
    private static let maximumBytes = 256 * 1024
    private static let count = 2

    /// Takes a page without other references; nil without one.
    func take() -> PageStorage? {
        pages.withLock { pages in
            for index in pages.indices where isKnownUniquelyReferenced(&pages[index]) { return pages.remove(at: index) }
            return nil
        }
    }

    func keep(_ page: PageStorage) {
        guard page.memory <= Self.maximumBytes else { return }
        pages.withLock { pages in
            if pages.count == Self.count { pages.removeFirst() }
            pages.append(page)
        }
    }
}
