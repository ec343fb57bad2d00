import Foundation
import MobileModel
import MobileObjects
import MobileServer
import MobileStore
import SampleCRM
import TestSupport
import Testing

/// `mobile admin --json` prints one JSON text for every command.
@Suite struct AdminJSONTests {
    private let folder: TemporaryDirectory
    private let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.file("cache.db")
        let backEnd = folder.file("enterprise.db")
        _ = try SampleBackEnd.create(at: backEnd, scale: 0.0001)
        let server = try MobileServer(
            ServerConfiguration(cachePath: path, packages: [PackageDeployment(CRM.metadata.model, backEnds: ["enterprise": backEnd])]))
        try server.close()
        let cache = try Database(ConnectionProfile(path: path))
        try cache.write { connection in
            _ = try connection.execute(
                """
                INSERT INTO default_crm_1_0_logr_1 (client, message_id, log_user, origin, log_level, code, eis_code, message, component, entity_key,
                    operation, request_id, log_timestamp, stored, version)
                VALUES ('c', 7, 'ada', 1, 3, 9999, '', 'visited "Harbour" Foods', 'CRM', '', '', '', '', 1800000000000, 1);
                UPDATE _log_table SET row_count = 1, version = 1;
                INSERT INTO _device (application, device, user_name, registered) VALUES ('CRM', 'ph\u{1B}one', 'ada', 0);
                INSERT INTO _trace (passport, application, device, user_name, document, received)
                VALUES ('0A', 'CRM', 'phone', 'ada', '<BusinessTransaction/>', 1800000000000);
                """)
        }
        try cache.close()
    }

    private func admin(_ arguments: String...) throws -> JSONValue {
        let result = try Tool.run(["admin", "--cache", path, "--json"] + arguments)
        #expect(result.status == 0 && result.output.split(separator: "\n").count == 1, "\(result.output)")
        return try JSONValue(parsing: result.output)
    }

    @Test func `lists are lists of objects, whose texts are as the devices sent them`() throws {
        #expect(
            try admin("devices") == [
                ["application": "CRM", "device": "ph\u{1B}one", "user": "ada", "registered": "1970-01-01T00:00:00.000Z", "isLocked": .boolean(false)]
            ])
        #expect(try admin("logs") == [["package": "CRM:1.0", "table": "default_crm_1_0_logr_1", "rows": 1]])
        let record = try #require(try admin("logs", "CRM:1.0").array?.first)
        #expect(record["message"] == "visited \"Harbour\" Foods" && record["level"] == "info" && record["stored"] == "2027-01-15T08:00:00.000Z")
        #expect(record["isFromClient"] == .boolean(true) && record["code"] == 9999)
        #expect(try admin("traces").array?.first?["requests"] == 0)
        #expect(try admin("traces", "0a") == [["document": "<BusinessTransaction/>", "requests": []]])
        for command in ["users", "sessions", "subscriptions", "reconciliation", "domain-log"] { #expect(try admin(command) == [], "\(command)") }
    }

    @Test func `numbers are members, and a command that prints nothing prints an empty object`() throws {
        #expect(try admin("clean", "CRM:1.0", "2027-01-14", "2027-01-15") == ["deleted": 1])
        #expect(try admin("expire", "CRM:1.0") == ["deleted": 0])
        #expect(try admin("cleanup", "CRM:1.0") == ["removed": 0])
        #expect(try admin("devices", "lock", "CRM", "ph\u{1B}one") == [:])
        #expect(try admin("devices").array?.first?["isLocked"] == .boolean(true))
        let removed = try #require(try admin("prune").array)
        #expect(removed.allSatisfy { $0["name"]?.string != nil && $0["rows"]?.integer != nil })
    }

    @Test func `the option may be the last word, and is never the name of a role`() throws {
        let administration = try ServerAdministration(cacheOf: ServerConfiguration(cachePath: path))
        try administration.setPassword("secret", ofUser: "ada")
        try administration.setRoles(["sales"], ofUser: "ada")
        try administration.close()
        let result = try Tool.run(["admin", "--cache", path, "users", "roles", "ada", "--json"])
        #expect(result.status == 0 && result.output == "[\"sales\"]\n")
        #expect(try admin("users", "roles", "ada") == ["sales"])
        #expect(try Tool.run(["admin", "--cache", path, "--json"]).status == 64)
    }
}
