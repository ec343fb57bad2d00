import MobileModel
import Testing

/// Searchable attributes came with format 2.
@Suite struct SearchableModelTests {
    private static let text = """
        {"format": 2, "name": "Notes", "structures": [{"name": "Place", "attributes": [{"name": "street", "type": "string"}]}], "objects": [{
          "name": "Note", "local": true, "attributes": [
            {"name": "title", "type": "string", "length": 80, "searchable": true},
            {"name": "body", "type": "string", "length": 4000, "searchable": true}, {"name": "rest", "type": "string", "length": 3000},
            {"name": "number", "type": "int"}]
        }]}
        """

    private static func problems(_ changes: (String, String)...) -> [String] {
        let json = changes.reduce(text) { $0.replacing($1.0, with: $1.1) }
        do {
            _ = try PackageModel(json: json, file: "notes.mbo.json")
            return []
        } catch { return error.problems.map { "\($0.path): \($0.message)" } }
    }

    @Test func `the mark is written as it was read, in format 2, and no mark is not written`() throws {
        let model = try PackageModel(json: Self.text, file: "notes.mbo.json")
        #expect(model.objects[0].attributes.map(\.isSearchable) == [true, true, false, false])
        #expect(model.json.contains("\"format\": 2") && model.json.contains("\"searchable\": true") && !model.json.contains("\"searchable\": false"))
        #expect(try PackageModel(json: model.json, file: "notes.mbo.json") == model)
        var plain = model
        for index in plain.objects[0].attributes.indices { plain.objects[0].attributes[index].isSearchable = false }
        #expect(plain.json.contains("\"format\": 1") && !plain.json.contains("searchable"))
    }

    @Test func `the length rules leave searchable strings in their rows, and take others`() throws {
        let model = try PackageModel(json: Self.text, file: "notes.mbo.json")
        #expect(model.objects[0].attributes.map(\.type) == [.string, .string, .bigString, .int])
    }

    @Test func `a mark at the wrong place is reported there`() {
        let place = "objects[0].attributes"
        #expect(
            Self.problems(("\"format\": 2", "\"format\": 1"))
                == (0...1).map {
                    "\(place)[\($0)].searchable: format 1 has no key \"searchable\" here; write \"format\": 2"
                })
        #expect(
            Self.problems(("\"type\": \"int\"", "\"type\": \"int\", \"searchable\": true"))
                == ["\(place)[3].searchable: an int has no words to search; only strings are searchable"])
        #expect(
            Self.problems(("\"length\": 4000", "\"large\": true"))
                == [
                    "\(place)[1].searchable: \"body\" is a bigString; its words are not in the row and cannot be searched; keep it in the row with \"large\": false"
                ])
        #expect(
            Self.problems(("{\"name\": \"street\", \"type\": \"string\"}", "{\"name\": \"street\", \"type\": \"string\", \"searchable\": true}"))
                == ["structures[0].attributes[0].searchable: attributes of objects are searchable, not those of structures"])
    }

    @Test func `a changed mark is a migration, and says what happens`() throws {
        let old = try PackageModel(json: Self.text, file: "notes.mbo.json")
        var new = old
        new.objects[0].attributes[0].isSearchable = false
        #expect(ModelUpgrade(from: old, to: new).changes == [ModelChange(.migration, "Note.title", "no longer searchable")])
        #expect(ModelUpgrade(from: new, to: old).changes == [ModelChange(.migration, "Note.title", "searchable now; its words are indexed")])
    }
}
