import Foundation
import MobileModel
import MobileProtocol
import MobileStore
import Testing

/// Rows whose key is bytes, such as a hash or a UUID in its short form.
@Suite struct BinaryKeyTests {
    private static let model = Result {
        try PackageModel(
            json: """
                {"format": 1, "name": "Files", "version": "1.0", "backEnds": [{"name": "enterprise", "kind": "sqlite"}],
                 "objects": [
                    {"name": "File", "primaryKey": ["hash"], "operations": ["create", "update", "delete"],
                     "attributes": [{"name": "hash", "type": "binary", "length": 32}, {"name": "name", "type": "string", "nullable": true},
                        {"name": "content", "type": "bigBinary", "nullable": true}],
                     "binding": {"backEnd": "enterprise", "table": "file"}},
                    {"name": "Link", "primaryKey": ["id"], "operations": ["create", "update", "delete"],
                     "attributes": [{"name": "id", "type": "int"}, {"name": "file", "type": "binary", "length": 32, "nullable": true}],
                     "relationships": [
                        {"name": "target", "target": "File", "cardinality": "manyToOne", "mapping": {"file": "hash"}}],
                     "binding": {"backEnd": "enterprise", "table": "link"}}]}
                """)
    }

    private func device() throws -> TestDevice {
        func tables(_ bytes: String, _ literal: String) -> String {
            """
            CREATE TABLE file (hash \(bytes) PRIMARY KEY, name TEXT, content \(bytes));
            CREATE TABLE link (id INTEGER PRIMARY KEY, file \(bytes) REFERENCES file(hash));
            INSERT INTO file VALUES (\(literal)4b1000', 'open', \(literal)0102'), (\(literal)ff00', 'other', NULL);
            INSERT INTO link VALUES (1, \(literal)4b1000'), (2, NULL);
            """
        }
        let server = try TestServer(model: Self.model.get(), tables: tables("BLOB", "x'"), postgreSQL: tables("BYTEA", "'\\x"))
        let device = try TestDevice(server)
        try device.synchronize()
        return device
    }

    private func base64(_ bytes: [UInt8]) -> JSONValue { .string(Data(bytes).base64EncodedString()) }

    private func files(_ device: TestDevice) -> [JSONValue: [String: JSONValue]] { device.rows("File", by: "hash") }

    @Test func `rows with a key of bytes arrive once, with their large values and references`() throws {
        let device = try device(), found = files(device)
        #expect(device.rows["File"]?.count == 2 && found[base64([0x4B, 0x10, 0])]?["name"] == "open")
        let key = try #require(found[base64([0x4B, 0x10, 0])]?["_sk"]?.integer)
        #expect(device.largeValues["File"]?[key]?["content"] == [1, 2])
        let links = device.rows("Link", by: "id")
        #expect(links[1]?.values.contains(.integer(key)) == true && links[1]?["file"] == base64([0x4B, 0x10, 0]) && links[2]?["file"] == .null)
    }

    @Test func `they are changed, created, referred to and deleted`() throws {
        let device = try device(), first = base64([0x4B, 0x10, 0]), second = base64([0xFF, 0]), third = base64([0, 1, 2])
        let operations = [
            device.update("File", where: "hash", is: first, set: ["name": "closed"], primaryKey: ["hash": first]),
            device.create("File", ["hash": third, "name": "new"]),
            device.create("Link", ["id": 3, "file": third]),
            OperationFrame(
                id: device.nextID(), object: "File", change: .delete, key: device.key("File", "hash", second), primaryKey: ["hash": second]),
        ]
        #expect(try device.synchronize(operations).results.map(\.outcome) == [.accepted, .accepted, .accepted, .accepted])
        #expect(device.rows["File"]?.count == 2 && files(device)[first]?["name"] == "closed" && files(device)[third]?["name"] == "new")
        #expect(device.rows("Link", by: "id")[3]?["file"] == third)
        #expect(try device.server.backEndValue("SELECT count(*) FROM file") == 2)
        let again = try device.synchronize()
        #expect(again.upserts == [:] && again.deletes == [:])
    }
}
