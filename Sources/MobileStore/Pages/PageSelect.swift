internal import MobileCore
package import MobileExecution

/// The first rows of a ``PageQuery``, put into words once: for what is read again and again with other values, such as a row by its key.
///
///     let byName = try PageSelect(PageQuery(["id", "name"], from: "customer", where: "name = ?1", orderedBy: [.init("id")]))
///     let page = try database.page(byName, ["Harbour Foods"])
///
/// Unlike a ``RowCursor`` it stands nowhere: any number of threads may use it at the same time.
@safe public final class PageSelect: Sendable {
    /// Nothing in it changes.
    nonisolated(unsafe) private let handle: OpaquePointer
    private let columnNames: [String]

    /// - Parameter query: its ``PageQuery/values`` do not count; they are given with each page.
    /// - Throws: ``StoreError/Code/misuse``: no columns or no order, or too many.
    public init(_ query: PageQuery) throws(StoreError) {
        columnNames = query.columnNames
        var handle: OpaquePointer?
        let arguments = QueryArguments()
        try unsafe StoreError.check { error in
            var parts = unsafe arguments.query(query)
            return unsafe mc_page_select_create(&parts, &handle, error)
        }
        withExtendedLifetime(arguments) {}
        unsafe self.handle = handle!  // MC_OK promises a select
    }

    deinit { unsafe mc_page_select_free(handle) }

    func fill(_ storage: PageStorage, from connection: OpaquePointer, _ values: [Value], rows: Int, bytes: Int) throws(StoreError) {
        guard rows > 0, bytes > 0 else {
            throw StoreError(.misuse, "a page of \(rows) rows and \(bytes) bytes: use 1 or more of both")
        }
        try unsafe CoreValues.with(values) { (start, count) throws(StoreError) in
            try unsafe storage.fill(columnNames: columnNames) { page, isAtEnd, error in
                unsafe mc_page_select_fill(handle, connection, start, count, page, rows, bytes, &isAtEnd, error)
            }
        }
    }
}

extension Connection {
    /// The first rows of a select.
    /// - Parameters:
    ///   - select: the select.
    ///   - values: those of its parameters, in order.
    ///   - size: rows at most, 1 or more.
    ///   - maximumBytes: the page ends early when it holds so much.
    /// - Throws: ``StoreError``: the SQL is wrong, there is no parameter for a value, reading failed.
    public func page(
        _ select: PageSelect, _ values: [Value] = [], size: Int = 100, maximumBytes: ByteCount = .megabytes(4)
    ) throws(StoreError) -> RowPage {
        let core = unsafe try core()
        let storage = isKnownUniquelyReferenced(&sparePage) ? sparePage! : try PageStorage()
        sparePage = storage
        try unsafe select.fill(storage, from: core, values, rows: size, bytes: maximumBytes.bytes)
        return RowPage(storage)
    }
}

extension Database {
    /// The first rows of a select, on a reader; on this thread's connection inside of a read or write of this thread.
    ///
    /// It is one statement, so it needs no transaction to see one state of the database: several pages that belong together
    /// are read inside of ``read(length:timeout:label:interruption:_:)``.
    ///
    ///     let inCity = try PageSelect(PageQuery(["id", "name"], from: "customer", where: "city = ?1", orderedBy: [.init("name")]))
    ///     let page = try database.page(inCity, ["Dublin"], size: 20)
    ///     for row in page { print("\(row.integer(0)): \(row.string(1) ?? "")") }
    ///
    /// - Parameters: as for ``Connection/page(_:_:size:maximumBytes:)``.
    /// - Throws: ``StoreError`` as well `.closed`.
    public func page(
        _ select: PageSelect, _ values: [Value] = [], size: Int = 100, maximumBytes: ByteCount = .megabytes(4)
    ) throws(StoreError) -> RowPage {
        try page(select, values, size: size, maximumBytes: maximumBytes, timeout: nil)
    }

    /// Reads such a page on a thread of the database's own: for whoever looks at one page and is going to want the next.
    /// - Returns: the page on its way; nil arrives where somebody else needs the readers.
    package func readAhead(_ select: PageSelect, _ values: [Value], size: Int) -> Promise<RowPage?, StoreError> {
        let page = Promise<RowPage?, StoreError>()
        queue.start {
            do throws(StoreError) {
                page.resolve(.success(try self.page(select, values, size: size, maximumBytes: .megabytes(4), timeout: .zero)))
            } catch {
                page.resolve(error.code == .timeout ? .success(nil) : .failure(error))
            }
        }
        return page
    }

    private func page(
        _ select: PageSelect, _ values: [Value], size: Int, maximumBytes: ByteCount, timeout: Duration?
    ) throws(StoreError) -> RowPage {
        let storage = if let spare = sparePage.take() { spare } else { try PageStorage() }
        let connection = unsafe try checkout(.read, timeout: timeout, label: "", interruption: nil)
        defer { unsafe mc_pool_return(pool, connection) }
        try unsafe select.fill(storage, from: connection, values, rows: size, bytes: maximumBytes.bytes)
        sparePage.keep(storage)
        return RowPage(storage)
    }
}
