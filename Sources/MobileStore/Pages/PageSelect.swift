internal import MobileCore

/// A SELECT of the first rows of a ``PageQuery``, whose SQL is built once: for repeated reads with different values, such as a row by its key.
///
///     let byName = try PageSelect(PageQuery(["id", "name"], from: "customer", where: "name = ?1", orderedBy: [.init("id")]))
///     let page = try database.page(byName, ["Harbour Foods"])
///
/// Unlike a ``RowCursor``, it has no position: any number of threads may use it at the same time.
@safe public final class PageSelect: Sendable {
    /// The core's select, which never changes.
    nonisolated(unsafe) private let handle: OpaquePointer
    private let columnNames: [String]

    /// Makes a select.
    /// - Parameter query: the query. Its ``PageQuery/values`` are ignored; each page has its own.
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
    /// Reads the first rows of a select.
    /// - Parameters:
    ///   - select: the select.
    ///   - values: the values of its parameters, in order.
    ///   - size: the largest number of rows, 1 or more.
    ///   - maximumBytes: the number of bytes at which the page ends early.
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
    /// Reads the first rows of a select on a reader; inside of a read or write of this thread, on its connection.
    ///
    /// One page is one statement, which always sees one state of the database. Read several pages that belong together
    /// inside of ``read(length:timeout:label:interruption:_:)``.
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
        let storage = if let spare = sparePage.take() { spare } else { try PageStorage() }
        let connection = unsafe try checkout(.read, timeout: nil, label: "", interruption: nil)
        defer { unsafe mc_pool_return(pool, connection) }
        try unsafe select.fill(storage, from: connection, values, rows: size, bytes: maximumBytes.bytes)
        sparePage.keep(storage)
        return RowPage(storage)
    }
}
