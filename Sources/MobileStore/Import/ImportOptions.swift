/// The handling of existing rows.
public enum ImportMode: Sendable {
    /// An existing row is an error, including one that the same input has inserted.
    case insert
    /// An existing row gets the values of the import's columns; its other columns keep theirs. Of several rows with the same key in the
    /// input, the last one wins.
    case upsert
    /// The input contains keys, `[[1],[2]]`, whose rows are deleted. A key without a row is ignored.
    case delete
}

/// Protects rows with pending local changes from an import: their imported versions go to another table.
public struct PendingProtection: Sendable {
    /// The table of original states. It has the import's columns, and exactly one row for each protected key.
    public var originalTable: String
    /// The columns of its key, in the order of the import's key; empty: columns of the same names.
    public var keyColumns: [String]
    /// The values that an import sets there in addition to its own columns.
    public var assignments: [(column: String, value: Value)]

    /// Makes a protection whose table receives the imported versions of protected rows.
    public init(originalTable: String, keyColumns: [String] = [], assignments: [(column: String, value: Value)] = []) {
        self.originalTable = originalTable
        self.keyColumns = keyColumns
        self.assignments = assignments
    }

    /// Makes a protection with a key of one column.
    public init(originalTable: String, keyColumn: String, assignments: [(column: String, value: Value)] = []) {
        self.init(originalTable: originalTable, keyColumns: [keyColumn], assignments: assignments)
    }
}

/// One table of an import of several; see <doc:ImportFormat>.
public struct ImportTable: Sendable {
    /// The table in the database.
    public var table: String
    /// Its name in the input; default: the table's. A table can occur there twice, once with rows and once with keys to delete.
    public var member: String
    /// The columns in the order of the values in row arrays; for ``ImportMode/delete`` only the key.
    public var columns: [String]
    /// The handling of existing rows.
    public var mode: ImportMode
    /// The columns of the key, a primary or unique key; empty: the first column, for ``ImportMode/delete`` all columns.
    public var keyColumns: [String] = []
    /// The values written with new rows; an update does not change them.
    public var onInsert: [(column: String, value: Value)] = []
    /// The protection of rows with pending changes; default: no protection.
    public var pending: PendingProtection?
    /// The rules of columns by their names; a column without a rule accepts ``JSONColumnType/any``.
    public var columnRules: [String: JSONColumnRule] = [:]
    /// For ``ImportMode/delete``: the columns of the table that hold ids of large values, which are removed with their rows. The other
    /// modes know them by ``JSONColumnType/bigString`` and ``JSONColumnType/bigBinary``.
    public var largeColumns: [String] = []

    /// Makes the description of one table of an import.
    public init(_ table: String, member: String? = nil, columns: [String], mode: ImportMode = .upsert) {
        self.table = table
        self.member = member ?? table
        self.columns = columns
        self.mode = mode
    }
}

/// The use of a second thread, which inflates and scans while the first one inserts.
public enum ImportThreads: Sendable {
    /// A second thread from 128 KB of JSON text, if the process may use a second core.
    case automatic
    /// All work on the thread that pushes.
    case off
    /// A second thread from the first bytes.
    case on
}

/// The commits of an import before it is finished.
public enum ImportCommits: Sendable, Hashable {
    /// None: an import takes effect as a whole or not at all.
    case none
    /// A commit each time this number of rows was written.
    case rows(Int)
    /// A commit each time this number of bytes of JSON text was read.
    case bytes(ByteCount)
}

/// The effect of an import on a row.
public enum ImportChangeKind: Int, Sendable {
    /// The row was new.
    case inserted = 0
    /// The row existed and has the values of the import.
    case updated = 1
    /// The row was deleted.
    case deleted = 2
    /// The row has pending changes; the version of the import went to the table of original states.
    case diverted = 3
    /// Nothing was written: the key to delete did not exist, or a constraint or a trigger of the table ignores the row.
    case ignored = 4
}

/// One row that an import has written.
public struct ImportChange: Sendable, Hashable {
    /// The index of its table among those of the import; 0 with only one.
    public var table: Int
    /// The number of the row among its table's rows in its text of the input, from 1.
    public var row: Int
    /// The effect on the row.
    public var kind: ImportChangeKind
    /// The values of its key.
    public var key: [Value]

    /// Makes a change of one row.
    public init(table: Int, row: Int, kind: ImportChangeKind, key: [Value]) {
        (self.table, self.row, self.kind, self.key) = (table, row, kind, key)
    }
}

/// The settings of a ``BulkImporter``. The first five apply to imports into one table; with several, each ``ImportTable`` has its own.
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
    /// The largest number of nested arrays and objects inside of a row's values, 1...1024; default 32.
    public var maximumDepth = 32
    /// The size of the longest row, without large values above 16 KB; default 16 MB, at most 1,000,000,000 bytes. It bounds an import's memory.
    public var maximumRowBytes: ByteCount = .megabytes(16)
    /// The largest size of the JSON text of a deflated input, in bytes; default 64 GB.
    public var maximumInflatedBytes: Int64 = 64 << 30
    /// The largest ratio of the JSON text to its deflated input, checked after 1 MB of text; default 400. Rows reach 3 to 50.
    public var maximumInflateRatio: Int64 = 400
    /// The function called after each batch of a few hundred rows. An error that it throws cancels the import and becomes the cause of
    /// ``StoreError/Code/interrupted``.
    public var progress: ((ImportProgress) throws -> Void)?

    /// The function called for each row after its batch was written, in the order of the input; nil costs nothing. An error that it
    /// throws cancels the import like one of ``progress``.
    public var changes: ((ImportChange) throws -> Void)?
    /// The use of a second thread; default ``ImportThreads/automatic``. Closures always run on the thread that pushes.
    public var threads = ImportThreads.automatic
    /// The commits during the import; default ``ImportCommits/none``. A commit includes the changes that the transaction made before the
    /// import. An error undoes only the changes since the last commit.
    public var commits = ImportCommits.none

    /// Makes options with the default settings.
    public init() {}
}

/// The progress of an import.
public struct ImportProgress: Sendable, Hashable {
    /// The number of rows taken from the input.
    public var rows: Int
    /// The number of new rows.
    public var inserted: Int
    /// The number of updated rows.
    public var updated: Int
    /// The number of rows whose imported version went to the table of original states.
    public var diverted: Int
    /// The number of deleted rows.
    public var deleted: Int
    /// The number of rows committed so far; see ``ImportOptions/commits``.
    public var committed: Int
    /// The size of the pushed input in bytes.
    public var bytes: Int64
    /// The size of the inflated JSON text in bytes.
    public var inflatedBytes: Int64
}

/// The result of an import.
public typealias ImportResult = ImportProgress
