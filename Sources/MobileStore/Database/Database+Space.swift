internal import MobileExecution

extension Database {
    /// The space that one table or index takes in the file.
    public struct TableSpace: Sendable, Hashable {
        /// The name of the table or index.
        public let name: String
        /// The table that an index belongs to; for a table, its own name.
        public let table: String
        /// Whether the entry is an index.
        public let isIndex: Bool
        /// The number of its pages.
        public let pages: Int
        /// The size of its pages in bytes.
        public let bytes: Int64
        /// The number of bytes that the rows themselves take.
        public let payload: Int64
        /// The number of unused bytes in its pages.
        public let unused: Int64
    }

    /// The space that the file takes on the disk.
    public struct FileSpace: Sendable, Hashable {
        /// The number of pages of the database.
        public let pages: Int
        /// The number of pages that are free for use by any table.
        public let freePages: Int
        /// The size of a page in bytes.
        public let pageSize: Int

        /// The size of the database in bytes, without its log.
        public var bytes: Int64 { Int64(pages) * Int64(pageSize) }
    }

    /// Reports the space that each table and index takes in the file, the largest first. Reads every page of the file once.
    ///
    ///     for space in try database.tableSpace() {
    ///         print("\(space.name): \(space.bytes) bytes in \(space.pages) pages")
    ///     }
    ///
    /// - Throws: ``StoreError/Code/notFound`` when the SQLite library was built without the table `dbstat`.
    public func tableSpace() throws -> [TableSpace] {
        try read { connection in
            guard try connection.first("SELECT sqlite_compileoption_used('ENABLE_DBSTAT_VTAB')") == [1] else {
                throw StoreError(.notFound, "space per table: this SQLite was built without dbstat (SQLITE_ENABLE_DBSTAT_VTAB)")
            }
            return try connection.rows(
                """
                SELECT d.name, coalesce(s.tbl_name, d.name), coalesce(s.type = 'index', 0), d.pageno, d.pgsize, d.payload, d.unused
                FROM dbstat AS d LEFT JOIN sqlite_schema AS s ON s.name = d.name
                WHERE d.aggregate = TRUE ORDER BY d.pgsize DESC, d.name
                """
            ).map { row in
                let part = StoredRow(SpaceColumn.allCases, row)
                return TableSpace(
                    name: try part.text(.name), table: try part.text(.owner), isIndex: try part.flag(.isIndex), pages: try part.int(.pages),
                    bytes: try part.integer(.bytes), payload: try part.integer(.payload), unused: try part.integer(.unused))
            }
        }
    }

    /// Reports the pages of the file and the free ones among them. Reads two numbers of the file's header, no table.
    ///
    ///     let space = try database.fileSpace()
    ///     print("\(space.freePages) of \(space.pages) pages are free, the file has \(space.bytes) bytes")
    public func fileSpace() throws -> FileSpace {
        let (pages, freePages) = try read { connection in
            (try connection.number("PRAGMA page_count"), try connection.number("PRAGMA freelist_count"))
        }
        return FileSpace(pages: Int(pages), freePages: Int(freePages), pageSize: settings.pageSize)
    }

    /// Compacts the file: rewrites its content in order and without free pages. This takes as long as copying the file, and temporarily needs as
    /// much disk space again. Other writes wait until it has finished; reads continue.
    ///
    ///     let space = try database.fileSpace()
    ///     if space.freePages > space.pages / 4 { try database.vacuum(timeout: .seconds(10)) }
    ///
    /// - Parameters:
    ///   - timeout: the time to wait for the writer; `nil`: as for ``write(timeout:label:interruption:_:)``.
    ///   - interruption: an object with which another thread can end the wait or the work, which then has no effect.
    /// - Throws: ``StoreError``: `.misuse` inside of a write of this thread, `.full`, `.timeout`, `.interrupted`, `.closed`, `.readOnly`.
    public func vacuum(timeout: Duration? = nil, interruption: Interruption? = nil) throws(StoreError) {
        let lease = try lease(.write, timeout: timeout, label: "vacuum", interruption: interruption)
        defer { lease.end() }
        guard lease.isOutermost else { throw StoreError(.misuse, "vacuum: not inside of a transaction") }
        try lease.connection.execute("VACUUM")
        // Truncates the file now. While readers prevent this, a later checkpoint does it.
        _ = try lease.connection.first("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Does the same without blocking a cooperative thread.
    public func vacuum() async throws {
        try await queue.run { try self.vacuum(timeout: nil) }
    }
}

/// The columns of SQLite's report on one table or index.
private enum SpaceColumn: String, StoredColumn, CaseIterable {
    static let table = "dbstat"
    case name
    case owner = "tbl_name"
    case isIndex = "type"
    case pages = "pageno"
    case bytes = "pgsize"
    case payload
    case unused
}
