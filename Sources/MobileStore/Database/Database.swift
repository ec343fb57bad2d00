internal import MobileCore
internal import MobileExecution
internal import Synchronization

/// One SQLite database with one writing and several reading connections.
///
/// Writes take turns, in the order of their calls; reads run beside them, each on a snapshot. Any number of threads and tasks
/// may use it. A write inside of a write on the same thread is a part of it (a savepoint); a read inside of a write sees its
/// changes; a read inside of a read has its snapshot.
@safe public final class Database: Sendable {
    /// The pool has its own lock; it is freed when the last user of this object has gone.
    nonisolated(unsafe) let pool: OpaquePointer

    /// The settings in force, read back when the file was opened.
    public let settings: Settings

    /// The file.
    public let path: String

    /// How long calls wait that say nothing; nil: as long as it takes.
    let connectionTimeout: Duration?

    /// Where the blocking work of the `async` functions runs.
    let queue: BlockingWork

    /// The memory of a page, for the next one.
    let sparePage = SparePage()

    /// What the pool's callbacks are given; they live until the pool is freed.
    private let sinks: (trace: TraceSink, warning: WarningSink?)

    /// Opens the file of the profile, and creates it where the profile says so.
    ///
    ///     var profile = ConnectionProfile(path: path)
    ///     profile.cacheSize = .megabytes(20)
    ///     let shop = try Database(profile)
    ///
    /// - Throws: ``StoreError`` `.misuse` (a setting out of its range), `.notFound`, `.corrupt` (not a database), `.timeout`
    ///   (another process keeps it locked), `.io`, `.sqlite`.
    public init(_ profile: ConnectionProfile) throws(StoreError) {
        let trace = TraceSink(profile.trace), warning = profile.warning.map(WarningSink.init)
        // One for each connection, and some for timers, for opening readers and for those who close.
        queue = BlockingWork(threads: max(1, min(64, profile.maxConnections)) + 8)
        var options = unsafe try mc_pool_options(profile)
        unsafe options.trace = TraceSink.callback
        unsafe options.trace_context = Unmanaged.passUnretained(trace).toOpaque()
        unsafe options.trace_waits = profile.trace == nil
        if let warning {
            unsafe options.warn = WarningSink.callback
            unsafe options.warn_context = Unmanaged.passUnretained(warning).toOpaque()
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
        sinks = (trace, warning)
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
    ///   - timeout: how long to wait for the writer, and for writers of other processes; `nil`: as
    ///     ``ConnectionProfile/connectionTimeout`` says.
    ///   - label: what the write does, for the messages of those who wait for it in vain.
    ///   - interruption: by which another thread can end the wait or the work.
    ///   - body: the work; the connection is its own until it returns, and must not be kept.
    /// - Throws: what `body` throws; ``StoreError`` `.timeout`, `.interrupted`, `.closed`, `.readOnly`, and what COMMIT fails with.
    @discardableResult
    public func write<R>(
        timeout: Duration? = nil, label: String = "", interruption: Interruption? = nil, _ body: (Connection) throws -> R
    ) throws -> R {
        try lease(.write, timeout: timeout, label: label, interruption: interruption).transaction(body)
    }

    /// Runs `body` on a reader, where it sees one state of the database from its first statement to its last one.
    ///
    ///     let names = try database.read { connection in
    ///         try connection.rows("SELECT name FROM customer WHERE city = ? ORDER BY name", ["Dublin"]).compactMap { $0[0].text }
    ///     }
    ///
    /// - Parameters:
    ///   - length: how long the read is going to take. Where reads wait for a connection, short ones go first.
    ///   - label: what the read does, for the warning that it keeps the write-ahead log from starting over.
    ///   - timeout: as for `write(timeout:label:interruption:_:)`.
    ///   - interruption: as for `write(timeout:label:interruption:_:)`.
    ///   - body: the work; the connection is its own until it returns, and must not be kept.
    /// - Throws: what `body` throws; ``StoreError`` `.timeout`, `.interrupted`, `.closed`.
    public func read<R>(
        length: ReadLength = .short, timeout: Duration? = nil, label: String = "", interruption: Interruption? = nil,
        _ body: (Connection) throws -> R
    ) throws -> R {
        try lease(length == .short ? .read : .longRead, timeout: timeout, label: label, interruption: interruption).transaction(reads: true, body)
    }

    /// How long a read keeps its connection.
    public enum ReadLength: Sendable {
        /// Some rows: it goes before long reads that wait.
        case short
        /// A report, an export, a look at every row: at most 16 short reads that come later go before it.
        /// ``Database/pages(_:_:size:maximumBytes:)`` is one.
        case long
    }

    /// The rows of a query, a page at a time, on a reader of their own, which is given back after the last row or when the
    /// pages go away. All pages show one state of the database.
    ///
    ///     var pages = try database.pages("SELECT id, name FROM customer ORDER BY name", size: 100)
    ///     while let page = try pages.next() {
    ///         for row in page { print("\(row.integer(0)): \(row.string(1) ?? "")") }
    ///     }
    ///
    /// - Parameters:
    ///   - sql: one statement that reads.
    ///   - values: those of its parameters, in order.
    ///   - size: rows of a page, 1 or more.
    ///   - maximumBytes: a page ends early when it holds so much.
    /// - Throws: ``StoreError``: the SQL is wrong, or there is no parameter for a value. What goes wrong on a later page is thrown there.
    public func pages(
        _ sql: String, _ values: [Value] = [], size: Int = 100, maximumBytes: ByteCount = .megabytes(4)
    ) throws -> RowPages {
        let lease = try lease(.pages, timeout: nil, label: "pages of \(sql)", interruption: nil)
        try lease.begin()
        return try RowPages(
            statement: lease.connection.statement(sql), values, size: size, maximumBytes: maximumBytes, lease: lease)
    }

    /// Closes the file as soon as the reads and writes that run have ended. Calls that begin later throw ``StoreError/Code/closed``; closing
    /// again has no effect.
    ///
    ///     try database.close()
    ///     try FileManager.default.copyItem(atPath: database.path, toPath: copy)
    ///
    /// - Throws: ``StoreError/Code/misuse`` inside of a read or write of this thread; nothing is closed then.
    public func close() throws(StoreError) {
        try unsafe StoreError.check { unsafe mc_pool_close(pool, $0) }
    }

    func lease(
        _ purpose: Lease.Purpose, timeout: Duration?, label: String, interruption: Interruption?
    ) throws(StoreError) -> Lease {
        unsafe Lease(try checkout(purpose, timeout: timeout, label: label, interruption: interruption), of: self, interruption: interruption)
    }

    /// A connection that the caller gives back.
    func checkout(
        _ purpose: Lease.Purpose, timeout: Duration?, label: String, interruption: Interruption?
    ) throws(StoreError) -> OpaquePointer {
        var handle: OpaquePointer?
        try unsafe StoreError.check { error in
            unsafe label.withCString { label in
                var checkout = unsafe mc_checkout(
                    writer: purpose == .write, is_long: purpose == .longRead || purpose == .pages, loose: purpose == .pages,
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
    /// Switches the trace of SQL statements while the database is open. Reads and writes that run end as they began, later ones follow the
    /// switch. A trace that is off costs statements nothing. SMP 2.3: `enableTrace:`, `enableTrace:withPayload:`.
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

/// Hands the core's trace on to the closure of the profile, or to the one that took its place.
private final class TraceSink: Sendable {
    let report: Mutex<(@Sendable (String) -> Void)?>

    init(_ report: (@Sendable (String) -> Void)?) { self.report = Mutex(report) }

    static let callback: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>, Int) -> Void = { context, sql, length in
        guard let context = unsafe context else { return }
        let sink = unsafe Unmanaged<TraceSink>.fromOpaque(context).takeUnretainedValue()
        // Called outside of the lock: the closure may switch the trace itself.
        guard let report = sink.report.withLock({ $0 }) else { return }
        report(unsafe String(decoding: UnsafeRawBufferPointer(start: sql, count: length), as: UTF8.self))
    }
}

/// Hands the core's warning on to the profile's closure.
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
