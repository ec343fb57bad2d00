import Foundation
import MobileModel
import MobileProtocol
import MobileServer
import MobileStore
import PostgreSQLClient
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import MobileServer

/// Changes that the server finds in trigger logs, on both engines.
@Suite struct TriggerLogTests {
    private static let model = ChangeWay.triggerLog.model

    private static func server(_ kind: BackEndKind, clock: VirtualClock = VirtualClock(start: .seconds(1_800_000_000))) throws -> TestServer {
        try ChangeWay.triggerLog.server(kind) { $0.clock = { clock.milliseconds } }
    }

    private static func device(_ region: JSONValue, of server: TestServer) throws -> TestDevice {
        let device = try TestDevice(server, name: "phone of \(region)")
        device.personalization = ["region": region]
        try device.synchronize(groups: groups)
        return device
    }

    private static let groups = ["default", "lines"]

    /// When the rows of each partition were last compared as a whole.
    private static func comparisons(_ server: TestServer) throws -> [Int64] {
        try server.state { try $0.rows("SELECT compared FROM _partition ORDER BY id") }.compactMap { $0[0].integer }
    }

    /// Compares all rows with the back end, as if there were no log.
    /// - Returns: what the log had not shown to the device.
    private static func missed(_ device: TestDevice) throws -> [String] {
        try device.server.state { connection in _ = try connection.execute("UPDATE _partition SET mark = NULL") }
        device.server.server.packages[0].refresher.forget(Array(Int64(0)...100))
        let result = try device.synchronize(groups: groups)
        return (result.upserts.keys.map { "changed \($0)" } + result.deletes.keys.map { "deleted \($0)" } + result.resets).sorted()
            + (result.largeValues == 0 ? [] : ["\(result.largeValues) large values"])
    }

    // MARK: Completeness

    @Test("one changed row is loaded alone; without a change nothing is written", arguments: BackEndKind.allCases)
    func oneRow(kind: BackEndKind) throws {
        let clock = VirtualClock(start: .seconds(1_800_000_000)), server = try Self.server(kind, clock: clock)
        try server.backEnd { try $0.execute("CREATE TABLE other (id INTEGER)") }
        let device = try Self.device("NORTH", of: server)
        let first = try Self.comparisons(server)
        for isRestarted in [false, true] {
            clock.advance(by: .seconds(60))
            if isRestarted { try server.restart() }
            try server.backEnd { try $0.execute(#"UPDATE "order" SET status = 'PAID \#(isRestarted)' WHERE id = 10"#) }
            let result = try device.synchronize(groups: Self.groups)
            #expect(result.upserts == ["Order": 1] && result.deletes == [:])
            #expect(try Self.comparisons(server) == first, "no partition is compared as a whole")
        }
        // Another table moves the position of the back end, and changes no row.
        try server.backEnd { try $0.execute("INSERT INTO other VALUES (1)") }
        let marks = try server.state { try $0.rows("SELECT version, mark FROM _partition ORDER BY id") }
        #expect(try device.synchronize(groups: Self.groups).upserts == [:])
        #expect(try server.state { try $0.rows("SELECT version, mark FROM _partition ORDER BY id") } == marks)
        #expect(try Self.missed(device) == [])
    }

    @Test("a change of a table that the load joins is found by comparison", arguments: BackEndKind.allCases)
    func joinedTable(kind: BackEndKind) throws {
        let server = try Self.server(kind), device = try Self.device("NORTH", of: server)
        try server.backEnd { try $0.execute(#"UPDATE "the customers" SET region = 'NORTH' WHERE "customer no" = 3"#) }
        let result = try device.synchronize(groups: Self.groups)
        #expect(result.upserts == ["Customer": 1, "Order": 1])
    }

    @Test func `a transaction that commits after later ones is not missed`() throws {
        let server = try Self.server(.postgreSQL), device = try Self.device("NORTH", of: server)
        let database = try #require(server.backEndDatabase), early = try database.connect(), late = try database.connect()
        try early.run(script: #"BEGIN; UPDATE "order" SET status = 'EARLY' WHERE id = 10"#)
        try late.run(script: #"INSERT INTO "order" (id, customer) VALUES (77, 1)"#)
        #expect(try device.synchronize(groups: Self.groups).upserts == ["Order": 1])
        try early.run(script: "COMMIT")
        #expect(try device.synchronize(groups: Self.groups).upserts == ["Order": 1])
        #expect(try Self.missed(device) == [])
    }

    @Test func `a row that takes the key of a deleted one leaves nothing of it`() throws {
        let server = try Self.server(.postgreSQL), device = try Self.device("NORTH", of: server)
        try server.backEnd { try $0.execute(#"INSERT INTO "order" (id, customer) VALUES (12, 1)"#) }
        try device.synchronize(groups: Self.groups)
        try server.backEnd { try $0.execute(#"DELETE FROM "order" WHERE id = 12"#) }
        // The back end gives the new row the number 12.
        let order = device.create("Order", ["customerId": 1, "status": "NEW"], refs: ["customer": .integer(device.key("Customer", "id", 1))])
        let result = try device.synchronize([order], groups: Self.groups)
        #expect(result.results.map(\.outcome) == [.accepted])
        #expect(device.rows["Order"]?.values.filter { $0["id"] == 12 }.map { $0["_sk"] } == [.integer(order.key)])
        #expect(try Self.missed(device) == [])
    }

    @Test("rows that a foreign key deletes and changes with others are logged", arguments: BackEndKind.allCases)
    func cascades(kind: BackEndKind) throws {
        let reference = #"REFERENCES "order" (id)"#, cascading = reference + " ON DELETE CASCADE ON UPDATE CASCADE"
        let server = try TestServer(
            model: Self.model, tables: FieldSales.tables.replacing(reference, with: cascading),
            postgreSQL: FieldSales.postgreSQLTables.replacing(reference, with: cascading), on: kind)
        let device = try Self.device("SOUTH", of: server)
        try server.backEnd { try $0.execute(#"DELETE FROM "order" WHERE id = 10"#) }
        #expect(try device.synchronize(groups: Self.groups).deletes == ["Line": 2])
        try server.backEnd { try $0.execute(#"UPDATE "order" SET id = 99 WHERE id = 11"#) }
        let result = try device.synchronize(groups: Self.groups)
        #expect(result.upserts == ["Order": 1, "Line": 1] && result.deletes == ["Order": 1, "Line": 1])
        #expect(try Self.missed(device) == [])
    }

    // MARK: Logs that say nothing

    @Test("a table that was dropped and restored with its triggers is compared as a whole", arguments: BackEndKind.allCases)
    func restoredTable(kind: BackEndKind) throws {
        let server = try Self.server(kind), device = try Self.device("NORTH", of: server)
        let table = #""order line""#, isSQLite = kind == .sqlite
        let triggers = try server.backEnd {
            try $0.execute("CREATE TABLE backup AS SELECT * FROM \(table)")
            return try $0.rows(
                isSQLite
                    ? "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'order line'"
                    : "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = '\(table)'::regclass AND NOT tgisinternal"
            ).compactMap { $0[0].text }
        }
        try server.backEnd { try $0.execute("UPDATE \(table) SET quantity = 77 WHERE line = 2") }
        try device.synchronize(groups: Self.groups)
        try server.backEnd {
            try $0.execute("DROP TABLE \(table)")
            let columns = #""order" INTEGER NOT NULL, line INTEGER NOT NULL, product TEXT NOT NULL, quantity INTEGER NOT NULL"#
            try $0.execute("CREATE TABLE \(table) (\(columns), PRIMARY KEY (\"order\", line))")
            try $0.execute("INSERT INTO \(table) SELECT * FROM backup")
            for trigger in triggers { try $0.execute(trigger) }
        }
        #expect(try device.synchronize(groups: Self.groups).upserts == ["Line": 1])
        #expect(device.rows["Line"]?.values.contains { $0["quantity"] == 77 } == false)
    }

    @Test func `a file that was restored from a backup is compared as a whole`() throws {
        let server = try Self.server(.sqlite), device = try Self.device("NORTH", of: server)
        let backup = server.folder.file("backup.db")
        try server.server.close()
        try FileManager.default.copyItem(atPath: server.backEndPath, toPath: backup)
        try server.restartClosed()
        try server.backEnd { try $0.execute(#"UPDATE "order" SET status = 'LOST' WHERE id = 10"#) }
        #expect(try device.synchronize(groups: Self.groups).upserts == ["Order": 1])
        try server.server.close()
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: server.backEndPath + suffix) }
        try FileManager.default.copyItem(atPath: backup, toPath: server.backEndPath)
        // As many entries as were lost, and one more.
        try server.backEnd { try $0.execute(#"UPDATE "order line" SET quantity = quantity + 1 WHERE "order" = 10"#) }
        try server.restartClosed()
        let result = try device.synchronize(groups: Self.groups)
        #expect(result.upserts == ["Order": 1, "Line": 2])
        #expect(device.rows("Order", by: "id")[10]?["status"] == "NEW")
        #expect(try Self.missed(device) == [])
    }

    @Test("without a trigger, and after another installation, rows are compared as a whole", arguments: BackEndKind.allCases)
    func missingTrigger(kind: BackEndKind) throws {
        let server = try Self.server(kind), device = try Self.device("NORTH", of: server)
        let capture = ChangeCapture(server.configuration.packages[0])
        #expect(try capture.status().map(\.isInstalled) == [true, true, true])
        try server.backEnd {
            try $0.execute(kind == .sqlite ? "DROP TRIGGER mobile_change_update_order" : #"ALTER TABLE "order" DISABLE TRIGGER mobile_change_update"#)
            try $0.execute(#"UPDATE "order" SET status = 'UNSEEN' WHERE id = 10"#)
        }
        #expect(try capture.status().map { "\($0.table) \($0.isInstalled)" } == ["the customers true", "order false", "order line true"])
        #expect(try device.synchronize(groups: Self.groups).upserts == ["Order": 1])
        try server.backEnd { try $0.execute(#"UPDATE "order" SET status = 'UNSEEN TOO' WHERE id = 10"#) }
        try capture.install()
        #expect(try device.synchronize(groups: Self.groups).upserts == ["Order": 1])
        #expect(try Self.missed(device) == [])
        try server.server.close()
        try capture.remove()
        #expect(try capture.status().map(\.isInstalled) == [false, false, false])
        let error = #expect(throws: ServerError.self) { try server.restartClosed() }
        #expect(error?.code == .missingTable && error?.message.contains("mobile capture install") == true)
        let isLeft =
            kind == .sqlite
            ? "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'mobile\\_c%' ESCAPE '\\'"
            : "SELECT count(*) FROM pg_class WHERE relname LIKE 'mobile\\_c%'"
        #expect(try server.backEndValue(isLeft) == 0)
        try capture.install()
        try server.restartClosed()
        #expect(try device.synchronize(groups: Self.groups).upserts == [:])
    }

    @Test("entries that were pruned are replaced by one comparison", arguments: BackEndKind.allCases)
    func pruning(kind: BackEndKind) throws {
        let clock = VirtualClock(start: .seconds(1_800_000_000)), server = try Self.server(kind, clock: clock)
        let device = try Self.device("NORTH", of: server), capture = ChangeCapture(server.configuration.packages[0])
        clock.advance(by: .seconds(60))
        try server.backEnd { try $0.execute(#"UPDATE "order" SET status = 'A'"#) }
        #expect(try capture.prune(olderThan: .seconds(3600)) == 0)
        #expect(try capture.prune(olderThan: .seconds(-3600)) > 0)
        #expect(try capture.prune(olderThan: .seconds(-3600)) == 0)
        #expect(try device.synchronize(groups: Self.groups).upserts == ["Order": 1])
        let compared = try Self.comparisons(server)
        clock.advance(by: .seconds(60))
        try server.backEnd { try $0.execute(#"UPDATE "order" SET status = 'B' WHERE id = 10"#) }
        #expect(try device.synchronize(groups: Self.groups).upserts == ["Order": 1])
        #expect(try Self.comparisons(server) == compared)
        #expect(try Self.missed(device) == [])
    }

    @Test("a server removes old entries by itself; marks of later ones hold", arguments: BackEndKind.allCases)
    func ends(kind: BackEndKind) throws {
        let clock = VirtualClock(start: .seconds(1_800_000_000)), server = try Self.server(kind, clock: clock)
        let device = try Self.device("NORTH", of: server), backEnds = Array(server.server.packages[0].deployed.backEnds.values)
        let store = try server.configuration.openStateStore(createsFile: false)
        defer { try? store.close() }
        let pruning = Pruning(
            stateStore: store, backEnds: [], files: SegmentFiles(server.configuration), configuration: server.configuration,
            backEndsWithChanges: backEnds)
        func entries() throws -> Value? {
            try server.backEndValue(
                kind == .sqlite
                    ? "SELECT count(*) FROM mobile_change"
                    : "SELECT coalesce(sum((xpath('/row/c/text()', query_to_xml('SELECT count(*) AS c FROM ' || oid::regclass, false, true, '')))[1]::text::bigint), 0)::bigint FROM pg_class WHERE relname LIKE 'mobile\\_change\\_%' AND relkind = 'r'"
            )
        }
        try server.backEnd { try $0.execute(#"UPDATE "order" SET status = 'A'"#) }
        try device.synchronize(groups: Self.groups)
        clock.set(.seconds(Date().timeIntervalSince1970))
        #expect(try pruning.run(.changes) == 0)
        #expect(try entries() != (kind == .sqlite ? 1 : 0))
        clock.advance(by: .days(8))
        #expect(try pruning.run(.changes) > 0)
        #expect(try entries() == (kind == .sqlite ? 1 : 0))
        try server.backEnd { try $0.execute(#"UPDATE "order" SET status = 'B' WHERE id = 10"#) }
        #expect(try device.synchronize(groups: Self.groups).upserts == ["Order": 1])
        #expect(try Self.missed(device) == [])
    }

    @Test("a change that no trigger has seen is found after a day", arguments: BackEndKind.allCases)
    func unseen(kind: BackEndKind) throws {
        let clock = VirtualClock(start: .seconds(1_800_000_000)), server = try Self.server(kind, clock: clock)
        if kind == .sqlite { try server.backEnd { try $0.execute(#"CREATE UNIQUE INDEX one_product ON "order line" (product)"#) } }
        let device = try Self.device("NORTH", of: server)
        try server.backEnd {
            guard kind == .sqlite else {
                try $0.execute("SET LOCAL session_replication_role = replica")
                try $0.execute(#"DELETE FROM "order line" WHERE line = 2"#)
                return
            }
            // SQLite deletes a row that is in the way without a trigger.
            try $0.execute(#"INSERT OR REPLACE INTO "order line" VALUES (11, 7, 'pepper', 1)"#)
        }
        #expect(try device.synchronize(groups: Self.groups).deletes == [:])
        clock.advance(by: .seconds(23 * 3600))
        #expect(try device.synchronize(groups: Self.groups).deletes == [:])
        clock.advance(by: .seconds(2 * 3600))
        #expect(try device.synchronize(groups: Self.groups).deletes == ["Line": 1])
        let compared = try Self.comparisons(server)
        clock.advance(by: .seconds(60))
        try device.synchronize(groups: Self.groups)
        #expect(try Self.comparisons(server) == compared, "once a day")
    }

    // MARK: Installation

    @Test("two packages share the log of a table; a table without triggers is refused", arguments: BackEndKind.allCases)
    func installation(kind: BackEndKind) throws {
        let server = try Self.server(kind)
        var other = Self.model
        other.objects = [other.objects[0]]
        other.objects[0].relationships = []
        other.objects[0].primaryKey = ["code"]
        var deployment = server.configuration.packages[0]
        deployment.model = other
        #expect(try ChangeCapture(deployment).status().map(\.isInstalled) == [false])
        try ChangeCapture(deployment).install()
        #expect(try ChangeCapture(deployment).status().map(\.isInstalled) == [true])
        #expect(try ChangeCapture(server.configuration.packages[0]).status().map(\.isInstalled) == [true, true, true])
        let script = try #require(try ChangeCapture(deployment).installationScripts().first)
        #expect(script.backEnd == "enterprise" && script.script.hasPrefix("BEGIN;\n") && script.script.hasSuffix("COMMIT;\n"))
        try server.backEnd { try $0.execute(#"CREATE VIEW "names" AS SELECT name FROM "the customers""#) }
        deployment.model.objects[0].binding?.changeDetection = .triggerLog(tables: ["names"])
        let error = #expect(throws: ServerError.self) { try ChangeCapture(deployment).install() }
        #expect(error?.message.contains("\"names\": a view") == true)
        deployment.model.objects[0].binding?.changeDetection = .triggerLog(tables: ["nothing"])
        #expect(#expect(throws: ServerError.self) { try ChangeCapture(deployment).install() }?.message.contains("no table \"nothing\"") == true)
    }

    @Test func `a mark holds for one binding only`() throws {
        let object = try #require(try Self.server(.sqlite).server.packages[0].deployed.object(named: "Order"))
        var changed = object.model
        changed.binding?.load = "SELECT * FROM \"order\" WHERE :region IS NOT NULL"
        let other = ObjectPlan(changed, binding: try #require(changed.binding), in: Self.model)
        let text = try RefreshMark(object).text(of: "17")
        #expect(RefreshMark(object).content(of: text) == "17")
        #expect(RefreshMark(other).content(of: text) == nil)
        #expect(RefreshMark(object).content(of: nil) == nil)
    }
}
