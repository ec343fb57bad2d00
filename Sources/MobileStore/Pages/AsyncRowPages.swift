/// The pages of a ``PageQuery`` in order, for `async` code. They never block a cooperative thread.
///
///     for try await page in database.pages(query, size: 100) {
///         for row in page { show(row.string(1)) }
///     }
///
/// Each page is a separate read: writes may take place between two pages, and the next page continues after the last row of the previous
/// one. While the caller uses one page, the next one is read, if a reader is free at that moment.
public struct AsyncRowPages: AsyncSequence, Sendable {
    let database: Database
    let query: PageQuery
    let size: Int
    let maximumBytes: ByteCount
    let readsAhead: Bool

    /// The rows of all pages, one after the other.
    public var rows: Rows { Rows(pages: self) }

    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// An iterator that reads the pages.
    public struct Iterator: AsyncIteratorProtocol {
        private let pages: AsyncRowPages
        private var source: PageSource?
        /// The read of the next page; it fails with ``StoreError/Code/timeout`` when no reader is free.
        private var ahead: Task<RowPage?, any Error>?

        fileprivate init(_ pages: AsyncRowPages) { self.pages = pages }

        /// Reads the next page; returns `nil` after the last row.
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

        /// Waits for the page that is being read ahead; returns `nil` without one.
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
                return nil  // every reader was in use: the caller now waits for one
            }
        }
    }

    /// The rows of all pages.
    public struct Rows: AsyncSequence, Sendable {
        let pages: AsyncRowPages

        public func makeAsyncIterator() -> Iterator { Iterator(pages: pages.makeAsyncIterator()) }

        /// An iterator over the rows, page by page.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate var pages: AsyncRowPages.Iterator
            fileprivate var rows: RowPage.Iterator?

            /// Returns the next row; `nil` after the last one.
            /// - Throws: the errors of the pages.
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

/// A cursor that consecutive reads use, each on one of the database's threads.
private final class PageSource: @unchecked Sendable {  // the iterator requests a page only after the previous one has arrived
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
    /// Returns the pages of a query by key, in order, as an asynchronous sequence, which can be iterated several times.
    ///
    ///     let byName = PageQuery(["id", "name"], from: "customer", orderedBy: [.init("name"), .init("id")])
    ///     for try await page in database.pages(byName, size: 100) {
    ///         for row in page { print("\(row.integer(0)): \(row.string(1) ?? "")") }
    ///     }
    ///
    /// - Parameters:
    ///   - query: the rows and their order.
    ///   - size: the number of rows of a page, 1 or more.
    ///   - maximumBytes: the number of bytes at which a page ends early.
    ///   - readsAhead: whether the next page is read while the caller uses one, if a reader is free.
    public func pages(
        _ query: PageQuery, size: Int = 100, maximumBytes: ByteCount = .megabytes(4), readsAhead: Bool = true
    ) -> AsyncRowPages {
        AsyncRowPages(database: self, query: query, size: size, maximumBytes: maximumBytes, readsAhead: readsAhead)
    }
}
