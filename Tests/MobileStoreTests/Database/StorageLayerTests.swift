import MobileStore
import Testing

@Suite struct StorageLayerTests {
    @Test func `a database behind the layer of coalesced log writes is the same database`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("layered.db")
        let layered = try Database(ConnectionProfile(path: path, storageLayers: [.coalescedLogWrites]))
        try layered.write { connection in
            _ = try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT)")
            _ = try connection.execute(
                "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO t SELECT i, hex(randomblob(40)) FROM n")
        }
        let written = try layered.read { try $0.rows("SELECT count(*), sum(id) FROM t") }
        try layered.close()

        let plain = try Database(ConnectionProfile(path: path))
        #expect(try plain.read { try $0.rows("SELECT count(*), sum(id) FROM t") } == written)
        #expect(try plain.read { try $0.rows("PRAGMA integrity_check") } == [[.text("ok")]])
        try plain.close()
    }

    @Test func `layers stand on one another`() throws {
        let directory = try TemporaryDirectory()
        // Each layer is registered over the name of the one below it; the lowest one over none.
        let twice = ConnectionProfile(path: directory.file("twice.db"), storageLayers: [.coalescedLogWrites, .coalescedLogWrites])
        let database = try Database(twice)
        try database.write { _ = try $0.execute("CREATE TABLE t (x); INSERT INTO t VALUES (7)") }
        #expect(try database.read { try $0.first("SELECT x FROM t") } == [.integer(7)])
        try database.close()
    }
}
