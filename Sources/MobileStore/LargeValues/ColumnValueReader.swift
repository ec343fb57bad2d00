internal import MobileCore

/// Reads one value of an ordinary table piece by piece, without loading it as a whole: for databases of other systems, which store large
/// values in their rows. It is valid inside of its connection's closure.
///
/// It reads BLOB and TEXT values of tables with a rowid, a text in the encoding of the database.
@safe public final class ColumnValueReader {
    private let opened: ColumnValueHandle
    /// The position of the next piece, in bytes.
    public private(set) var position: Int64 = 0

    init(table: String, column: String, row: Int64, on connection: Connection) throws(StoreError) {
        opened = try unsafe ColumnValueHandle(connection) { unsafe mc_column_value_open($0, table, column, row, $1, $2) }
    }

    /// The value's length in bytes; 0 outside of the connection's closure.
    public var byteCount: Int64 { unsafe opened.handle.map { unsafe mc_column_value_length($0) } ?? 0 }

    /// Moves to the beginning of the same column's value in another row, which is much cheaper than opening it.
    /// - Throws: ``StoreError/Code/notFound`` (no such row), ``StoreError/Code/sqlite`` (a value that is neither BLOB nor TEXT).
    public func move(toRow row: Int64) throws(StoreError) {
        let handle = unsafe try opened.open()
        position = 0
        try unsafe StoreError.check { unsafe mc_column_value_move(handle, row, $0) }
    }

    /// Reads the next bytes, at most `maximum`; returns nil at the end.
    /// - Throws: ``StoreError/Code/sqlite``.
    public func nextChunk(maximum: Int = 65_536) throws(StoreError) -> [UInt8]? {
        let handle = unsafe try opened.open()
        let count = Int(min(Int64(maximum), byteCount - position))
        guard count > 0 else { return nil }
        var failure: StoreError?
        let chunk = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            guard let start = buffer.baseAddress else { return }
            do throws(StoreError) {
                try unsafe StoreError.check { unsafe mc_column_value_read(handle, position, start, count, $0) }
                filled = count
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        position += Int64(count)
        return chunk
    }
}

extension Connection {
    /// Opens the value of one column in one row for reading piece by piece.
    /// - Parameters:
    ///   - table: a table with a rowid, by its name, not quoted.
    ///   - column: the column's name, not quoted.
    ///   - row: the rowid.
    /// - Throws: ``StoreError``: `.notFound` (no such row), `.sqlite` (no such table or column, no rowid, a value that is neither BLOB nor TEXT).
    public func valueReader(table: String, column: String, row: Int64) throws(StoreError) -> ColumnValueReader {
        try ColumnValueReader(table: table, column: column, row: row, on: self)
    }
}
