internal import MobileSQLite

/// The back end of a world, read and changed through its own library: no code of the product is between the oracle and the truth.
package protocol EnterpriseDatabase {
    /// Runs statements without results.
    func run(_ sql: String) throws
    /// The rows of a query, each value as text; nil is NULL.
    func rows(_ sql: String) throws -> [[String?]]
    /// Ends the connection, which cannot be used any more.
    func close()
}

/// An error of a back end, in its own words.
package struct EnterpriseFailure: Error, CustomStringConvertible {
    package let description: String
}

/// A back end in a file of SQLite.
package final class SQLiteEnterprise: EnterpriseDatabase {
    private var handle: OpaquePointer?

    package init(path: String, isReadOnly: Bool = false) throws {
        var opened: OpaquePointer?
        let flags = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        guard sqlite3_open_v2(path, &opened, flags, nil) == SQLITE_OK, let opened else {
            throw EnterpriseFailure(description: "\(path) cannot be opened")
        }
        handle = opened
        sqlite3_busy_timeout(handle, 5000)
        if !isReadOnly { try run("PRAGMA foreign_keys = ON; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF") }
    }

    deinit { close() }

    package func close() {
        sqlite3_close_v2(handle)
        handle = nil
    }

    package func run(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
            throw EnterpriseFailure(description: "\(String(cString: sqlite3_errmsg(handle))): \(sql)")
        }
    }

    package func rows(_ sql: String) throws -> [[String?]] {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else {
            throw EnterpriseFailure(description: "\(String(cString: sqlite3_errmsg(handle))): \(sql)")
        }
        defer { sqlite3_finalize(statement) }
        var rows: [[String?]] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: rows.append((0..<sqlite3_column_count(statement)).map { Self.text(statement, $0) })
            case SQLITE_DONE: return rows
            default: throw EnterpriseFailure(description: "\(String(cString: sqlite3_errmsg(handle))): \(sql)")
            }
        }
    }

    private static func bytes(_ statement: OpaquePointer?, _ column: Int32) -> [UInt8] {
        Array(UnsafeRawBufferPointer(start: sqlite3_column_blob(statement, column), count: Int(sqlite3_column_bytes(statement, column))))
    }

    private static func text(_ statement: OpaquePointer?, _ column: Int32) -> String? {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_NULL: nil
        case SQLITE_BLOB:
            // As PostgreSQL writes it.
            "\\x" + LargeContent(bytes(statement, column)).hexadecimal
        case SQLITE_FLOAT: "\(sqlite3_column_double(statement, column))"
        default: sqlite3_column_text(statement, column).map { String(cString: $0) }
        }
    }
}
