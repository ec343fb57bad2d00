import Foundation
import MobileCrypto
import MobileModel
import MobileObjects
import MobileServer
import MobileStore
import SampleCRM
import TestSupport
import Testing

/// Users and passwords in `mobile admin` and `mobile serve`, without passwords on the command line.
@Suite struct AccountCommandTests {
    /// Makes a cache with two users, three devices, their sessions and subscriptions.
    private func withCache(_ body: (String) throws -> Void) throws {
        let folder = try TemporaryDirectory()
        let backEnd = folder.file("enterprise.db")
        _ = try SampleBackEnd.create(at: backEnd, scale: 0.0001)
        let path = folder.file("cache.db")
        var configuration = ServerConfiguration(
            cachePath: path, packages: [PackageDeployment(CRM.metadata.model, backEnds: ["enterprise": backEnd])],
            users: ["ada": "secret", "bob": "other"])
        configuration.passwordParameters = .init(n: 16)
        try MobileServer(configuration).close()
        try change(
            path,
            """
            INSERT INTO _device (application, device, user_name, registered) VALUES
                ('crm', 'phone', 'ada', 1800000000000), ('crm', 'tab\u{1B}let', 'ada', 1800000000000), ('crm', 'laptop', 'bob', 1800000000000);
            INSERT INTO _session (token, user_name, application, device, began, used) VALUES
                (x'0102030405060708090a', 'ada', 'crm', 'phone', 1800000000000, 1800000000000),
                (x'1102030405060708090a', 'bob', 'crm', 'laptop', 1800000000000, 1800000000000),
                (x'2102030405060708090a', 'ada', 'crm', 'phone', 1800000000000, 1800000000000);
            INSERT INTO _client (client, package, user_name, state) VALUES ('c1', 1, 'ada', 'subscribed'), ('c2', 1, 'bob', 'suspended');
            """)
        try body(path)
    }

    private func change(_ path: String, _ sql: String) throws {
        let cache = try Database(ConnectionProfile(path: path))
        try cache.write { _ = try $0.execute(sql) }
        try cache.close()
    }

    private func rows(_ path: String, _ sql: String) throws -> [[Value]] {
        let cache = try Database(ConnectionProfile(path: path))
        let rows = try cache.read { try $0.rows(sql) }
        try cache.close()
        return rows
    }

    private func admin(_ path: String, _ arguments: String...) throws -> String {
        let result = try Tool.run(["admin", "--cache", path] + arguments)
        #expect(result.status == 0, "\(result.output)")
        return result.output
    }

    @Test("roles and attributes of users are shown, replaced and removed")
    func access() throws {
        try withCache { path in
            #expect(try admin(path, "users", "roles", "ada").isEmpty)
            #expect(try admin(path, "users", "roles", "ada", "sales", "stock").isEmpty)
            #expect(try admin(path, "users", "roles", "ada") == "sales\nstock\n")
            #expect(try admin(path, "users", "attributes", "ada", "region", "NORTH", "EAST").isEmpty)
            #expect(try admin(path, "users", "attributes", "ada", "level", "3").isEmpty)
            #expect(
                try admin(path, "users", "attributes", "ada") == "  attribute  value\n  level      3\n  region     EAST\n  region     NORTH\n")
            #expect(try admin(path, "users", "attributes", "ada", "region", "--none").isEmpty)
            #expect(try admin(path, "users", "roles", "ada", "--none").isEmpty)
            #expect(try admin(path, "users", "attributes", "ada") == "  attribute  value\n  level          3\n")
            #expect(try rows(path, "SELECT count(*) FROM _user_role") == [[0]])
            let unknown = try Tool.run(["admin", "--cache", path, "users", "roles", "eve", "sales"])
            #expect(unknown.status == 1 && unknown.output.contains("there is no user \"eve"))
        }
    }

    @Test("users are listed, locked and removed, with all that is theirs")
    func users() throws {
        try withCache { (path) throws in
            #expect(try admin(path, "users") == "  user  devices  sessions\n  ada         2         2\n  bob         1         1\n")
            #expect(try admin(path, "users", "lock", "ada").isEmpty)
            #expect(try admin(path, "users").contains("ada         2         0  locked"))
            #expect(try admin(path, "users", "unlock", "ada").isEmpty)
            #expect(try !admin(path, "users").contains("locked"))
            #expect(try admin(path, "users", "remove", "bob").isEmpty)
            #expect(try admin(path, "users") == "  user  devices  sessions\n  ada         2         0\n")
            #expect(try admin(path, "subscriptions").contains("c2      bob   unsubscribed"))
            let unknown = try Tool.run(["admin", "--cache", path, "users", "lock", "eve\n"])
            #expect(unknown.status == 1 && unknown.output.contains("there is no user \"eve"))
        }
    }

    @Test("devices and sessions are listed, locked and removed; a name of a device moves no cursor")
    func devices() throws {
        try withCache { (path) throws in
            let list = try admin(path, "devices")
            #expect(list.contains("crm          phone") && list.contains("tab\\u{1b}let") && list.contains("2027-01-15T08:00:00.000Z"))
            #expect(try admin(path, "sessions").contains("0102030405060708  ada"))
            #expect(try admin(path, "sessions", "remove", "0102030405060708").isEmpty)
            #expect(try !admin(path, "sessions").contains("0102030405060708"))
            #expect(try admin(path, "devices", "lock", "crm", "phone").isEmpty)
            #expect(try admin(path, "devices").contains("locked"))
            #expect(try rows(path, "SELECT user_name FROM _session") == [["bob"]])
            #expect(try admin(path, "devices", "unlock", "crm", "phone").isEmpty)
            #expect(try admin(path, "devices", "remove", "crm", "laptop").isEmpty)
            #expect(try rows(path, "SELECT count(*) FROM _session") == [[0]])
            #expect(try !admin(path, "devices").contains("laptop"))
            #expect(try Tool.run(["admin", "--cache", path, "sessions", "remove", "0102030405060708"]).status == 1)
        }
    }

    @Test("subscriptions are listed, locked and removed")
    func subscriptions() throws {
        try withCache { (path) throws in
            #expect(try admin(path, "subscriptions").contains("CRM:1.0  c1      ada   subscribed"))
            #expect(try admin(path, "subscriptions", "lock", "CRM:1.0", "c1").isEmpty)
            #expect(try admin(path, "subscriptions").contains("CRM:1.0  c1      ada   locked"))
            #expect(try admin(path, "subscriptions", "unlock", "CRM:1.0", "c1").isEmpty)
            #expect(try Tool.run(["admin", "--cache", path, "subscriptions", "unlock", "CRM:1.0", "c2"]).status == 1, "it is not locked")
            #expect(try admin(path, "subscriptions", "remove", "CRM:1.0", "c2").isEmpty)
            #expect(try admin(path, "subscriptions").contains("CRM:1.0  c2      bob   unsubscribed"))
        }
    }

    @Test("a password comes from a file descriptor, one line each")
    func descriptor() throws {
        try withCache { (path) throws in
            let before = try rows(path, "SELECT verifier FROM _user WHERE name = 'ada'")
            let input = Pipe()
            try input.fileHandleForWriting.write(contentsOf: Data("changed\r\nrest\n".utf8))
            try input.fileHandleForWriting.close()
            #expect(try Tool.run(["admin", "--cache", path, "users", "set", "ada", "--password-fd", "0"], input: input).status == 0)
            #expect(try rows(path, "SELECT verifier FROM _user WHERE name = 'ada'") != before)
            #expect(try admin(path, "users").contains("ada         2         0"), "the sessions have ended")
            let none = try Tool.run(["admin", "--cache", path, "users", "set", "eve", "--password-fd", "0"])
            #expect(none.status == 1 && none.output.contains("user \"eve\": there is no password"))
            let keys = Pipe()
            try keys.fileHandleForWriting.write(contentsOf: Data("ab\u{03}\n".utf8))
            try keys.fileHandleForWriting.close()
            let broken = try Tool.run(["admin", "--cache", path, "users", "set", "eve", "--password-fd", "0"], input: keys)
            #expect(broken.status == 1 && broken.output.contains("control character"), "Ctrl-C on a terminal that hands it through")
            let terminal = try Tool.run(["admin", "--cache", path, "users", "set", "eve"])
            #expect(terminal.status == 1 && terminal.output.contains("no terminal"))
        }
    }

    @Test("the terminal does not show the password that it asks for")
    func terminal() throws {
        try withCache { (path) throws in
            let shown = try Tool.runOnTerminal(
                ["admin", "--cache", path, "users", "set", "eve"], answering: "password of eve: ", with: "offline-first\n")
            #expect(shown.hasPrefix("password of eve: ") && !shown.contains("offline"), "\(shown)")
            #expect(try rows(path, "SELECT count(*) FROM _user WHERE name = 'eve' AND verifier LIKE 'scrypt$%'") == [[1]])
        }
    }

    @Test(
        "a password on the command line is refused, and not repeated",
        arguments: [["serve", "--model", "x", "--cache", "x.db", "--user"], ["admin", "--cache", "x.db", "users", "set"]])
    func commandLine(_ arguments: [String]) throws {
        let result = try Tool.run(arguments + ["ada:secret"])
        #expect(result.status == 64 && result.output.contains("without a colon") && !result.output.contains("secret"))
        #expect(!FileManager.default.fileExists(atPath: "x.db"))
    }
}
