/// The settings with which a database is opened: its file and its tuning.
///
/// A profile is a value: changing it does not affect open databases. Opening a database checks each setting. One that is out of its range
/// throws ``StoreError/Code/misuse`` with the range in its message. ``Database/settings`` reports the settings in force.
/// SMP 2.3: `SUPConnectionProfile`.
public struct ConnectionProfile: Sendable {
    /// The database file, or where ``isInMemory`` or ``isURI`` says so, a name or a URI. SMP 2.3: `databaseFile`.
    public var path: String

    /// Whether the database is in memory; default `false`. ``inMemory(named:)`` makes such a profile.
    ///
    /// ``path`` is then a name: all `Database` objects of this process with the same name have one database. With an empty path and with `:memory:` each
    /// has its own. It works as a file does, with a write-ahead log and readers that never wait, but is gone when the last of these objects is closed.
    /// ``synchronous``, ``coalescesLogWrites`` and ``memoryMapSize`` have no effect; ``storageLayers`` are refused.
    public var isInMemory = false

    /// Whether ``path`` is a URI such as `file:/data/crm.db?mode=ro&immutable=1`, by SQLite's rules; default `false`.
    ///
    /// `mode` (`ro`, `rw`, `rwc`, `memory`), `immutable`, `vfs` and `cache` set the properties of their meaning, and throw ``StoreError/Code/misuse`` where
    /// they contradict one that is set. Other parameters go to the VFS.
    public var isURI = false

    /// The function called with each connection when it is opened, the writer and every reader, before anything of the database is read: for functions,
    /// collations, attached databases, keys and temporary tables.
    ///
    /// It is called on the thread that opens the connection, and may be called by several at the same time. When it throws, opening the database, or the read
    /// that needed a further reader, throws its ``StoreError`` (any other error as ``StoreError/Code/sqlite``). It must not use the `Database`,
    /// change the database itself, or leave a transaction open.
    ///
    ///     var profile = ConnectionProfile(path: path)
    ///     profile.prepareConnection = { connection in
    ///         try connection.addCollation("by_length") { $0.utf8.count - $1.utf8.count }
    ///         try connection.attach(archive, as: "archive")
    ///     }
    public var prepareConnection: (@Sendable (OpeningConnection) throws -> Void)?

    /// The size of a database page in bytes: a power of two from 1024 to 65536; a negative value (the default) means 4096.
    /// It applies to new files only: an existing file keeps its page size. SMP 2.3: `pageSize`.
    public var pageSize: Int

    /// The memory for cached pages of each connection, at least one page; default 10 MB. SMP 2.3: `cacheSize`.
    public var cacheSize: ByteCount

    /// The largest number of readers in addition to the one writer, 1 to 64; default 2. They are opened when first needed.
    /// SMP 2.3: `maxDbConnections`.
    public var maxConnections: Int

    /// The largest part of the file that is mapped into memory for reading; default 0.
    public var memoryMapSize: ByteCount

    /// The time at which a committed transaction reaches the disk; default ``Synchronous/normal``.
    public var synchronous: Synchronous

    /// The number of pages in the write-ahead log that starts a checkpoint, 0 for no automatic checkpoint; default 1000.
    public var checkpointPages: Int

    /// The size of the write-ahead log above which a write does not begin while a reader keeps the log from starting over; default 1 GB,
    /// 0 for no limit. The write waits as for any lock, then throws ``StoreError/Code/timeout`` with the reader's label and age.
    public var logLimit: ByteCount

    /// The size that the file of the write-ahead log keeps when the log starts over; default 64 MB, `nil` for its full size.
    public var journalSizeLimit: ByteCount?

    /// The number of prepared statements that each connection keeps, 0 to 10000; default 64.
    public var statementCacheSize: Int

    /// The handling of the file's journal mode; default ``Journal/wal``.
    public var journal: Journal

    /// Whether FOREIGN KEY constraints are enforced; default `false`.
    public var foreignKeys: Bool

    /// Whether the database is opened for reading only; default `false`. Writing then throws ``StoreError/Code/readOnly``.
    public var isReadOnly: Bool

    /// Whether the file does not change while it is open for reading only, by any process, which is not checked; default `false`. It is not locked
    /// then, and a database with a write-ahead log can be read in a folder in which the process may not create files.
    public var isImmutable = false

    /// Whether opening creates a missing file; default `true`. With `false` it throws ``StoreError/Code/notFound``.
    public var createsFile: Bool

    /// Whether deleted content is overwritten: safer against forensics, but slower. `nil` (the default) keeps the library's setting.
    public var secureDelete: Bool?

    /// The time that a call without its own timeout waits for a lock of another process; default 30 s.
    public var busyTimeout: Duration

    /// The time that a call without its own timeout waits for its connection, and then for other processes. With `nil` (the default) it waits
    /// without a limit for the connection, and ``busyTimeout`` for other processes. A server sets it so that requests fail instead of waiting.
    public var connectionTimeout: Duration?

    /// Whether writes to the write-ahead log are joined into runs of up to 64 KB, instead of one for each header and page; default `true`.
    ///
    /// Large transactions take up to a fifth less time, and 64 KB of memory. A commit returns only after all its pages are in the file, so the
    /// guarantees of ``synchronous`` remain. Tests with power cuts and killed processes confirm this.
    public var coalescesLogWrites: Bool

    /// The layers between the database and the operating system, the topmost first; default none. Coalesced log writes take place
    /// above all layers.
    public var storageLayers: [StorageLayer]

    /// The function called with each SQL statement before it runs, on the thread that runs it. SMP 2.3: `enableTrace`.
    public var trace: (@Sendable (String) -> Void)?

    /// Whether ``trace`` receives the statements with the values of their parameters; default `false`, because they are users' data.
    /// SMP 2.3: `enableTrace:withPayload:`.
    public var tracesValues: Bool

    /// The function called when a reader keeps the write-ahead log from starting over and the log has grown to eight times
    /// ``checkpointPages``: once for each read, on the writing thread, after its commit. Also called when the log cannot be copied to the
    /// database, because the disk is full or the file cannot be written: once until it can.
    public var warning: (@Sendable (LogWarning) -> Void)?

    /// Makes a profile for the database file at `path`; all other settings have the defaults of their properties.
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

    /// Makes a profile for a database in memory, such as for tests and previews.
    ///
    ///     let first = try Database(.inMemory(named: "preview"))
    ///     let second = try Database(.inMemory(named: "preview"))  // the same database
    ///     let other = try Database(.inMemory())
    ///
    /// - Parameter name: the name under which all `Database` objects of this process have one database; `nil`: this one has its own.
    public static func inMemory(named name: String? = nil) -> ConnectionProfile {
        var profile = ConnectionProfile(path: name ?? ":memory:")
        profile.isInMemory = true
        return profile
    }

    /// A warning about a reader that keeps the write-ahead log from starting over.
    public struct LogWarning: Sendable {
        /// The warning as a sentence.
        public let message: String
        /// The size of the log.
        public let logSize: ByteCount
        /// The label of the oldest read; `nil` when the reader is in another process, or another `Database` on the file, and where the log
        /// cannot be copied to the database.
        public let reader: String?
        /// The time since the read began; zero when it is not known.
        public let age: Duration
    }

    /// The times at which a transaction reaches the disk.
    public enum Synchronous: Int, Sendable {
        /// No call waits for the disk: a power cut may lose or damage the database.
        case off = 0
        /// At checkpoints: a power cut may lose the last transactions, but does not damage the database.
        case normal = 1
        /// At every commit.
        case full = 2
    }

    /// The handling of the file's journal mode.
    public enum Journal: Sendable {
        /// Switches the database to write-ahead logging, so that readers never wait for the writer.
        case wal
        /// Keeps the file's mode: for databases that belong to other systems, such as back ends.
        case unchanged
    }
}
