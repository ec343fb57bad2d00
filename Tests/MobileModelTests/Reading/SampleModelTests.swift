import Foundation
import MobileModel
import TestSupport
import Testing

/// The models of the repository: they are read without a warning, and writing them changes nothing.
@Suite struct SampleModelTests {
    static let models = ["Sources/SampleCRM/crm.mbo.json", "Tests/Fixtures/northwind.mbo.json", "Tests/GeneratedCodeTests/awkward.mbo.json"]

    @Test("a sample model is read without errors or warnings", arguments: models)
    func sampleModelIsRead(file: String) throws {
        var warnings: [ModelProblem] = []
        let model = try PackageModel(contentsOf: Repository.file(file), warnings: &warnings)
        #expect(warnings == [])
        #expect(!model.objects.isEmpty)
    }

    @Test("what is written is read as the same model, and written again as the same bytes", arguments: models)
    func roundTrip(file: String) throws {
        let model = try PackageModel(contentsOf: Repository.file(file))
        let again = try PackageModel(json: model.json)
        #expect(again == model)
        #expect(again.json == model.json)
    }
}
