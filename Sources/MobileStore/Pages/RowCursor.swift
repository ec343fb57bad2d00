internal import MobileCore

/// Pages through the rows of a ``PageQuery`` by key, forwards and backwards.
///
///     let cursor = try RowCursor(query, size: 100)
///     let first = try database.read { try cursor.next(in: $0) }
///     let second = try database.read { try cursor.next(in: $0) }      // behind the last row of the first one, on any connection
///
/// Between pages it holds nothing but the place where it stands: no connection, no statement, no snapshot. Any page costs what the
/// first one does if an index has the order. Rows that come or go meanwhile shift nothing.
@safe public final class RowCursor {
    private let handle: OpaquePointer
    private let columnNames: [String]
    private let size: Int
    private let maximumBytes: Int
    /// The memory of the last page, for the next one when nobody refers to it any more.
    private var storage: PageStorage?

    /// Whether the page read last was the last one in its direction.
    public private(set) var isAtEnd = false

    /// A cursor before the first row.
    /// - Parameters:
    ///   - query: the rows and their order.
    ///   - size: rows of a page, 1 or more.
    ///   - maximumBytes: a page ends early when it holds so much.
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

    /// Sets the values of the query's parameters, in place of all earlier ones. The cursor stays where it is.
    public func setValues(_ values: [Value]) throws(StoreError) {
        try unsafe CoreValues.with(values) { (start, count) throws(StoreError) in
            try unsafe StoreError.check { unsafe mc_cursor_set_values(handle, start, count, $0) }
        }
    }

    /// The page behind the last one; `nil` behind the last row, where the cursor then stands.
    /// - Throws: ``StoreError``: the SQL is wrong, there is no parameter for a value, reading failed. The cursor is where it was.
    public func next(in connection: Connection) throws(StoreError) -> RowPage? {
        let core = unsafe try connection.core()
        return try unsafe fill { page, isAtEnd, error in
            unsafe mc_cursor_next(handle, core, page, size, maximumBytes, &isAtEnd, error)
        }
    }

    /// The page before the last one, in the query's order; `nil` before the first row, where the cursor then stands.
    /// - Throws: as ``next(in:)``.
    public func previous(in connection: Connection) throws(StoreError) -> RowPage? {
        let core = unsafe try connection.core()
        return try unsafe fill { page, isAtEnd, error in
            unsafe mc_cursor_previous(handle, core, page, size, maximumBytes, &isAtEnd, error)
        }
    }

    /// Goes over the next `count` rows, at a cost that grows with their number.
    /// - Returns: how many there were, fewer only at the end.
    /// - Throws: as ``next(in:)``.
    @discardableResult
    public func skip(_ count: Int, in connection: Connection) throws(StoreError) -> Int {
        let core = unsafe try connection.core()
        var skipped: Int64 = 0
        try unsafe StoreError.check { unsafe mc_cursor_skip(handle, core, Int64(count), &skipped, $0) }
        return Int(skipped)
    }

    /// Where a cursor can go without a row.
    public enum Edge: Sendable {
        /// Before the first row.
        case start
        /// Behind the last row.
        case end
    }

    /// Goes to the beginning or to the end.
    public func rewind(to edge: Edge = .start) { unsafe mc_cursor_rewind(handle, edge == .end) }

    /// Goes to where a row with these values of the order's terms is or would be: ``next(in:)`` gives the rows behind it,
    /// ``previous(in:)`` those before it.
    /// - Throws: ``StoreError/Code/misuse``: another number of values than terms.
    public func seek(to position: [Value]) throws(StoreError) {
        try unsafe CoreValues.with(position) { (start, count) throws(StoreError) in
            try unsafe StoreError.check { unsafe mc_cursor_seek(handle, start, count, $0) }
        }
    }

    /// The order's values of the last row of the page, for ``seek(to:)`` at another time; `nil` before the first page and at the edges.
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
