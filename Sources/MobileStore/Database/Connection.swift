internal import MobileCore

/// A connection of a ``Database``, valid inside of the closure that receives it.
///
/// After the closure has returned, its methods throw ``StoreError/Code/misuse``.
@safe public final class Connection {
    /// The core's connection; `nil` after it was returned to the pool.
    private var handle: OpaquePointer?

    let database: Database

    /// The memory of a released page, reused for the next one.
    var sparePage: PageStorage?

    /// The users of the core's connection other than statements: imports and exports.
    private var borrowers: [WeakBorrower] = []

    init(_ handle: OpaquePointer, of database: Database) {
        unsafe self.handle = handle
        self.database = database
    }

    /// Registers a borrower, which must release the core's connection before its transaction ends.
    func lend(to borrower: some ConnectionBorrower) {
        borrowers.removeAll { $0.borrower == nil }
        borrowers.append(WeakBorrower(borrower: borrower))
    }

    /// Makes all borrowers release the connection, the last one first, because their savepoints nest.
    func takeBack() {
        for borrower in borrowers.reversed() { borrower.borrower?.connectionEnds() }
        borrowers = []
    }

    /// Ends the connection's use, and returns whether it was still valid.
    func invalidate() -> Bool {
        takeBack()
        defer { unsafe handle = nil }
        return unsafe handle != nil
    }

    var isValid: Bool { unsafe handle != nil }

    /// The core's connection.
    func core() throws(StoreError) -> OpaquePointer {
        guard let handle = unsafe handle else { throw .usedOutside }
        return unsafe handle
    }

    /// Whether this connection is the writer.
    var isWriter: Bool { unsafe handle.map { unsafe mc_connection_is_writer($0) } ?? false }

    /// Runs an SQL text.
    /// - Parameters:
    ///   - sql: one statement; without values also several, separated by semicolons.
    ///   - values: the values of its parameters, in order.
    /// - Returns: the number of rows that the statements themselves (not triggers) inserted, updated and deleted.
    /// - Throws: ``StoreError``: `.constraint`, `.readOnly` (a change on a reader), `.misuse`, `.sqlite` and more.
    @discardableResult
    public func execute(_ sql: String, _ values: [Value] = []) throws(StoreError) -> Int {
        guard values.isEmpty else { return try statement(sql).run(values) }
        let handle = unsafe try core()
        var changes: Int64 = 0
        try unsafe StoreError.check { error in
            var sql = sql
            return sql.withUTF8 { bytes in
                unsafe bytes.withMemoryRebound(to: CChar.self) { text in
                    let start = text.baseAddress
                    return unsafe start.map { unsafe mc_connection_exec(handle, $0, text.count, &changes, error) } ?? MC_OK
                }
            }
        }
        return Int(changes)
    }

    /// Takes the prepared statement of an SQL text from the connection's cache, or prepares it. It returns to the cache when you release it.
    /// - Throws: ``StoreError``: `.misuse` (no statement, or several), `.sqlite` (SQLite's own reason).
    public func statement(_ sql: String) throws(StoreError) -> Statement {
        let handle = unsafe try core()
        var statement: OpaquePointer?
        try unsafe StoreError.check { error in
            var sql = sql
            return sql.withUTF8 { bytes in
                unsafe bytes.withMemoryRebound(to: CChar.self) { text in
                    // An empty text may have no address. The core reports the error of an empty statement.
                    guard let start = text.baseAddress else { return unsafe mc_statement_prepare(handle, "", 0, &statement, error) }
                    return unsafe mc_statement_prepare(handle, start, text.count, &statement, error)
                }
            }
        }
        return unsafe Statement(statement!, of: self)  // MC_OK promises a statement
    }

    /// Reads the first row of a query; `nil` when there is none. The other rows are not read.
    public func first(_ sql: String, _ values: [Value] = []) throws(StoreError) -> [Value]? {
        let statement = try statement(sql)
        try statement.bind(values)
        return try statement.step() ? statement.values : nil
    }

    /// Reads all rows of a query, for small results. For large ones, see ``pages(_:_:size:maximumBytes:)``.
    public func rows(_ sql: String, _ values: [Value] = []) throws(StoreError) -> [[Value]] {
        let statement = try statement(sql)
        try statement.bind(values)
        var rows: [[Value]] = []
        while try statement.step() { rows.append(statement.values) }
        return rows
    }

    /// Reads the rows of a query page by page, inside of this closure.
    /// - Parameters:
    ///   - sql: one reading statement.
    ///   - values: the values of its parameters, in order.
    ///   - size: the number of rows of a page, 1 or more.
    ///   - maximumBytes: the number of bytes at which a page ends early.
    /// - Throws: as ``Database/pages(_:_:size:maximumBytes:)``.
    public func pages(
        _ sql: String, _ values: [Value] = [], size: Int = 100, maximumBytes: ByteCount = .megabytes(4)
    ) throws(StoreError) -> RowPages {
        try RowPages(statement: statement(sql), values, size: size, maximumBytes: maximumBytes, lease: nil)
    }

    /// Reads one page of a query: its first rows, or those after a row of the previous page (paging by key). The query ends with the page;
    /// the rows after the page cost nothing.
    ///
    ///     SELECT id, name FROM customer WHERE id > ?2 AND city = ?1 ORDER BY id LIMIT 100      // page(sql, [city], after: row, keys: [0])
    /// - Parameters:
    ///   - sql: one reading statement.
    ///   - values: the values of its parameters, in order.
    ///   - row: the row after which the page begins; with `nil`, only `values` are bound.
    ///   - keys: the columns of `row` whose values are bound after `values`, in order.
    ///   - size: the largest number of rows, 1 or more.
    ///   - maximumBytes: the number of bytes at which the page ends early.
    /// - Throws: ``StoreError``, as ``pages(_:_:size:maximumBytes:)``.
    public func page(
        _ sql: String, _ values: [Value] = [], after row: Row? = nil, keys: [Int] = [], size: Int = 100,
        maximumBytes: ByteCount = .megabytes(4)
    ) throws(StoreError) -> RowPage {
        let statement = try statement(sql)
        try statement.bind(values)
        if let row {
            for (offset, column) in keys.enumerated() { try statement.bind(row.value(column), at: values.count + offset + 1) }
        }
        let storage = isKnownUniquelyReferenced(&sparePage) ? sparePage! : try PageStorage()
        sparePage = storage
        _ = try storage.fill(from: statement, rows: size, bytes: maximumBytes.bytes, columnNames: statement.columnNames)
        return RowPage(storage)
    }

    /// Runs `body` in a savepoint: when it throws, only its own changes are undone. Savepoints nest.
    /// - Throws: the error of `body`; ``StoreError/Code/misuse`` when SQLite has rolled the transaction back.
    @discardableResult
    public func savepoint<R>(_ body: () throws -> R) throws -> R {
        let handle = unsafe try core()
        try unsafe StoreError.check { unsafe mc_connection_savepoint(handle, $0) }
        let result: R
        do {
            result = try body()
        } catch {
            unsafe mc_connection_rollback_savepoint(handle)
            throw error
        }
        do {
            try unsafe StoreError.check { unsafe mc_connection_release_savepoint(handle, $0) }
        } catch {
            unsafe mc_connection_rollback_savepoint(handle)
            throw error
        }
        return result
    }

    /// The key of the row that this connection inserted last; 0 before its first insertion.
    public var lastInsertedKey: Int64 { unsafe handle.map { unsafe mc_connection_last_inserted_key($0) } ?? 0 }

    /// The number of rows that the last INSERT, UPDATE or DELETE changed.
    public var changes: Int { Int(unsafe handle.map { unsafe mc_connection_changes($0) } ?? 0) }
}

/// A user of the core's connection, which must release it before the closure that received the connection returns.
protocol ConnectionBorrower: AnyObject {
    /// Rolls back unfinished work and releases the connection, because the transaction is about to end.
    func connectionEnds()
}

private struct WeakBorrower {
    weak var borrower: (any ConnectionBorrower)?
}
