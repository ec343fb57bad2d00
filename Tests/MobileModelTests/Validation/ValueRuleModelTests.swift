import MobileModel
import Testing

/// Rules for the values that a device saves came with format 2.
@Suite struct ValueRuleModelTests {
    private static let text = """
        {"format": 2, "name": "Tickets", "structures": [{"name": "Place", "attributes": [{"name": "street", "type": "string"}]}], "objects": [{
          "name": "Ticket", "local": true, "primaryKey": ["id"], "attributes": [
            {"name": "id", "type": "int"}, {"name": "state", "type": "string", "default": "open", "values": ["open", "closed"]},
            {"name": "level", "type": "int", "default": 1, "minimum": 1, "maximum": 5},
            {"name": "price", "type": "decimal", "nullable": true, "minimum": 0.01}, {"name": "done", "type": "boolean"}]
        }]}
        """

    private static func problems(_ changes: (String, String)...) -> [String] {
        let json = changes.reduce(text) { $0.replacing($1.0, with: $1.1) }
        do {
            _ = try PackageModel(json: json, file: "tickets.mbo.json")
            return []
        } catch { return error.problems.map { "\($0.path): \($0.message)" } }
    }

    @Test func `rules are written as they were read, in format 2`() throws {
        let model = try PackageModel(json: Self.text, file: "tickets.mbo.json"), attributes = model.objects[0].attributes
        #expect(attributes.map(\.values) == [[], ["\"open\"", "\"closed\""], [], [], []])
        #expect(attributes.map(\.minimum) == [nil, nil, "1", "0.01", nil] && attributes.map(\.maximum) == [nil, nil, "5", nil, nil])
        #expect(model.json.contains("\"format\": 2") && model.json.contains("\"values\": [\"open\", \"closed\"]"))
        #expect(try PackageModel(json: model.json, file: "tickets.mbo.json") == model)
        var plain = model
        for index in plain.objects[0].attributes.indices {
            (plain.objects[0].attributes[index].values, plain.objects[0].attributes[index].minimum, plain.objects[0].attributes[index].maximum) = (
                [], nil, nil
            )
        }
        #expect(plain.json.contains("\"format\": 1"))
    }

    @Test(
        "a rule that cannot hold is reported at its place",
        arguments: [
            ("\"format\": 2", "\"format\": 1", "[1].values: format 1 has no key \"values\" here; write \"format\": 2"),
            ("\"closed\"]", "7]", "[1].values[1]: the value of a string is a string, found 7"),
            ("\"closed\"]", "\"open\"]", "[1].values[1]: \"open\" is there twice"),
            ("\"default\": \"open\"", "\"default\": \"new\"", "[1].default: the default \"new\" is not one of the values that a device saves"),
            ("\"default\": 1", "\"default\": 6", "[2].default: the default 6 is not one of the values that a device saves"),
            ("\"maximum\": 5", "\"maximum\": 0", "[2].maximum: the greatest value 0 is less than the least one, 1"),
            (
                "\"minimum\": 1,", "\"minimum\": 3000000000,",
                "[2].minimum: the value of an int is a whole number from -2147483648 to 2147483647, found 3000000000"
            ),
            ("\"minimum\": 0.01", "\"minimum\": 0.001", "[3].minimum: 0.001 does not fit into a decimal of 18 digits with 2 after the point"),
            (
                "\"type\": \"boolean\"", "\"type\": \"boolean\", \"values\": [true]",
                "[4].values: a boolean has no list of values; strings, characters, whole numbers and decimals have one"
            ),
            ("\"type\": \"boolean\"", "\"type\": \"date\", \"maximum\": 1", "[4].maximum: a date has no least and greatest value; numbers have"),
            (
                "\"minimum\": 1, \"maximum\": 5", "\"minimum\": 1, \"values\": [1, 2]",
                "[2].values: \"level\" has a list of values, and a least or greatest one; keep one of the two"
            ),
            (
                "{\"name\": \"id\", \"type\": \"int\"}", "{\"name\": \"id\", \"type\": \"int\", \"generated\": true, \"minimum\": 1}",
                "[0].minimum: the back end assigns \"id\"; no device saves a value of it"
            ),
        ])
    func wrongRules(old: String, new: String, problem: String) {
        #expect(Self.problems((old, new)).contains("objects[0].attributes" + problem))
    }

    @Test func `structures have no rules, and neither has a reference to a key that the back end assigns`() throws {
        #expect(
            Self.problems(("{\"name\": \"street\", \"type\": \"string\"}", "{\"name\": \"street\", \"type\": \"string\", \"values\": [\"a\"]}"))
                == ["structures[0].attributes[0].values: the values of attributes of objects have rules, not those of structures"])
        let relationship = """
            "relationships": [{"name": "parent", "target": "Ticket", "cardinality": "manyToOne", "mapping": {"level": "id"}}], "primaryKey": ["id"]
            """
        let generated = ("{\"name\": \"id\", \"type\": \"int\"}", "{\"name\": \"id\", \"type\": \"int\", \"generated\": true}")
        #expect(Self.problems(("\"primaryKey\": [\"id\"]", relationship)) == [])
        #expect(
            Self.problems(("\"primaryKey\": [\"id\"]", relationship), generated) == [
                "objects[0].relationships[0].mapping.level: \"level\" refers to \"id\", which the back end assigns later, and allows some values only; remove the rule"
            ])
    }

    @Test func `a changed rule is safe, and says which values devices save`() throws {
        let old = try PackageModel(json: Self.text, file: "tickets.mbo.json")
        var new = old
        (new.objects[0].attributes[1].values, new.objects[0].attributes[2].maximum) = ([], "9")
        #expect(
            ModelUpgrade(from: old, to: new).changes == [
                ModelChange(.safe, "Ticket.state", "any value is allowed now"), ModelChange(.safe, "Ticket.level", "values allowed now: 1 to 9"),
            ])
    }
}
