import FaultInjection
import Foundation
import MobileCore
import MobileSQLite
import TestSupport
import Testing

/// The coalescing layer with different layers below and above it.
@Suite struct LayerBaseTests {
    /// A VFS with its own name that works as the system's.
    private final class OtherVFS {
        let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        private let name: UnsafeMutablePointer<CChar>

        init(_ name: String, version: Int32) {
            self.name = strdup(name)
            vfs.initialize(to: sqlite3_vfs_find(nil).pointee)
            vfs.pointee.zName = UnsafePointer(self.name)
            vfs.pointee.iVersion = version
            vfs.pointee.pNext = nil
            sqlite3_vfs_register(vfs, 0)
        }

        deinit {
            sqlite3_vfs_unregister(vfs)
            vfs.deallocate()
            free(name)
        }
    }

    private func layer(over base: String?) throws -> [CChar] {
        var name = [CChar](repeating: 0, count: Int(MC_VFS_NAME_SIZE))
        try CoreError.check { mc_vfs_coalescing(base, &name, $0) }
        return name
    }

    @Test func `a base whose name leaves no room is refused`() throws {
        let long = OtherVFS("long-" + String(repeating: "x", count: Int(MC_VFS_NAME_SIZE) - 10), version: 3)
        let error = #expect(throws: CoreError.self) { try layer(over: String(cString: long.vfs.pointee.zName)) }
        #expect(error?.code == MC_ERROR_LIMIT && error?.message.hasSuffix("its name is too long to build on") == true)
    }

    /// SQLite's storage in memory has a later version, and no shared memory.
    @Test func `a base without shared memory has no log, which is a result and no crash`() throws {
        let database = try SQLiteHandle("/\(UUID().uuidString)", layer: layer(over: "memdb"))
        defer { database.close() }
        #expect(try database.first("PRAGMA journal_mode = wal") != ["wal"])
        try database.run("CREATE TABLE t (x); INSERT INTO t VALUES (7)")
        #expect(try database.first("SELECT * FROM t") == ["7"])
    }

    @Test func `a base of the first version, without a clock of 64 bits, is built on`() throws {
        let old = OtherVFS("first-version-\(UUID().uuidString)", version: 1)
        let directory = try TemporaryDirectory(in: quickDirectory)
        let name = try layer(over: String(cString: old.vfs.pointee.zName))
        let database = try SQLiteHandle(directory.file("first.db"), layer: name)
        defer { database.close() }
        try database.run("PRAGMA journal_mode = wal; CREATE TABLE t (x); INSERT INTO t VALUES (julianday('now') > 2460000)")
        #expect(try database.first("SELECT * FROM t") == ["1"])
    }

    @Test func `without memory nothing is registered, and the next time it is`() throws {
        let storage = try #require(fault_storage_create(nil))
        defer { fault_storage_free(storage) }
        var name = [CChar](repeating: 0, count: Int(MC_VFS_NAME_SIZE)), error = mc_error()
        fault_memory_fail_after(0, true)
        let status = mc_vfs_coalescing(fault_storage_name(storage), &name, &error)
        fault_memory_fail_after(-1, false)
        #expect(status == MC_ERROR_NO_MEMORY && name[0] == 0)
        let registered = try layer(over: String(cString: fault_storage_name(storage))).prefix { $0 != 0 }
        #expect(String(decoding: registered.map { UInt8(bitPattern: $0) }, as: UTF8.self).hasPrefix("coalescing-fault-"))
    }

    @Test func `a base without shared memory keeps its own journal, and says so where a log is wanted`() throws {
        let storage = try #require(fault_storage_create(nil))
        defer { fault_storage_free(storage) }
        fault_storage_hide_shared_memory(storage)
        let error = #expect(throws: CoreError.self) { try CorePool { $0.vfs = fault_storage_name(storage) } }
        #expect(error?.code == MC_ERROR_SQLITE && error?.message.hasSuffix("cannot be switched to WAL: its storage has no shared memory") == true)
        let core = try CorePool {
            $0.vfs = fault_storage_name(storage)
            $0.journal = MC_JOURNAL_UNCHANGED
        }
        defer { core.close() }
        var settings = mc_pool_settings()
        mc_pool_get_settings(core.pool, &settings)
        #expect(!settings.coalesces_log_writes)
        try core.with(writer: true) { try exec($0, "CREATE TABLE t (x); INSERT INTO t VALUES (5)") }
        #expect(try core.integer("SELECT x FROM t") == 5)
    }

    @Test func `a file of the base that is open although its opening failed is closed`() throws {
        let storage = try #require(fault_storage_create(nil))
        defer { fault_storage_free(storage) }
        let directory = try TemporaryDirectory(in: quickDirectory)
        fault_storage_fail_opened(storage)
        let lost = leftOver {
            for operation in Int64(0)..<12 {
                fault_storage_fail_after(storage, operation, SQLITE_IOERR, false)
                let pool = try? CorePool.open(directory.file("open.db")) { $0.vfs = fault_storage_name(storage) }
                fault_storage_fail_after(storage, -1, 0, false)
                mc_pool_free(pool)
            }
        }
        #expect(lost == layerSize())
        #expect(fault_storage_open_files(storage) == 0)
    }

    @Test func `below another layer, where the end of a transaction cannot be seen, nothing is held back`() throws {
        let storage = try #require(layer(over: nil).withUnsafeBufferPointer { fault_storage_create($0.baseAddress) })
        defer { fault_storage_free(storage) }
        let directory = try TemporaryDirectory(in: quickDirectory)
        let path = directory.file("below.db")
        let database = try SQLiteHandle(path, layer: Array(String(cString: fault_storage_name(storage)).utf8CString))
        defer { database.close() }
        try database.run("PRAGMA journal_mode = wal; CREATE TABLE t (x); BEGIN; INSERT INTO t VALUES (zeroblob(9000))")
        try database.run("PRAGMA cache_size = 1; INSERT INTO t VALUES (zeroblob(90000)); ROLLBACK; INSERT INTO t VALUES (7)")
        let other = try SQLiteHandle(path)
        defer { other.close() }
        #expect(try other.first("SELECT count(*), sum(x) FROM t") == ["1", "7"])
    }
}
