import TestSupport
import Testing

@testable import MobileModel

/// The parameters in a model.
@Suite struct ParameterTests {
    @Test("length and digits of an operation's parameters are read, and written again")
    func digits() throws {
        let declaration = """
            {"name": "into", "type": "long"}, {"name": "reason", "type": "string", "length": 20, "default": "none"},
            {"name": "amount", "type": "decimal", "precision": 24, "scale": 6}, {"name": "rest", "type": "decimal"}
            """
        let json = try ShopModelText.json(replacing: "{\"name\": \"into\", \"type\": \"long\"}", with: declaration)
            .replacing("SET merged = :into", with: "SET merged = :into, r = :reason, a = :amount - :rest")
        let model = try PackageModel(json: json)
        let parameters = try #require(model.objects[0].operation(named: "merge")?.parameters)
        #expect(parameters.map(\.length) == [nil, 20, nil, nil])
        #expect(parameters.map(\.precision) == [nil, nil, 24, nil] && parameters.map(\.scale) == [nil, nil, 6, nil])
        let attributes = try #require(model.operationObjects.first).attributes
        #expect(attributes.map(\.precision) == [nil, nil, 24, 18] && attributes.map(\.scale) == [nil, nil, 6, 2] && attributes[1].length == 20)
        #expect(try PackageModel(json: model.json) == model)
    }

    @Test("synchronization parameters may be called size and user, unless another one has the name that they get")
    func reserved() throws {
        func model(_ second: String) throws -> PackageModel {
            let declaration = "{\"name\": \"size\", \"type\": \"string\"}, {\"name\": \"\(second)\", \"type\": \"string\"}"
            let json = try ShopModelText.json(
                replacing: "{\"name\": \"region\", \"type\": \"string\", \"personalizationKey\": \"region\"}", with: declaration)
            return try PackageModel(json: json.replacing("region = :region", with: "region = :size AND town = :\(second)"))
        }
        #expect(try model("user").objects[0].synchronizationParameters.map(\.name) == ["size", "user"])
        #expect(SwiftNames.parameter("user") == "user_" && SwiftNames.parameter("town") == "town")
        let error = #expect(throws: ModelError.self) { try model("size_") }
        #expect(
            error?.problems.map(\.message) == [
                "\"size\" becomes the property \"size_\", which another parameter has; choose another name"
            ])
    }
}
