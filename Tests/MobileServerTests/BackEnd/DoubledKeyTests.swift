import MobileModel
import MobileProtocol
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// Rows that nothing holds back by itself: several with one key, and large texts that are not UTF-8. Each key is held back alone.
@Suite struct DoubledKeyTests {
    /// The numbers of rows in memory: each path that a load can take.
    private static let paths = BackEndKind.allCases.flatMap { kind in [0, 5000].map { (kind, $0) } }

    private static let parts = try! PackageModel(
        json: """
            {"format": 1, "name": "Parts", "version": "1.0", "backEnds": [{"name": "enterprise", "kind": "sqlite"}],
             "objects": [{"name": "Part", "primaryKey": ["id"],
                "attributes": [{"name": "id", "type": "string", "length": 20}, {"name": "amount", "type": "int"}],
                "operations": ["update"], "binding": {"backEnd": "enterprise", "table": "part"}},
               {"name": "Other", "primaryKey": ["id"], "attributes": [{"name": "id", "type": "int"}],
                "binding": {"backEnd": "enterprise", "table": "other"}}]}
            """)

    @Test("rows with one key are held back, all other rows go on, and each follows when its key is its own", arguments: paths)
    func doubled(path: (kind: BackEndKind, rowsInMemory: Int)) throws {
        // Nothing keeps the keys apart.
        let tables =
            "CREATE TABLE part (id TEXT, amount BIGINT); CREATE TABLE other (id INTEGER PRIMARY KEY); INSERT INTO other VALUES (1); "
            + (1...20).map { "INSERT INTO part VALUES ('p\($0)', \($0))" }.joined(separator: "; ")
            + "; INSERT INTO part VALUES ('p3', 33), ('p17', 170), ('p17', 171)"
        let lines = RecordedLines()
        let server = try TestServer(model: Self.parts, tables: tables, postgreSQL: tables, on: path.kind) {
            ($0.refreshRules.rowsInMemory, $0.refreshRules.rowsInBlock) = (path.rowsInMemory, 3)
            $0.log = { lines.add($0) }
        }
        let device = try TestDevice(server)
        #expect(try device.synchronize().status == 200)
        #expect(device.rows["Part"]?.count == 18 && device.rows["Other"]?.count == 1)
        #expect(device.rows("Part", by: "id")["p3"] == nil && device.rows("Part", by: "id")["p17"] == nil)
        let held = try server.server.administration.quarantine()
        #expect(held.map(\.key).sorted() == [#""p17""#, #""p3""#] && held.allSatisfy { $0.expected == "a key that no other row has" })
        #expect(lines.all.filter { $0.contains("held back") }.count == 2)
        #expect(server.server.readiness.wait().text == #"{"status": "ready", "warnings": ["quarantine"]}"#)

        // A row that the device has gets a double; one double goes.
        try server.backEnd {
            try $0.execute("INSERT INTO part VALUES ('p5', 55)")
            try $0.execute("UPDATE part SET amount = 500 WHERE id = 'p6'")
            try $0.execute("DELETE FROM part WHERE id = 'p3' AND amount = 33")
        }
        #expect(try device.synchronize().status == 200)
        let rows = device.rows("Part", by: "id")
        #expect(rows["p3"]?["amount"] == 3 && rows["p6"]?["amount"] == 500 && rows["p5"]?["amount"] == 5, "p5 stays as it was")
        #expect(try server.server.administration.quarantine().map(\.key).sorted() == [#""p17""#, #""p5""#])
        try server.backEnd { try $0.execute("DELETE FROM part WHERE amount IN (17, 55, 170)") }
        try device.synchronize()
        #expect(device.rows("Part", by: "id")["p17"]?["amount"] == 171 && device.rows["Part"]?.count == 20)
        #expect(try server.server.administration.quarantine() == [])
    }

    private static let notes = try! PackageModel(
        json: """
            {"format": 1, "name": "Notes", "version": "1.0", "backEnds": [{"name": "enterprise", "kind": "sqlite"}],
             "objects": [{"name": "Note", "primaryKey": ["id"],
                "attributes": [{"name": "id", "type": "int"}, {"name": "title", "type": "string", "length": 20, "nullable": true},
                    {"name": "body", "type": "bigString", "nullable": true}],
                "operations": ["create", "update", "delete"], "binding": {"backEnd": "enterprise", "table": "note"}}]}
            """)

    @Test("a large text that is not UTF-8 holds back its row alone", arguments: [0, 5000])
    func largeText(rowsInMemory: Int) throws {
        // A sound long text, one with a character across two pieces, one that is not UTF-8, and one that ends in the middle of a character.
        let tables = """
            CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT, body TEXT);
            INSERT INTO note VALUES (1, 'a', printf('%.9000c', 'x')), (2, 'b', CAST(x'4dfc6c6c6572' AS TEXT)), (3, 'c', NULL),
                (4, 'd', printf('%.65535c', 'x') || 'äöü'), (5, 'e', printf('%.70000c', 'x') || CAST(x'c3' AS TEXT)), (6, 'f', 'short');
            """
        let server = try TestServer(model: Self.notes, tables: tables, on: .sqlite) {
            ($0.refreshRules.rowsInMemory, $0.refreshRules.rowsInBlock) = (rowsInMemory, 2)
        }
        let device = try TestDevice(server)
        #expect(try device.synchronize().status == 200)
        let titles = Set((device.rows["Note"] ?? [:]).values.compactMap { $0["title"]?.string })
        #expect(titles == ["a", "c", "d", "f"])
        let held = try server.server.administration.quarantine()
        #expect(held.map(\.key) == ["2", "5"] && held.allSatisfy { $0.column == "body" && $0.expected == "text in UTF-8" })
        try server.backEnd {
            try $0.execute("UPDATE note SET body = 'sound' WHERE id = 2")
            try $0.execute("UPDATE note SET body = CAST(x'ff' AS TEXT), title = 'changed' WHERE id = 6")
        }
        #expect(try device.synchronize().status == 200)
        let values = device.largeValues["Note"]?[device.key("Note", "title", "b")]?["body"]
        #expect(values.map { String(decoding: $0, as: UTF8.self) } == "sound" && device.key("Note", "title", "f") != 0)
        #expect(try server.server.administration.quarantine().map(\.key) == ["5", "6"])
    }

    @Test func `large texts of a database of UTF-16 arrive as they are, and new rows with the defaults of columns are taken`() throws {
        let tables = """
            PRAGMA encoding = 'UTF-16le';
            CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT DEFAULT 'größe', body TEXT);
            INSERT INTO note VALUES (1, 'a', 'short'), (2, 'b', printf('%.9000c', 'x') || 'äß');
            """
        let server = try TestServer(model: Self.notes, tables: tables, on: .sqlite), device = try TestDevice(server)
        #expect(try device.synchronize().status == 200)
        func body(_ title: JSONValue) -> String? {
            (device.largeValues["Note"]?[device.key("Note", "title", title)]?["body"]).map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(body("a") == "short" && body("b") == String(repeating: "x", count: 9000) + "äß")
        let create = device.create("Note", ["id": 3])
        #expect(try device.synchronize([create], large: [create.id: ["body": Array("später".utf8)]]).results.map(\.code) == [200])
        #expect(body("größe") == "später")
    }

    @Test func `rows whose keys have another storage class are found by their keys`() throws {
        let model = try PackageModel(
            json: """
                {"format": 1, "name": "Keys", "version": "1.0", "backEnds": [{"name": "enterprise", "kind": "sqlite"}],
                 "objects": [\(["free", "texts", "bytes"].map {
                     """
                     {"name": "\($0.prefix(1).uppercased() + $0.dropFirst())", "primaryKey": ["k"],
                      "attributes": [{"name": "k", "type": "\($0 == "bytes" ? "binary" : "string")", "length": 40}, {"name": "v", "type": "int"}],
                      "operations": ["update", "delete"], "binding": {"backEnd": "enterprise", "table": "\($0)"}}
                     """
                 }.joined(separator: ","))]}
                """)
        let tables = """
            CREATE TABLE free (k PRIMARY KEY, v INTEGER); CREATE TABLE texts (k TEXT PRIMARY KEY, v INTEGER);
            CREATE TABLE bytes (k BLOB PRIMARY KEY, v INTEGER);
            INSERT INTO free VALUES ('a', 0), (x'62', 0), (5, 0), (8.5, 0); INSERT INTO texts VALUES ('a', 0), (x'62', 0);
            INSERT INTO bytes VALUES (x'61', 0), ('3f2a-uuid', 0);
            """
        let server = try TestServer(model: model, tables: tables, on: .sqlite), device = try TestDevice(server)
        try device.synchronize()
        #expect(device.rows.mapValues(\.count) == ["Free": 4, "Texts": 2, "Bytes": 2])
        let all = ["Free", "Texts", "Bytes"].flatMap { object in (device.rows[object] ?? [:]).keys.sorted().map { (object, $0) } }
        func operations(_ change: OperationFrame.Change, _ attributes: JSONObject) -> [OperationFrame] {
            all.map { object, key in
                let primaryKey: JSONObject = ["k": device.rows[object]?[key]?["k"] ?? .null]
                return OperationFrame(
                    id: device.nextID(), object: object, change: change, key: key, attributes: attributes, primaryKey: primaryKey)
            }
        }
        #expect(try device.synchronize(operations(.update, ["v": 1])).results.map(\.code) == all.map { _ in 200 })
        for table in ["free", "texts", "bytes"] { #expect(try server.backEndValue("SELECT count(*) FROM \(table) WHERE v <> 1") == 0, "\(table)") }
        #expect(device.rows.values.allSatisfy { $0.values.allSatisfy { $0["v"] == 1 } })
        #expect(try device.synchronize(operations(.delete, [:])).results.map(\.code) == all.map { _ in 200 })
        for table in ["free", "texts", "bytes"] { #expect(try server.backEndValue("SELECT count(*) FROM \(table)") == 0, "\(table)") }
        #expect(device.rows.values.allSatisfy { $0.isEmpty })
    }

    @Test func `pieces are a text in UTF-8 wherever they are cut`() {
        let text = Array("aä€😀z".utf8)
        for first in 0...text.count {
            for second in first...text.count {
                var check = UTF8Check()
                for piece in [text[..<first], text[first..<second], text[second...]] { check.update(piece) }
                #expect(check.isComplete)
            }
        }
        for bytes: [UInt8] in [
            [0xC3], [0x61, 0xFF], [0xE2, 0x82], [0xF0, 0x9F, 0x98], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0x80, 0x80, 0x80, 0x80],
        ] {
            var whole = UTF8Check(), single = UTF8Check()
            whole.update(bytes)
            for byte in bytes { single.update([byte]) }
            #expect(!whole.isComplete && !single.isComplete, "\(bytes)")
        }
    }
}
