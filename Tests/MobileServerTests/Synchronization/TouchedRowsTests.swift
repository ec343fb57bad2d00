import MobileProtocol
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// Rows that a device has because its own operations were accepted: the download says which of them are in none of its partitions.
@Suite struct TouchedRowsTests {
    private static let kinds = BackEndKind.allCases

    private static func customer(_ name: String, region: String) -> JSONObject {
        ["name": .string(name), "region": .string(region), "credit": 1, "active": true]
    }

    private func undecided(_ result: TestDevice.Result) -> [String] {
        for case .answer(let answer) in result.frames { return answer.undecided }
        return []
    }

    @Test("a row that was created for another region is sent as a deletion with the answer, others as rows", arguments: kinds)
    func otherRegion(kind: BackEndKind) throws {
        let server = try FieldSales.server(on: kind), device = try TestDevice.inRegion("NORTH", of: server)
        let here = device.create("Customer", Self.customer("Here", region: "NORTH"))
        let away = device.create("Customer", Self.customer("Away", region: "SOUTH"))
        let result = try device.synchronize([here, away])
        #expect(result.results.map(\.outcome) == [.accepted, .accepted])
        #expect(result.deletes == ["Customer": 1] && result.upserts["Customer"] == 1)
        #expect(device.rows["Customer"]?[here.key] != nil && undecided(result).isEmpty)
    }

    @Test("the rows that a device names are decided when their group is requested, also one that was deleted by then", arguments: kinds)
    func named(kind: BackEndKind) throws {
        let server = try FieldSales.server(on: kind), device = try TestDevice.inRegion("NORTH", of: server)
        let here = device.create("Customer", Self.customer("Here", region: "NORTH"))
        let gone = device.create("Customer", Self.customer("Gone", region: "NORTH"))
        try device.synchronize([here, gone], groups: ["lines"])
        try server.backEnd { try $0.execute("DELETE FROM \"the customers\" WHERE name = 'Gone'") }
        device.adjustHeader = { $0.unconfirmed = ["Customer": [here.key, gone.key, 77, -1]] }
        // Another group decides nothing about them.
        #expect(try device.synchronize(groups: ["lines"]).deletes.isEmpty)
        let result = try device.synchronize()
        // Keys that the server does not know are in no partition either.
        #expect(result.deletes == ["Customer": 3] && result.upserts["Customer"] == 1 && undecided(result).isEmpty)
        #expect(try device.synchronize().deletes == ["Customer": 3])
    }

    @Test("a row that is held back is not decided, and the deletions of others do not wait for it", arguments: kinds)
    func held(kind: BackEndKind) throws {
        let server = try FieldSales.server(on: kind), device = try TestDevice.inRegion("NORTH", of: server)
        let held = device.create("Customer", Self.customer("Held", region: "NORTH"))
        let away = device.create("Customer", Self.customer("Away", region: "SOUTH"))
        try device.synchronize([held, away], groups: [])
        try server.backEnd { try $0.execute("UPDATE \"the customers\" SET credit = 0.125 WHERE name = 'Held'") }
        device.adjustHeader = { $0.unconfirmed = ["Customer": [held.key, away.key]] }
        let result = try device.synchronize()
        #expect(result.deletes == ["Customer": 1] && undecided(result) == ["Customer"])
        try server.backEnd { try $0.execute("UPDATE \"the customers\" SET credit = 2 WHERE name = 'Held'") }
        let fits = try device.synchronize()
        #expect(fits.upserts["Customer"] == 1 && undecided(fits).isEmpty && device.rows["Customer"]?[held.key] != nil)
    }

    @Test(
        "a row that the back end keeps although its delete was accepted is sent again, with its large values to a device without it", arguments: kinds
    )
    func kept(kind: BackEndKind) throws {
        let server = try FieldSales.server(on: kind), device = try TestDevice.inRegion("NORTH", of: server)
        let create = device.create("Customer", Self.customer("Kept", region: "NORTH"))
        try device.synchronize([create], large: [create.id: ["photo": [1, 2, 3]]])
        try server.backEnd { connection in
            for statement in kind == .sqlite
                ? ["CREATE TRIGGER keep BEFORE DELETE ON \"the customers\" BEGIN SELECT RAISE(IGNORE); END"]
                : [
                    "CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$",
                    "CREATE TRIGGER keep BEFORE DELETE ON \"the customers\" FOR EACH ROW EXECUTE FUNCTION keep()",
                ]
            { _ = try connection.execute(statement) }
        }
        let id = device.rows["Customer"]?[create.key]?["id"] ?? 0
        func delete() -> OperationFrame {
            OperationFrame(id: device.nextID(), object: "Customer", change: .delete, key: create.key, primaryKey: ["id": id])
        }
        let result = try device.synchronize([delete()])
        #expect(result.results.map(\.outcome) == [.accepted] && result.upserts == ["Customer": 1] && result.deletes.isEmpty)
        #expect(try device.synchronize().upserts.isEmpty)
        // The answer came without a download.
        try device.synchronize([delete()], groups: [])
        device.adjustHeader = { $0.removed = ["Customer": [create.key, 77], "Nothing": [1]] }
        let later = try device.synchronize()
        #expect(later.upserts == ["Customer": 1] && later.largeValues == 1 && device.largeValues["Customer"]?[create.key]?["photo"] == [1, 2, 3])
    }

    @Test("more named rows than the limit, and keys that are no integers, are refused")
    func refused() throws {
        let server = try FieldSales.server(), device = try TestDevice.inRegion("NORTH", of: server)
        device.adjustHeader = { $0.unconfirmed = ["Customer": Array(1...Int64(SynchronizeHeader.unconfirmedLimit + 1))] }
        #expect(try device.synchronize().status == 400)
        device.adjustHeader = { $0.unconfirmed = ["Customer": Array(1...Int64(SynchronizeHeader.unconfirmedLimit))] }
        #expect(try device.synchronize().status == 200)
        #expect(throws: ProtocolError.self) {
            try SynchronizeHeader(json: ["version": 2, "cid": "c", "pkg": "p:1", "unconfirmed": ["Customer": [1, "2"]]])
        }
    }
}
