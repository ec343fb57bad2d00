import FaultInjection
import Foundation
import MobileCore
import MobileSQLite
import TestSupport
import Testing

/// Databases in memory.
@Suite struct MemoryDatabaseTests {
    private static func name() -> String { "test-\(UUID().uuidString)" }

    private static func settings(_ core: CorePool) -> mc_pool_settings {
        var settings = mc_pool_settings()
        mc_pool_get_settings(core.pool, &settings)
        return settings
    }

    @Test("a database in memory has a log, and readers that do not wait for the writer", arguments: [":memory:", "", "named"])
    func log(path: String) throws {
        let core = try CorePool(existing: path == "named" ? Self.name() : path) { $0.in_memory = path != ":memory:" }
        var settings = Self.settings(core)
        #expect(settings.in_memory && !settings.coalesces_log_writes)
        #expect(withUnsafeBytes(of: &settings.journal_mode) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) } == "wal")
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        let writer = try core.checkOut(writer: true)
        try CoreError.check { mc_connection_begin(writer, $0) }
        try exec(writer, "UPDATE t SET a = 2")
        let reader = TestThread { try core.integer("SELECT a FROM t") }
        #expect(try reader.value() == 1)
        // A reader that stays keeps no commit from being made, and keeps its state.
        let kept = try core.checkOut(loose: true)
        try CoreError.check { mc_connection_begin(kept, $0) }
        #expect(try integer(kept, "SELECT a FROM t") == 1)
        try CoreError.check { mc_connection_commit(writer, $0) }
        core.giveBack(writer)
        #expect(try integer(kept, "SELECT a FROM t") == 1)
        core.giveBack(kept)
        #expect(try core.integer("SELECT a FROM t") == 2)
        #expect(!FileManager.default.fileExists(atPath: path) && !FileManager.default.fileExists(atPath: path + "-wal"))
    }

    @Test func `each pool has a database of its own, unless it has a name`() throws {
        let name = Self.name()
        let pools = try [":memory:", ":memory:", name, name, name + "x"].map { path in try CorePool(existing: path) { $0.in_memory = true } }
        for (pool, value) in [(pools[0], 1), (pools[1], 2), (pools[2], 3), (pools[4], 4)] {
            try pool.with(writer: true) { try exec($0, "CREATE TABLE t(a); INSERT INTO t VALUES (\(value))") }
        }
        #expect(try pools.map { try $0.integer("SELECT a FROM t") } == [1, 2, 3, 3, 4])
        // Another connection of the program, with the storage's name.
        var layer = [CChar](repeating: 0, count: Int(MC_VFS_NAME_SIZE)), db: OpaquePointer?
        try CoreError.check { mc_vfs_memory(&layer, $0) }
        defer { sqlite3_close(db) }
        #expect(sqlite3_open_v2(name, &db, SQLITE_OPEN_READWRITE, layer) == SQLITE_OK)
        #expect(sqlite3_exec(db, "INSERT INTO t VALUES (30)", nil, nil, nil) == SQLITE_OK)
        #expect(try pools[3].integer("SELECT count(*) FROM t") == 2)
    }

    @Test func `it is gone with its last pool, whoever that is, and its memory with it`() throws {
        let name = Self.name()
        let left = try leftOver {
            let first = try CorePool(existing: name) { $0.in_memory = true }
            try first.with(writer: true) { try exec($0, "CREATE TABLE t(a); INSERT INTO t VALUES (zeroblob(300000))") }
            let reader = try CorePool(existing: name) { ($0.in_memory, $0.read_only) = (true, true) }
            #expect(try reader.integer("SELECT length(a) FROM t") == 300_000)
            first.close()
            #expect(try reader.integer("SELECT length(a) FROM t") == 300_000)
            reader.close()
            let again = #expect(throws: CoreError.self) { _ = try CorePool(existing: name) { ($0.in_memory, $0.read_only) = (true, true) } }
            #expect(again?.code == MC_ERROR_NOT_FOUND)
            #expect(again?.message == "open \"\(name)\": this process has no database in memory of this name")
        }
        // The storage itself stays registered.
        #expect(left < 1000)
    }

    @Test func `without a log it has a journal in memory, and rolls back`() throws {
        let core = try CorePool(existing: ":memory:") { $0.journal = MC_JOURNAL_UNCHANGED }
        let rows = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 20000) INSERT INTO t SELECT x FROM c"
        try core.with(writer: true) { (writer) throws in
            try exec(writer, "CREATE TABLE t(a); \(rows)")
            for ends in [true, false] {
                try CoreError.check { mc_connection_begin(writer, $0) }
                try exec(writer, "UPDATE t SET a = a + 1; PRAGMA cache_spill = 1")
                if ends { mc_connection_rollback(writer) } else { try CoreError.check { mc_connection_commit(writer, $0) } }
            }
        }
        #expect(try core.integer("SELECT sum(a) FROM t") == 20_000 * 20_001 / 2 + 20_000)
    }

    @Test func `files in memory grow, shrink and keep zeros where nothing was written`() throws {
        let core = try CorePool(existing: ":memory:")
        let bytes = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }
        try core.prepareBlobs()
        let value = try core.writeBlob(bytes)
        #expect(try core.readBlob(value) == bytes)
        try core.with(writer: true) { (writer) throws in
            try exec(writer, "DELETE FROM _mc_chunk")
            try exec(writer, "VACUUM")
            try exec(writer, "CREATE TABLE t(a)")
        }
        #expect(try core.integer("PRAGMA page_count") < 10)
        #expect(try core.integer("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'") == 1)
    }

    @Test func `what contradicts a database in memory is refused`() throws {
        for (path, change, message) in [
            (":memory:", { $0.read_only = true }, "it would be empty for reading only; open one with a name, or a file"),
            ("n", { ($0.immutable, $0.read_only) = (true, true) }, "it is never immutable; leave that option out"),
            (":memory:x", { _ in }, "choose a name that does not begin with \":memory:\""),
        ] as [(String, (inout mc_pool_options) -> Void, String)] {
            let error = #expect(throws: CoreError.self) {
                _ = try CorePool(existing: path) {
                    $0.in_memory = true
                    change(&$0)
                }
            }
            #expect(error?.code == MC_ERROR_MISUSE && error?.message == "database in memory \"\(path)\": \(message)")
        }
        let layered = "unix".withCString { name in
            #expect(throws: CoreError.self) {
                _ = try CorePool(existing: ":memory:") { $0.vfs = name }
            }
        }
        #expect(layered?.message == "database in memory \":memory:\": it has no storage layers, and no VFS \"unix\"")
    }

    @Test func `many threads write and read at a time`() throws {
        let core = try CorePool(existing: ":memory:") { ($0.readers, $0.checkpoint_pages) = (4, 10) }
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(a, b); INSERT INTO t VALUES (0, 0)") }
        let readers = (0..<4).map { _ in
            TestThread {
                for _ in 0..<200 {
                    guard try core.integer("SELECT count(*) FROM t WHERE a != b") == 0 else { return false }
                }
                return true
            }
        }
        for number in 1...200 {
            try core.with(writer: true) { (writer) throws in
                try CoreError.check { mc_connection_begin(writer, $0) }
                try exec(writer, "UPDATE t SET a = \(number)")
                try exec(writer, "UPDATE t SET b = \(number)")
                try CoreError.check { mc_connection_commit(writer, $0) }
            }
        }
        for reader in readers { #expect(try reader.value()) }
        #expect(try core.integer("SELECT a + b FROM t") == 400)
    }

    @Test func `without memory a write fails as a whole, and leaves what was there`() throws {
        let core = try CorePool(existing: ":memory:") { ($0.page_size, $0.cache_bytes, $0.checkpoint_pages) = (1024, 10 * 1024, 5) }
        let writer = try core.checkOut(writer: true)
        defer { core.giveBack(writer) }
        try exec(writer, "CREATE TABLE t(a); INSERT INTO t VALUES (zeroblob(100000))")
        var failures = 0
        for allocation in 0..<3000 {
            fault_memory_fail_after(Int64(allocation), false)
            let result = Result { try exec(writer, "INSERT INTO t SELECT zeroblob(50000) FROM t LIMIT 1") }
            let hasFailed = fault_memory_has_failed()
            fault_memory_fail_after(-1, false)
            if case .failure(let error) = result {
                failures += 1
                #expect((error as? CoreError)?.code == MC_ERROR_NO_MEMORY, "allocation \(allocation): \(error)")
            }
            guard hasFailed else { break }
            try exec(writer, "DELETE FROM t WHERE rowid > 1")
            #expect(try integer(writer, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'") == 1)
        }
        #expect(failures > 3)
    }

    @Test func `without memory a database in memory is not opened, and nothing is left of it`() throws {
        let name = Self.name()
        try failEachAllocation { () throws(CoreError) in
            var options = mc_pool_default_options(), pool: OpaquePointer?
            options.in_memory = true
            try CoreError.check { mc_pool_open(name, &options, &pool, $0) }
            mc_pool_free(pool)
            return []
        }
        #expect(throws: CoreError.self) { _ = try CorePool(existing: name) { ($0.in_memory, $0.creates_file) = (true, false) } }
    }
}
