import Foundation
import MobileObjects
import MobileServer
import MobileStore
import SampleCRM
import TestSupport
import Testing

/// `mobile admin` after a restore, and the end of what a server keeps.
@Suite struct RestoreCommandTests {
    @Test func `restored begins an era in the store and in back ends, prune names what it removed, and wrong options are refused`() throws {
        let folder = try TemporaryDirectory(), backEnd = folder.file("enterprise.db"), path = folder.file("cache.db")
        _ = try SampleBackEnd.create(at: backEnd, scale: 0.0001)
        try MobileServer(
            ServerConfiguration(cachePath: path, packages: [PackageDeployment(CRM.metadata.model, backEnds: ["enterprise": backEnd])])
        ).close()
        let cache = try Database(ConnectionProfile(path: path))
        _ = try cache.write {
            try $0.execute(
                """
                INSERT INTO _session (token, user_name, application, device, began, used) VALUES (x'01', 'ada', 'crm', 'phone', 1, 1);
                INSERT INTO _reconciled (package, client, operation, user_name, successor, object, sk, fate, noted)
                VALUES (1, 'c1', 7, 'ada', 'c2', 'Customer', 41, 'recorded', 1800000000000);
                """)
        }
        func admin(_ arguments: String...) throws -> (status: Int32, output: String) { try Tool.run(["admin", "--cache", path] + arguments) }
        func count(_ path: String, _ table: String) throws -> Int64 {
            let database = try Database(ConnectionProfile(path: path, journal: .unchanged))
            let count = try database.read { try $0.number("SELECT count(*) FROM \(table)") }
            try database.close()
            return count
        }
        #expect(try admin("restored") == (0, "") && count(path, "_era") == 2)
        let era = try Database(ConnectionProfile(path: backEnd, journal: .unchanged))
        let before = try era.read { try $0.texts("SELECT name FROM mobile_replay_era") }
        #expect(try admin("restored", "--backend", backEnd) == (0, "") && count(path, "_era") == 2)
        #expect(try era.read { try $0.texts("SELECT name FROM mobile_replay_era") } != before && before.count == 1)
        try era.close()
        try cache.close()
        let report = try admin("reconciliation", "CRM:1.0")
        #expect(report.status == 0 && report.output.contains("Customer 41") && report.output.contains("done before"), "\(report.output)")
        #expect(try admin("prune", "--backend", backEnd) == (0, "1 sessions removed\n") && count(path, "_session") == 0)
        #expect(try admin("restored", "--backend", folder.file("missing.db")).status == 1)
        #expect(try admin("prune", "now").status == 64 && admin("restored", "--backend").status == 64)
    }
}
