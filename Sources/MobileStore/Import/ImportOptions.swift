/// What happens to rows that exist.
public enum ImportMode: Sendable {
    /// A row that exists is an error.
    case insert
    /// A row that exists gets the values of the import's columns; its other columns keep theirs.
    case upsert
    /// The rows are keys, `[[1],[2]]`, and leave the table. A key that does not exist is ignored.
    case delete
}

/// Keeps an import away from rows with pending local changes: the versions of these rows go to another table.
public struct PendingProtection: Sendable {
    /// The table of original states. It has the columns of the import, and exactly one row for each protected key.
    public var originalTable: String
    /// Its integer key.
    public var keyColumn: String
    /// What is set there beside the import's columns.
    public var assignments: [(column: String, value: Value)]

    public init(originalTable: String, keyColumn: String, assignments: [(column: String, value: Value)] = []) {
        self.originalTable = originalTable
        self.keyColumn = keyColumn
        self.assignments = assignments
    }
}

/// The settings of a ``BulkImporter``.
public struct ImportOptions {
    /// The key by which rows are found: one of the import's columns, primary key or unique; default: the first column.
    public var keyColumn: String?
    /// Written with new rows, and never changed by an update.
    public var onInsert: [(column: String, value: Value)] = []
    /// Protects rows with pending changes; default: none are protected.
    public var pending: PendingProtection?
    /// The rules of columns by their names; a column without one takes ``JSONColumnType/any``.
    public var columnRules: [String: JSONColumnRule] = [:]
    /// Levels of arrays and objects inside of a row's values, 1...1024; default 32.
    public var maximumDepth = 32
    /// The longest row; default 16 MB, at most 1,000,000,000 bytes. Bounds the memory of an import.
    public var maximumRowBytes: ByteCount = .megabytes(16)
    /// The most JSON text that deflated input may become; default 64 GB.
    public var maximumInflatedBytes: Int64 = 64 << 30
    /// How many times deflated input may grow, looked at beyond 1 MB of text; default 400. Rows reach 3 to 50.
    public var maximumInflateRatio: Int64 = 400
    /// Called after each batch of rows, a few hundred. What it throws cancels the import and becomes the cause of
    /// ``StoreError/Code/interrupted``.
    public var progress: ((ImportProgress) throws -> Void)?

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
    /// Bytes of the input, as they were pushed.
    public var bytes: Int64
    /// Bytes of JSON text.
    public var inflatedBytes: Int64
}

/// What an import did.
public typealias ImportResult = ImportProgress
