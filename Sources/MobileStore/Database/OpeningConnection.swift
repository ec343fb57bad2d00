internal import MobileCore
internal import MobileSQLite

/// A connection that is being opened, on which ``ConnectionProfile/prepareConnection`` adds what SQL needs on every connection.
///
/// It is valid inside of the closure that receives it. Afterwards its methods throw ``StoreError/Code/misuse``.
@safe public final class OpeningConnection {
    /// SQLite's handle; `nil` after the closure has returned.
    private var handle: OpaquePointer?

    /// Whether this is the writer, and not a reader.
    public let isWriter: Bool

    init(_ handle: OpaquePointer, isWriter: Bool) {
        unsafe self.handle = handle
        self.isWriter = isWriter
    }

    func invalidate() { unsafe handle = nil }

    private func sqlite() throws(StoreError) -> OpaquePointer {
        guard let handle = unsafe handle else { throw .usedOutside }
        return unsafe handle
    }

    /// Runs statements without results: `PRAGMA key`, `ATTACH`, temporary tables. They do not read or change the database itself, except for giving it a key.
    /// - Throws: ``StoreError/Code/sqlite``.
    public func execute(_ sql: String) throws(StoreError) {
        let handle = unsafe try sqlite()
        try unsafe check(sqlite3_exec(handle, sql, nil, nil, nil), sql.prefix(80))
    }

    /// Attaches another database file under a name. Each connection has it then.
    /// - Throws: ``StoreError``: `.sqlite` (it cannot be opened), `.misuse` (a path with a zero byte).
    public func attach(_ path: String, as name: String) throws(StoreError) {
        let handle = unsafe try sqlite()
        var statement: OpaquePointer?
        defer { unsafe sqlite3_finalize(statement) }
        try unsafe check(sqlite3_prepare_v2(handle, "ATTACH ?1 AS ?2", -1, &statement, nil), "attach")
        for (index, text) in [path, name].enumerated() {
            guard !text.utf8.contains(0) else { throw StoreError(.misuse, "attach \"\(path)\": it has a zero byte") }
            _ = unsafe sqlite3_bind_text(statement, Int32(index + 1), text, -1, Self.copied)
        }
        guard unsafe sqlite3_step(statement) == SQLITE_DONE else {
            return try unsafe check(sqlite3_extended_errcode(handle), "attach \"\(path)\"")
        }
    }

    /// Adds a function of SQL.
    ///
    ///     profile.prepareConnection = { connection in
    ///         try connection.addFunction("initials", argumentCount: 1) { values in
    ///             .text((values[0].text ?? "").split(separator: " ").compactMap(\.first).map(String.init).joined())
    ///         }
    ///     }
    ///
    /// - Parameters:
    ///   - name: the name, in any case. Names that begin with `mc_` are the core's.
    ///   - argumentCount: the number of its arguments; `nil` for any number.
    ///   - isDeterministic: whether the same values always give the same result. Only then it may be in an index, and a query that repeats it calls it once.
    ///   - body: the function, called on the thread of the statement. An error that it throws fails the statement.
    /// - Throws: ``StoreError/Code/sqlite`` when SQLite refuses the name or the number of arguments.
    public func addFunction(
        _ name: String, argumentCount: Int?, isDeterministic: Bool = true, _ body: @escaping @Sendable ([Value]) throws -> Value
    ) throws(StoreError) {
        let handle = unsafe try sqlite()
        guard let count = Int32(exactly: argumentCount ?? -1) else { throw StoreError(.misuse, "function \(name): too many arguments") }
        let flags = SQLITE_UTF8 | (isDeterministic ? SQLITE_DETERMINISTIC : 0)
        // SQLite releases it with the connection, also where it refuses the function.
        let context = unsafe Unmanaged.passRetained(SQLFunction(body)).toOpaque()
        try unsafe check(
            sqlite3_create_function_v2(handle, name, count, flags, context, SQLFunction.call, nil, nil, SQLFunction.release), "function \(name)")
    }

    /// Adds an order of texts.
    ///
    ///     profile.prepareConnection = { connection in
    ///         try connection.addCollation("by_length") { $0.utf8.count - $1.utf8.count }
    ///     }
    ///
    /// - Parameters:
    ///   - name: the name for `COLLATE`. A table or an index that names it needs it on each connection, for good: never change its order.
    ///   - compare: returns a negative number, 0 or a positive one if the first text comes before the second one, is the same, or comes after it.
    /// - Throws: ``StoreError/Code/sqlite``.
    public func addCollation(_ name: String, _ compare: @escaping @Sendable (String, String) -> Int) throws(StoreError) {
        let handle = unsafe try sqlite()
        let order = SQLCollation(compare)
        let context = unsafe Unmanaged.passRetained(order)
        let code = unsafe sqlite3_create_collation_v2(handle, name, SQLITE_UTF8, context.toOpaque(), SQLCollation.call, SQLCollation.release)
        if code != SQLITE_OK { unsafe context.release() }  // unlike a function, SQLite keeps no collation that it refuses
        try check(code, "collation \(name)")
    }

    private func check(_ code: Int32, _ what: some StringProtocol) throws(StoreError) {
        guard code != SQLITE_OK else { return }
        let reason = unsafe String(cString: sqlite3_errmsg(handle))
        throw StoreError(.sqlite, "open a connection: \(what): \(reason)", sqliteCode: code)
    }

    /// SQLite copies the bytes.
    fileprivate static var copied: sqlite3_destructor_type { unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}

/// Passes the core's callback on to the closure of the profile.
final class OpeningSink: Sendable {
    private let prepare: @Sendable (OpeningConnection) throws -> Void

    init(_ prepare: @escaping @Sendable (OpeningConnection) throws -> Void) { self.prepare = prepare }

    static let callback: mc_connection_opened = { context, handle, isWriter, record in
        guard let context = unsafe context else { return MC_OK }
        let sink = unsafe Unmanaged<OpeningSink>.fromOpaque(context).takeUnretainedValue()
        let connection = unsafe OpeningConnection(handle, isWriter: isWriter)
        defer { connection.invalidate() }
        do {
            try sink.prepare(connection)
            return MC_OK
        } catch {
            return unsafe fill(record, with: error)
        }
    }

    /// Gives an error to the core, which throws it as a ``StoreError`` again.
    private static func fill(_ record: UnsafeMutablePointer<mc_error>, with error: any Error) -> mc_status {
        let failure = error as? StoreError ?? StoreError(.sqlite, "open a connection: \(error)")
        unsafe record.pointee.sqlite_code = failure.sqliteCode ?? 0
        unsafe withUnsafeMutableBytes(of: &record.pointee.message) { bytes in
            // Cut between characters; the last byte ends the text.
            var length = 0
            for character in failure.message.unicodeScalars {
                let size = UTF8.width(character)
                guard length + size < bytes.count else { break }
                for unit in UTF8.encode(character)! { unsafe bytes[length] = unit; length += 1 }
            }
            unsafe bytes[length] = 0
        }
        // Kinds above 100 are those of Swift alone.
        return (1...19).contains(failure.code.rawValue) ? mc_status(UInt32(failure.code.rawValue)) : MC_ERROR_SQLITE
    }
}

/// A function of SQL.
private final class SQLFunction: Sendable {
    private let body: @Sendable ([Value]) throws -> Value

    init(_ body: @escaping @Sendable ([Value]) throws -> Value) { self.body = body }

    static let call: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = { context, count, arguments in
        let function = unsafe Unmanaged<SQLFunction>.fromOpaque(sqlite3_user_data(context)!).takeUnretainedValue()
        let values = (0..<Int(count)).map { index in unsafe Value(sqlite: arguments![index]!) }
        do {
            unsafe try function.body(values).give(to: context!)
        } catch {
            unsafe sqlite3_result_error(context, (error as? StoreError)?.message ?? "\(error)", -1)
        }
    }

    static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
        if let context = unsafe context { unsafe Unmanaged<SQLFunction>.fromOpaque(context).release() }
    }
}

/// An order of texts.
private final class SQLCollation: Sendable {
    private let compare: @Sendable (String, String) -> Int

    init(_ compare: @escaping @Sendable (String, String) -> Int) { self.compare = compare }

    static let call: @convention(c) (UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?) -> Int32 = {
        context, length, text, otherLength, other in
        let collation = unsafe Unmanaged<SQLCollation>.fromOpaque(context!).takeUnretainedValue()
        let first = unsafe String(decoding: UnsafeRawBufferPointer(start: text, count: Int(length)), as: UTF8.self)
        let second = unsafe String(decoding: UnsafeRawBufferPointer(start: other, count: Int(otherLength)), as: UTF8.self)
        return Int32(collation.compare(first, second).signum())
    }

    static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
        if let context = unsafe context { unsafe Unmanaged<SQLCollation>.fromOpaque(context).release() }
    }
}

extension Value {
    /// Copies an argument of a function.
    fileprivate init(sqlite value: OpaquePointer) {
        switch unsafe sqlite3_value_type(value) {
        case SQLITE_INTEGER: self = .integer(unsafe sqlite3_value_int64(value))
        case SQLITE_FLOAT: self = .real(unsafe sqlite3_value_double(value))
        case SQLITE_TEXT:
            let text = unsafe UnsafeRawPointer(sqlite3_value_text(value))  // before the length, which is that of this form
            self = .text(unsafe String(decoding: UnsafeRawBufferPointer(start: text, count: Int(sqlite3_value_bytes(value))), as: UTF8.self))
        case SQLITE_BLOB:
            let bytes = unsafe sqlite3_value_blob(value)
            self = .blob(unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(value)))))
        default: self = .null
        }
    }

    /// Makes it the result of a function.
    fileprivate func give(to context: OpaquePointer) {
        switch self {
        case .null: unsafe sqlite3_result_null(context)
        case .integer(let value): unsafe sqlite3_result_int64(context, value)
        case .real(let value): unsafe sqlite3_result_double(context, value)
        case .text(let text):
            let count = UInt64(text.utf8.count)
            unsafe text.withCString { unsafe sqlite3_result_text64(context, $0, count, OpeningConnection.copied, UInt8(SQLITE_UTF8)) }
        case .blob(let bytes):
            guard !bytes.isEmpty else { return unsafe sqlite3_result_zeroblob(context, 0) }
            unsafe bytes.withUnsafeBytes { unsafe sqlite3_result_blob64(context, $0.baseAddress, UInt64($0.count), OpeningConnection.copied) }
        }
    }
}
