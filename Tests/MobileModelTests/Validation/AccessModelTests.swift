import MobileModel
import Testing

/// Roles, and parameters that the server binds to attributes of the user: format 2.
@Suite struct AccessModelTests {
    private static let json = """
        {"format": 2, "name": "Regions", "roles": ["sales", "management"], "backEnds": [{"name": "erp"}], "objects": [{
          "name": "Site", "primaryKey": ["id"], "attributes": [{"name": "id", "type": "long"}, {"name": "region", "type": "string"}],
          "synchronizationParameters": [
            {"name": "area", "type": "string", "userAttribute": "region", "attribute": "region"}, {"name": "year", "type": "int"}],
          "operations": ["update"],
          "binding": {"backEnd": "erp", "table": "site", "load": "SELECT * FROM site WHERE region = :area AND year = :year"}}]}
        """

    @Test func `a model with roles and bound parameters is written as it was read, in format 2; without them in format 1`() throws {
        var model = try PackageModel(json: Self.json)
        #expect(model.roles == ["sales", "management"])
        #expect(model.objects[0].synchronizationParameters.map(\.userAttribute) == ["region", nil])
        #expect(model.objects[0].chosenParameters.map(\.name) == ["year"])
        #expect(model.json.contains("\"format\": 2"))
        #expect(try PackageModel(json: model.json) == model)
        model.roles = []
        #expect(model.json.contains("\"format\": 2"))
        model.objects[0].synchronizationParameters[0].userAttribute = nil
        model.objects[0].synchronizationParameters[0].attribute = nil
        #expect(model.json.contains("\"format\": 1"))
        #expect(try PackageModel(json: model.json) == model)
    }

    @Test(
        "one mistake gives one error",
        arguments: [
            ("\"format\": 2", "\"format\": 1", "roles", "format 1 has no key \"roles\" here; write \"format\": 2"),
            ("\"sales\"", "\"\"", "roles[0]", "a role has an empty name"),
            ("\"userAttribute\": \"region\"", "\"userAttribute\": \"\"", "userAttribute", "an attribute of the user has an empty name"),
            (
                "\"userAttribute\": \"region\", ", "", "attribute",
                "\"area\" has an attribute of the row, which only a parameter with a userAttribute may have"
            ),
            (
                ", \"attribute\": \"region\"", "", "",
                "the client chooses \"year\", so that the load does not show whether a row is one of the user's; write the \"attribute\" that has the value of \"area\" in each row"
            ),
            ("\"attribute\": \"region\"", "\"attribute\": \"regoin\"", "attribute", "\"Site\" has no attribute \"regoin\"; did you mean \"region\"?"),
            ("\"attribute\": \"region\"", "\"attribute\": \"id\"", "attribute", "the attribute \"id\" is a long, the parameter \"area\" a string"),
            (
                "\"attribute\": \"region\"", "\"attribute\": \"region\", \"default\": \"N\"", "default",
                "the user's attribute \"region\" gives \"area\" its values; it needs no default"
            ),
            (
                "[\"update\"]", "[{\"name\": \"close\", \"kind\": \"other\", \"statements\": [\"DELETE FROM site\"]}]", "operations",
                "\"close\" names no row, so that nothing shows whether it is for one of the user's; put it into an object without parameters that have a userAttribute"
            ),
        ])
    func mistake(before: String, after: String, place: String, message: String) throws {
        let error = #expect(throws: ModelError.self) { try PackageModel(json: Self.json.replacing(before, with: after, maxReplacements: 1)) }
        let problems = try #require(error).problems
        #expect(problems.first?.message == message && problems.first.map { "\($0.path)".contains(place) } == true)
        #expect(problems.count == (message.hasPrefix("format 1") ? 3 : 1), "\(problems)")
    }
}
