import Foundation
import MobileModel
import MobileObjects
import MobileServer
import MobileStore
import SampleCRM
import TestSupport
import Testing

@testable import mobile

/// `mobile capture`, on the back end of the sample.
@Suite struct CaptureCommandTests {
    @Test func `a log is shown, installed, looked at, pruned and removed`() throws {
        let folder = try TemporaryDirectory(), path = folder.file("enterprise.db"), file = folder.file("crm.mbo.json")
        try SampleBackEnd.create(at: path, scale: 0.01)
        var model = CRM.metadata.model
        for index in model.objects.indices where model.objects[index].binding != nil && model.objects[index].binding?.load == nil {
            model.objects[index].binding?.changeDetection = .triggerLog(tables: [])
        }
        let tables = Set(model.objects.compactMap { if case .triggerLog = $0.binding?.changeDetection { $0.binding?.table } else { nil } })
        try model.write(to: URL(fileURLWithPath: file))
        let options = ["--model", file, "--backend", "\(model.backEnds[0].name)=\(path)"]
        func run(_ command: String, _ more: String...) throws -> (status: Int32, output: String) {
            try Tool.run(["capture", command] + options + more)
        }

        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let script = try run("install")
        #expect(script.status == 0 && script.output.hasPrefix("-- back end \(model.backEnds[0].name)\nBEGIN;\n"))
        #expect(script.output.matches(of: /CREATE TRIGGER/).count == 3 * tables.count && !tables.isEmpty)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before, "without --apply nothing is changed")
        #expect(try run("status").status == 1)

        #expect(try run("install", "--apply", "yes").status == 0)
        let status = try run("status")
        #expect(status.status == 0 && tables.allSatisfy { table in status.output.contains(table) } && !status.output.contains("missing"))
        try PackageDeployment(model, backEnds: [model.backEnds[0].name: path]).verify()
        #expect(try run("prune", "--days", "0").output == "0 entries are removed\n")
        #expect(try run("remove").output.contains("DROP TRIGGER"))
        #expect(try run("status").status == 0)
        #expect(try run("remove", "--apply", "yes").status == 0)
        #expect(try run("status").status == 1)
    }

    @Test(
        "wrong arguments are explained, and change nothing",
        arguments: [
            ([], "name a model"), (["install"], "name a model"), (["instal", "--model", "a"], "say install, remove, status or prune"),
            (["prune", "--model", "a", "--days", "-1"], "--days \"-1\""), (["install", "--model"], "--model needs a value"),
            (["install", "--model", "a", "--apply", "maybe"], "\"--apply maybe\" is not an option"),
            (["install", "--model", "a", "--backend", "enterprise"], "\"enterprise\" is not NAME=PLACE"),
        ])
    func mistakes(arguments: [String], message: String) throws {
        let (status, output) = try Tool.run(["capture"] + arguments)
        #expect(status == 64 && output.contains(message))
    }

    @Test func `a model or back end that is not there is a failure`() throws {
        let folder = try TemporaryDirectory(), file = folder.file("crm.mbo.json")
        #expect(try Tool.run(["capture", "status", "--model", file]).status == 1)
    }
}
