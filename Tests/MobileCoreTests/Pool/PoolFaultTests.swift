import FaultInjection
import Foundation
import MobileCore
import MobileSQLite
import TestSupport
import Testing

/// Opening, writing, observing, reading and closing, each time with a failure of another allocation or operation of the storage.
/// `make soak` makes each of them fail (`FAULT_STEP=1` in the environment), the suite every seventh allocation.
@Suite struct PoolFaultTests {
    private var step: Int64 { TestSetting.number("FAULT_STEP") ?? 7 }

    /// The progress of the load before it failed.
    private struct Progress {
        var isCommitted = false, isRead = false, isComplete = false
        var failure: CoreError?
    }

    /// Opens a pool, runs one transaction that the cache cannot hold and a read, and closes it. The result has the error, if any.
    private static func load(_ path: String, vfs: UnsafePointer<CChar>? = nil) -> Progress {
        var progress = Progress()
        do {
            let pool = try CorePool.open(path) {
                $0.vfs = vfs
                $0.page_size = 1024
                $0.cache_bytes = 10 * 1024
                $0.statement_cache = 1
                $0.checkpoint_pages = 5
                $0.busy_timeout_ns = 0
            }
            defer { mc_pool_free(pool) }
            var observer: OpaquePointer?
            let table = strdup("t")!
            defer { free(table) }
            var names: [UnsafePointer<CChar>] = [UnsafePointer(table)]
            var observation = names.withUnsafeMutableBufferPointer {
                mc_observation(tables: $0.baseAddress, table_count: 1, changed: { _, _ in }, context: nil)
            }
            try names.withUnsafeBufferPointer { names in
                observation.tables = names.baseAddress
                try CoreError.check { mc_pool_observe(pool, &observation, &observer, $0) }
            }
            defer { mc_pool_unobserve(pool, observer) }
            try with(pool, writer: true) { writer in
                try CoreError.check { mc_connection_begin(writer, $0) }
                try exec(writer, "CREATE TABLE IF NOT EXISTS t (x)")
                for _ in 0..<2 {
                    try exec(
                        writer,
                        "INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20) SELECT zeroblob(900) FROM n")
                }
                try CoreError.check { mc_connection_savepoint(writer, $0) }
                try exec(writer, "UPDATE t SET x = zeroblob(800)")
                try CoreError.check { mc_connection_release_savepoint(writer, $0) }
                try CoreError.check { mc_connection_commit(writer, $0) }
                progress.isCommitted = true
            }
            try with(pool, writer: false) { reader in
                let count = try integer(reader, "SELECT count(*) FROM t")
                #expect(count == 40)
                progress.isRead = true
            }
            progress.isComplete = true
        } catch {
            progress.failure = error as? CoreError
        }
        return progress
    }

    private static func with(_ pool: OpaquePointer, writer: Bool, _ body: (OpaquePointer) throws -> Void) throws {
        var ticket: OpaquePointer?, connection: OpaquePointer?
        try CoreError.check { mc_ticket_create(&ticket, $0) }
        defer { mc_ticket_free(ticket) }
        var checkout = mc_checkout(writer: writer, is_long: false, loose: false, timeout_ns: Int64(MC_WAIT_NEVER), label: nil, ticket: ticket)
        try CoreError.check { mc_pool_checkout(pool, &checkout, &connection, $0) }
        defer { mc_pool_return(pool, connection!) }
        try body(connection!)
    }

    /// Checks the remaining database without faults: it has the whole transaction or no part of it.
    private static func check(_ path: String, _ progress: Progress, _ fault: String) throws {
        let database = try SQLiteHandle(path)
        defer { database.close() }
        #expect(try database.first("PRAGMA integrity_check") == ["ok"], "\(fault)")
        let isThere = try database.first("SELECT count(*) FROM sqlite_schema WHERE name = 't'") == ["1"]
        #expect(isThere == progress.isCommitted, "\(fault)")
        if isThere { #expect(try database.first("SELECT count(*), total(length(x)) FROM t") == ["40", "32000.0"], "\(fault)") }
    }

    @Test func `a rollback needs no memory, and where that of a savepoint gets none nothing of the transaction stays`() throws {
        let core = try CorePool()
        try core.with(writer: true) { try exec($0, "CREATE TABLE t (x); INSERT INTO t VALUES (1)") }
        for hasSavepoint in [false, true] {
            let writer = try core.checkOut(writer: true, loose: true)
            try CoreError.check { mc_connection_begin(writer, $0) }
            if hasSavepoint { try CoreError.check { mc_connection_savepoint(writer, $0) } }
            try exec(writer, "INSERT INTO t VALUES (2)")
            fault_memory_fail_after(0, true)
            if hasSavepoint { mc_connection_rollback_savepoint(writer) } else { core.giveBack(writer) }
            fault_memory_fail_after(-1, false)
            if hasSavepoint {
                do {
                    try exec(writer, "INSERT INTO t VALUES (3)")
                } catch let error as CoreError {
                    #expect(error.code == MC_ERROR_MISUSE)
                }
                core.giveBack(writer)
            }
            try core.with(writer: true) { writer in
                try CoreError.check { mc_connection_begin(writer, $0) }
                #expect(try integer(writer, "SELECT count(*) FROM t") == 1)
            }
        }
    }

    /// The statement is older than the schema, so SQLite renews it during its work. It changes many rows, so SQLite may have to undo it.
    @Test func `a statement that SQLite repeats behind the rollback of its transaction does not commit itself`() throws {
        let core = try CorePool()
        try core.with(writer: true) { try exec($0, "CREATE TABLE t (x NOT NULL CHECK (x >= 0)); CREATE INDEX by_x ON t (x)") }
        var allocation: Int64 = 0, codes: Set<UInt32> = []
        while true {
            var failure: CoreError?, hasFailed = false
            try core.with(writer: true) { writer in
                // Another text in each round: a text that was prepared before the index was made would be renewed before its work.
                let rows = "INSERT INTO t WITH RECURSIVE n (i) AS (SELECT \(allocation) UNION ALL SELECT i + 1 FROM n LIMIT 500) SELECT i FROM n"
                var statement: OpaquePointer?
                try CoreError.check { mc_statement_prepare(writer, rows, rows.utf8.count, &statement, $0) }
                try CoreError.check { mc_connection_begin(writer, $0) }
                for sql in ["INSERT INTO t VALUES (0)", "DROP INDEX by_x"] { try exec(writer, sql) }
                fault_memory_fail_after(allocation, false)
                do { try CoreError.check { mc_statement_run(statement!, nil, $0) } } catch { failure = error as? CoreError }
                hasFailed = fault_memory_has_failed()
                fault_memory_fail_after(-1, false)
                mc_statement_return(statement)
                if failure != nil { mc_connection_rollback(writer) } else { try CoreError.check { mc_connection_commit(writer, $0) } }
            }
            #expect(
                try core.integer("SELECT count(*) FROM t") == (failure == nil ? 501 : 0), "allocation \(allocation): \(String(describing: failure))")
            if let failure { codes.insert(failure.code.rawValue) }
            try core.with(writer: true) { try exec($0, "DELETE FROM t; CREATE INDEX IF NOT EXISTS by_x ON t (x)") }
            guard hasFailed else { break }
            allocation += 1
        }
        #expect(codes.contains(MC_ERROR_SQLITE.rawValue), "SQLite has rolled a transaction back: \(codes)")
    }

    @Test("without memory at any allocation there is an error or no harm, nothing leaks, and the database is whole", arguments: [false, true])
    func memory(stays: Bool) throws {
        let step = step
        var failures = 0, allocation: Int64 = 0, codes: Set<UInt32> = []
        while true {
            let directory = try TemporaryDirectory(in: quickDirectory), path = directory.file("fault.db")
            var progress = Progress(), hasFailed = false
            let lost = leftOver {
                fault_memory_fail_after(allocation, stays)
                progress = Self.load(path)
                hasFailed = fault_memory_has_failed()
                fault_memory_fail_after(-1, false)
            }
            #expect(lost == 0, "allocation \(allocation)")
            #expect(progress.isComplete == (progress.failure == nil))
            try Self.check(path, progress, "allocation \(allocation)")
            if let failure = progress.failure {
                failures += 1
                codes.insert(failure.code.rawValue)
                #expect(hasFailed && !failure.message.isEmpty, "allocation \(allocation)")
            }
            guard hasFailed else { break }
            allocation += step
        }
        #expect(failures > 20)
        #expect(codes.contains(MC_ERROR_NO_MEMORY.rawValue))
    }

    @Test(
        "an operation of the storage that fails is an error or does no harm, and the database is whole",
        arguments: [(SQLITE_IOERR, false), (SQLITE_IOERR, true), (SQLITE_FULL, false), (SQLITE_FULL, true)], [false, true])
    func storage(fault: (code: Int32, stays: Bool), hasLog: Bool) throws {
        let (code, stays) = fault
        var failures = 0, operation: Int64 = 0
        while true {
            let directory = try TemporaryDirectory(in: quickDirectory), path = directory.file("fault.db")
            let storage = try #require(fault_storage_create(nil))
            let other = hasLog ? try SQLiteHandle(path) : nil  // keeps a log, which the pool continues
            try other?.run("PRAGMA page_size = 1024; PRAGMA journal_mode = wal; CREATE TABLE other (x)")
            defer { other?.close() }
            defer { fault_storage_free(storage) }
            fault_storage_fail_after(storage, operation, code, stays)
            let progress = Self.load(path, vfs: fault_storage_name(storage))
            let hasFailed = fault_storage_has_failed(storage)
            fault_storage_fail_after(storage, -1, SQLITE_OK, false)
            try Self.check(path, progress, "operation \(operation)")
            if let failure = progress.failure {
                failures += 1
                #expect(hasFailed && !failure.message.isEmpty, "operation \(operation)")
            }
            guard hasFailed else { break }
            operation += 1
        }
        #expect(failures > 10)
    }

    @Test func `opening and a small write cost few operations of the storage`() throws {
        let directory = try TemporaryDirectory(in: quickDirectory), path = directory.file("fault.db")
        #expect(Self.load(path).isComplete)
        let storage = try #require(fault_storage_create(nil))
        defer { fault_storage_free(storage) }
        let pool = try CorePool.open(path) { $0.vfs = fault_storage_name(storage) }
        defer { _ = mc_pool_close(pool, nil) }
        let opened = fault_storage_counts(storage)
        #expect(opened.opens == 2 && opened.writes == 0 && opened.syncs == 0 && opened.reads <= 6, "\(opened)")
        for expected in [(syncs: 1, writes: 2), (syncs: 0, writes: 2)] {  // the first one begins the log: its header is synced
            fault_storage_clear_counts(storage)
            var checkout = mc_checkout(writer: true, is_long: false, loose: false, timeout_ns: Int64(MC_WAIT_FOREVER), label: nil, ticket: nil)
            var writer: OpaquePointer?
            try CoreError.check { mc_pool_checkout(pool, &checkout, &writer, $0) }
            try CoreError.check { mc_connection_begin(writer!, $0) }
            try exec(writer!, "UPDATE t SET x = randomblob(800) WHERE rowid = 7")
            try CoreError.check { mc_connection_commit(writer!, $0) }
            mc_pool_return(pool, writer!)
            let counts = fault_storage_counts(storage)
            #expect(counts.writes == expected.writes && counts.syncs == expected.syncs, "\(counts)")
        }
    }
}
