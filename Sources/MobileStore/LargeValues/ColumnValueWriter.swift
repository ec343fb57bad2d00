internal import MobileCore

/// Fills one value of an ordinary table piece by piece, without holding it as a whole: for databases of other systems, which store large
/// values in their rows. It is valid inside of its connection's closure, a write.
///
///     let key = try connection.first("INSERT INTO picture (content) VALUES (zeroblob(?1)) RETURNING id", [.integer(length)])
///     let content = try connection.valueWriter(table: "picture", column: "content", row: key)
///     while let piece = try next() { try content.append(piece) }
///
/// The value keeps its length and its type. Triggers and CHECK constraints see only the zeros, not the content written here.
@safe public final class ColumnValueWriter {
    private let opened: ColumnValueHandle
    /// The position of the next piece, in bytes.
    public private(set) var position: Int64 = 0

    init(table: String, column: String, row: Int64, on connection: Connection) throws(StoreError) {
        opened = try unsafe ColumnValueHandle(connection) { unsafe mc_column_value_open_writable($0, table, column, row, $1, $2) }
    }

    /// Writes the next bytes.
    /// - Throws: ``StoreError``: `.misuse` (beyond the length of the value), `.full`, `.io`, `.sqlite` (the row was changed meanwhile).
    public func append(_ piece: [UInt8]) throws(StoreError) {
        let handle = unsafe try opened.open(), position = position
        try unsafe StoreError.check { error in
            unsafe piece.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress else { return MC_OK }
                return unsafe mc_column_value_write(handle, position, start, bytes.count, error)
            }
        }
        self.position += Int64(piece.count)
    }
}

extension Connection {
    /// Opens the value of one column in one row for writing piece by piece; `zeroblob(length)` reserves its space.
    /// - Parameters:
    ///   - table: a table with a rowid, by its name, not quoted.
    ///   - column: the column's name, not quoted; neither indexed nor part of a foreign key.
    ///   - row: the rowid.
    /// - Throws: ``StoreError``: `.notFound` (no such row), `.sqlite` (no such table or column, a column that cannot be written in pieces, a
    ///   value that is neither BLOB nor TEXT).
    public func valueWriter(table: String, column: String, row: Int64) throws(StoreError) -> ColumnValueWriter {
        try ColumnValueWriter(table: table, column: column, row: row, on: self)
    }
}
