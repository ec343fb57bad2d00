import MobileCore
import MobileExecution
import MobileStore
import TestSupport
import Testing

@Suite struct StorageLayerTests {
    @Test("the log is written in runs unless the profile says no, and the database is the same", arguments: [true, false])
    func coalescedLogWrites(isCoalesced: Bool) throws {
        let directory = try TemporaryDirectory()
        let database = try Database(directory.profile { if !isCoalesced { $0.coalescesLogWrites = false } })
        #expect(database.settings.coalescesLogWrites == isCoalesced)
        try database.write { connection in
            try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT)")
            try connection.execute(
                "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO t SELECT i, hex(randomblob(40)) FROM n")
        }
        #expect(try database.read { try $0.rows("SELECT count(*), sum(id) FROM t") } == [[5000, 12_502_500]])
        #expect(try database.read { try $0.rows("PRAGMA integrity_check") } == [["ok"]])
    }

    @Test func `a file without a log has no writes to be coalesced`() throws {
        let directory = try TemporaryDirectory()
        #expect(try !Database(directory.profile { $0.journal = .unchanged }).settings.coalescesLogWrites)
    }

    @Test func `layers stand on one another`() throws {
        let directory = try TemporaryDirectory()
        // Each layer is registered above the name of the next lower one; the lowest layer above none.
        let bases = SystemLock<[String?]>([])
        let layer = StorageLayer("coalescing") { base throws(StoreError) in
            bases.withLock { $0.append(base) }
            var name = [CChar](repeating: 0, count: Int(MC_VFS_NAME_SIZE))
            guard mc_vfs_coalescing(base, &name, nil) == MC_OK else { return "" }
            return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        let database = try Database(ConnectionProfile(path: directory.file("twice.db"), storageLayers: [layer, layer]))
        #expect(bases.withLock { $0 } == [nil, "coalescing-unix"])
        try database.write { try $0.execute("CREATE TABLE t (x); INSERT INTO t VALUES (7)") }
        #expect(try database.read { try $0.first("SELECT x FROM t") } == [7])
    }
}
