import MobileModel
import MobileProtocol
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// Booleans that a device writes are the words of their column.
@Suite struct BooleanFormTests {
    @Test(
        "the words of rows, and the ones that belong to them",
        arguments: [
            (["t", "f"], "t", "f"), (["Y"], "Y", "N"), (["no"], "yes", "no"), (["False"], "True", "False"), (["TRUE", "FALSE"], "TRUE", "FALSE"),
            (["Y", ""], "Y", ""), (["Y", "N", ""], "Y", "N"), (["off"], "on", "off"),
        ])
    func words(texts: [String], yes: String, no: String) {
        let form = BooleanForm(of: texts.map(Value.text))
        #expect(form?.yes == yes && form?.no == no)
        #expect(form?.value(1, .boolean) == .text(yes) && form?.value(0, .boolean) == .text(no) && form?.value(.null, .boolean) == .null)
    }

    @Test("rows of several forms have none", arguments: [["t", "true"], ["t", "T"], ["t", "1"], ["1", "0"], ["maybe"], [""], []])
    func noForm(texts: [String]) { #expect(BooleanForm(of: texts.map(Value.text)) == nil) }

    @Test func `numbers have no form`() { #expect(BooleanForm(of: [1, .text("t")]) == nil && BooleanForm(of: [0]) == nil) }

    private static let model = Result {
        try PackageModel(
            json: """
                {"format": 1, "name": "Users", "version": "1.0", "backEnds": [{"name": "enterprise", "kind": "sqlite"}],
                 "objects": [{"name": "User", "primaryKey": ["id"], "operations": ["create", "update", "delete"],
                    "attributes": [{"name": "id", "type": "int"}, {"name": "admin", "type": "boolean", "nullable": true},
                        {"name": "active", "type": "boolean", "nullable": true}, {"name": "plain", "type": "boolean", "nullable": true},
                        {"name": "mixed", "type": "boolean", "nullable": true}],
                    "binding": {"backEnd": "enterprise", "table": "user"}}]}
                """)
    }

    @Test func `a device writes the words of rows, or those of a condition, and numbers elsewhere`() throws {
        let tables = """
            CREATE TABLE user (id INTEGER PRIMARY KEY, admin BOOLEAN DEFAULT 'f', active BOOLEAN CHECK (active IN ('Y', 'N')), plain BOOLEAN,
                mixed BOOLEAN DEFAULT 1);
            INSERT INTO user VALUES (100, 't', NULL, 1, 'true');
            """
        let device = try TestDevice(TestServer(model: Self.model.get(), tables: tables, on: .sqlite))
        try device.synchronize()
        let creates = [true, false].enumerated().map { id, value in
            device.create(
                "User",
                ["id": .integer(Int64(id)), "admin": .boolean(value), "active": .boolean(value), "plain": .boolean(value), "mixed": .boolean(value)])
        }
        #expect(try device.synchronize(creates).results.map(\.outcome) == [.accepted, .accepted])
        let words = "SELECT group_concat(admin || active || plain || mixed, ' ') FROM (SELECT * FROM user WHERE id < 100 ORDER BY id)"
        #expect(try device.server.backEndValue(words) == "tY11 fN00")
        let rows = device.rows("User", by: "id")
        #expect([0, 1].map { rows[.integer($0)]?["active"] } == [1, 0])
    }
}
