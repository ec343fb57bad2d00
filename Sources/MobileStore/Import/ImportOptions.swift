/// What happens to rows that exist.
public enum ImportMode: Sendable {
    /// A row that exists is an error.
    case insert
    /// A row that exists gets the values of the import's columns; its other columns keep theirs.
    case upsert
    /// The rows are keys, `[[1],[2]]`, and leave the table. A key that does not exist is ignored.
    case delete
}

/// What a column takes from the JSON text, and what becomes of it in SQLite.
public enum ImportColumnType: Sendable, Hashable {
    /// Everything: integers of 64 bits, larger ones as their digits in text, other numbers as the nearest double, true and false
    /// as 1 and 0, strings as text, arrays and objects as their JSON text.
    case any
    /// Numbers without fraction and exponent, of 64 bits.
    case integer
    /// Numbers, exactly: `precision` digits (1...1000), `scale` of them behind the point (0...`precision`). Up to a precision of
    /// 18 an integer scaled by 10^`scale`, beyond as text in plain notation without superfluous zeros.
    case decimal(precision: Int, scale: Int)
    /// Numbers, as the nearest double, ties to even.
    case real
    /// true and false, as 1 and 0.
    case boolean
    /// Strings.
    case text
    /// Strings in base64 (RFC 4648, padded), as bytes.
    case blob
}

/// The rule of one column.
public struct ImportColumnRule: Sendable, Hashable {
    public var type: ImportColumnType
    /// Whether null is taken, and a member left out of a row object with it; default true. The key never is null, except in a
    /// plain insert.
    public var isNullable: Bool

    public init(_ type: ImportColumnType, isNullable: Bool = true) {
        self.type = type
        self.isNullable = isNullable
    }
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
    /// The rules of columns by their names; a column without one takes ``ImportColumnType/any``.
    public var columnRules: [String: ImportColumnRule] = [:]
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
