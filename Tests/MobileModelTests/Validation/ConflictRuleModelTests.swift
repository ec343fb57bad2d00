import MobileModel
import Testing

/// The conflict rule of an object came with format 2.
@Suite struct ConflictRuleModelTests {
    private static let text = """
        {"format": 2, "name": "Notes", "backEnds": [{"name": "erp"}], "objects": [{
          "name": "Note", "attributes": [{"name": "id", "type": "long"}], "primaryKey": ["id"], "operations": ["create", "update"],
          "conflicts": "refuse", "binding": {"backEnd": "erp", "table": "note"}
        }]}
        """

    private static func problems(_ changes: (String, String)...) -> [String] {
        let json = changes.reduce(text) { $0.replacing($1.0, with: $1.1) }
        do {
            _ = try PackageModel(json: json, file: "notes.mbo.json")
            return []
        } catch { return error.problems.map { "\($0.path): \($0.message)" } }
    }

    @Test func `a conflict rule is written as it was read, in format 2, and the default is not written`() throws {
        let model = try PackageModel(json: Self.text, file: "notes.mbo.json")
        #expect(model.objects[0].conflicts == .refuse && model.json.contains("\"format\": 2") && model.json.contains("\"conflicts\": \"refuse\""))
        #expect(try PackageModel(json: model.json, file: "notes.mbo.json") == model)
        var lenient = model
        lenient.objects[0].conflicts = .lastWriter
        #expect(lenient.json.contains("\"format\": 1") && !lenient.json.contains("conflicts"))
        #expect(Self.problems(("\"refuse\"", "\"lastWriter\""), ("[\"create\", \"update\"]", "[\"create\"]")) == [])
        #expect(try PackageModel(json: Self.text.replacing("\"refuse\"", with: "\"lastWriter\""), file: "notes.mbo.json") == lenient)
    }

    @Test func `a wrong conflict rule is reported at its place`() {
        let place = "objects[0].conflicts"
        #expect(
            Self.problems(("\"format\": 2", "\"format\": 1")) == ["\(place): format 1 has no key \"conflicts\" here; write \"format\": 2"])
        #expect(Self.problems(("\"refuse\"", "\"refused\"")).first?.hasPrefix("\(place): \"refused\" is not one of lastWriter, refuse") == true)
        #expect(
            Self.problems(("[\"create\", \"update\"]", "[\"create\"]")) == [
                "\(place): the object \"Note\" has neither an update nor a delete operation, so that no conflict can arise; remove \"conflicts\""
            ])
        #expect(
            Self.problems(("{\"name\": \"erp\"}", "{\"name\": \"erp\", \"idempotent\": true}")) == [
                "\(place): the back end \"erp\" keeps no record of operations, so that a repeated operation would be in conflict with itself; remove \"conflicts\", or \"idempotent\" of the back end"
            ])
    }
}
