internal import MobileCore

extension Database {
    /// What the database's connections do and did since it was opened, for people who tune it.
    public struct Statistics: Sendable, Hashable {
        /// Whether somebody writes.
        public let isWriting: Bool
        /// Readers in use, and readers opened so far.
        public let readersActive: Int, readersOpen: Int
        /// How many wait now.
        public let waitingForWriter: Int, waitingForReader: Int
        /// How often a connection was taken, nested reads and writes not counted.
        public let checkouts: Int
        /// How often that had to wait, waits in vain counted; and how long, all of them together and at most.
        public let waits: Int, waited: Duration, longestWait: Duration
        /// Time that connections spent in use: with two readers and the writer, up to three seconds in a second.
        public let busy: Duration
        /// The statement caches of all connections.
        public let statements: StatementStatistics
        /// The page caches of all connections.
        public let pages: PageStatistics
        /// The write-ahead log.
        public let log: LogStatistics
    }

    /// One connection. Its counters are up to date while nobody has it; those of a connection in use are of one of its last 16 returns.
    public struct ConnectionStatistics: Sendable, Hashable {
        /// Whether it is the writer.
        public let isWriter: Bool
        /// For how long somebody has been using it; `nil` when nobody does.
        public let active: Duration?
        /// How often it was taken.
        public let checkouts: Int
        /// Time in use, the present one not counted.
        public let busy: Duration
        /// Its statement cache.
        public let statements: StatementStatistics
        /// Its page cache.
        public let pages: PageStatistics
    }

    /// What a statement cache did.
    public struct StatementStatistics: Sendable, Hashable {
        /// Statements found in it, and statements that had to be prepared.
        public let hits: Int, misses: Int
        /// Statements dropped because it was full. Many of them: raise ``ConnectionProfile/statementCacheSize``.
        public let evictions: Int
        /// Statements in it now.
        public let cached: Int
    }

    /// What a page cache did.
    public struct PageStatistics: Sendable, Hashable {
        /// Pages found in it, and pages read from the file.
        public let hits: Int, misses: Int
        /// Pages written.
        public let writes: Int
        /// Pages written before their commit because it was full. Many of them: raise ``ConnectionProfile/cacheSize``.
        public let spills: Int
        /// Its memory.
        public let used: ByteCount
    }

    /// What became of the write-ahead log.
    public struct LogStatistics: Sendable, Hashable {
        /// What was in it after the last commit.
        public let size: ByteCount
        /// How often its pages were copied to the database.
        public let checkpoints: Int
        /// Those that readers kept from copying everything. Many of them: look for reads that take long.
        public let heldCheckpoints: Int
    }

    /// What the connections do and did, all of them together. At any time, at no cost worth mentioning.
    public var statistics: Statistics {
        var statistics = mc_pool_statistics()
        unsafe mc_pool_get_statistics(pool, &statistics)
        return Statistics(statistics)
    }

    /// What each open connection did, the writer first.
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
            heldCheckpoints: Int(statistics.log.held_checkpoints))
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
