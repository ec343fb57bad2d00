import MobileExecution
import MobileModel
import MobileProtocol
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// Rows of back ends that their attributes cannot hold: each is held back by itself, and follows as soon as it fits.
@Suite struct QuarantineTests {
    private static let ways = ChangeWay.allCases.flatMap { way in BackEndKind.allCases.map { (way, $0) } }

    private func change(_ server: TestServer, _ statements: String...) throws {
        try server.backEnd { for statement in statements { try $0.execute(statement) } }
    }

    private func names(_ device: TestDevice) -> [JSONValue: JSONValue] {
        device.rows("Customer", by: "id").mapValues { $0["name"] ?? .null }
    }

    /// The number of rows, by object, whose earlier versions the device has, as the server says.
    private func stale(_ result: TestDevice.Result) -> [String: Int] {
        result.frames.reduce(into: [:]) { counts, frame in
            if case .groupEnd(let end) = frame { counts.merge(end.stale.mapValues(\.count), uniquingKeysWith: +) }
        }
    }

    @Test(
        "a row that its attributes cannot hold is held back alone; devices keep its former version, and get the present one when it fits",
        arguments: ways)
    func heldBack(way: (ChangeWay, BackEndKind)) throws {
        let lines = RecordedLines(), server = try way.0.server(way.1) { $0.log = { lines.add($0) } }
        let device = try TestDevice.inRegion("NORTH", of: server)
        let customers = "\"the customers\""
        try change(
            server, "UPDATE \(customers) SET credit = 12345678901.25, name = 'Changed' WHERE \"customer no\" = 1",
            "UPDATE \(customers) SET name = 'Goes on' WHERE \"customer no\" = 2",
            "INSERT INTO \(customers) (\"customer no\", name, region, credit) VALUES (4, 'New', 'NORTH', 0.125), (5, 'Fits', 'NORTH', 1)")
        let found = try device.synchronize()
        #expect(found.upserts["Customer"] == 2 && found.deletes.isEmpty)
        #expect(names(device) == [1: "Harbour Foods", 2: "Goes on", 5: "Fits"])
        #expect(stale(found) == ["Customer": 1], "the device has no version of row 4")
        let rows = try server.server.administration.quarantine()
        #expect(rows.map(\.key) == ["1", "4"] && rows.map(\.value) == ["12345678901.25", "0.125"])
        let row = try #require(rows.first)
        #expect(row.package == server.package && row.object == "Customer" && row.table == "the customers" && row.column == "credit")
        #expect(row.expected == "a decimal of at most 12 digits, 2 of them after the point" && row.attribute == "credit")
        let noted = lines.all.filter { $0.contains("held back") }
        #expect(
            noted.first
                == "load of \"Customer\" from back end \"enterprise\": table \"the customers\", row with the key 1, column \"credit\": expected a decimal of at most 12 digits, 2 of them after the point for the attribute \"credit\", found 12345678901.25; the row is held back until it fits"
        )
        #expect(noted.count == 2)

        // Another look, with other changes, and another device: no further line, and the same rows.
        try change(
            server, "UPDATE \(customers) SET name = 'Again' WHERE \"customer no\" = 2",
            "UPDATE \(customers) SET name = 'Still' WHERE \"customer no\" = 1")
        let other = try TestDevice.inRegion("NORTH", of: server, name: "tablet")
        try device.synchronize()
        #expect(names(device) == [1: "Harbour Foods", 2: "Again", 5: "Fits"] && names(other) == names(device))
        #expect(lines.all.filter { $0.contains("held back") }.count == 2)
        #expect(server.server.readiness.wait().text == #"{"status": "ready", "warnings": ["quarantine"]}"#)

        try change(server, "UPDATE \(customers) SET credit = 1 WHERE \"customer no\" IN (1, 4)")
        #expect(stale(try device.synchronize()).isEmpty)
        #expect(names(device) == [1: "Still", 2: "Again", 4: "New", 5: "Fits"])
        #expect(try server.server.administration.quarantine() == [])
        #expect(server.server.readiness.wait().text == #"{"status": "ready"}"#)
    }

    @Test("a row that is held back leaves a device when it is deleted, or moves to another partition", arguments: ways)
    func leaves(way: (ChangeWay, BackEndKind)) throws {
        let server = try way.0.server(way.1), device = try TestDevice.inRegion("NORTH", of: server)
        try change(server, "UPDATE \"the customers\" SET credit = 0.125")
        try device.synchronize()
        #expect(try names(device).count == 2 && server.server.administration.quarantine().map(\.key) == ["1", "2"])
        try change(
            server, "UPDATE \"the customers\" SET region = 'SOUTH' WHERE \"customer no\" = 1",
            "DELETE FROM \"the customers\" WHERE \"customer no\" = 2")
        try device.synchronize()
        #expect(try names(device).isEmpty && server.server.administration.quarantine() == [])
        let south = try TestDevice.inRegion("SOUTH", of: server, name: "tablet")
        #expect(try names(south).isEmpty && server.server.administration.quarantine().map(\.key) == ["1", "3"])
    }

    /// The numbers of rows in memory: each path that a load can take.
    private static let paths = BackEndKind.allCases.flatMap { kind in [0, 5000].map { (kind, $0) } }

    @Test("a first load, and comparisons of all rows, leave out the rows that do not fit and keep those that devices have", arguments: paths)
    func allRows(path: (kind: BackEndKind, rowsInMemory: Int)) throws {
        let model = try PackageModel(
            json: """
                {"format": 1, "name": "Parts", "version": "1.0", "backEnds": [{"name": "enterprise", "kind": "sqlite"}],
                 "objects": [{"name": "Part", "primaryKey": ["id"],
                    "attributes": [{"name": "id", "type": "string", "length": 20}, {"name": "amount", "type": "short"},
                        {"name": "picture", "type": "bigBinary", "nullable": true}],
                    "binding": {"backEnd": "enterprise", "table": "part"}}]}
                """)
        func tables(_ bytes: String) -> String {
            "CREATE TABLE part (id TEXT PRIMARY KEY, amount BIGINT, picture \(bytes)); "
                + (1...20).map { "INSERT INTO part VALUES ('p\($0)', \($0 % 4 == 0 ? "70000" : "\($0)"), NULL)" }.joined(separator: "; ")
        }
        let server = try TestServer(model: model, tables: tables("BLOB"), postgreSQL: tables("BYTEA"), on: path.kind) {
            ($0.refreshRules.rowsInMemory, $0.refreshRules.rowsInBlock) = (path.rowsInMemory, 3)
        }
        let device = try TestDevice(server)
        try device.synchronize()
        #expect(try device.rows["Part"]?.count == 15 && server.server.administration.quarantine().count == 5)
        let bytes = path.kind == .sqlite ? "x'0102'" : "'\\x0102'"
        try change(
            server, "UPDATE part SET amount = 4, picture = \(bytes) WHERE id = 'p4'",
            "UPDATE part SET amount = 70000, picture = \(bytes) WHERE id IN ('p1', 'p8')",
            "DELETE FROM part WHERE id IN ('p2', 'p12')", "UPDATE part SET amount = NULL WHERE id = 'p3'", "INSERT INTO part VALUES ('new', 5, NULL)")
        try device.synchronize()
        let rows = device.rows("Part", by: "id")
        #expect(rows.count == 16 && rows["p1"]?["amount"] == 1 && rows["p3"]?["amount"] == 3 && rows["p4"]?["amount"] == 4)
        #expect(rows["p2"] == nil && rows["p8"] == nil && rows["new"]?["amount"] == 5)
        #expect(device.largeValues["Part"]?.keys.sorted() == [device.key("Part", "id", "p1"), device.key("Part", "id", "p4")].sorted())
        let held = try server.server.administration.quarantine()
        #expect(Set(held.map(\.key)) == ["\"p1\"", "\"p3\"", "\"p8\"", "\"p16\"", "\"p20\""])
        #expect(held.first { $0.key == "\"p3\"" }?.value == "NULL")
        try change(server, "UPDATE part SET amount = 7 WHERE amount IS NULL OR amount > 100")
        try device.synchronize()
        #expect(try device.rows["Part"]?.count == 19 && server.server.administration.quarantine() == [])
        #expect(device.largeValues["Part"]?.count == 3)
    }

    @Test("a thousand rows of an object have a record; the others are counted", arguments: BackEndKind.allCases)
    func limit(kind: BackEndKind) throws {
        let model = try PackageModel(
            json: """
                {"format": 1, "name": "Parts", "version": "1.0", "backEnds": [{"name": "enterprise", "kind": "sqlite"}],
                 "objects": [{"name": "Part", "primaryKey": ["id"], "attributes": [{"name": "id", "type": "int"}, {"name": "amount", "type": "short"}],
                    "binding": {"backEnd": "enterprise", "table": "part"}}]}
                """)
        let lines = RecordedLines()
        let tables = "CREATE TABLE part (id INTEGER PRIMARY KEY, amount BIGINT)"
        let server = try TestServer(model: model, tables: tables, postgreSQL: tables, on: kind) { $0.log = { lines.add($0) } }
        try change(server, "INSERT INTO part VALUES " + (1...1200).map { "(\($0), \($0 <= 1100 ? 70000 : 1))" }.joined(separator: ", "))
        let device = try TestDevice(server)
        try device.synchronize()
        #expect(device.rows["Part"]?.count == 100)
        #expect(try server.server.administration.quarantine().count == 1000)
        #expect(try server.server.administration.unrecordedQuarantine().map(\.rows) == [100])
        #expect(lines.all.filter { $0.contains("held back") }.count == 1001)
        try change(server, "UPDATE part SET amount = 2 WHERE id < 1050")
        try device.synchronize()
        #expect(device.rows["Part"]?.count == 1149)
        #expect(try server.server.administration.quarantine().count == 51)
        #expect(try server.server.administration.unrecordedQuarantine() == [])
    }

    @Test("a row of a back end that an operator has written is held back as well")
    func provided() throws {
        let shop = Shop()
        func article(_ number: Int64, _ name: String, _ price: String) -> JSONObject {
            ["number": .integer(number), "name": .string(name), "price": .number(price), "shelf": "A"]
        }
        shop.articles.withLock {
            $0 = [1: article(1, "salt", "1.50"), 2: article(2, String(repeating: "long ", count: 20), "2"), 3: article(3, "oil", "1.505")]
        }
        let device = try ProvidedBackEndTests.device(over: shop)
        try device.synchronize()
        #expect(device.rows("Article", by: "number").keys.map(\.description) == ["1"])
        #expect(try device.server.server.administration.quarantine().map { [$0.key, $0.attribute] } == [["2", "name"], ["3", "price"]])
        shop.articles.withLock { $0[2]?["name"] = "tea" }
        shop.articles.withLock { $0[3] = nil }
        try device.synchronize()
        #expect(try device.rows["Article"]?.count == 2 && device.server.server.administration.quarantine() == [])
    }
}

extension ServerResponse {
    /// The text of an answer in memory.
    var text: String { (try? TestServer.bytes(of: self)).map { String(decoding: $0, as: UTF8.self) } ?? "" }
}
