import Foundation
import MobileModel
import MobileProtocol
import MobileServer
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// Random histories of a back end that finds changes in each of the ways, on both engines, against a plain model: the back end itself.
@Suite struct ChangeHistoryTests {
    private static let groups = ["default", "lines"]

    private static func device(_ region: String, of server: TestServer) throws -> TestDevice {
        let device = try TestDevice(server, name: "phone of \(region)")
        device.personalization = ["region": .string(region)]
        try device.synchronize(groups: groups)
        return device
    }

    /// When the rows of each partition were last compared as a whole.
    private static func comparisons(_ server: TestServer) throws -> [Int64] {
        try server.state { try $0.rows("SELECT compared FROM _partition ORDER BY id") }.compactMap { $0[0].integer }
    }

    /// Compares all rows with the back end, as if there were no marks.
    /// - Returns: the changes that had not come to the device.
    private static func missed(_ device: TestDevice) throws -> [String] {
        try device.server.state { connection in _ = try connection.execute("UPDATE _partition SET mark = NULL") }
        device.server.server.packages[0].refresher.forget(Array(Int64(0)...100))
        let result = try device.synchronize(groups: groups)
        return (result.upserts.keys.map { "changed \($0)" } + result.deletes.keys.map { "deleted \($0)" } + result.resets).sorted()
            + (result.largeValues == 0 ? [] : ["\(result.largeValues) large values"])
    }

    /// Each engine of the state has seeds of its own.
    private static let seeds = StoreUnderTest.isPostgreSQL ? 2..<4 : 0..<2

    @Test(
        "what random statements of other applications and of devices change comes to the devices, most of it without a comparison of all rows",
        arguments: ChangeWay.allCases.flatMap { way in BackEndKind.allCases.map { (way, $0) } }, seeds)
    func histories(way: (ChangeWay, BackEndKind), seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed) &+ (ProcessInfo.processInfo.environment["RANDOM_SEED"].flatMap(UInt64.init) ?? 0) &* 1000)
        let (way, kind) = way, clock = VirtualClock(start: .seconds(1_800_000_000))
        let server = try way.server(kind) { $0.clock = { clock.milliseconds } }
        let devices = [("NORTH", try Self.device("NORTH", of: server)), ("SOUTH", try Self.device("SOUTH", of: server))]
        var kept = 0
        for round in 0..<14 {
            for _ in 0..<Int.random(in: 1...4, using: &random) { try change(server, kind, &random) }
            if Bool.random(using: &random) { try operate(devices[0].1, round, &random) }
            if Int.random(in: 0..<6, using: &random) == 0 { try server.restart() }
            clock.advance(by: .seconds(60))
            let before = try Self.comparisons(server)
            for (region, device) in devices {
                let result = try device.synchronize(groups: Self.groups)
                #expect(result.status == 200 && result.resets.isEmpty)
                let differences = try server.differences(of: device, in: region)
                #expect(differences == [], "seed \(seed), round \(round), \(device.name)")
            }
            let after = try Self.comparisons(server)
            kept += zip(before, after).filter { $0 == $1 }.count
            clock.advance(by: .seconds(60))
            guard round % 5 == 4 else { continue }
            for (_, device) in devices {
                let missed = try Self.missed(device)
                #expect(missed == [], "seed \(seed), round \(round), \(device.name)")
            }
        }
        #expect(kept > 14, "one of five partitions is compared as a whole only where the way says so")
    }

    /// Changes something as another application does, in one or two statements; one transaction in six is rolled back.
    private func change(_ server: TestServer, _ kind: BackEndKind, _ random: inout SeededGenerator) throws {
        struct Rollback: Error {}
        let customer = [1, 2, 3, 4, 70_000].randomElement(using: &random) ?? 1, order = [10, 11, 12, 90_000].randomElement(using: &random) ?? 10,
            line = Int.random(in: 1...3, using: &random)
        let region = ["NORTH", "SOUTH", "NORTH", "SOUTH", "EAST"].randomElement(using: &random) ?? "",
            number = Int.random(in: 1...1000, using: &random)
        let photo = kind == .sqlite ? "x'0\(line)'" : "'\\x0\(line)'::bytea"
        let insertCustomer = """
            INSERT INTO "the customers" ("customer no", name, region) VALUES (\(customer), 'new \(number)', '\(region)')
            ON CONFLICT ("customer no") DO UPDATE SET name = excluded.name
            """
        let insertOrder = """
            INSERT INTO "order" (id, customer) SELECT \(order), "customer no" FROM "the customers" WHERE "customer no" = \(customer)
            ON CONFLICT (id) DO UPDATE SET customer = excluded.customer
            """
        let insertLine = """
            INSERT INTO "order line" ("order", line, product, quantity) SELECT id, \(line), 'p\(number)', \(number) FROM "order" WHERE id = \(order)
            ON CONFLICT ("order", line) DO UPDATE SET quantity = excluded.quantity
            """
        let statements =
            [
                [insertCustomer], [insertOrder], [insertLine], [insertLine], [insertCustomer, insertOrder, insertLine],
                [#"UPDATE "the customers" SET name = 'name \#(number)' WHERE "customer no" = \#(customer)"#],
                [#"UPDATE "the customers" SET region = '\#(region)' WHERE "customer no" = \#(customer)"#],
                [#"UPDATE "the customers" SET photo = \#(photo), notes = 'note \#(number)' WHERE "customer no" = \#(customer)"#],
                [#"UPDATE "the customers" SET photo = NULL WHERE "customer no" = \#(customer)"#],
                [
                    #"UPDATE "the customers" SET "customer no" = \#(customer) + 10 WHERE "customer no" = \#(customer) AND "customer no" NOT IN (SELECT customer FROM "order") AND NOT EXISTS (SELECT 1 FROM "the customers" WHERE "customer no" = \#(customer) + 10)"#
                ],
                [#"UPDATE "order" SET status = 'S\#(number)' WHERE id = \#(order)"#], [#"UPDATE "order" SET status = 'ALL\#(number)'"#],
                [
                    #"UPDATE "order line" SET line = line + 4 WHERE "order" = \#(order) AND line = \#(line) AND NOT EXISTS (SELECT 1 FROM "order line" AS l WHERE l."order" = \#(order) AND l.line = \#(line) + 4)"#
                ],
                [#"DELETE FROM "order line" WHERE "order" = \#(order)"#, #"DELETE FROM "order" WHERE id = \#(order)"#],
                [
                    #"UPDATE "order" SET status = (SELECT o.status FROM "order" AS o WHERE o.id = 21 - "order".id) WHERE id IN (10, 11) AND (SELECT count(*) FROM "order" AS o WHERE o.id IN (10, 11)) = 2"#
                ],
                // The same letters in two columns, and NULL next to a text without any.
                [#"UPDATE "the customers" SET name = 'a\#(customer)', code = 'b\#(customer)c' WHERE "customer no" = \#(customer)"#],
                [#"UPDATE "the customers" SET name = 'a\#(customer)b', code = '\#(customer)c' WHERE "customer no" = \#(customer)"#],
                [#"UPDATE "the customers" SET code = NULL WHERE "customer no" = \#(customer)"#],
                [
                    #"UPDATE "the customers" SET code = '' WHERE "customer no" = \#(customer) AND NOT EXISTS (SELECT 1 FROM "the customers" WHERE code = '')"#
                ],
                [kind == .postgreSQL && number % 2 == 0 ? #"TRUNCATE "order line""# : #"DELETE FROM "order line""#],
            ].randomElement(using: &random) ?? []
        let isRolledBack = Int.random(in: 0..<6, using: &random) == 0
        do {
            try server.backEnd { backEnd in
                for statement in statements { try backEnd.execute(statement) }
                if isRolledBack { throw Rollback() }
            }
        } catch is Rollback {}
    }

    private func operate(_ device: TestDevice, _ round: Int, _ random: inout SeededGenerator) throws {
        guard let customer = device.rows["Customer"]?.values.randomElement(using: &random) else { return }
        let update = OperationFrame(
            id: device.nextID(), object: "Customer", change: .update, key: customer["_sk"]?.integer ?? 0,
            attributes: ["name": .string("round \(round)")],
            primaryKey: ["id": customer["id"] ?? .null])
        let order = device.create(
            "Order", ["customerId": customer["id"] ?? .null, "status": .string("R\(round)")], refs: ["customer": customer["_sk"] ?? .null])
        let result = try device.synchronize([update, order], groups: Self.groups)
        #expect(result.results.count == 2)
    }

    @Test(
        "a back end that was restored from a backup has its former rows on the devices",
        arguments: ChangeWay.allCases.flatMap { way in BackEndKind.allCases.map { (way, $0) } })
    func restored(way: (ChangeWay, BackEndKind)) throws {
        let (way, kind) = way, server = try way.server(kind), device = try Self.device("NORTH", of: server)
        try server.backEnd { try $0.execute(#"INSERT INTO "order" (id, customer) VALUES (50, 1), (51, 2)"#) }
        try device.synchronize(groups: Self.groups)
        try server.saveBackEnd(to: server.folder.file("backup.db"))
        try server.backEnd {
            try $0.execute(#"UPDATE "order" SET status = 'LOST' WHERE id IN (10, 50)"#)
            try $0.execute(#"DELETE FROM "order" WHERE id = 51"#)
            try $0.execute(#"INSERT INTO "order" (id, customer) VALUES (52, 1)"#)
        }
        try device.synchronize(groups: Self.groups)
        #expect(try server.differences(of: device, in: "NORTH") == [])
        try server.reopen(withBackEnd: server.folder.file("backup.db"))
        try server.backEnd { try $0.execute(#"UPDATE "order" SET status = 'AFTER' WHERE id = 50"#) }
        try device.synchronize(groups: Self.groups)
        #expect(try server.differences(of: device, in: "NORTH") == [])
        #expect(try Self.missed(device) == [])
    }
}
