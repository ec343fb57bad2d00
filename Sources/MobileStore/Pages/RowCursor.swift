internal import MobileCore

/// A position in the rows of a ``PageQuery``, which reads pages by key, forwards and backwards.
///
///     let cursor = try RowCursor(query, size: 100)
///     let first = try database.read { try cursor.next(in: $0) }
///     let second = try database.read { try cursor.next(in: $0) }      // after the last row of the first page, on any connection
///
/// Between pages it holds only its position: no connection, no statement, no snapshot. With an index in this order, every page costs as
/// much as the first one. Rows that are inserted or deleted meanwhile do not shift the pages.
@safe public final class RowCursor {
    private let handle: OpaquePointer
    private let columnNames: [String]
    private let size: Int
    private let maximumBytes: Int
    /// The memory of the last page, reused for the next one when it is no longer referenced.
    private var storage: PageStorage?

    /// Whether the most recent page was the last one in its direction.
    public private(set) var isAtEnd = false

    /// Makes a cursor before the first row.
    /// - Parameters:
    ///   - query: the rows and their order.
    ///   - size: the number of rows of a page, 1 or more.
    ///   - maximumBytes: the number of bytes at which a page ends early.
    /// - Throws: ``StoreError/Code/misuse``: no columns or no order, or too many; a page of no rows.
    public init(_ query: PageQuery, size: Int = 100, maximumBytes: ByteCount = .megabytes(4)) throws(StoreError) {
        guard size > 0, maximumBytes.bytes > 0 else {
            throw StoreError(.misuse, "a page of \(size) rows and \(maximumBytes): use 1 or more of both")
        }
        self.size = size
        self.maximumBytes = maximumBytes.bytes
        columnNames = query.columnNames
        var handle: OpaquePointer?
        let arguments = QueryArguments()
        try unsafe StoreError.check { error in
            var parts = unsafe arguments.query(query)
            return unsafe mc_cursor_create(&parts, &handle, error)
        }
        withExtendedLifetime(arguments) {}
        unsafe self.handle = handle!  // MC_OK promises a cursor
        try setValues(query.values)
    }

    deinit { unsafe mc_cursor_free(handle) }

    /// Sets the values of the query's parameters, in place of all earlier ones. The cursor keeps its position.
    public func setValues(_ values: [Value]) throws(StoreError) {
        try unsafe CoreValues.with(values) { (start, count) throws(StoreError) in
            try unsafe StoreError.check { unsafe mc_cursor_set_values(handle, start, count, $0) }
        }
    }

    /// Reads the page after the previous one. Returns `nil` when there are no more rows; the cursor is then after the last row.
    /// - Throws: ``StoreError``: the SQL is wrong, there is no parameter for a value, reading failed. The cursor keeps its position.
    public func next(in connection: Connection) throws(StoreError) -> RowPage? { try next(in: connection, size: size) }

    /// Reads a page of another size, 1 row or more.
    package func next(in connection: Connection, size: Int) throws(StoreError) -> RowPage? {
        let core = unsafe try connection.core()
        return try unsafe fill { page, isAtEnd, error in
            unsafe mc_cursor_next(handle, core, page, size, maximumBytes, &isAtEnd, error)
        }
    }

    /// Drops the memory of the last page, so that the next one gets its own: for a next page on another thread, while the last one is in use.
    package func dropMemory() { storage = nil }

    /// Reads the page before the previous one, in the query's order. Returns `nil` when there are no earlier rows; the cursor is then before
    /// the first row.
    /// - Throws: as ``next(in:)``.
    public func previous(in connection: Connection) throws(StoreError) -> RowPage? {
        let core = unsafe try connection.core()
        return try unsafe fill { page, isAtEnd, error in
            unsafe mc_cursor_previous(handle, core, page, size, maximumBytes, &isAtEnd, error)
        }
    }

    /// Skips the next `count` rows, at a cost that grows with their number.
    /// - Returns: the number of skipped rows, fewer only at the end.
    /// - Throws: as ``next(in:)``.
    @discardableResult
    public func skip(_ count: Int, in connection: Connection) throws(StoreError) -> Int {
        let core = unsafe try connection.core()
        var skipped: Int64 = 0
        try unsafe StoreError.check { unsafe mc_cursor_skip(handle, core, Int64(count), &skipped, $0) }
        return Int(skipped)
    }

    /// The positions of a cursor without a row.
    public enum Edge: Sendable {
        /// Before the first row.
        case start
        /// After the last row.
        case end
    }

    /// Moves to the beginning or to the end.
    public func rewind(to edge: Edge = .start) { unsafe mc_cursor_rewind(handle, edge == .end) }

    /// Moves to the position of a row with these values of the order's terms, which need not exist: ``next(in:)`` reads the rows after it,
    /// ``previous(in:)`` those before it.
    /// - Throws: ``StoreError/Code/misuse``: the number of values is not the number of terms.
    public func seek(to position: [Value]) throws(StoreError) {
        try unsafe CoreValues.with(position) { (start, count) throws(StoreError) in
            try unsafe StoreError.check { unsafe mc_cursor_seek(handle, start, count, $0) }
        }
    }

    /// The order's values of the last row of the page, for a later ``seek(to:)``; `nil` before the first page and at the edges.
    public var position: [Value]? {
        var values: [Value] = []
        var value = unsafe mc_value()
        while unsafe mc_cursor_position(handle, true, values.count, &value) { values.append(unsafe Value(value)) }
        return values.isEmpty ? nil : values
    }

    private func fill(
        _ call: (UnsafeMutablePointer<mc_row_page>, inout Bool, UnsafeMutablePointer<mc_error>) -> mc_status
    ) throws(StoreError) -> RowPage? {
        let storage = isKnownUniquelyReferenced(&storage) ? self.storage! : try PageStorage()
        self.storage = storage
        isAtEnd = try unsafe storage.fill(columnNames: columnNames, call)
        return storage.rowCount > 0 ? RowPage(storage) : nil
    }
}
