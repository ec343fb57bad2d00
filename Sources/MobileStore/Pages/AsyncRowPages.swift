/// The pages of a ``PageQuery`` in order, for `async` code. No cooperative thread ever waits for the database.
///
///     for try await page in database.pages(query, size: 100) {
///         for row in page { show(row.string(1)) }
///     }
///
/// Each page is a read of its own, so between two pages others may write, and the next page goes on behind the last row seen. While one
/// page is looked at the next one is read, on a reader that nobody else needs at that moment.
public struct AsyncRowPages: AsyncSequence, Sendable {
    let database: Database
    let query: PageQuery
    let size: Int
    let maximumBytes: ByteCount
    let readsAhead: Bool

    /// The rows of all pages, one after the other.
    public var rows: Rows { Rows(pages: self) }

    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// Reads the pages.
    public struct Iterator: AsyncIteratorProtocol {
        private let pages: AsyncRowPages
        private var source: PageSource?
        /// The next page on its way; it fails with ``StoreError/Code/timeout`` where no reader was free.
        private var ahead: Task<RowPage?, any Error>?

        fileprivate init(_ pages: AsyncRowPages) { self.pages = pages }

        /// The next page; `nil` behind the last row.
        /// - Throws: as ``RowCursor/next(in:)``; `CancellationError` when the task is cancelled.
        public mutating func next() async throws -> RowPage? {
            let source = try self.source ?? PageSource(pages)
            self.source = source
            var page = try await arrived()
            if page == nil { page = try await source.read(timeout: nil) }
            guard let page, !source.isAtEnd else {
                self.source?.finish()
                return page
            }
            if pages.readsAhead { ahead = Task { try await source.read(timeout: .zero) } }
            return page
        }

        /// The page that was read ahead; `nil` where there is none.
        private mutating func arrived() async throws -> RowPage? {
            guard let ahead else { return nil }
            self.ahead = nil
            do {
                return try await withTaskCancellationHandler {
                    try await ahead.value
                } onCancel: {
                    ahead.cancel()
                }
            } catch let error as StoreError where error.code == .timeout {
                return nil  // every reader was in use: now it is worth waiting for one
            }
        }
    }

    /// The rows of all pages.
    public struct Rows: AsyncSequence, Sendable {
        let pages: AsyncRowPages

        public func makeAsyncIterator() -> Iterator { Iterator(pages: pages.makeAsyncIterator()) }

        /// Goes through the rows of a page, then to the next one.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate var pages: AsyncRowPages.Iterator
            fileprivate var rows: RowPage.Iterator?

            /// The next row; `nil` behind the last one.
            /// - Throws: as the pages do.
            public mutating func next() async throws -> Row? {
                while true {
                    if let row = rows?.next() { return row }
                    guard let page = try await pages.next() else { return nil }
                    rows = page.makeIterator()
                }
            }
        }
    }
}

/// A cursor that one read after the other uses, each on a thread of the database's own.
private final class PageSource: @unchecked Sendable {  // the iterator asks for a page only when the one before has arrived
    private let database: Database
    private let cursor: RowCursor
    private var isFinished = false

    init(_ pages: AsyncRowPages) throws(StoreError) {
        database = pages.database
        cursor = try RowCursor(pages.query, size: pages.size, maximumBytes: pages.maximumBytes)
    }

    var isAtEnd: Bool { isFinished || cursor.isAtEnd }

    func finish() { isFinished = true }

    func read(timeout: Duration?) async throws -> RowPage? {
        guard !isAtEnd else { return nil }
        return try await database.read(timeout: timeout) { [self] connection in try cursor.next(in: connection) }
    }
}

extension Database {
    /// The pages of a query by key, in order, as an asynchronous sequence; it can be gone through several times.
    ///
    ///     let byName = PageQuery(["id", "name"], from: "customer", orderedBy: [.init("name"), .init("id")])
    ///     for try await page in database.pages(byName, size: 100) {
    ///         for row in page { print("\(row.integer(0)): \(row.string(1) ?? "")") }
    ///     }
    ///
    /// - Parameters:
    ///   - query: the rows and their order.
    ///   - size: rows of a page, 1 or more.
    ///   - maximumBytes: a page ends early when it holds so much.
    ///   - readsAhead: whether the next page is read while one is looked at, where a reader is free.
    public func pages(
        _ query: PageQuery, size: Int = 100, maximumBytes: ByteCount = .megabytes(4), readsAhead: Bool = true
    ) -> AsyncRowPages {
        AsyncRowPages(database: self, query: query, size: size, maximumBytes: maximumBytes, readsAhead: readsAhead)
    }
}
