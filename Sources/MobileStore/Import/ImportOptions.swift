/// What happens to rows that exist.
public enum ImportMode: Sendable {
    /// A row that exists is an error, also one that the same input has inserted.
    case insert
    /// A row that exists gets the values of the import's columns; its other columns keep theirs. Of rows with one key in the same
    /// input the last one wins.
    case upsert
    /// The rows are keys, `[[1],[2]]`, and leave the table. A key that does not exist is ignored.
    case delete
}

/// Keeps an import away from rows with pending local changes: the versions of these rows go to another table.
public struct PendingProtection: Sendable {
    /// The table of original states. It has the columns of the import, and exactly one row for each protected key.
    public var originalTable: String
    /// Its key, in the order of the import's key; empty: columns of the same names.
    public var keyColumns: [String]
    /// What is set there beside the import's columns.
    public var assignments: [(column: String, value: Value)]

    /// A table beside the imported one whose rows take what comes for rows that have changes of their own.
    public init(originalTable: String, keyColumns: [String] = [], assignments: [(column: String, value: Value)] = []) {
        self.originalTable = originalTable
        self.keyColumns = keyColumns
        self.assignments = assignments
    }

    /// Protection by a key of one column.
    public init(originalTable: String, keyColumn: String, assignments: [(column: String, value: Value)] = []) {
        self.init(originalTable: originalTable, keyColumns: [keyColumn], assignments: assignments)
    }
}

/// One table of an import of several; see <doc:ImportFormat>.
public struct ImportTable: Sendable {
    /// The table in the database.
    public var table: String
    /// Its name in the input; default: the table's. A table can stand there twice, once with rows and once with keys to delete.
    public var member: String
    /// The columns in the order of the values in row arrays; for ``ImportMode/delete`` the key alone.
    public var columns: [String]
    /// What happens to rows that exist.
    public var mode: ImportMode
    /// The key by which rows are found: some of the columns, primary key or unique; empty: the first column, for
    /// ``ImportMode/delete`` all of them.
    public var keyColumns: [String] = []
    /// Written with new rows, and never changed by an update.
    public var onInsert: [(column: String, value: Value)] = []
    /// Protects rows with pending changes; default: none are protected.
    public var pending: PendingProtection?
    /// The rules of columns by their names; a column without one takes ``JSONColumnType/any``.
    public var columnRules: [String: JSONColumnRule] = [:]
    /// For ``ImportMode/delete``: the columns of the table that hold ids of large values, which are removed with their rows. The other
    /// modes know them by ``JSONColumnType/bigString`` and ``JSONColumnType/bigBinary``.
    public var largeColumns: [String] = []

    /// One table of an import.
    public init(_ table: String, member: String? = nil, columns: [String], mode: ImportMode = .upsert) {
        self.table = table
        self.member = member ?? table
        self.columns = columns
        self.mode = mode
    }
}

/// Whether an import inflates and scans in a second thread while the first one inserts.
public enum ImportThreads: Sendable {
    /// Where the process may use a second core, from 128 KB of JSON text on.
    case automatic
    /// All on the thread that pushes.
    case off
    /// From the first bytes on.
    case on
}

/// What an import commits before it is finished.
public enum ImportCommits: Sendable, Hashable {
    /// Nothing: an import is done as a whole or not at all.
    case none
    /// What there is after each so many rows.
    case rows(Int)
    /// What there is after each so many bytes of JSON text.
    case bytes(ByteCount)
}

/// What became of a row.
public enum ImportChangeKind: Int, Sendable {
    /// The row is new.
    case inserted = 0
    /// The row existed and has the values of the import.
    case updated = 1
    /// The row left the table.
    case deleted = 2
    /// The row has pending changes; the version of the import went to the table of original states.
    case diverted = 3
    /// There was no such key to delete.
    case ignored = 4
}

/// One row that an import has written.
public struct ImportChange: Sendable, Hashable {
    /// The number of its table among those of the import; 0 where there is only one.
    public var table: Int
    /// The number of the row among those of its table in the input, from 1.
    public var row: Int
    /// What became of it.
    public var kind: ImportChangeKind
    /// The values of its key.
    public var key: [Value]

    /// A change of one row; made by imports.
    public init(table: Int, row: Int, kind: ImportChangeKind, key: [Value]) {
        (self.table, self.row, self.kind, self.key) = (table, row, kind, key)
    }
}

/// The settings of a ``BulkImporter``. The first five are for imports into one table; those of several have them in each ``ImportTable``.
public struct ImportOptions {
    /// See ``ImportTable/keyColumns``.
    public var keyColumns: [String] = []
    /// See ``ImportTable/onInsert``.
    public var onInsert: [(column: String, value: Value)] = []
    /// See ``ImportTable/pending``.
    public var pending: PendingProtection?
    /// See ``ImportTable/columnRules``.
    public var columnRules: [String: JSONColumnRule] = [:]
    /// See ``ImportTable/largeColumns``.
    public var largeColumns: [String] = []
    /// Levels of arrays and objects inside of a row's values, 1...1024; default 32.
    public var maximumDepth = 32
    /// The longest row, without large values beyond 16 KB; default 16 MB, at most 1,000,000,000 bytes. Bounds the memory of an import.
    public var maximumRowBytes: ByteCount = .megabytes(16)
    /// The most JSON text that deflated input may become; default 64 GB.
    public var maximumInflatedBytes: Int64 = 64 << 30
    /// How many times deflated input may grow, looked at beyond 1 MB of text; default 400. Rows reach 3 to 50.
    public var maximumInflateRatio: Int64 = 400
    /// Called after each batch of rows, a few hundred. What it throws cancels the import and becomes the cause of
    /// ``StoreError/Code/interrupted``.
    public var progress: ((ImportProgress) throws -> Void)?

    /// Called for each row after its batch has been written, in the order of the input. Costs nothing where it is nil. What it
    /// throws cancels the import as ``progress`` does.
    public var changes: ((ImportChange) throws -> Void)?
    /// Whether a second thread is used; default ``ImportThreads/automatic``. Closures are called on the thread that pushes in any case.
    public var threads = ImportThreads.automatic
    /// What is committed on the way; default ``ImportCommits/none``. A commit takes along what the transaction did before the import,
    /// and an error takes back only what came since.
    public var commits = ImportCommits.none

    /// The defaults.
    public init() {}
}

/// How far an import has come.
public struct ImportProgress: Sendable, Hashable {
    /// Rows taken from the input.
    public var rows: Int
    /// Rows that were new.
    public var inserted: Int
    /// Rows that existed.
    public var updated: Int
    /// Rows whose version went to the table of original states.
    public var diverted: Int
    /// Rows that left the table.
    public var deleted: Int
    /// Rows that are committed whatever comes; see ``ImportOptions/commits``.
    public var committed: Int
    /// Bytes of the input, as they were pushed.
    public var bytes: Int64
    /// Bytes of JSON text.
    public var inflatedBytes: Int64
}

/// What an import did.
public typealias ImportResult = ImportProgress
