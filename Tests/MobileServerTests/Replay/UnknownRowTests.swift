import MobileModel
import MobileProtocol
import MobileStore
import Testing

/// Rows that a device knows under a surrogate key which the server does not have any more.
@Suite struct UnknownRowTests {
    private static let model = Result {
        try PackageModel(
            json: """
                {"format": 1, "name": "Amounts", "version": "1.0", "backEnds": [{"name": "enterprise", "kind": "sqlite"}],
                 "objects": [{"name": "Amount", "primaryKey": ["id"], "operations": ["create", "update", "delete"],
                    "attributes": [{"name": "id", "type": "int"}, {"name": "code", "type": "string", "nullable": true}],
                    "binding": {"backEnd": "enterprise", "table": "amount"}}]}
                """)
    }

    @Test func `such rows can get other keys, and change again after it`() throws {
        let tables = "CREATE TABLE amount (id INTEGER PRIMARY KEY, code TEXT); INSERT INTO amount VALUES (1, 'a'), (2, 'a')"
        let device = try TestDevice(TestServer(model: Self.model.get(), tables: tables, on: .sqlite))
        try device.synchronize()
        func update(_ key: Int64, _ attributes: JSONObject, of id: JSONValue) -> OperationFrame {
            OperationFrame(id: device.nextID(), object: "Amount", change: .update, key: key, attributes: attributes, primaryKey: ["id": id])
        }
        for updates in [
            [update(4711, ["id": 7], of: 1), update(4712, ["id": 8], of: 2)],
            [update(4711, ["code": "b"], of: 7), update(4712, ["code": "b"], of: 8)],
        ] {
            #expect(try device.synchronize(updates).results.map(\.outcome) == [.accepted, .accepted])
        }
        #expect(try device.server.backEndValue("SELECT group_concat(id || code) FROM (SELECT * FROM amount ORDER BY id)") == "7b,8b")
        #expect(device.rows["Amount"]?.count == 2 && device.rows("Amount", by: "id")[7]?["code"] == "b")
    }
}
