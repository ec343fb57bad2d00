internal import MobileCore

extension Database {
    /// The settings in force, read back from the open file.
    public struct Settings: Sendable, Hashable {
        /// The size of a page in bytes; an existing file keeps its own, regardless of the profile.
        public let pageSize: Int
        /// The page cache of each connection, in whole pages.
        public let cacheSize: ByteCount
        /// The largest number of readers in addition to the writer.
        public let maxConnections: Int
        /// The largest part of the file that is mapped into memory, within the limits of the operating system and the library.
        public let memoryMapSize: ByteCount
        /// The time at which a transaction reaches the disk.
        public let synchronous: ConnectionProfile.Synchronous
        /// The number of pages in the write-ahead log that starts a checkpoint; 0: no automatic checkpoint.
        public let checkpointPages: Int
        /// The size of the write-ahead log above which a write waits for readers; 0: no limit.
        public let logLimit: ByteCount
        /// The size that the log's file keeps when the log starts over; `nil`: its full size.
        public let journalSizeLimit: ByteCount?
        /// The number of prepared statements that each connection keeps.
        public let statementCacheSize: Int
        /// The file's journal mode, such as `wal` or `delete`.
        public let journalMode: String
        /// Whether FOREIGN KEY constraints are enforced.
        public let foreignKeys: Bool
        /// Whether deleted content is overwritten.
        public let secureDelete: Bool
        /// Whether writes to the write-ahead log are joined into runs: the profile requests it and the file has such a log.
        public let coalescesLogWrites: Bool
        /// Whether the database is open for reading only.
        public let isReadOnly: Bool
        /// Whether the database is in memory.
        public let isInMemory: Bool
    }
}

extension Database.Settings {
    init(_ settings: mc_pool_settings) {
        var settings = settings
        pageSize = Int(settings.page_size)
        cacheSize = .bytes(Int(settings.cache_bytes))
        maxConnections = Int(settings.readers)
        memoryMapSize = .bytes(Int(settings.mmap_bytes))
        synchronous = ConnectionProfile.Synchronous(rawValue: Int(settings.synchronous.rawValue)) ?? .full
        checkpointPages = Int(settings.checkpoint_pages)
        logLimit = .bytes(Int(settings.log_limit_bytes))
        journalSizeLimit = settings.journal_size_limit < 0 ? nil : .bytes(Int(settings.journal_size_limit))
        statementCacheSize = Int(settings.statement_cache)
        journalMode = unsafe withUnsafeBytes(of: &settings.journal_mode) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        foreignKeys = settings.foreign_keys
        secureDelete = settings.secure_delete
        coalescesLogWrites = settings.coalesces_log_writes
        isReadOnly = settings.read_only
        isInMemory = settings.in_memory
    }
}
