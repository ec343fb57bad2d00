import FaultInjection
import Foundation
import MobileCore
import TestSupport

/// A directory without waits for a disk, for databases of tests. None of these tests simulates a power cut.
let quickDirectory = URL(fileURLWithPath: String(cString: fault_quick_directory()))

/// The error of a call into the core.
struct CoreError: Error, Equatable {
    let code: mc_status
    let message: String
    let sqliteCode: Int32

    init(_ error: mc_error) {
        var error = error
        code = error.code
        sqliteCode = error.sqlite_code
        message = withUnsafeBytes(of: &error.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    static func check(_ call: (UnsafeMutablePointer<mc_error>) -> mc_status) throws(CoreError) {
        var error = mc_error()
        guard call(&error) == MC_OK else { throw CoreError(error) }
    }
}

/// A pool over a database in its own directory, which is removed with the pool.
final class CorePool: @unchecked Sendable {  // the C pool may be used on any thread
    private let temporary: TemporaryDirectory?
    let pool: OpaquePointer

    init(file: String = "core.db", _ change: (inout mc_pool_options) -> Void = { _ in }) throws {
        let temporary = try TemporaryDirectory(in: quickDirectory)
        self.temporary = temporary
        pool = try CorePool.open(temporary.file(file), change)
    }

    /// Opens a pool over the database of another pool, which keeps the directory.
    init(existing path: String, _ change: (inout mc_pool_options) -> Void = { _ in }) throws {
        temporary = nil
        pool = try CorePool.open(path, change)
    }

    /// Closes the pool before it is freed, because its storage may be freed first.
    func close() { _ = mc_pool_close(pool, nil) }

    deinit { mc_pool_free(pool) }

    /// The directory of its database; empty for a pool over another pool's database.
    var directory: String { temporary?.path ?? "" }

    static func open(_ path: String, _ change: (inout mc_pool_options) -> Void = { _ in }) throws -> OpaquePointer {
        var options = mc_pool_default_options()
        TestDefaults.apply(to: &options)
        change(&options)
        var pool: OpaquePointer?
        try CoreError.check { mc_pool_open(path, &options, &pool, $0) }
        return pool!
    }

    func checkOut(
        writer: Bool = false, isLong: Bool = false, loose: Bool = false, timeout: Int64 = Int64(MC_WAIT_FOREVER), label: String = "",
        ticket: OpaquePointer? = nil
    ) throws -> OpaquePointer {
        var connection: OpaquePointer?
        try label.withCString { label in
            var checkout = mc_checkout(writer: writer, is_long: isLong, loose: loose, timeout_ns: timeout, label: label, ticket: ticket)
            try CoreError.check { mc_pool_checkout(pool, &checkout, &connection, $0) }
        }
        return connection!
    }

    func giveBack(_ connection: OpaquePointer) { mc_pool_return(pool, connection) }

    func with<R>(writer: Bool = false, _ body: (OpaquePointer) throws -> R) throws -> R {
        let connection = try checkOut(writer: writer)
        defer { giveBack(connection) }
        return try body(connection)
    }

    /// Returns the first value of a query on a reader.
    func integer(_ sql: String) throws -> Int64 { try with { try MobileCoreTests.integer($0, sql) } }

    var statistics: mc_pool_statistics {
        var statistics = mc_pool_statistics()
        mc_pool_get_statistics(pool, &statistics)
        return statistics
    }

    /// Lets other threads run until the condition is true; stops the test after 20 seconds.
    func until(_ condition: (mc_pool_statistics) -> Bool) {
        let deadline = ContinuousClock.now + .seconds(20)
        while !condition(statistics) {
            precondition(ContinuousClock.now < deadline, "waited in vain")
            sched_yield()
        }
    }
}

/// Returns the number of bytes of SQLite's and the core's allocator that `body` took and did not free. `body` runs on this thread only.
func leftOver(_ body: () throws -> Void) rethrows -> Int64 {
    var layer = [CChar](repeating: 0, count: Int(MC_VFS_NAME_SIZE))
    _ = mc_vfs_coalescing(nil, &layer, nil)  // registered permanently, by the first caller
    let before = fault_memory_held()
    try body()
    return fault_memory_held() - before
}

/// Returns the bytes that `leftOver` reports per fault storage of a writing pool: the coalescing layer over it stays registered.
func layerSize() -> Int64 {
    let storage = fault_storage_create(nil)!
    defer { fault_storage_free(storage) }
    var layer = [CChar](repeating: 0, count: Int(MC_VFS_NAME_SIZE))
    return leftOver { _ = mc_vfs_coalescing(fault_storage_name(storage), &layer, nil) }
}

func exec(_ connection: OpaquePointer, _ sql: String) throws {
    try CoreError.check { mc_connection_exec(connection, sql, sql.utf8.count, nil, $0) }
}

extension TestDefaults {
    static func apply(to options: inout mc_pool_options) {
        if let pageSize { options.page_size = Int32(pageSize) }
        if let cachePages { options.cache_bytes = Int64(cachePages * (pageSize ?? 4096)) }
    }
}

/// Calls `body` with a prepared statement, and returns the statement to its cache.
func withStatement<R>(_ connection: OpaquePointer, _ sql: String, _ body: (OpaquePointer) throws -> R) throws -> R {
    var statement: OpaquePointer?
    try CoreError.check { mc_statement_prepare(connection, sql, sql.utf8.count, &statement, $0) }
    defer { mc_statement_return(statement) }
    return try body(statement!)
}

func integer(_ connection: OpaquePointer, _ sql: String) throws -> Int64 {
    try withStatement(connection, sql) { (statement) throws in
        var hasRow = false
        try CoreError.check { mc_statement_step(statement, &hasRow, $0) }
        return mc_statement_column_integer(statement, 0)
    }
}

/// A thread with a result, for which a test can wait.
final class TestThread<R: Sendable>: @unchecked Sendable {  // written before the semaphore is signalled, read after
    private var result: Result<R, any Error>?
    private let done = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () throws -> R) {
        let thread = Thread { [self] in
            result = Result { try body() }
            done.signal()
        }
        thread.start()
    }

    func value() throws -> R {
        done.wait()
        done.signal()
        return try result!.get()
    }
}
