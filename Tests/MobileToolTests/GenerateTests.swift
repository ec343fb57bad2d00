import Foundation
import MobileModel
import MobileStore
import TestSupport
import Testing

@testable import mobile

/// `mobile generate` in the tool, with real files.
@Suite final class GenerateTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func path(_ name: String) -> String { folder.file(name) }

    @Test("GEN-02: --check-back-ends holds the model against the database, and names what is missing there")
    func checksBackEnds() throws {
        let model = PackageModel(
            name: "Notes", backEnds: [BackEndModel(name: "erp", path: "erp.db")],
            objects: [
                ObjectModel(
                    name: "Note", attributes: [AttributeModel(name: "id", type: .long), AttributeModel(name: "text", type: .string)],
                    primaryKey: ["id"], operations: [OperationModel(name: "update", kind: .update)],
                    binding: BackEndBinding(backEnd: "erp", table: "notes"))
            ])
        try model.write(to: URL(filePath: path("notes.mbo.json")))
        func generate(_ more: [String] = []) throws -> (status: Int32, output: String) {
            try Tool.run(["generate", path("notes.mbo.json"), "--output", path("out"), "--check-back-ends"] + more)
        }
        var run = try generate()
        #expect(run.status == 1 && run.output.contains("erp.db"), "\(run.output)")

        let backEnd = try Database(ConnectionProfile(path: path("erp.db")))
        try backEnd.write { try $0.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY)") }
        run = try generate()
        #expect(run.status == 1 && run.output.contains("\"text\"") && run.output.contains("has no column"), "\(run.output)")
        #expect(!FileManager.default.fileExists(atPath: path("out")))

        try backEnd.write { try $0.execute("ALTER TABLE notes ADD COLUMN text TEXT") }
        run = try generate()
        #expect(run.status == 0 && FileManager.default.fileExists(atPath: path("out") + "/Note.swift"), "\(run.output)")
        // A place on the command line is taken over that in the model.
        let other = try Database(ConnectionProfile(path: path("other.db")))
        try other.write { try $0.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY)") }
        run = try generate(["--backend", "erp=\(path("other.db"))"])
        #expect(run.status == 1 && run.output.contains("has no column"), "\(run.output)")
        try other.write { try $0.execute("ALTER TABLE notes ADD COLUMN text TEXT") }
        run = try generate(["--backend", "erp=\(path("other.db"))"])
        #expect(run.status == 0, "\(run.output)")
        let tables = try backEnd.read { try $0.rows("SELECT name FROM sqlite_schema WHERE type = 'table'", []).count }
        #expect(tables == 1, "checking writes nothing to the back end")
    }

    @Test("GEN-11: a terminal shows the progress of a large model, with the time left after a second; a file gets no bar")
    func progress() throws {
        let attributes = [AttributeModel(name: "id", type: .long), AttributeModel(name: "text", type: .string)]
        let model = PackageModel(
            name: "Large", objects: (0..<300).map { ObjectModel(name: "Object\($0)", isLocal: true, attributes: attributes, primaryKey: ["id"]) })
        try model.write(to: URL(filePath: path("large.mbo.json")))
        let arguments = ["generate", path("large.mbo.json"), "--output", path("out")]
        let shown = try Tool.runOnTerminal(arguments)
        #expect(shown.contains("generate [") && shown.contains("% of 300 objects") && shown.contains("Object299.swift"), "\(shown.prefix(500))")
        #expect(try !Tool.run(arguments).output.contains("["))
    }

    @Test("GEN-06: a deployment unit becomes a model file that the next command generates from")
    func converts() throws {
        let unit = Repository.fixture("deployment_unit.xml").path
        var run = try Tool.run(["model", "--from", unit, "--output", path("fleet.mbo.json")])
        #expect(run.status == 0 && run.output.contains("2 objects") && run.output.contains("entity Vehicle, index byModel"), "\(run.output)")
        run = try Tool.run(["generate", path("fleet.mbo.json"), "--output", path("out")])
        #expect(run.status == 0 && FileManager.default.fileExists(atPath: path("out/Vehicle.swift")), "\(run.output)")
        for wrong in [path("none.xml"), path("fleet.mbo.json")] { #expect(try Tool.run(["model", "--from", wrong]).status == 1) }
        #expect(try Tool.run(["model", "--from", unit, "--name", "Other"]).status == 64)
    }
}
