import Foundation
import TestSupport
import Testing

@testable import MobileModelCommands

/// `mobile generate --diff` on the command line.
@Suite final class ModelDiffCommandTests {
    let directory: TemporaryDirectory
    var output: [String] = []
    var errors: [String] = []

    init() throws { directory = try TemporaryDirectory() }

    private func file(_ name: String, _ json: String) throws -> String {
        let url = directory.url.appending(path: name)
        try json.write(to: url, atomically: true, encoding: .utf8)
        return url.path
    }

    private func run(_ arguments: String...) -> Int32 {
        (output, errors) = ([], [])
        return GenerateCommand(directory: directory.url, output: { self.output.append($0) }, errors: { self.errors.append($0) }).run(arguments)
    }

    private func model(_ attributes: String) -> String {
        """
        {"format": 1, "name": "Notes", "objects": [{"name": "Note", "local": true, "primaryKey": ["id"], "attributes": [
            {"name": "id", "type": "long"}\(attributes)]}]}
        """
    }

    @Test("what will happen is told line by line, with what it comes to")
    func possible() throws {
        let old = try file("old.mbo.json", model(", {\"name\": \"text\", \"type\": \"string\"}, {\"name\": \"color\", \"type\": \"int\"}"))
        let new = try file(
            "new.mbo.json",
            model(", {\"name\": \"body\", \"was\": \"text\", \"type\": \"bigString\"}, {\"name\": \"due\", \"type\": \"date\", \"nullable\": true}"))
        #expect(run("--diff", old, new) == 0)
        #expect(
            output == [
                "migrates    Note.body: was \"text\"", "migrates    Note.body: a string becomes a bigString: values leave their rows",
                "migrates    Note.due: added; existing rows have no value", "loses data  Note.color: removed; its values are dropped",
                "3 migrates, 1 loses data: databases of the old model are upgraded when they are opened",
            ])
        #expect(run(new, "--diff", new) == 0 && output == ["no difference: databases stay as they are"])
    }

    @Test("what cannot be done is told, and the exit status says so")
    func impossible() throws {
        let old = try file("old.mbo.json", model(", {\"name\": \"text\", \"type\": \"string\"}"))
        let new = try file("new.mbo.json", model(", {\"name\": \"text\", \"type\": \"date\"}"))
        #expect(run("--diff", old, new) == 1)
        #expect(
            output == [
                "impossible  Note.text: a string cannot become a date", "1 impossible: databases of the old model cannot be opened with the new one",
            ])
    }

    @Test("the old model may have the words of Swift that an earlier release took as names, the new one may not")
    func words() throws {
        let old = try file("old.mbo.json", model(", {\"name\": \"class\", \"type\": \"string\"}"))
        let new = try file("new.mbo.json", model(", {\"name\": \"classValue\", \"was\": \"class\", \"type\": \"string\"}"))
        #expect(run("--diff", old, new) == 0 && errors.isEmpty)
        #expect(output.first == "migrates    Note.classValue: was \"class\"")
        #expect(run("--diff", old, old) == 1 && output.isEmpty)
        #expect(errors.count == 1 && errors.first?.contains("\"class\" is a word of the language Swift") == true)
        let wrong = try file("wrong.mbo.json", model(", {\"name\": \"class\", \"type\": \"dezimal\"}"))
        #expect(run("--diff", wrong, new) == 1 && errors.count == 1 && errors.first?.contains("dezimal") == true)
    }

    @Test("two models are needed, and no other option")
    func misuse() throws {
        let model = try file("model.mbo.json", model(""))
        #expect(run("--diff") == 64 && run("--diff", model) == 64 && run("--diff", model, model, model) == 64)
        #expect(run("--diff", model, model, "--clean") == 64 && errors.first?.contains("--clean") == true)
        #expect(run("--diff", model, directory.file("none.mbo.json")) == 1 && !errors.isEmpty && output.isEmpty)
    }
}
