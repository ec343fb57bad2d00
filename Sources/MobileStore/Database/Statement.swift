internal import MobileCore

/// A prepared statement, for single rows and repeated changes. For many rows, pages are faster.
///
/// Parameters are numbered from 1, columns from 0. Text and bytes are copied. After its connection's closure has returned, its methods
/// throw ``StoreError/Code/misuse``, and its columns are NULL.
@safe public final class Statement {
    private let handle: OpaquePointer
    let connection: Connection

    init(_ handle: OpaquePointer, of connection: Connection) {
        unsafe self.handle = handle
        self.connection = connection
    }

    deinit {
        // The end of the connection has already returned it to the pool.
        if connection.isValid { unsafe mc_statement_return(handle) }
    }

    /// The core's statement.
    func core() throws(StoreError) -> OpaquePointer {
        guard connection.isValid else { throw .usedOutside }
        return unsafe handle
    }

    /// Sets a parameter; a statement positioned on a row is reset.
    /// - Throws: ``StoreError/Code/misuse``: there is no such parameter.
    public func bind(_ value: Value, at index: Int) throws(StoreError) {
        let handle = unsafe try core()
        let index = Int32(clamping: index)
        try unsafe StoreError.check { error in
            switch value {
            case .null: return unsafe mc_statement_bind_null(handle, index, error)
            case .integer(let value): return unsafe mc_statement_bind_integer(handle, index, value, error)
            case .real(let value): return unsafe mc_statement_bind_real(handle, index, value, error)
            case .text(var text):
                return text.withUTF8 { bytes in
                    unsafe bytes.withMemoryRebound(to: CChar.self) { text in
                        unsafe mc_statement_bind_text(handle, index, text.baseAddress, text.count, error)
                    }
                }
            case .blob(let bytes):
                return unsafe bytes.withUnsafeBytes { bytes in
                    unsafe mc_statement_bind_blob(handle, index, bytes.baseAddress, bytes.count, error)
                }
            }
        }
    }

    /// Sets the first parameters, in order; later parameters keep their values.
    public func bind(_ values: [Value]) throws(StoreError) {
        for (offset, value) in values.enumerated() { try bind(value, at: offset + 1) }
    }

    /// Steps to the next row. Returns `false` after the last one; the statement can then run again.
    public func step() throws(StoreError) -> Bool {
        let handle = unsafe try core()
        var hasRow = false
        try unsafe StoreError.check { unsafe mc_statement_step(handle, &hasRow, $0) }
        return hasRow
    }

    /// Resets the statement to before its first row. The parameters keep their values.
    public func reset() {
        if connection.isValid { unsafe mc_statement_reset(handle) }
    }

    /// Runs the statement to its end with these values.
    /// - Returns: the number of rows that the statement itself inserted, updated or deleted.
    @discardableResult
    public func run(_ values: [Value] = []) throws(StoreError) -> Int {
        try bind(values)
        let handle = unsafe try core()
        var changes: Int64 = 0
        try unsafe StoreError.check { unsafe mc_statement_run(handle, &changes, $0) }
        return Int(changes)
    }

    /// The number of columns of a row; 0 for a statement without rows.
    public var columnCount: Int { connection.isValid ? Int(unsafe mc_statement_column_count(handle)) : 0 }

    /// The columns' names.
    public var columnNames: [String] {
        (0..<columnCount).map { column in
            unsafe mc_statement_column_name(handle, Int32(column)).map { unsafe String(cString: $0) } ?? ""
        }
    }

    /// Returns the type of a value of the current row.
    public func type(_ column: Int) -> ColumnType {
        guard connection.isValid else { return .null }
        return ColumnType(rawValue: UInt32(unsafe mc_statement_column_type(handle, Int32(clamping: column)).rawValue)) ?? .null
    }

    /// Returns whether a value of the current row is NULL.
    public func isNull(_ column: Int) -> Bool { type(column) == .null }

    /// Returns a value as an integer; SQLite converts other types, NULL is 0.
    public func integer(_ column: Int) -> Int64 {
        connection.isValid ? unsafe mc_statement_column_integer(handle, Int32(clamping: column)) : 0
    }

    /// Returns a value as a real; SQLite converts other types, NULL is 0.
    public func real(_ column: Int) -> Double {
        connection.isValid ? unsafe mc_statement_column_real(handle, Int32(clamping: column)) : 0
    }

    /// Returns a value as text; numbers are written out, damaged UTF-8 is repaired; `nil` for NULL.
    public func text(_ column: Int) -> String? {
        guard connection.isValid else { return nil }
        var length = 0
        guard let start = unsafe mc_statement_column_text(handle, Int32(clamping: column), &length) else { return nil }
        return unsafe String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
    }

    /// Returns a value as bytes, a text as its UTF-8; `nil` for NULL.
    public func blob(_ column: Int) -> [UInt8]? {
        guard connection.isValid else { return nil }
        var length = 0
        guard let start = unsafe mc_statement_column_blob(handle, Int32(clamping: column), &length) else { return nil }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: length))
    }

    /// Returns a value of the current row.
    public func value(_ column: Int) -> Value {
        switch type(column) {
        case .null: .null
        case .integer: .integer(integer(column))
        case .real: .real(real(column))
        case .text: .text(text(column) ?? "")
        case .blob: .blob(blob(column) ?? [])
        }
    }

    /// All values of the current row.
    public var values: [Value] { (0..<columnCount).map(value) }
}
