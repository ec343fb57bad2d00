import MobileModel
import MobileProtocol
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// References to rows whose keys the back end has in another form than devices: times, dates and decimals in columns of text.
@Suite struct ReferenceFormTests {
    private static let kinds = BackEndKind.allCases

    private static let model = Result {
        try PackageModel(
            json: """
                {"format": 1, "name": "Slots", "version": "1.0", "backEnds": [{"name": "enterprise", "kind": "sqlite"}],
                 "objects": [
                  {"name": "Slot", "primaryKey": ["room", "start"], "operations": ["create", "update", "delete"],
                    "attributes": [{"name": "room", "type": "int"}, {"name": "start", "type": "dateTime"}, {"name": "title", "type": "string", "length": 20}],
                    "binding": {"backEnd": "enterprise", "table": "slot"}},
                  {"name": "Booking", "primaryKey": ["id"], "operations": ["create", "update", "delete"],
                    "attributes": [{"name": "id", "type": "int"}, {"name": "room", "type": "int", "nullable": true},
                        {"name": "start", "type": "dateTime", "nullable": true}],
                    "relationships": [{"name": "slot", "target": "Slot", "cardinality": "manyToOne", "mapping": {"room": "room", "start": "start"}}],
                    "binding": {"backEnd": "enterprise", "table": "booking"}}]}
                """)
    }

    private static let first = "2024-03-02 10:10:00", second = "2024-03-02 11:00:00.100"

    private func device(_ kind: BackEndKind) throws -> TestDevice {
        let tables = """
            CREATE TABLE slot (room INTEGER NOT NULL, "start" TEXT NOT NULL, title TEXT NOT NULL, PRIMARY KEY (room, "start"));
            CREATE TABLE booking (id INTEGER PRIMARY KEY, room INTEGER, "start" TEXT, FOREIGN KEY (room, "start") REFERENCES slot (room, "start"));
            INSERT INTO slot VALUES (1, '\(Self.first)', 'a'), (1, '\(Self.second)', 'b'), (2, '2024-03-02T10:10:00.000Z', 'c');
            INSERT INTO booking VALUES (1, 1, '\(Self.first)')
            """
        let device = try TestDevice(TestServer(model: Self.model.get(), tables: tables, on: kind))
        try device.synchronize()
        return device
    }

    private func bookings(_ device: TestDevice) throws -> [String?] {
        try (1...6).map {
            try device.server.backEndValue("SELECT CAST(room AS TEXT) || ' ' || \"start\" FROM booking WHERE id = \($0)")?.text
        }
    }

    @Test("a reference that is made by attribute or by row is the key as the back end has it", arguments: kinds)
    func references(kind: BackEndKind) throws {
        let device = try device(kind), slot = device.key("Slot", "title", "b")
        let byRow = device.create("Booking", ["id": 2], refs: ["slot": .integer(slot)])
        let byAttribute = device.create("Booking", ["id": 3, "room": 1, "start": "2024-03-02T10:10:00.000Z"])
        let inDeviceForm = device.create("Booking", ["id": 4, "room": 2, "start": "2024-03-02T10:10:00.000Z"])
        let update = device.update(
            "Booking", where: "id", is: 1, set: ["room": 1, "start": "2024-03-02T11:00:00.100Z"], primaryKey: ["id": 1])
        // A row that another operation of the upload makes has the device's form.
        let parent = device.create("Slot", ["room": 3, "start": "2024-03-02T12:00:00.000Z", "title": "d"])
        let child = device.create("Booking", ["id": 5], refs: ["slot": .integer(parent.key)])
        let results = try device.synchronize([byRow, byAttribute, inDeviceForm, update, parent, child]).results
        #expect(results.map(\.outcome) == Array(repeating: .accepted, count: 6), "\(results.map(\.message))")
        #expect(
            try bookings(device) == [
                "1 \(Self.second)", "1 \(Self.second)", "1 \(Self.first)", "2 2024-03-02T10:10:00.000Z", "3 2024-03-02T12:00:00.000Z", nil,
            ])
        #expect(try device.synchronize().upserts.isEmpty)
        let rows = device.rows("Booking", by: "id")
        #expect(rows[2]?["_ref_slot"]?.integer == slot && rows[1]?["_ref_slot"]?.integer == slot)
        #expect(rows[3]?["start"] == "2024-03-02T10:10:00.000Z" && rows[5]?["_ref_slot"]?.integer == parent.key)
    }

    @Test("a reference to no row is refused, and an empty one is none", arguments: kinds)
    func nowhere(kind: BackEndKind) throws {
        let device = try device(kind)
        let results = try device.synchronize([
            device.create("Booking", ["id": 6, "room": 1, "start": "2024-03-02T13:00:00.000Z"]),
            device.update("Booking", where: "id", is: 1, set: ["room": .null, "start": .null], primaryKey: ["id": 1]),
        ]).results
        #expect(results.map(\.outcome) == [.rejected, .accepted] && results[0].message.contains("no row that this one refers to"))
        #expect(try bookings(device) == Array(repeating: nil, count: 6))
    }
}
