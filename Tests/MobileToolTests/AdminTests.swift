import Foundation
import MobileModel
import MobileObjects
import MobileServer
import MobileStore
import SampleCRM
import TestSupport
import Testing

/// `mobile admin` works on the cache of a server.
@Suite struct AdminTests {
    /// Makes the cache of a server with one log record and one trace of a device, by SQL on its tables.
    private func withCache(_ body: (String, MobileServer) throws -> Void) throws {
        let folder = try TemporaryDirectory()
        let backEnd = folder.file("enterprise.db")
        _ = try SampleBackEnd.create(at: backEnd, scale: 0.0001)
        let path = folder.file("cache.db")
        let server = try MobileServer(
            ServerConfiguration(cachePath: path, packages: [PackageDeployment(CRM.metadata.model, backEnds: ["enterprise": backEnd])]))
        let cache = try Database(ConnectionProfile(path: path))
        try cache.write { connection in
            _ = try connection.execute(
                """
                INSERT INTO default_crm_1_0_logr_1 (client, message_id, log_user, origin, log_level, code, eis_code, message, component, entity_key,
                    operation, request_id, log_timestamp, stored, version)
                VALUES ('c', 7, 'ada', 1, 3, 9999, '', 'visited Harbour Foods', 'CRM', '', '', '', '', 1800000000000, 1);
                UPDATE _log_table SET row_count = 1, version = 1;
                INSERT INTO _device (application, device, user_name, registered) VALUES ('CRM', 'phone', 'ada', 0);
                INSERT INTO _trace (passport, application, device, user_name, document, received)
                VALUES ('0A', 'CRM', 'phone', 'ada', '<BusinessTransaction/>', 1800000000000);
                """)
        }
        try cache.close()
        try body(path, server)
        try server.close()
    }

    @Test("LRC-17: log records are listed, cleaned by days and removed while the server runs")
    func logs() throws {
        try withCache { path, server in
            func admin(_ arguments: String...) throws -> String {
                let result = try Tool.run(["admin", "--cache", path] + arguments)
                #expect(result.status == 0, "\(result.output)")
                return result.output
            }
            #expect(try admin("logs").contains("default_crm_1_0_logr_1"))
            #expect(try admin("logs", "CRM:1.0") == "2027-01-15T08:00:00.000Z ada client: INFO, 9999, , visited Harbour Foods, CRM, , , , \n")
            #expect(try admin("clean", "CRM:1.0", "2027-01-13", "2027-01-14").hasPrefix("0 log records"))
            #expect(try admin("expire", "CRM:1.0").hasPrefix("0 log records"))
            #expect(try admin("clean", "CRM:1.0", "2027-01-14", "2027-01-15").hasPrefix("1 log records"))
            #expect(try admin("logs", "CRM:1.0").contains("ada client deleted: INFO"))
            #expect(try admin("cleanup", "CRM:1.0").hasPrefix("0 log records"))
            let cache = try Database(ConnectionProfile(path: path))
            try cache.write { _ = try $0.execute("INSERT INTO _client VALUES ('c', 1, 'ada', 'unsubscribed')") }
            try cache.close()
            #expect(try admin("cleanup", "CRM:1.0").hasPrefix("1 log records"))
            #expect(try server.administration.logTables().map(\.rows) == [0])
        }
    }

    @Test("KPI-06: a device is asked for its log, and traces are read")
    func devices() throws {
        try withCache { path, _ in
            #expect(try Tool.run(["admin", "--cache", path, "get-trace", "CRM", "phone"]).status == 0)
            let cache = try Database(ConnectionProfile(path: path))
            #expect(try cache.read { try $0.rows("SELECT device, inquiry FROM _inquiry") } == [["phone", "performanceLog"]])
            try cache.close()
            #expect(try Tool.run(["admin", "--cache", path, "domain-log"]).output.isEmpty)
            #expect(try Tool.run(["admin", "--cache", path, "traces"]).output == "0A 2027-01-15T08:00:00.000Z phone ada, 0 requests\n")
            #expect(try Tool.run(["admin", "--cache", path, "traces", "0a"]).output == "<BusinessTransaction/>\n")
            let unknown = try Tool.run(["admin", "--cache", path, "get-trace", "CRM", "tablet"])
            #expect(unknown.status == 1 && unknown.output.contains("no registered device \"tablet\""))
            #expect(try Tool.run(["admin", "--cache", path, "logs", "CRM:9.0"]).output.contains("no package \"CRM:9.0\""))
        }
    }

    @Test(
        "wrong arguments change nothing, and the message says where the options are",
        arguments: [
            [], ["logs"], ["--cache"], ["--cache", "x.db"], ["--cache", "x.db", "drop"], ["--cache", "x.db", "clean", "CRM:1.0"],
            ["--cache", "x.db", "clean", "CRM:1.0", "2027-02-30", "2027-03-01"], ["--cache", "x.db", "clean", "CRM:1.0", "yesterday", "2027-03-01"],
        ])
    func usage(_ arguments: [String]) throws {
        let result = try Tool.run(["admin"] + arguments)
        #expect(result.status == 64 && result.output.hasSuffix("\n\"mobile admin --help\" shows the options\n"))
        #expect(result.output.hasPrefix("admin") && result.output.split(separator: "\n").count == 2, "\(result.output)")
        #expect(!FileManager.default.fileExists(atPath: "x.db"))
    }

    @Test("a cache that is not there is not made")
    func missing() throws {
        let folder = try TemporaryDirectory(), path = folder.file("missing.db")
        let result = try Tool.run(["admin", "--cache", path, "logs"])
        #expect(result.status == 1 && result.output.contains(path))
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try Tool.run(["admin", "--help"]).output.hasPrefix("usage: mobile admin"))
    }
}
