import Foundation
import MobileStore

/// The next page on its way, read on a thread of the database's own.
///
/// Not a `Mutex`: a blocking caller waits for the page, and that takes a condition.
final class PageAhead: @unchecked Sendable {
    private let condition = NSCondition()
    private var result: Result<RowPage?, StoreError>?
    private var continuation: (@Sendable (Result<RowPage?, StoreError>) -> Void)?

    /// Begins to read.
    init(_ store: Database, _ select: PageSelect, _ values: [Value], size: Int) {
        store.readAhead(select, values, size: size) { [self] in arrived($0) }
    }

    /// Waits for the page, which is taken once; nil where no reader was free.
    func take() throws(StoreError) -> RowPage? {
        condition.lock()
        while result == nil { condition.wait() }
        defer { condition.unlock() }
        return try result!.get()
    }

    func take() async throws -> RowPage? {
        try await withCheckedThrowingContinuation { continuation in whenArrived { continuation.resume(with: $0) } }
    }

    private func whenArrived(_ body: @escaping @Sendable (Result<RowPage?, StoreError>) -> Void) {
        condition.lock()
        let known = result
        if known == nil { continuation = body }
        condition.unlock()
        if let known { body(known) }
    }

    private func arrived(_ page: Result<RowPage?, StoreError>) {
        condition.lock()
        result = page
        let body = continuation
        continuation = nil
        condition.signal()
        condition.unlock()
        body?(page)
    }
}
