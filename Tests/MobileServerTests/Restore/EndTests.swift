import Foundation
import MobileProtocol
import MobileStore
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import MobileServer

/// The ends of what a server keeps: by itself, and by an administrator.
@Suite struct EndTests {
    private func server(_ clock: VirtualClock, _ adjust: @escaping (inout ServerConfiguration) -> Void = { _ in }) throws -> TestServer {
        try FieldSales.server {
            $0.clock = { clock.milliseconds }
            // Sessions last longer than these tests.
            $0.sessionIdleLimit = .seconds(50 * 366 * 86_400)
            $0.sessionLifetime = .seconds(50 * 366 * 86_400)
            adjust(&$0)
        }
    }

    private func count(_ table: String, _ server: TestServer) throws -> Int64 {
        try server.state { try $0.number("SELECT count(*) FROM \(table)") }
    }

    @Test func `deletions beyond the newest ones are forgotten, and a token below the horizon gets the object again`() throws {
        let clock = VirtualClock(start: .seconds(1_800_000_000))
        let server = try server(clock) {
            $0.retention.deletedRows = 1
            $0.cleaningPortion = 2
        }
        let away = try TestDevice.inRegion("NORTH", of: server), present = try TestDevice.inRegion("NORTH", of: server, name: "present")
        for number in 0..<6 {
            try server.backEnd {
                _ = try $0.execute(
                    #"INSERT INTO "the customers" ("customer no", name, region) VALUES (?1, 'c', 'NORTH')"#, [.integer(Int64(100 + number))])
            }
            try present.synchronize()
            if number == 3 { try away.synchronize() }
        }
        let all = present.rows["Customer"]?.count
        for number in 0..<5 {
            try server.backEnd { _ = try $0.execute(#"DELETE FROM "the customers" WHERE "customer no" = ?1"#, [.integer(Int64(100 + number))]) }
            try present.synchronize()
        }
        #expect(try all == 8 && server.server.administration.prune().first { $0.name == "deletions" }?.rows == 4)
        #expect(try count("_row WHERE deleted = 1", server) == 1)
        let result = try away.synchronize()
        #expect(result.resets == ["Customer"] && away.rows["Customer"] == present.rows["Customer"] && present.rows["Customer"]?.count == 3)
        #expect(try present.synchronize().resets.isEmpty, "it has seen the deletions that were forgotten")
    }

    @Test func `a partition without a subscriber goes, and a token of it does not hold for its successor`() throws {
        let clock = VirtualClock(start: .seconds(1_800_000_000)), server = try server(clock) { $0.cleaningPortion = 2 }
        let device = try TestDevice.inRegion("NORTH", of: server)
        let south = try TestDevice.inRegion("SOUTH", of: server, name: "south")
        clock.advance(by: .days(29))
        try south.synchronize(groups: ["default", "lines"])
        #expect(try !server.server.administration.prune().contains { $0.name.contains("partitions") })
        clock.advance(by: .days(2))
        let removed = try server.server.administration.prune()
        #expect(removed.contains { $0.name.contains("partitions") })
        #expect(try count("_partition", server) == 3 && count("_row WHERE partition NOT IN (SELECT id FROM _partition)", server) == 0)
        try server.backEnd { _ = try $0.execute(#"DELETE FROM "the customers" WHERE "customer no" = 2"#) }
        let other = try TestDevice.inRegion("NORTH", of: server, name: "other")
        #expect(other.rows["Customer"]?.count == 1)
        let result = try device.synchronize(groups: ["default", "lines"])
        #expect(result.resets == ["Customer"] && device.rows["Customer"] == other.rows["Customer"])
        #expect(try south.synchronize(groups: ["default", "lines"]).resets.isEmpty)
    }

    @Test func `the segments of a partition go with it, also their files, and a request in between loads it again`() throws {
        let clock = VirtualClock(start: .seconds(1_800_000_000)), temporary = try TemporaryDirectory(), folder = temporary.file("segments")
        let server = try SegmentDeliveryTests.server(clock: clock) {
            $0.cleaningPortion = 100
            $0.segmentDirectory = folder
            $0.sessionIdleLimit = .seconds(50 * 366 * 86_400)
            $0.sessionLifetime = .seconds(50 * 366 * 86_400)
        }
        let device = try TestDevice(server)
        device.subscriptions = ["Customer": [["region": "NORTH"]]]
        let segments = try device.synchronize().segments
        func files() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: folder).count }
        #expect(try segments.count > 3 && files() == segments.count && count("_segment", server) == Int64(segments.count))
        clock.advance(by: .days(31))
        let pruning = Pruning(
            stateStore: try server.configuration.openStateStore(createsFile: false), backEnds: [], files: SegmentFiles(server.configuration),
            configuration: server.configuration)
        defer { try? pruning.stateStore.close() }
        var place: Int64 = 0
        let first = try pruning.step(.partitions, from: &place)
        // Half of the rows are gone. Neither the rest nor the segments count.
        #expect(try first == 100 && count("_segment", server) > 0)
        let again = try device.synchronize()
        #expect(again.resets.contains("Customer") && device.rows["Customer"]?.count == 400)
        #expect(try device.synchronize().resets.isEmpty)
        clock.advance(by: .days(31))
        _ = try pruning.run(.partitions)
        let tables = ["_partition", "_row", "_large", "_partition_era", "_segment", "_segment_run", "_tombstone_horizon"]
        #expect(try tables.map { try count($0, server) } == tables.map { _ in 0 } && files() == 0)
        #expect(try device.synchronize().resets.contains("Customer") && device.rows["Customer"]?.count == 400)
    }

    @Test func `sessions, grants, claims, traces, logs, clients and reports end by themselves, one step at a time`() throws {
        let clock = VirtualClock(start: .seconds(1_800_000_000))
        let server = try server(clock) { $0.cleaningPortion = 1 }
        let device = try TestDevice.inRegion("NORTH", of: server), other = try TestDevice.inRegion("SOUTH", of: server, name: "other")
        let record = LogRecordEntry(messageId: 1, level: .info, code: 9999, message: "visited", component: "Field", timestamp: "")
        try device.synchronize([device.create("Customer", RestoredBackEndTests.customer("one"))], log: [record])
        let now = clock.milliseconds
        try server.state { connection in
            try connection.execute(
                "INSERT INTO _traced_request (passport, application, device, line, noted) VALUES ('A', 'a', 'd', 'l', ?1)", [.integer(now)])
            try connection.execute(
                "INSERT INTO _trace (passport, application, device, user_name, document, received) VALUES ('A', 'a', 'd', 'u', '', ?1)",
                [.integer(now)])
            try connection.execute(
                "INSERT INTO _domain_log (application, device, user_name, package, inquiry, name, text, received) VALUES ('a', 'd', 'u', 'p', 'i', 'n', '', ?1)",
                [.integer(now)])
            try connection.execute("INSERT INTO _inquiry (application, device, inquiry, asked) VALUES ('a', 'd', 'i', ?1)", [.integer(now)])
        }
        let tables = ["_trace", "_traced_request", "_domain_log", "_inquiry", "_key_range WHERE granted < \(now + 1)"]
        _ = try server.server.administration.prune(backEnds: [server.backEndPlace])
        #expect(try tables.map { try count($0, server) } == [1, 1, 1, 1, 2])
        clock.advance(by: .days(401))
        // Each synchronization does at most one step.
        for _ in 0..<60 {
            clock.advance(by: .seconds(1000))
            try other.synchronize(groups: ["default", "lines"])
        }
        #expect(try tables.map { try count($0, server) } == [0, 0, 0, 0, 0])
        #expect(try server.backEndValue("SELECT count(*) FROM mobile_processed_operation") == 0)
        #expect(try server.backEndValue("SELECT count(*) FROM mobile_replay_guard") == 0)
        clock.advance(by: .days(400))
        let removed = try server.server.administration.prune()
        #expect(removed.contains { $0.name == "log records" })
        #expect(try server.server.administration.logTables().map(\.rows) == [0])
    }

    @Test(arguments: BackEndKind.allCases.filter { $0 == .sqlite || PostgreSQLInstallation.runsTests })
    func `a client that has come back since its last note is not removed`(kind: BackEndKind) throws {
        let server = try FieldSales.server(on: kind), system = try #require(server.server.packages[0].deployed.writtenBackEnds.first).system
        func prune(_ now: Int64) throws -> Int {
            try system.replay(for: "") { try $0.records()?.removeClients(unchangedSince: now - 100, now: now, limit: 1) ?? 0 }
        }
        func work(_ client: String, _ operation: Int64) throws {
            try system.replay(for: client) { transaction in
                let records = try #require(try transaction.records())
                _ = try records.raiseFloor(of: client, to: 0)
                try records.record("{}", of: operation, client: client)
            }
        }
        for client in ["a", "b"] { try work(client, 1) }
        // One note each time.
        #expect(try prune(0) == 0 && prune(1) == 0)
        for client in ["a", "b"] { try work(client, 2) }
        #expect(try prune(200) == 0 && server.backEndValue("SELECT count(*) FROM mobile_processed_operation") == 4)
        #expect(try prune(201) == 0 && prune(301) == 1 && prune(302) == 1)
        for table in ["mobile_processed_operation", "mobile_replay_guard", "mobile_replay_seen"] {
            #expect(try server.backEndValue("SELECT count(*) FROM \(table)") == 0)
        }
    }

    @Test func `retentions that are too short are refused`() throws {
        func open() throws {
            var configuration = ServerConfiguration(cachePath: "/nowhere")
            configuration.retention.partitions = .seconds(86_400)
            _ = try MobileServer(configuration)
        }
        let error = #expect(throws: ServerError.self) { try open() }
        #expect(error?.code == .configuration && error?.message.contains("partitions") == true)
    }
}
