internal import MobileCore

/// One connection of a ``Database``, inside of the closure that was given it.
///
/// Used after its closure it throws ``StoreError/Code/misuse``.
@safe public final class Connection {
    /// `nil` as soon as the connection has gone back.
    private var handle: OpaquePointer?

    let database: Database

    /// The memory of pages that are done with, for the next ones.
    var sparePage: PageStorage?

    /// Who uses the core's connection beside statements: imports and exports.
    private var borrowers: [WeakBorrower] = []

    init(_ handle: OpaquePointer, of database: Database) {
        unsafe self.handle = handle
        self.database = database
    }

    /// Notes who must let go of the core's connection before its transaction ends.
    func lend(to borrower: some ConnectionBorrower) {
        borrowers.removeAll { $0.borrower == nil }
        borrowers.append(WeakBorrower(borrower: borrower))
    }

    /// Makes all borrowers let go, the last one first: savepoints nest.
    func takeBack() {
        for borrower in borrowers.reversed() { borrower.borrower?.connectionEnds() }
        borrowers = []
    }

    /// Returns whether it was still valid.
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

    /// Whether this is the writer.
    var isWriter: Bool { unsafe handle.map { unsafe mc_connection_is_writer($0) } ?? false }

    /// Runs an SQL text.
    /// - Parameters:
    ///   - sql: one statement, or several separated by semicolons when there are no values.
    ///   - values: the values of its parameters, in order.
    /// - Returns: rows inserted, updated and deleted by the statements themselves (not by triggers).
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

    /// The prepared statement of an SQL text, from the connection's cache. It goes back there when you let go of it.
    /// - Throws: ``StoreError``: `.misuse` (no statement, or several), `.sqlite` (SQLite's own reason).
    public func statement(_ sql: String) throws(StoreError) -> Statement {
        let handle = unsafe try core()
        var statement: OpaquePointer?
        try unsafe StoreError.check { error in
            var sql = sql
            return sql.withUTF8 { bytes in
                unsafe bytes.withMemoryRebound(to: CChar.self) { text in
                    // An empty text has an address as well: the core says what is wrong with it.
                    guard let start = text.baseAddress else { return unsafe mc_statement_prepare(handle, "", 0, &statement, error) }
                    return unsafe mc_statement_prepare(handle, start, text.count, &statement, error)
                }
            }
        }
        return unsafe Statement(statement!, of: self)  // MC_OK promises a statement
    }

    /// The first row of a query, or `nil`. The rows behind it are not read.
    public func first(_ sql: String, _ values: [Value] = []) throws(StoreError) -> [Value]? {
        let statement = try statement(sql)
        try statement.bind(values)
        return try statement.step() ? statement.values : nil
    }

    /// All rows of a query, for few rows. For many, see ``pages(_:_:size:maximumBytes:)``.
    public func rows(_ sql: String, _ values: [Value] = []) throws(StoreError) -> [[Value]] {
        let statement = try statement(sql)
        try statement.bind(values)
        var rows: [[Value]] = []
        while try statement.step() { rows.append(statement.values) }
        return rows
    }

    /// The rows of a query a page at a time, inside of this closure.
    /// - Parameters:
    ///   - sql: one statement that reads.
    ///   - values: those of its parameters, in order.
    ///   - size: rows of a page, 1 or more.
    ///   - maximumBytes: a page ends early when it holds so much.
    /// - Throws: as ``Database/pages(_:_:size:maximumBytes:)``.
    public func pages(
        _ sql: String, _ values: [Value] = [], size: Int = 100, maximumBytes: ByteCount = .megabytes(4)
    ) throws(StoreError) -> RowPages {
        try RowPages(statement: statement(sql), values, size: size, maximumBytes: maximumBytes, lease: nil)
    }

    /// One page of a query: its first rows, or those behind a row of the page before (paging by key). The query is at its end
    /// afterwards; what is behind the page costs nothing.
    ///
    ///     SELECT id, name FROM customer WHERE id > ?2 AND city = ?1 ORDER BY id LIMIT 100      // page(sql, [city], after: row, keys: [0])
    /// - Parameters:
    ///   - sql: one statement that reads.
    ///   - values: those of its parameters, in order.
    ///   - row: the row to go on behind; `nil` binds nothing but `values`.
    ///   - keys: columns of `row` whose values are bound behind `values`, in order.
    ///   - size: rows at most, 1 or more.
    ///   - maximumBytes: the page ends early when it holds so much.
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

    /// Runs `body` as a part of the transaction that is undone alone when it throws. Savepoints nest.
    /// - Throws: what `body` throws; ``StoreError/Code/misuse`` when SQLite has rolled the transaction back.
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

    /// The key of the row inserted last on this connection; 0 before the first.
    public var lastInsertedKey: Int64 { unsafe handle.map { unsafe mc_connection_last_inserted_key($0) } ?? 0 }

    /// Rows changed by the last INSERT, UPDATE or DELETE.
    public var changes: Int { Int(unsafe handle.map { unsafe mc_connection_changes($0) } ?? 0) }
}

/// Something that uses the core's connection, and must not do so beyond the closure that the connection was given to.
protocol ConnectionBorrower: AnyObject {
    /// The transaction is about to end: roll back what is not finished and let go.
    func connectionEnds()
}

private struct WeakBorrower {
    weak var borrower: (any ConnectionBorrower)?
}
