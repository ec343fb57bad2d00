import Foundation
import MobileStore
import TestSupport
import Testing

/// Addresses of back ends on the command line.
@Suite struct BackEndAddressTests {
    @Test("an address with a password is refused, and not repeated")
    func password() throws {
        let folder = try TemporaryDirectory(), model = Repository.file("Sources/SampleCRM/crm.mbo.json").path
        let secret = "postgresql://mobile:hidden@localhost/sales"
        for arguments in [
            ["serve", "--model", model, "--cache", folder.file("cache.db"), "--backend", "enterprise=\(secret)"], ["model", "--from", secret],
            ["serve", "--model", model, "--cache", folder.file("cache.db"), "--backend", secret],
        ] {
            let (status, output) = try Tool.run(arguments)
            #expect(status != 0 && !output.contains("hidden"), "\(output)")
            #expect(output.contains("password") && output.contains("PGPASSWORD"), "\(output)")
        }
    }

    @Test("a model is made from an SQLite file, and names what it leaves out")
    func model() throws {
        let folder = try TemporaryDirectory()
        let database = try Database(ConnectionProfile(path: folder.file("a.db")))
        try database.write { _ = try $0.execute("CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE b (x)") }
        try database.close()
        let (status, output) = try Tool.run(["model", "--from", folder.file("a.db"), "--name", "Sales", "--output", folder.file("sales.mbo.json")])
        #expect(status == 0 && output.contains("left out: table \"b\""), "\(output)")
        let text = try String(contentsOfFile: folder.file("sales.mbo.json"), encoding: .utf8)
        #expect(text.contains("\"name\": \"Sales\"") && text.contains("\"table\": \"a\""))
        #expect(try Tool.run(["model"]).status == 64)
        #expect(try Tool.run(["model", "--from", folder.file("none.db")]).status == 1)
    }
}
