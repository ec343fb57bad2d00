/// How a database is opened: its file and everything that can be tuned.
///
/// A profile is a value: changing it changes no open database. Each setting is checked when the database is opened, where one
/// out of its range is thrown as ``StoreError/Code/misuse`` with the range in its message; ``Database/settings`` tells what
/// is in force. SMP 2.3: `SUPConnectionProfile`.
public struct ConnectionProfile: Sendable {
    /// The database file. SMP 2.3: `databaseFile`.
    public var path: String

    /// Bytes of a database page: a power of two from 1024 to 65536; a negative value (the default) means 4096.
    /// Only a new file gets it: the page size of an existing one wins. SMP 2.3: `pageSize`.
    public var pageSize: Int

    /// Memory for cached pages of each connection, from one page upwards; default 10 MB. SMP 2.3: `cacheSize`.
    public var cacheSize: ByteCount

    /// The largest number of readers beside the one writer, 1 to 64; default 2. They are opened when first needed.
    /// SMP 2.3: `maxDbConnections`.
    public var maxConnections: Int

    /// How much of the file is mapped into memory for reading; default none.
    public var memoryMapSize: ByteCount

    /// When a committed transaction is on the disk; default ``Synchronous/normal``.
    public var synchronous: Synchronous

    /// Pages in the write-ahead log that start a checkpoint, 0 for no automatic checkpoint; default 1000.
    public var checkpointPages: Int

    /// A write does not begin while the write-ahead log is larger than this and a reader keeps it from starting over; default 1 GB,
    /// 0 for no limit. It waits as for any lock, then throws ``StoreError/Code/timeout`` with the reader's label and age.
    public var logLimit: ByteCount

    /// What the file of the write-ahead log keeps when it starts over; default 64 MB, `nil` for all that it has grown to.
    public var journalSizeLimit: ByteCount?

    /// Prepared statements that each connection keeps, 0 to 10000; default 64.
    public var statementCacheSize: Int

    /// What becomes of the file's journal mode; default ``Journal/wal``.
    public var journal: Journal

    /// Whether FOREIGN KEY constraints are enforced; default `false`.
    public var foreignKeys: Bool

    /// Whether the database can only be read; default `false`. Writing then throws ``StoreError/Code/readOnly``.
    public var isReadOnly: Bool

    /// Whether a file that does not exist is created; default `true`. Otherwise ``StoreError/Code/notFound`` is thrown.
    public var createsFile: Bool

    /// Whether deleted content is overwritten: safer against forensics, slower. `nil` (the default) leaves it to the library.
    public var secureDelete: Bool?

    /// How long a lock of another process is waited for where a call names no timeout of its own; default 30 s.
    public var busyTimeout: Duration

    /// How long a call that names no timeout waits for its connection, and then for other processes; `nil` (the default): as long as it takes for
    /// the connection, ``busyTimeout`` for other processes. A server sets it, so that a request is refused instead of waiting without an end.
    public var connectionTimeout: Duration?

    /// Whether the write-ahead log is written in runs of up to 64 KB instead of header by header and page by page; default `true`.
    ///
    /// Large transactions take up to a fifth less time, and 64 KB of memory. A commit returns only when all of it is in the file: the promises
    /// of ``synchronous`` stay what they are, which power cuts and killed processes in the tests confirm.
    public var coalescesLogWrites: Bool

    /// What lies between the database and the operating system, the topmost first; default nothing. Coalesced log writes lie
    /// above all of them.
    public var storageLayers: [StorageLayer]

    /// Called with each SQL statement before it runs, on the thread that runs it. SMP 2.3: `enableTrace`.
    public var trace: (@Sendable (String) -> Void)?

    /// Whether ``trace`` gets the statements with the values of their parameters; default `false`, because they are users' data.
    /// SMP 2.3: `enableTrace:withPayload:`.
    public var tracesValues: Bool

    /// Called when a reader keeps the write-ahead log from starting over and it has grown to eight times ``checkpointPages``: once
    /// for each read, on the thread that writes, behind its commit.
    public var warning: (@Sendable (LogWarning) -> Void)?

    /// A profile for the database file at `path`; everything else has the default of its property.
    public init(
        path: String, pageSize: Int = -1, cacheSize: ByteCount = .megabytes(10), maxConnections: Int = 2,
        memoryMapSize: ByteCount = 0, synchronous: Synchronous = .normal, checkpointPages: Int = 1000,
        logLimit: ByteCount = .megabytes(1000), journalSizeLimit: ByteCount? = .megabytes(64), statementCacheSize: Int = 64, journal: Journal = .wal,
        foreignKeys: Bool = false, isReadOnly: Bool = false,
        createsFile: Bool = true, secureDelete: Bool? = nil, busyTimeout: Duration = .seconds(30), connectionTimeout: Duration? = nil,
        coalescesLogWrites: Bool = true,
        storageLayers: [StorageLayer] = [], trace: (@Sendable (String) -> Void)? = nil, tracesValues: Bool = false,
        warning: (@Sendable (LogWarning) -> Void)? = nil
    ) {
        self.path = path
        self.pageSize = pageSize
        self.cacheSize = cacheSize
        self.maxConnections = maxConnections
        self.memoryMapSize = memoryMapSize
        self.synchronous = synchronous
        self.checkpointPages = checkpointPages
        self.logLimit = logLimit
        self.journalSizeLimit = journalSizeLimit
        self.statementCacheSize = statementCacheSize
        self.journal = journal
        self.foreignKeys = foreignKeys
        self.isReadOnly = isReadOnly
        self.createsFile = createsFile
        self.secureDelete = secureDelete
        self.busyTimeout = busyTimeout
        self.connectionTimeout = connectionTimeout
        self.coalescesLogWrites = coalescesLogWrites
        self.storageLayers = storageLayers
        self.trace = trace
        self.tracesValues = tracesValues
        self.warning = warning
    }

    /// A reader that pins the write-ahead log.
    public struct LogWarning: Sendable {
        /// All of it in a sentence.
        public let message: String
        /// What the log has grown to.
        public let logSize: ByteCount
        /// The label of the oldest read; `nil` when the reader is in another process, or another `Database` on the file.
        public let reader: String?
        /// For how long it has been reading; zero when it is not known.
        public let age: Duration
    }

    /// When a transaction is on the disk.
    public enum Synchronous: Int, Sendable {
        /// Never waited for: a power cut may lose or damage the database.
        case off = 0
        /// At checkpoints: a power cut may lose the last transactions, never the database.
        case normal = 1
        /// At every commit.
        case full = 2
    }

    /// What becomes of the file's journal mode.
    public enum Journal: Sendable {
        /// The database is switched to write-ahead logging, so that readers never wait for the writer.
        case wal
        /// Left as it is: for databases that belong to others, such as back ends.
        case unchanged
    }
}
