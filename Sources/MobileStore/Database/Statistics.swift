internal import MobileCore

extension Database {
    /// Turns off SQLite's count of the memory that the process has from it, for the whole process and until its end. SQLite takes one lock for each
    /// allocation only for this count, so that threads with connections of their own wait for each other: a server that loads rows on several threads
    /// is up to a third faster without it. `mobile serve` calls this.
    ///
    /// A program calls it once, first of all in its main file: before it, or a library of it, has used SQLite. SQLite's own limits of the heap have no effect
    /// then; ``statistics`` stays as it is.
    ///
    ///     do {
    ///         try Database.disableMemoryCount()
    ///     } catch {
    ///         print("\(error.code): called too late")
    ///     }
    ///
    /// - Throws: ``StoreError/Code/misuse`` when SQLite is in use already.
    public static func disableMemoryCount() throws(StoreError) { try unsafe StoreError.check { unsafe mc_disable_memory_count($0) } }

    /// The activity of the database's connections, now and since it was opened, for tuning.
    public struct Statistics: Sendable, Hashable {
        /// Whether a write is running.
        public let isWriting: Bool
        /// The number of readers in use, and of readers opened so far.
        public let readersActive: Int, readersOpen: Int
        /// The number of calls that wait now, for the writer and for a reader.
        public let waitingForWriter: Int, waitingForReader: Int
        /// The number of times a connection was taken, without nested reads and writes.
        public let checkouts: Int
        /// The number of waits for a connection, including unsuccessful ones; their total time, and the longest one.
        public let waits: Int, waited: Duration, longestWait: Duration
        /// The total time that connections spent in use: with two readers and the writer, up to three seconds in a second.
        public let busy: Duration
        /// The statement caches of all connections.
        public let statements: StatementStatistics
        /// The page caches of all connections.
        public let pages: PageStatistics
        /// The write-ahead log.
        public let log: LogStatistics
    }

    /// The activity of one connection. Its counters are current while it is idle; while it is in use, they date from one of its last 16 returns.
    public struct ConnectionStatistics: Sendable, Hashable {
        /// Whether the connection is the writer.
        public let isWriter: Bool
        /// The time since the present use began; `nil` while the connection is idle.
        public let active: Duration?
        /// The number of times it was taken.
        public let checkouts: Int
        /// The total time in use, without the present one.
        public let busy: Duration
        /// Its statement cache.
        public let statements: StatementStatistics
        /// Its page cache.
        public let pages: PageStatistics
    }

    /// The counters of a statement cache.
    public struct StatementStatistics: Sendable, Hashable {
        /// The number of statements found in it, and of statements that had to be prepared.
        public let hits: Int, misses: Int
        /// The number of statements dropped because it was full. If it is high, raise ``ConnectionProfile/statementCacheSize``.
        public let evictions: Int
        /// The number of statements in it now.
        public let cached: Int
    }

    /// The counters of a page cache.
    public struct PageStatistics: Sendable, Hashable {
        /// The number of pages found in it, and of pages read from the file.
        public let hits: Int, misses: Int
        /// The number of pages written.
        public let writes: Int
        /// The number of pages written before their commit because it was full. If it is high, raise ``ConnectionProfile/cacheSize``.
        public let spills: Int
        /// The memory that it uses.
        public let used: ByteCount
    }

    /// The state and the counters of the write-ahead log.
    public struct LogStatistics: Sendable, Hashable {
        /// The size of its content after the last commit.
        public let size: ByteCount
        /// The number of times its pages were copied to the database.
        public let checkpoints: Int
        /// The number of checkpoints that readers kept from copying all pages. If it is high, look for long reads.
        public let heldCheckpoints: Int
        /// The number of checkpoints that failed, because the disk is full or the file cannot be written. ``ConnectionProfile/warning`` is called.
        public let failedCheckpoints: Int
    }

    /// The activity of all connections together. Available at any time, at negligible cost.
    public var statistics: Statistics {
        var statistics = mc_pool_statistics()
        unsafe mc_pool_get_statistics(pool, &statistics)
        return Statistics(statistics)
    }

    /// The activity of each open connection, the writer first.
    public var connectionStatistics: [ConnectionStatistics] {
        let room = settings.maxConnections + 1
        var all = [mc_connection_statistics](repeating: mc_connection_statistics(), count: room)
        let count = unsafe Int(mc_pool_get_connection_statistics(pool, &all, Int32(clamping: room)))
        return all.prefix(count).map(ConnectionStatistics.init)
    }
}

extension Database.Statistics {
    init(_ statistics: mc_pool_statistics) {
        isWriting = statistics.writer_is_active
        (readersActive, readersOpen) = (Int(statistics.readers_active), Int(statistics.readers_open))
        (waitingForWriter, waitingForReader) = (Int(statistics.waiting_for_writer), Int(statistics.waiting_for_reader))
        (checkouts, waits) = (Int(statistics.checkouts), Int(statistics.waits))
        (waited, longestWait) = (.nanoseconds(statistics.waited_ns), .nanoseconds(statistics.longest_wait_ns))
        busy = .nanoseconds(statistics.busy_ns)
        statements = Database.StatementStatistics(statistics.statements)
        pages = Database.PageStatistics(statistics.pages)
        log = Database.LogStatistics(
            size: .bytes(Int(statistics.log.bytes)), checkpoints: Int(statistics.log.checkpoints),
            heldCheckpoints: Int(statistics.log.held_checkpoints), failedCheckpoints: Int(statistics.log.failed_checkpoints))
    }
}

extension Database.ConnectionStatistics {
    init(_ statistics: mc_connection_statistics) {
        isWriter = statistics.is_writer
        active = statistics.is_active ? .nanoseconds(statistics.active_ns) : nil
        checkouts = Int(statistics.checkouts)
        busy = .nanoseconds(statistics.busy_ns)
        statements = Database.StatementStatistics(statistics.statements)
        pages = Database.PageStatistics(statistics.pages)
    }
}

extension Database.StatementStatistics {
    init(_ statistics: mc_statement_statistics) {
        self.init(
            hits: Int(statistics.hits), misses: Int(statistics.misses), evictions: Int(statistics.evictions), cached: Int(statistics.cached))
    }
}

extension Database.PageStatistics {
    init(_ statistics: mc_page_statistics) {
        self.init(
            hits: Int(statistics.hits), misses: Int(statistics.misses), writes: Int(statistics.writes), spills: Int(statistics.spills),
            used: .bytes(Int(statistics.used_bytes)))
    }
}
