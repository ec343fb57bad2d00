import Foundation
import MobileExecution
import MobileModel
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

    @Test(.enabled(if: StoreUnderTest.isPostgreSQL, "the state is in a file"), arguments: [0, 1, 2])
    func `a database without the last commits takes the state's place under a running server: devices that know better get the object again`(
        changes: Int
    ) throws {
        let server = try FieldSales.server(), standby = server.folder.file("standby")
        let device = try TestDevice.inRegion("NORTH", of: server), other = try TestDevice.inRegion("NORTH", of: server, name: "other")
        try server.copyCache(to: standby)
        for change in 1...2 {
            try rename(1, "lost \(change)", server)
            try device.synchronize(groups: ["default", "lines"])
        }
        let south = try TestDevice(server, name: "south"),
            range = try { () throws -> KeyRange in
                south.subscriptions = ["Customer": [["region": "SOUTH"]]]
                try south.synchronize()
                return try #require(south.keyRange)
            }()
        try server.failOver(toCache: standby)
        // Its keys are granted before any row changes.
        let early = changes > 0 ? nil : try TestDevice.inRegion("NORTH", of: server, name: "early")
        #expect(early?.keyRange.map { $0.first > range.last } != false)
        for change in 0..<changes {
            try rename(2, "new \(change)", server)
            try other.synchronize(groups: ["default", "lines"])
        }
        let result = try device.synchronize(groups: ["default", "lines"])
        try other.synchronize(groups: ["default", "lines"])
        #expect(result.resets.contains("Customer") && device.rows == other.rows && names(device).contains("lost 2"))
        let next = try TestDevice.inRegion("NORTH", of: server, name: "next")
        #expect(try #require(next.keyRange).first > range.last)
        try south.register()
        #expect(try south.synchronize().resets == ["Customer"] && names(south) == ["Quay \"27\""])
    }

    @Test func `a partition whose row is gone or that of another one, because the state was replaced during a request, is refused`() throws {
        let server = try FieldSales.server()
        _ = try TestDevice.inRegion("NORTH", of: server)
        try server.state { connection in
            let row = try #require(try connection.storedRow(PartitionState.columns + [.digest], "WHERE parameters = '[\"NORTH\"]'"))
            func read(_ digest: String) throws -> PartitionState {
                try Partition(id: row.integer(.id), object: "Customer", parameters: [], digest: digest, position: PartitionState(row).position)
                    .state(in: connection)
            }
            let digest = try row.text(.digest)
            #expect(try read(digest).version == 1)
            #expect(throws: RequestFailure.self) { try read("another") }
            try connection.execute("UPDATE _partition SET digest = NULL")
            #expect(try read("another").version == 1, "a process of an earlier release gives no names")
            try connection.execute("DELETE FROM _partition")
            #expect(throws: RequestFailure.self) { try read(digest) }
        }
    }

    @Test func `a partition that a process of an earlier release has made gets its name with the next request`() throws {
        let server = try FieldSales.server(), device = try TestDevice.inRegion("NORTH", of: server)
        try server.state { _ = try $0.execute("UPDATE _partition SET digest = NULL, used = 0") }
        #expect(try device.synchronize().resets.isEmpty)
        device.subscriptions = ["Customer": [["region": "SOUTH"]]]
        let result = try device.synchronize()
        #expect(result.resets.isEmpty && result.deletes == ["Customer": 2] && names(device) == ["Quay \"27\""])
    }

    @Test func `a device that leaves a partition loses its rows, also where another package has a partition of the same name`() throws {
        let json = FieldSales.json.replacing("\"version\": \"2.0\"", with: "\"version\": \"3.0\""), other = try PackageModel(json: json)
        let server = try FieldSales.server { $0.packages.append(PackageDeployment(other, backEnds: $0.packages[0].backEnds)) }
        func device(_ package: String) throws -> TestDevice {
            let device = try TestDevice(server, name: package)
            device.subscriptions = ["Customer": [["region": "NORTH"]]]
            device.adjustHeader = { $0.package = package }
            try device.synchronize(groups: ["default", "lines"])
            return device
        }
        // Either partition is found first by its name alone.
        for package in ["Field:3.0", "Field:2.0", "Field:3.0"] {
            let device = try device(package)
            #expect(device.rows["Customer"]?.count == 2)
            device.subscriptions = ["Customer": [["region": "SOUTH"]]]
            try device.synchronize(groups: ["default", "lines"])
            #expect(names(device) == ["Quay \"27\""])
        }
    }

    @Test func `segments that were begun before a restore are not used after it`() throws {
        let server = try SegmentDeliveryTests.server(), device = try TestDevice.inRegion("NORTH", of: server)
        try server.state { connection in
            let partition = try connection.number("SELECT partition FROM _segment_run")
            try connection.execute("DELETE FROM _segment_run")
            let before = try #require(try PartitionState.find(partition, in: connection))
            let shape = try connection.texts("SELECT shape FROM _object WHERE name = 'Customer'")[0]
            let need = SegmentNeed(partition: partition, shape: shape)
            func make(_ run: Int64) throws -> Int64 {
                let task = SegmentTask(.base, since: SegmentRun.beginning, before)
                let draft = try SegmentDraft(task, need, textBytes: 4096, in: connection)
                #expect(try draft.store(0..<1, run: run, now: 1, need, in: connection))
                try draft.complete(run: run, now: 1, need, in: connection)
                return try connection.number("SELECT count(*) FROM _segment_run")
            }
            // The partition reached this version once more, in another era.
            try connection.execute(
                "INSERT INTO _partition_era (partition, era, first) VALUES (?1, 'later', ?2)", [.integer(partition), .integer(before.version)])
            try connection.execute("UPDATE _partition SET era = 'later' WHERE id = ?1", [.integer(partition)])
            #expect(try make(1) == 0)
            try connection.execute("UPDATE _partition SET era = ?2 WHERE id = ?1", [.integer(partition), .text(before.position.era)])
            #expect(try make(2) == 1)
            try connection.execute("DELETE FROM _partition WHERE id = ?1", [.integer(partition)])
            let draft = try SegmentDraft(SegmentTask(.base, since: SegmentRun.beginning, before), need, textBytes: 4096, in: connection)
            #expect(try !draft.store(0..<1, run: 3, now: 1, need, in: connection), "nothing is stored for a partition that is gone")
        }
        _ = device
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

    /// Removes what version 4 of a database added.
    static let toVersion3 = [
        "DROP TABLE _era", "DROP TABLE _partition_era", "DROP TABLE _reconciled", "DROP TABLE _mark", "DROP INDEX _row_deleted",
        "DROP INDEX _partition_used",
        "ALTER TABLE _partition DROP COLUMN digest, DROP COLUMN era, DROP COLUMN used, DROP COLUMN mark, DROP COLUMN compared",
        "ALTER TABLE _back_end DROP COLUMN era",
        "ALTER TABLE _traced_request DROP COLUMN noted", "UPDATE _state SET version = 3",
    ]

    @Test(.needsPostgreSQL) func `a database of version 3 gets the columns, names for its partitions, and keeps its horizons`() throws {
        let database = try PostgreSQLTestDatabase()
        var configuration = ServerConfiguration(cachePath: "")
        configuration.storeAddress = database.configuration.address
        try configuration.openStateStore(createsFile: true).close()
        let connection = try database.connect()
        for statement in Self.toVersion3 + [
            "INSERT INTO _object (id, package, name, shape) VALUES (7, 1, 'Customer', '')",
            "INSERT INTO _partition (id, object, parameters, version) VALUES (9, 7, '[\"NORTH\"]', 3)",
            "INSERT INTO _tombstone_horizon (partition, version) VALUES (9, 2)",
        ] { try connection.execute(statement) }
        let store = try configuration.openStateStore(createsFile: true)
        let row = try store.read { try $0.first("SELECT digest, version, era, used > 0 FROM _partition") }
        #expect(try row == [.text(PartitionParameters.digest(object: "Customer", parameters: "[\"NORTH\"]")), 3, "", 1])
        #expect(try store.read { try TombstoneHorizon.version(of: 9, in: $0) } == 2)
        try store.close()
    }

    @Test(.stateInFile) func `a cache of version 6 gets the columns; its rows are kept, and tokens begin anew`() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        try server.server.close()
        let cache = try Database(ConnectionProfile(path: server.folder.file("cache.db")))
        try cache.write { connection in for statement in CacheVersionTests.toVersion6 { _ = try connection.execute(statement) } }
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
