import MobileStore
import Synchronization

/// The first pages of queries that were put into words before, by their SQL: a query that comes again with other values is not put into
/// words again.
final class PreparedSelects: Sendable {
    private static let maximum = 128
    private let selects = Mutex<[String: PageSelect]>([:])

    func select(_ page: QueryPage) throws(StoreError) -> PageSelect {
        if let known = selects.withLock({ $0[page.sql] }) { return known }
        let made = try PageSelect(page.query)
        selects.withLock { selects in
            // Programs have a few dozen queries. One that makes texts without end keeps none of them for long.
            if selects.count == Self.maximum { selects.removeAll() }
            selects[page.sql] = made
        }
        return made
    }
}

extension PackageDatabase {
    final var preparedSelects: PreparedSelects { attachment { PreparedSelects() } }
}
