import Foundation
import TestSupport
import Testing

@testable import MobileModel

/// The JSON Schema for editors and the reader support the same format.
@Suite struct SchemaTests {
    private func schema() throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(PackageModel.schema.utf8)) as? [String: Any])
    }

    @Test func `the file that models name is the schema`() throws {
        let file = Repository.file("Sources/MobileModel/JSONSchema/mbo.schema.json")
        #expect(try String(contentsOf: file, encoding: .utf8) == PackageModel.schema)
        for model in ["Sources/SampleCRM/crm.mbo.json", "Sources/SampleStore/store.mbo.json", "Tests/Fixtures/northwind.mbo.json"] {
            let model = Repository.file(model)
            let document = try JSONSerialization.jsonObject(with: Data(contentsOf: model)) as? [String: Any]
            let path = try #require(document?["$schema"] as? String)
            #expect(URL(filePath: path, relativeTo: model).standardizedFileURL == file.standardizedFileURL, "\(model.lastPathComponent)")
        }
    }

    private func definition(_ name: String) throws -> [String: Any] {
        let definitions = try #require(try schema()["definitions"] as? [String: Any])
        return try #require(definitions[name] as? [String: Any])
    }

    @Test(
        "schema and reader know the same keys",
        arguments: [
            ("structure", ModelFormat.structure), ("personalizationKey", ModelFormat.personalizationKey),
            ("synchronizationGroup", ModelFormat.synchronizationGroup), ("backEnd", ModelFormat.backEnd), ("object", ModelFormat.object),
            ("attribute", ModelFormat.attribute), ("relationship", ModelFormat.relationship),
            ("synchronizationParameter", ModelFormat.synchronizationParameter), ("parameter", ModelFormat.parameter),
            ("operationParameter", ModelFormat.operationParameter), ("query", ModelFormat.query),
            ("operation", ModelFormat.operation), ("binding", ModelFormat.binding), ("changeDetection", ModelFormat.changeDetection),
        ])
    func keys(name: String, keys: [String]) throws {
        let properties = try #require(try definition(name)["properties"] as? [String: Any])
        #expect(Set(properties.keys) == Set(keys))
        #expect(try definition(name)["additionalProperties"] as? Bool == false)
    }

    @Test func `schema and reader know the same keys of a package`() throws {
        let properties = try #require(try schema()["properties"] as? [String: Any])
        #expect(Set(properties.keys) == Set(ModelFormat.package))
    }

    @Test func `schema and reader know the same types and words`() throws {
        let variants = try #require(try definition("type")["anyOf"] as? [[String: Any]])
        #expect(Set(variants.compactMap { $0["enum"] as? [String] }.joined()) == Set(AttributeType.simple.keys))
        #expect(try words("personalizationKey", "storage") == PersonalizationKeyModel.Storage.allCases.map(\.rawValue))
        #expect(try words("relationship", "cardinality") == RelationshipModel.Cardinality.allCases.map(\.rawValue))
        #expect(try words("operation", "kind") == OperationModel.Kind.allCases.map(\.rawValue))
        #expect(try words("backEnd", "kind") == BackEndModel.Kind.allCases.map(\.rawValue))
        let package = try #require(try schema()["properties"] as? [String: [String: Any]])
        #expect(package["synchronization"]?["enum"] as? [String] == PackageModel.Synchronization.allCases.map(\.rawValue))
        #expect(package["format"]?["enum"] as? [Int] == Array(1...PackageModel.currentFormat))
    }

    @Test("GEN-14: schema and reader refuse the same words as names")
    func keywords() throws {
        #expect(Set(try #require(try definition("keyword")["enum"] as? [String])) == ReservedNames.keywords)
        for name in ["memberName", "parameterName"] {
            #expect(try definition(name)["not"] as? [String: String] == ["$ref": "#/definitions/keyword"])
        }
        for part in ["personalizationKey", "attribute", "relationship", "query", "operation"] {
            let properties = try definition(part)["properties"] as? [String: [String: Any]]
            #expect(properties?["name"]?["$ref"] as? String == "#/definitions/memberName", "\(part)")
        }
    }

    private func words(_ name: String, _ key: String) throws -> [String]? {
        let properties = try definition(name)["properties"] as? [String: [String: Any]]
        return properties?[key]?["enum"] as? [String]
    }

    @Test func `every reference leads to a definition, and every definition is used`() throws {
        let definitions = try #require(try schema()["definitions"] as? [String: Any])
        let references = PackageModel.schema.matches(of: /"#\/definitions\/(\w+)"/).map { String($0.1) }
        #expect(Set(references) == Set(definitions.keys))
    }
}
