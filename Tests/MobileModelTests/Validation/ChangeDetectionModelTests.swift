import MobileModel
import Testing

/// The ways in which a server finds changed rows: `triggerLog` came with format 2.
@Suite struct ChangeDetectionModelTests {
    private static let text = """
        {"format": 2, "name": "Notes", "backEnds": [{"name": "erp"}], "objects": [{
          "name": "Note", "attributes": [{"name": "id", "type": "long"}], "primaryKey": ["id"],
          "binding": {"backEnd": "erp", "table": "note", "load": "SELECT n.* FROM note AS n JOIN site AS s ON s.id = n.site",
                      "changeDetection": {"triggerLog": ["site"]}}
        }]}
        """

    private static func problem(_ change: (String, String), _ format: String = "\"format\": 2") -> [String] {
        let json = text.replacing("\"format\": 2", with: format).replacing(change.0, with: change.1)
        do {
            _ = try PackageModel(json: json, file: "notes.mbo.json")
            return []
        } catch {
            return error.problems.map { "\($0.path): \($0.message)" }
        }
    }

    @Test func `a trigger log is written as it was read, in format 2`() throws {
        let model = try PackageModel(json: Self.text, file: "notes.mbo.json")
        #expect(model.objects[0].binding?.changeDetection == .triggerLog(tables: ["site"]))
        #expect(try PackageModel(json: model.json, file: "notes.mbo.json") == model)
        var alone = model
        alone.objects[0].binding?.load = nil
        alone.objects[0].binding?.changeDetection = .triggerLog(tables: [])
        #expect(alone.json.contains("\"changeDetection\": \"triggerLog\"") && alone.json.contains("\"format\": 2"))
        #expect(try PackageModel(json: alone.json, file: "notes.mbo.json") == alone)
        alone.objects[0].binding?.changeDetection = .digest
        #expect(alone.json.contains("\"format\": 1"))
    }

    @Test func `a wrong trigger log is reported at its place`() {
        let place = "objects[0].binding.changeDetection"
        #expect(
            Self.problem(("{\"triggerLog\": [\"site\"]}", "\"triggerLog\""), "\"format\": 1")
                == ["\(place): format 1 has no \"triggerLog\"; write \"format\": 2"])
        #expect(
            Self.problem(("\"Notes\"", "\"Notes\""), "\"format\": 1")
                == ["\(place).triggerLog: format 1 has no key \"triggerLog\" here; write \"format\": 2"])
        #expect(
            Self.problem(("{\"triggerLog\"", "{\"versionColumn\": \"v\", \"triggerLog\""))
                == ["\(place): there are two ways to detect changes; remove one of the two"])
        #expect(
            Self.problem(("[\"site\"]", "[\"site\", \"\", \"note\", \"site\"]")) == [
                "\(place).triggerLog[1]: a table has an empty name", "\(place).triggerLog[2]: the table \"note\" is logged anyway",
                "\(place).triggerLog[3]: the table \"site\" is there twice",
            ])
        #expect(
            Self.problem(("\"load\": \"SELECT n.* FROM note AS n JOIN site AS s ON s.id = n.site\",", ""))
                == ["\(place).triggerLog: without a \"load\" statement no other table is read; write \"triggerLog\" alone"])
    }
}
