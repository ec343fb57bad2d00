import Foundation
import MobileExecution
import MobileProtocol
import MobileStore
import PostgreSQLClient
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import MobileServer

/// A store that is restored from an older backup, under devices that know better.
@Suite struct RestoredStoreTests {
    private func rename(_ number: Int, _ name: String, _ server: TestServer) throws {
        try server.backEnd {
            _ = try $0.execute(#"UPDATE "the customers" SET name = ?2 WHERE "customer no" = ?1"#, [.integer(Int64(number)), .text(name)])
        }
    }

    private func names(_ device: TestDevice) -> [String] { device.rows("Customer", by: "id").values.compactMap { $0["name"]?.string }.sorted() }

    @Test(arguments: [0, 1, 2, 3])
    func `a device with later versions than the restored store gets the object again, also when the store has reached them once more`(changes: Int)
        throws
    {
        let server = try FieldSales.server(), backup = server.folder.file("backup.db")
        let device = try TestDevice.inRegion("NORTH", of: server)
        try server.saveCache(to: backup)
        for change in 1...2 {
            try rename(1, "lost \(change)", server)
            try device.synchronize(groups: ["default", "lines"])
        }
        try server.reopen(withCache: backup)
        try device.register()
        let other = try TestDevice.inRegion("NORTH", of: server, name: "other")
        for change in 0..<changes {
            try rename(2, "new \(change)", server)
            try other.synchronize(groups: ["default", "lines"])
        }
        let result = try device.synchronize(groups: ["default", "lines"])
        #expect(result.resets.contains("Customer") && device.rows == other.rows && names(device).contains("lost 2"))
        let again = try device.synchronize(groups: ["default", "lines"])
        #expect(again.resets.isEmpty && again.upserts.isEmpty)
    }

    @Test func `a restart of the server keeps all tokens, writes no row per partition, and the next change is sent alone`() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        let eras = { try server.state { try $0.number("SELECT count(*) FROM _partition_era") } }
        let before = try eras()
        try server.restart()
        try server.restart()
        #expect(try device.synchronize(groups: ["default", "lines"]).resets.isEmpty && eras() == before)
        try rename(1, "changed", server)
        let result = try device.synchronize(groups: ["default", "lines"])
        #expect(result.resets.isEmpty && result.upserts == ["Customer": 1])
        #expect(try eras() == (StoreUnderTest.isPostgreSQL ? before : before + 1))
        let row = try server.state { try $0.first("SELECT count(*), count(DISTINCT name) FROM _era") }
        #expect(row?[0] == row?[1] && row?[0].integer == (StoreUnderTest.isPostgreSQL ? 1 : 3))
    }

    @Test func `keys of a grant that a restored store has lost are granted to no other client, and their rows are accepted`() throws {
        let server = try FieldSales.server(), backup = server.folder.file("backup.db")
        let first = try TestDevice.inRegion("NORTH", of: server)
        try server.saveCache(to: backup)
        let later = try TestDevice.inRegion("NORTH", of: server, name: "later")
        try server.reopen(withCache: backup)
        try later.register()
        let granted = try #require(later.keyRange)
        let next = try TestDevice.inRegion("NORTH", of: server, name: "next"), other = try #require(next.keyRange)
        #expect(other.first > granted.last)
        let customer: JSONObject = ["name": "With a lost grant", "region": "NORTH", "credit": 1, "active": true]
        #expect(try later.synchronize([later.create("Customer", customer)]).results.map(\.outcome) == [.accepted])
        #expect(try first.synchronize().upserts["Customer"] == 1)
        // A key that was never granted stays refused.
        let made = OperationFrame(id: next.nextID(), object: "Customer", change: .create, key: other.last + 1, attributes: customer)
        #expect(try next.synchronize([made]).results.map(\.code) == [ResultCode.forbidden])
    }

    @Test func `a store that is lost goes on above the keys that the back end's eras name, even if the clock was set back`() throws {
        let time = SystemLock<Int64>(1_800_000_000_000)
        let server = try FieldSales.server { $0.clock = { time.withLock { $0 } } }
        let first = try TestDevice.inRegion("NORTH", of: server), range = try #require(first.keyRange)
        try server.restart()
        time.withLock { $0 -= 86_400_000 }
        try server.loseCache()
        let second = try TestDevice.inRegion("NORTH", of: server)
        #expect(try #require(second.keyRange).first > range.last)
    }

    @Test func `an administrator declares a store restored: tokens that hold stay valid, and a new era begins`() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        try server.server.administration.declareRestored(.store)
        #expect(try device.synchronize().resets.isEmpty)
        try rename(1, "changed", server)
        #expect(try device.synchronize().upserts == ["Customer": 1])
        #expect(try server.state { try $0.number("SELECT count(DISTINCT era) FROM _partition_era") } == 2)
    }

    @Test(.needsPostgreSQL) func `a database of version 1 gets the columns, and names for its partitions`() throws {
        let database = try PostgreSQLTestDatabase()
        var configuration = ServerConfiguration(cachePath: "")
        configuration.storeAddress = database.configuration.address
        try configuration.openStateStore(createsFile: true).close()
        let connection = try database.connect()
        for statement in [
            "DROP TABLE _era", "DROP TABLE _partition_era", "DROP TABLE _reconciled", "DROP INDEX _row_deleted", "DROP INDEX _partition_used",
            "ALTER TABLE _partition DROP COLUMN digest, DROP COLUMN era, DROP COLUMN horizon, DROP COLUMN used",
            "ALTER TABLE _back_end DROP COLUMN era", "ALTER TABLE _traced_request DROP COLUMN noted", "UPDATE _state SET version = 1",
            "INSERT INTO _object (id, package, name, shape) VALUES (7, 1, 'Customer', '')",
            "INSERT INTO _partition (object, parameters, version) VALUES (7, '[\"NORTH\"]', 3)",
        ] { try connection.execute(statement) }
        let store = try configuration.openStateStore(createsFile: true)
        let row = try store.read { try $0.first("SELECT digest, version, era, used > 0 FROM _partition") }
        #expect(try row == [.text(PartitionParameters.digest(object: "Customer", parameters: "[\"NORTH\"]")), 3, "", 1])
        try store.close()
    }

    @Test(.stateInFile) func `a cache of version 4 gets the columns; its rows are kept, and tokens begin anew`() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        try server.server.close()
        let cache = try Database(ConnectionProfile(path: server.folder.file("cache.db")))
        try cache.write { connection in
            for statement in [
                "DROP TABLE _era", "DROP TABLE _partition_era", "DROP TABLE _reconciled", "DROP INDEX _row_deleted", "DROP INDEX _partition_used",
                "DROP INDEX _partition_digest", "ALTER TABLE _partition DROP COLUMN digest", "ALTER TABLE _partition DROP COLUMN era",
                "ALTER TABLE _partition DROP COLUMN horizon", "ALTER TABLE _partition DROP COLUMN used", "ALTER TABLE _back_end DROP COLUMN era",
                "ALTER TABLE _traced_request DROP COLUMN noted", "PRAGMA user_version = 4",
            ] { _ = try connection.execute(statement) }
        }
        try cache.close()
        try server.restartClosed()
        device.tokens["default"] = Token(["format": 2, "epoch": "", "objects": ["Customer": ["1": 1]]])
        let rows = device.rows
        #expect(try device.synchronize().resets.contains("Customer") && device.rows["Customer"] == rows["Customer"])
        #expect(try device.synchronize().resets.isEmpty)
        try rename(1, "changed", server)
        let result = try device.synchronize()
        #expect(result.resets.isEmpty && result.upserts == ["Customer": 1])
    }
}
