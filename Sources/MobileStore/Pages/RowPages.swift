/// The rows of a query, page by page, forwards only.
public struct RowPages: ~Copyable {
    private let statement: Statement
    private let columnNames: [String]
    private let size: Int
    private let maximumBytes: Int
    /// Its own reader; `nil`: the statement belongs to the connection of a caller's closure.
    private let lease: Lease?
    private var storage: PageStorage?
    private var isAtEnd = false

    init(
        statement: Statement, _ values: [Value], size: Int, maximumBytes: ByteCount, lease: Lease?
    ) throws(StoreError) {
        guard size > 0, maximumBytes.bytes > 0 else {
            throw StoreError(.misuse, "a page of \(size) rows and \(maximumBytes): use 1 or more of both")
        }
        try statement.bind(values)
        self.statement = statement
        self.size = size
        self.maximumBytes = maximumBytes.bytes
        self.lease = lease
        columnNames = statement.columnNames
        storage = statement.connection.sparePage
        statement.connection.sparePage = nil
    }

    deinit { statement.connection.sparePage = storage }

    /// Reads the next page; returns `nil` after the last one.
    /// - Throws: ``StoreError``: the query failed on this page, or its connection's closure is over.
    public mutating func next() throws(StoreError) -> RowPage? {
        guard !isAtEnd else { return nil }
        // Reuses the memory of the previous page, unless it is still referenced.
        let storage = isKnownUniquelyReferenced(&storage) ? self.storage! : try PageStorage()
        self.storage = storage
        do {
            isAtEnd = try storage.fill(from: statement, rows: size, bytes: maximumBytes, columnNames: columnNames)
        } catch {
            isAtEnd = true
            lease?.end()
            throw error
        }
        if isAtEnd { lease?.end() }
        return storage.rowCount > 0 ? RowPage(storage) : nil
    }
}
