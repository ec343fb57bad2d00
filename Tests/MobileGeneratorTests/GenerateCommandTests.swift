import Foundation
import TestSupport
import Testing

@testable import MobileModelCommands

/// `mobile generate` on the command line.
@Suite final class GenerateCommandTests {
    let directory: TemporaryDirectory
    var output: [String] = []
    var errors: [String] = []

    init() throws { directory = try TemporaryDirectory() }

    private var command: GenerateCommand {
        GenerateCommand(directory: directory.url, output: { self.output.append($0) }, errors: { self.errors.append($0) })
    }

    /// Writes `json` as the model and runs the command on it.
    private func run(_ json: String, _ options: String...) throws -> Int32 {
        let model = directory.url.appending(path: "shop.mbo.json")
        try json.write(to: model, atomically: true, encoding: .utf8)
        output = []
        errors = []
        return command.run([model.path, "--output", directory.file("out")] + options)
    }

    private var files: Set<String> {
        Set((try? FileManager.default.contentsOfDirectory(atPath: directory.file("out"))) ?? [])
    }

    @Test("GEN-04 GEN-06: the command needs a model file alone, and writes one file per object; a second run touches nothing")
    func generates() throws {
        #expect(try run(ShopModelText.json) == 0)
        #expect(
            files == [
                "Shop.swift", "Shop+Model.swift", "Shop+Personalization.swift", "Address.swift", "Customer.swift", "Order.swift", "Note.swift",
            ])
        #expect(output.count == 7 && output.allSatisfy { $0.hasPrefix("written") })
        #expect(try run(ShopModelText.json) == 0)
        #expect(output.count == 7 && output.allSatisfy { $0.hasPrefix("unchanged") })
    }

    @Test("GEN-04: the page size of the command line wins over the model's")
    func pageSize() throws {
        let json = try ShopModelText.json(replacing: "\"length\": 80, \"default\": \"NEW\"", with: "\"length\": 2000")
        #expect(try run(json, "--page-size", "1024") == 0)
        #expect(errors.contains { $0.contains(": warning: objects[0].attributes[1]: \"name\" becomes a bigString") })
        #expect(try run(json, "--page-size", "1000") == 1)
        #expect(errors.contains { $0.hasSuffix("error: pageSize: page size 1000: use a power of two from 1024 to 65536") })
    }

    @Test func `a bad model gives errors in the form of compiler messages, and writes nothing`() throws {
        #expect(try run(ShopModelText.json(replacing: "\"target\": \"Customer\"", with: "\"target\": \"Custmer\"")) == 1)
        #expect(files == [])
        #expect(errors.count == 1)
        let expected =
            /.*shop\.mbo\.json:\d+:\d+: error: objects\[1\]\.relationships\[0\]\.target: there is no object "Custmer"; did you mean "Customer"\?/
        #expect(errors.first?.wholeMatch(of: expected) != nil)
    }

    @Test func `clean removes what was generated for objects that are gone, and nothing else`() throws {
        #expect(try run(ShopModelText.json) == 0)
        try "// mine".write(to: directory.url.appending(path: "out/Mine.swift"), atomically: true, encoding: .utf8)
        let renamed = try ShopModelText.json(replacing: "\"name\": \"Note\"", with: "\"name\": \"Memo\"")
        #expect(try run(renamed) == 0)
        #expect(files.isSuperset(of: ["Note.swift", "Memo.swift"]))
        #expect(try run(renamed, "--clean") == 0)
        #expect(files.contains("Memo.swift") && files.contains("Mine.swift") && !files.contains("Note.swift"))
    }

    @Test(
        "arguments that are refused",
        arguments: [
            ([], "a model file is missing"), (["a", "b"], "b: there is a model already, a"),
            (["a", "--outptu"], "--outptu: there is no such option"), (["a", "--output"], "--output: a directory is missing"),
            (["a", "--page-size", "x"], "--page-size \"x\": expected a number of bytes"),
            (["a", "--configuration", "field"], "--configuration field: there is none; there are no configurations"),
            (["a", "--save"], "--save: a name is missing"), (["a", "--objects", "--clean"], "--objects: a name is missing"),
            (["a", "--from", "deployment_unit.xml"], "--from: the command that makes a model of a deployment unit is mobile model --from"),
        ])
    func refused(arguments: [String], message: String) throws {
        let error = #expect(throws: GenerateArguments.Failure.self) {
            try GenerateArguments(arguments, configurations: GenerationConfigurations())
        }
        #expect(error?.message == message)
        #expect(command.run(arguments) == 64)
        #expect(errors.first?.hasPrefix(message) == true)
    }

    @Test func `the output directory is genfiles where none is given, and the schema can be printed`() throws {
        let arguments = try GenerateArguments(["a.mbo.json"], configurations: GenerationConfigurations())
        #expect(arguments.options == GenerateOptions(model: "a.mbo.json", directory: "genfiles"))
        #expect(command.run(["--schema"]) == 0)
        #expect(output.last?.contains("\"$schema\"") == true)
    }
}
