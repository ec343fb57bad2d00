import Foundation
import MobileGenerator
import MobileModel
import TestSupport
import Testing

/// `mobilegen`, the program that the build plugin runs, as the plugin calls it.
@Suite struct PluginToolTests {
    private func run(_ arguments: [String]) throws -> (status: Int32, output: String) { try Program.run(Program.built("mobilegen"), arguments) }

    private func written(_ json: String, in folder: TemporaryDirectory) throws -> String {
        let path = folder.file("shop.mbo.json")
        try json.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test func `it writes the files of the generator, and says nothing`() throws {
        let folder = try TemporaryDirectory(), model = try written(ShopModelText.json, in: folder)
        #expect(try run([model, "--output", folder.file("classes")]) == (0, ""))
        for file in PackageGenerator(try PackageModel(json: ShopModelText.json), source: "shop.mbo.json").files {
            #expect(try String(contentsOfFile: folder.file("classes/\(file.name)"), encoding: .utf8) == file.text)
        }
    }

    @Test func `problems of a model are compiler messages at their places, and nothing is written`() throws {
        let folder = try TemporaryDirectory()
        let wrong = "{\"name\": \"text\", \"type\": \"strin\"}"
        let model = try written(ShopModelText.json(replacing: "{\"name\": \"text\", \"type\": \"string\"}", with: wrong), in: folder)
        let (status, output) = try run([model, "--output", folder.file("classes")])
        let error = #expect(throws: ModelError.self) { try PackageModel(contentsOf: URL(filePath: model)) }
        #expect(status == 1 && output == (error?.problems ?? []).map { $0.diagnostic + "\n" }.joined(), "\(output)")
        #expect(output.hasPrefix("\(model):") && output.contains(": error: "))
        #expect(!FileManager.default.fileExists(atPath: folder.file("classes")))
    }

    @Test func `a warning is shown, and the files are written`() throws {
        let folder = try TemporaryDirectory()
        let long = "{\"name\": \"text\", \"type\": \"string\", \"length\": 9000}"
        let model = try written(ShopModelText.json(replacing: "{\"name\": \"text\", \"type\": \"string\"}", with: long), in: folder)
        let (status, output) = try run([model, "--output", folder.file("classes")])
        #expect(status == 0 && output.contains(": warning: "), "\(output)")
        #expect(FileManager.default.fileExists(atPath: folder.file("classes/Note.swift")))
    }

    @Test func `a model without objects, a folder that cannot be made and wrong arguments are errors that say so`() throws {
        let folder = try TemporaryDirectory()
        let empty = try written("{\"format\": 1, \"name\": \"Shop\", \"objects\": []}", in: folder)
        let none = try run([empty, "--output", folder.file("classes")])
        #expect(none.status == 1 && none.output.contains("error: "), "\(none.output)")
        #expect(!FileManager.default.fileExists(atPath: folder.file("classes")))
        let model = try written(ShopModelText.json, in: folder)
        for place in [model + "/classes", model, "/dev/null/x"] {
            let refused = try run([model, "--output", place])
            #expect(refused.status == 1 && refused.output.hasPrefix("error: \(place)"), "\(refused.output)")
        }
        for arguments in [[], [model], [model, "--output"], [model, "--page-size", "4096"], [model, "--output", "classes", "--clean"]] {
            let misused = try run(arguments)
            #expect(misused.status == 64 && misused.output == "usage: mobilegen MODEL.mbo.json --output DIRECTORY\n", "\(arguments)")
        }
    }
}
