internal import MobileCore

extension Database {
    /// The settings in force, read back from the open file.
    public struct Settings: Sendable, Hashable {
        /// Bytes of a page: of an existing file its own, whatever the profile says.
        public let pageSize: Int
        /// Page cache of each connection, in whole pages.
        public let cacheSize: ByteCount
        /// The largest number of readers beside the writer.
        public let maxConnections: Int
        /// How much of the file is mapped, as the operating system and the library allow.
        public let memoryMapSize: ByteCount
        /// When a transaction is on the disk.
        public let synchronous: ConnectionProfile.Synchronous
        /// Pages in the write-ahead log that start a checkpoint; 0: none starts by itself.
        public let checkpointPages: Int
        /// What the write-ahead log may grow to before a write waits for readers; 0: anything.
        public let logLimit: ByteCount
        /// What the log's file keeps when it starts over; `nil`: everything.
        public let journalSizeLimit: ByteCount?
        /// Prepared statements that each connection keeps.
        public let statementCacheSize: Int
        /// The file's journal mode, such as `wal` or `delete`.
        public let journalMode: String
        /// Whether FOREIGN KEY constraints are enforced.
        public let foreignKeys: Bool
        /// Whether deleted content is overwritten.
        public let secureDelete: Bool
        /// Whether the write-ahead log is written in runs: asked for, and the file has such a log.
        public let coalescesLogWrites: Bool
        /// Whether the database can only be read.
        public let isReadOnly: Bool
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
    }
}
