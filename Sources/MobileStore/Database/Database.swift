internal import MobileCore
internal import MobileExecution

/// An SQLite database with one writing and several reading connections.
///
/// Writes run one after another, in the order of their calls. Reads run at the same time, each on a snapshot. Any number of threads and
/// tasks may use the database. On the same thread, a write inside of a write is a part of it (a savepoint), a read inside of a write sees
/// its changes, and a read inside of a read shares its snapshot.
@safe public final class Database: Sendable {
    /// The core's pool, which has its own lock; it is freed with this object.
    nonisolated(unsafe) let pool: OpaquePointer

    /// The settings in force, read back when the file was opened.
    public let settings: Settings

    /// The path of the profile: that of the file, or a name or a URI.
    public let path: String

    /// The time that calls without their own timeout wait; nil: without a limit.
    let connectionTimeout: Duration?

    /// The threads that run the blocking work of the `async` functions.
    let queue: BlockingWork

    /// Large values that were never saved.
    package let abandonedValues = AbandonedValues()

    /// The memory of a released page, reused for the next one.
    let sparePage = SparePage()

    /// The contexts of the pool's callbacks; they live until the pool is freed.
    private let sinks: (trace: TraceSink, warning: WarningSink?, opening: OpeningSink?)

    /// Opens the file of the profile, and creates it where the profile allows this.
    ///
    ///     var profile = ConnectionProfile(path: path)
    ///     profile.cacheSize = .megabytes(20)
    ///     let shop = try Database(profile)
    ///
    /// - Throws: ``StoreError`` `.misuse` (a setting out of its range), `.notFound`, `.corrupt` (not a database), `.timeout`
    ///   (another process keeps it locked), `.io`, `.sqlite`.
    public init(_ profile: ConnectionProfile) throws(StoreError) {
        let trace = TraceSink(profile.trace), warning = profile.warning.map(WarningSink.init)
        let opening = profile.prepareConnection.map(OpeningSink.init)
        // One thread for each connection, and 8 for timers, for opening readers and for closing.
        queue = BlockingWork(threads: max(1, min(64, profile.maxConnections)) + 8)
        var options = unsafe try mc_pool_options(profile)
        unsafe options.trace = TraceSink.callback
        unsafe options.trace_context = Unmanaged.passUnretained(trace).toOpaque()
        unsafe options.trace_waits = profile.trace == nil
        if let warning {
            unsafe options.warn = WarningSink.callback
            unsafe options.warn_context = Unmanaged.passUnretained(warning).toOpaque()
        }
        if let opening {
            unsafe options.opened = OpeningSink.callback
            unsafe options.opened_context = Unmanaged.passUnretained(opening).toOpaque()
        }
        var pool: OpaquePointer?
        let vfs = try StorageLayer.register(profile.storageLayers)
        try unsafe StoreError.check { error in
            unsafe withOptionalCString(vfs) { name in
                unsafe options.vfs = name
                return unsafe mc_pool_open(profile.path, &options, &pool, error)
            }
        }
        unsafe self.pool = pool!  // MC_OK promises a pool
        sinks = (trace, warning, opening)
        path = profile.path
        connectionTimeout = profile.connectionTimeout
        var settings = mc_pool_settings()
        unsafe mc_pool_get_settings(self.pool, &settings)
        self.settings = Settings(settings)
    }

    deinit { unsafe mc_pool_free(pool) }

    /// Runs `body` in a transaction on the writer: BEGIN IMMEDIATE before it, COMMIT after it, ROLLBACK when it throws.
    ///
    ///     try database.write { connection in
    ///         try connection.execute("INSERT INTO customer (id, name, city) VALUES (?, ?, ?)", [3, "Harbour Foods", "Dublin"])
    ///         try connection.execute("UPDATE customer SET city = ? WHERE id = ?", ["Galway", 1])
    ///     }
    ///
    /// - Parameters:
    ///   - timeout: the time to wait for the writer, and for writers of other processes; `nil`: see
    ///     ``ConnectionProfile/connectionTimeout``.
    ///   - label: the purpose of the write, for the timeout messages of calls that waited for it.
    ///   - interruption: an object with which another thread can end the wait or the work.
    ///   - body: the work; it has the connection to itself until it returns, and must not keep it.
    /// - Throws: the error of `body`; ``StoreError`` `.timeout`, `.interrupted`, `.closed`, `.readOnly`, and the errors of COMMIT.
    @discardableResult
    public func write<R>(
        timeout: Duration? = nil, label: String = "", interruption: Interruption? = nil, _ body: (Connection) throws -> R
    ) throws -> R {
        try lease(.write, timeout: timeout, label: label, interruption: interruption).transaction(body)
    }

    /// Runs `body` on a reader, where it sees one state of the database from its first statement to its last.
    ///
    ///     let names = try database.read { connection in
    ///         try connection.rows("SELECT name FROM customer WHERE city = ? ORDER BY name", ["Dublin"]).compactMap { $0[0].text }
    ///     }
    ///
    /// - Parameters:
    ///   - length: the expected length of the read. Among reads that wait for a connection, short ones go first.
    ///   - label: the purpose of the read, for the warning that it keeps the write-ahead log from starting over.
    ///   - timeout: as for `write(timeout:label:interruption:_:)`.
    ///   - interruption: as for `write(timeout:label:interruption:_:)`.
    ///   - body: the work; it has the connection to itself until it returns, and must not keep it.
    /// - Throws: the error of `body`; ``StoreError`` `.timeout`, `.interrupted`, `.closed`.
    public func read<R>(
        length: ReadLength = .short, timeout: Duration? = nil, label: String = "", interruption: Interruption? = nil,
        _ body: (Connection) throws -> R
    ) throws -> R {
        try lease(length == .short ? .read : .longRead, timeout: timeout, label: label, interruption: interruption).transaction(reads: true, body)
    }

    /// The expected length of a read.
    public enum ReadLength: Sendable {
        /// A read of some rows: it goes before waiting long reads.
        case short
        /// A report, an export or a scan of every row: at most 16 short reads that arrive later go before it.
        /// ``Database/pages(_:_:size:maximumBytes:)`` is one.
        case long
    }

    /// Reads the rows of a query page by page, on their own reader. The reader is returned after the last row, or when the pages are
    /// released. All pages show one state of the database.
    ///
    ///     var pages = try database.pages("SELECT id, name FROM customer ORDER BY name", size: 100)
    ///     while let page = try pages.next() {
    ///         for row in page { print("\(row.integer(0)): \(row.string(1) ?? "")") }
    ///     }
    ///
    /// - Parameters:
    ///   - sql: one reading statement.
    ///   - values: the values of its parameters, in order.
    ///   - size: the number of rows of a page, 1 or more.
    ///   - maximumBytes: the number of bytes at which a page ends early.
    /// - Throws: ``StoreError``: the SQL is wrong, or there is no parameter for a value. An error on a later page is thrown there.
    public func pages(
        _ sql: String, _ values: [Value] = [], size: Int = 100, maximumBytes: ByteCount = .megabytes(4)
    ) throws -> RowPages {
        let lease = try lease(.pages, timeout: nil, label: "pages of \(sql)", interruption: nil)
        try lease.begin()
        return try RowPages(
            statement: lease.connection.statement(sql), values, size: size, maximumBytes: maximumBytes, lease: lease)
    }

    /// Closes the file as soon as the running reads and writes have ended. Later calls, and those that wait for a connection, throw
    /// ``StoreError/Code/closed``; closing again has no effect.
    ///
    ///     try database.close()
    ///     try FileManager.default.copyItem(atPath: database.path, toPath: copy)
    ///
    /// - Throws: ``StoreError/Code/misuse`` inside of a read or write of this thread, or while it reads ``RowPages``; nothing is closed then.
    public func close() throws(StoreError) {
        try unsafe StoreError.check { unsafe mc_pool_close(pool, $0) }
    }

    func lease(
        _ purpose: Lease.Purpose, timeout: Duration?, label: String, interruption: Interruption?
    ) throws(StoreError) -> Lease {
        unsafe Lease(try checkout(purpose, timeout: timeout, label: label, interruption: interruption), of: self, interruption: interruption)
    }

    /// Takes a connection from the pool, which the caller returns.
    func checkout(
        _ purpose: Lease.Purpose, timeout: Duration?, label: String, interruption: Interruption?
    ) throws(StoreError) -> OpaquePointer {
        var handle: OpaquePointer?
        try unsafe StoreError.check { error in
            unsafe label.withCString { label in
                var checkout = unsafe mc_checkout(
                    size: MemoryLayout<mc_checkout>.size, version: MC_VERSION_NUMBER, writer: purpose == .write,
                    is_long: purpose == .longRead || purpose == .pages, loose: purpose == .pages,
                    timeout_ns: (timeout ?? connectionTimeout).wait, label: label,
                    ticket: interruption?.ticket)
                return unsafe mc_pool_checkout(pool, &checkout, &handle, error)
            }
        }
        return unsafe handle!  // MC_OK promises a connection
    }
}

extension mc_pool_options {
    init(_ profile: ConnectionProfile) throws(StoreError) {
        unsafe self = mc_pool_default_options()
        unsafe page_size = try Self.setting("page size", profile.pageSize < 0 ? -1 : profile.pageSize)
        unsafe cache_bytes = Int64(profile.cacheSize.bytes)
        unsafe readers = try Self.setting("maximum connections", profile.maxConnections)
        unsafe mmap_bytes = Int64(profile.memoryMapSize.bytes)
        unsafe synchronous = mc_synchronous(UInt32(profile.synchronous.rawValue))
        unsafe checkpoint_pages = try Self.setting("checkpoint pages", profile.checkpointPages)
        unsafe log_limit_bytes = Int64(profile.logLimit.bytes)
        unsafe journal_size_limit = profile.journalSizeLimit.map { $0.bytes < 0 ? .min : Int64($0.bytes) } ?? -1
        unsafe statement_cache = try Self.setting("statement cache size", profile.statementCacheSize)
        unsafe journal = profile.journal == .wal ? MC_JOURNAL_WAL : MC_JOURNAL_UNCHANGED
        unsafe foreign_keys = profile.foreignKeys
        unsafe read_only = profile.isReadOnly
        unsafe immutable = profile.isImmutable
        unsafe in_memory = profile.isInMemory
        unsafe uri = profile.isURI
        unsafe creates_file = profile.createsFile
        unsafe secure_delete = profile.secureDelete.map { $0 ? 1 : 0 } ?? -1
        unsafe coalesces_log_writes = profile.coalescesLogWrites
        unsafe busy_timeout_ns = profile.busyTimeout.nanoseconds
        unsafe trace_values = profile.tracesValues
    }

    private static func setting(_ name: String, _ value: Int) throws(StoreError) -> Int32 {
        guard let value = Int32(exactly: value) else {
            throw StoreError(.misuse, "\(name) \(value): the number is out of any range")
        }
        return value
    }
}

extension Database {
    /// Switches the trace of SQL statements while the database is open. Running reads and writes keep their setting until they end; later
    /// ones use the new one. While the trace is off, it costs nothing. SMP 2.3: `enableTrace:`, `enableTrace:withPayload:`.
    ///
    ///     database.setTrace({ sql in print(sql) }, withValues: true)
    ///     try database.write { try $0.execute("DELETE FROM customer WHERE id = ?", [2]) }
    ///     database.setTrace(nil)
    ///
    /// - Parameters:
    ///   - trace: as ``ConnectionProfile/trace``; nil switches it off.
    ///   - withValues: as ``ConnectionProfile/tracesValues``.
    public func setTrace(_ trace: (@Sendable (String) -> Void)?, withValues: Bool = false) {
        sinks.trace.report.withLock { $0 = trace }
        unsafe mc_pool_set_trace(pool, trace == nil ? MC_TRACE_OFF : withValues ? MC_TRACE_VALUES : MC_TRACE_STATEMENTS)
    }
}

/// Passes the core's trace on to the closure of the profile, or to the one that replaced it.
private final class TraceSink: Sendable {
    let report: SystemLock<(@Sendable (String) -> Void)?>

    init(_ report: (@Sendable (String) -> Void)?) { self.report = SystemLock(report) }

    static let callback: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>, Int) -> Void = { context, sql, length in
        guard let context = unsafe context else { return }
        let sink = unsafe Unmanaged<TraceSink>.fromOpaque(context).takeUnretainedValue()
        // Called outside of the lock: the closure may switch the trace itself.
        guard let report = sink.report.withLock({ $0 }) else { return }
        report(unsafe String(decoding: UnsafeRawBufferPointer(start: sql, count: length), as: UTF8.self))
    }
}

/// Passes the core's warning on to the profile's closure.
private final class WarningSink: Sendable {
    let report: @Sendable (ConnectionProfile.LogWarning) -> Void

    init(_ report: @escaping @Sendable (ConnectionProfile.LogWarning) -> Void) { self.report = report }

    static let callback: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<mc_log_warning>) -> Void = { context, warning in
        guard let context = unsafe context else { return }
        let sink = unsafe Unmanaged<WarningSink>.fromOpaque(context).takeUnretainedValue()
        let warning = unsafe warning.pointee
        sink.report(
            ConnectionProfile.LogWarning(
                message: unsafe String(cString: warning.message), logSize: .bytes(unsafe Int(warning.log_bytes)),
                reader: unsafe warning.reader.map { unsafe String(cString: $0) }, age: .nanoseconds(unsafe warning.reader_age_ns)))
    }
}

func withOptionalCString<R>(_ string: String?, _ body: (UnsafePointer<CChar>?) -> R) -> R {
    guard let string else { return body(nil) }
    return unsafe string.withCString { unsafe body($0) }
}
