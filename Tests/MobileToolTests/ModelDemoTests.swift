import Foundation
import MobileModel
import MobileObjects
import MobileStore
import SampleCRM
import TestSupport
import Testing

@testable import mobile

/// `mobile demo --backend FILE --model FILE`, which works through metadata only, on a copy.
@Suite struct ModelDemoTests {
    @Test(
        "the Northwind database goes through every step of the demonstration",
        .enabled(if: Northwind.isThere, Comment(rawValue: Northwind.reason)))
    func northwindDatabase() throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("northwind.db")
        let sql = try String(contentsOf: Northwind.script, encoding: .utf8)
        try Self.make(path, sql)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))

        let model = Northwind.model.path
        let (status, output) = try Tool.run(["demo", "--backend", path, "--model", model])

        #expect(status == 0, "\(output)")
        #expect(output.contains("a constraint was found"))
        #expect(output.contains("checked: 1 rejected"))
        #expect(output.contains("checked: both devices have the same"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test func `the sample's back end goes through it, too, by its model alone`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("enterprise.db"), model = folder.file("crm.mbo.json")
        try SampleBackEnd.create(at: path, scale: 0.01)
        try CRM.metadata.model.json.write(toFile: model, atomically: true, encoding: .utf8)
        let (status, output) = try Tool.run(["demo", "--backend", path, "--model", model])
        #expect(status == 0, "\(output)")
        #expect(output.contains("checked: both devices have the same"))
    }

    @Test func `a back end without its model is refused before anything is made`() throws {
        let (status, output) = try Tool.run(["demo", "--backend", "any.db"])
        #expect(status == 64)
        #expect(output.hasPrefix("--backend and --model belong together"))
    }

    /// Makes a database with a script.
    private static func make(_ path: String, _ sql: String) throws {
        var profile = ConnectionProfile(path: path)
        profile.journal = .unchanged
        let database = try Database(profile)
        try database.write { _ = try $0.execute(sql) }
        try database.close()
    }
}
