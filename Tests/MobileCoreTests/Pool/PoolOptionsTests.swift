import Foundation
import MobileCore
import TestSupport
import Testing

/// A setting out of its range, and the message about it.
struct BadSetting: Sendable, CustomTestStringConvertible {
    let change: @Sendable (inout mc_pool_options) -> Void
    let message: String
    var testDescription: String { message }
}

@Suite struct PoolOptionsTests {
    @Test(
        "a setting out of its range is refused by name, and no file is made",
        arguments: [
            BadSetting(
                change: { $0.page_size = 3000 },
                message: "page size 3000: use a power of two from 1024 to 65536, or a negative value for the default (4096)"),
            BadSetting(
                change: { $0.page_size = 0 },
                message: "page size 0: use a power of two from 1024 to 65536, or a negative value for the default (4096)"),
            BadSetting(
                change: { $0.page_size = 512 },
                message: "page size 512: use a power of two from 1024 to 65536, or a negative value for the default (4096)"),
            BadSetting(
                change: { $0.page_size = 131072 },
                message: "page size 131072: use a power of two from 1024 to 65536, or a negative value for the default (4096)"),
            BadSetting(
                change: {
                    $0.page_size = 4096; $0.cache_bytes = 4095
                }, message: "cache size 4095 bytes: use at least one page (4096 bytes)"),
            BadSetting(
                change: {
                    $0.page_size = 65536; $0.cache_bytes = 10000
                }, message: "cache size 10000 bytes: use at least one page (65536 bytes)"),
            BadSetting(change: { $0.readers = 0 }, message: "maximum connections 0: use 1 to 64 readers in addition to the writer"),
            BadSetting(change: { $0.readers = 65 }, message: "maximum connections 65: use 1 to 64 readers in addition to the writer"),
            BadSetting(change: { $0.mmap_bytes = -1 }, message: "memory map size -1: use 0 to 1099511627776 bytes"),
            BadSetting(change: { $0.checkpoint_pages = -1 }, message: "checkpoint pages -1: use 0 to 2147483647 pages (0: no automatic checkpoint)"),
            BadSetting(change: { $0.log_limit_bytes = -1 }, message: "log limit -1: use 0 to 9223372036854775807 bytes (0: no limit)"),
            BadSetting(change: { $0.journal_size_limit = -2 }, message: "journal size limit -2: use -1 to 9223372036854775807 bytes (-1: none)"),
            BadSetting(change: { $0.statement_cache = -1 }, message: "statement cache size -1: use 0 to 10000 statements"),
            BadSetting(change: { $0.secure_delete = 2 }, message: "secure delete 2: use -1 to 1"),
            BadSetting(change: { $0.busy_timeout_ns = -1 }, message: "busy timeout -1: use 0 to 9223372036854775807 ns"),
        ])
    func badSetting(setting: BadSetting) throws {
        let directory = try TemporaryDirectory(in: quickDirectory), path = directory.file("core.db")
        let error = #expect(throws: CoreError.self) { _ = try CorePool.open(path, setting.change) }
        #expect(error?.code == MC_ERROR_MISUSE)
        #expect(error?.message == setting.message)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("settings are read back from the open file", arguments: [1024, 4096, 65536] as [Int32])
    func readBack(pageSize: Int32) throws {
        let core = try CorePool {
            $0.page_size = pageSize
            $0.cache_bytes = Int64(pageSize) * 10 + 5
            $0.readers = 3
            $0.synchronous = MC_SYNCHRONOUS_FULL
            $0.checkpoint_pages = 77
            $0.statement_cache = 5
            $0.secure_delete = 0
            $0.foreign_keys = true
            $0.mmap_bytes = 1 << 20
        }
        var settings = mc_pool_settings()
        mc_pool_get_settings(core.pool, &settings)
        #expect(settings.page_size == pageSize)
        #expect(settings.cache_bytes == Int64(pageSize) * 10)
        #expect(settings.readers == 3)
        #expect(settings.synchronous == MC_SYNCHRONOUS_FULL)
        #expect(settings.checkpoint_pages == 77)
        #expect(settings.statement_cache == 5)
        #expect(!settings.secure_delete)
        #expect(settings.foreign_keys)
        #expect(settings.mmap_bytes == 1 << 20)
        #expect(withUnsafeBytes(of: &settings.journal_mode) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) } == "wal")
        // A reader has the same settings.
        try core.with { (reader) throws in
            #expect(try integer(reader, "PRAGMA page_size") == Int64(pageSize))
            #expect(try integer(reader, "PRAGMA cache_size") == 10)
            #expect(try integer(reader, "PRAGMA synchronous") == 2)
            #expect(try integer(reader, "PRAGMA foreign_keys") == 1)
            #expect(try integer(reader, "PRAGMA mmap_size") == 1 << 20)
        }
    }

    @Test func `the page size of an existing file wins`() throws {
        func pool(_ size: Int32, _ options: inout mc_pool_options) { (options.page_size, options.cache_bytes) = (size, 1 << 20) }
        let core = try CorePool { pool(16384, &$0) }
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(a)") }
        let second = try CorePool.open(core.directory + "/core.db") { pool(1024, &$0) }
        defer { mc_pool_free(second) }
        var settings = mc_pool_settings()
        mc_pool_get_settings(second, &settings)
        #expect(settings.page_size == 16384)
    }

    @Test func `a back end keeps its journal mode`() throws {
        let core = try CorePool { $0.journal = MC_JOURNAL_UNCHANGED }
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(a)") }
        #expect(!FileManager.default.fileExists(atPath: core.directory + "/core.db-wal"))
        var settings = mc_pool_settings()
        mc_pool_get_settings(core.pool, &settings)
        #expect(withUnsafeBytes(of: &settings.journal_mode) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) } == "delete")
    }

    @Test func `a file that is missing, no file at all and a file that is no database are told apart`() throws {
        let core = try CorePool()
        let missing = #expect(throws: CoreError.self) { _ = try CorePool.open(core.directory + "/no.db") { $0.creates_file = false } }
        #expect(missing?.code == MC_ERROR_NOT_FOUND)
        let none = #expect(throws: CoreError.self) { _ = try CorePool.open("") }
        #expect(none?.code == MC_ERROR_MISUSE && none?.message == "database path \"\": name a file, or \":memory:\"")
        let text = core.directory + "/text.db"
        try String(repeating: "this is no database ", count: 100).write(toFile: text, atomically: true, encoding: .utf8)
        let other = #expect(throws: CoreError.self) { _ = try CorePool.open(text) }
        #expect(other?.code == MC_ERROR_CORRUPT, "\(other?.message ?? "")")
        #expect(other?.message.contains("text.db") == true)
    }

    @Test func `a read-only pool reads, and refuses the writer`() throws {
        let core = try CorePool()
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(a); INSERT INTO t VALUES (5)") }
        let pool = try CorePool.open(core.directory + "/core.db") { $0.read_only = true }
        defer { mc_pool_free(pool) }
        var checkout = mc_checkout(writer: true, is_long: false, loose: false, timeout_ns: Int64(MC_WAIT_FOREVER), label: nil, ticket: nil)
        var connection: OpaquePointer?
        let error = #expect(throws: CoreError.self) { try CoreError.check { mc_pool_checkout(pool, &checkout, &connection, $0) } }
        #expect(error?.code == MC_ERROR_READ_ONLY)
        checkout.writer = false
        try CoreError.check { mc_pool_checkout(pool, &checkout, &connection, $0) }
        #expect(try integer(connection!, "SELECT a FROM t") == 5)
        mc_pool_return(pool, connection!)
    }

    /// The name has letters that a URI would take for its own.
    @Test func `an immutable database needs no files for its log, whose changes must be copied before`() throws {
        let core = try CorePool(file: "a%41 ?#ä.db")
        let path = core.directory + "/a%41 ?#ä.db", copy = core.directory + "/copy ?immutable=0.db"
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(a); INSERT INTO t VALUES (5)") }
        let log = #expect(throws: CoreError.self) {
            _ = try CorePool.open(path) {
                $0.read_only = true
                $0.immutable = true
            }
        }
        #expect(log?.code == MC_ERROR_MISUSE && log?.message.contains("its write-ahead log has changes") == true)
        core.close()
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        let pool = try CorePool(existing: copy) {
            $0.read_only = true
            $0.immutable = true
        }
        #expect(try pool.integer("SELECT a FROM t") == 5)
        #expect(try FileManager.default.contentsOfDirectory(atPath: core.directory).filter { $0.hasPrefix("copy") } == ["copy ?immutable=0.db"])
        pool.close()
        let writing = #expect(throws: CoreError.self) { _ = try CorePool.open(copy) { $0.immutable = true } }
        #expect(writing?.message == "an immutable database is opened for reading only: set that option as well")
    }

    /// The superuser may write everywhere.
    @Test(.enabled(if: geteuid() != 0)) func `a log that cannot be made in its folder is named as the reason`() throws {
        let core = try CorePool()
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(a)") }
        core.close()
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: core.directory)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: core.directory) }
        let error = #expect(throws: CoreError.self) { _ = try CorePool.open(core.directory + "/core.db") { $0.read_only = true } }
        #expect(error?.code == MC_ERROR_IO && error?.message.contains("or open it as immutable if no process changes it meanwhile") == true)
    }
}
