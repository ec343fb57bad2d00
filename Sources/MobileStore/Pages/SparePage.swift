private import Synchronization

/// The memory of the pages that were read last, for the next ones when nobody refers to it any more: of one page at a time, and of a second
/// one for those who look at a page while the next one is read.
final class SparePage: Sendable {
    private let pages = Mutex<[PageStorage]>([])

    /// A database does not hold on to more than this of each.
    private static let maximumBytes = 256 * 1024
    private static let count = 2

    /// A page that nobody else has; nil where there is none.
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
