import Foundation
import MobileCrypto
import MobileExecution
import MobileModel
import MobileServer
import MobileStore
import PostgreSQLClient
import PostgreSQLTestSupport
import SampleStore
import TestSupport
import Testing

@testable import MobileServerRhoConnect

/// The packages of a server as sources.
@Suite struct PackageSourceTests {
    /// Sites of the user's regions, with lines under keys of two parts.
    static let model = """
        {
          "format": 2, "name": "Regions", "version": "1.0", "roles": ["sales"], "backEnds": [{"name": "enterprise", "kind": "sqlite"}],
          "objects": [
            {
              "name": "Site",
              "attributes": [
                {"name": "id", "type": "long", "generated": true}, {"name": "region", "type": "string", "length": 10},
                {"name": "year", "type": "int", "default": 2025}, {"name": "isOpen", "type": "boolean", "default": true},
                {"name": "opened", "type": "date", "nullable": true}, {"name": "rate", "type": "decimal", "precision": 6, "scale": 2, "nullable": true},
                {"name": "note", "type": "bigString", "nullable": true}
              ],
              "primaryKey": ["id"],
              "synchronizationParameters": [
                {"name": "region", "type": "string", "userAttribute": "region", "attribute": "region"}, {"name": "year", "type": "int", "default": 2025}
              ],
              "operations": ["create", "update", "delete"],
              "binding": {"backEnd": "enterprise", "table": "site", "load": "SELECT * FROM site WHERE region = :region AND year = :year"}
            },
            {
              "name": "Line",
              "attributes": [{"name": "site", "type": "long"}, {"name": "number", "type": "int"}, {"name": "text", "type": "string", "length": 20}],
              "primaryKey": ["site", "number"],
              "relationships": [{"name": "place", "target": "Site", "cardinality": "manyToOne", "mapping": {"site": "id"}}],
              "operations": ["create", "update"],
              "binding": {"backEnd": "enterprise", "table": "line"}
            }
          ]
        }
        """
    static let tables = """
        CREATE TABLE site (id INTEGER PRIMARY KEY AUTOINCREMENT, region TEXT NOT NULL, year INTEGER NOT NULL, isOpen INTEGER NOT NULL DEFAULT 1,
            opened TEXT, rate NUMERIC, note TEXT);
        CREATE TABLE line (site INTEGER NOT NULL, number INTEGER NOT NULL, text TEXT NOT NULL CHECK (text <> 'bad'), PRIMARY KEY (site, number));
        INSERT INTO site (id, region, year, opened, rate) VALUES (1, 'NORTH', 2025, '2025-02-03', 12.5), (2, 'SOUTH', 2025, NULL, NULL),
            (3, 'NORTH', 2026, NULL, 3);
        INSERT INTO line VALUES (1, 1, 'one'), (1, 2, 'two');
        """

    /// A server with the package, and its sources by name.
    final class Bench {
        let directory: TemporaryDirectory
        let server: MobileServer
        let backEnd: Database
        let sources: [String: RhoConnectSource]
        private let state: PostgreSQLTestDatabase?

        init() throws {
            directory = try TemporaryDirectory()
            backEnd = try Database(ConnectionProfile(path: directory.file("enterprise.db"), journal: .unchanged))
            try backEnd.write { _ = try $0.execute(PackageSourceTests.tables) }
            state = try StoreUnderTest.isPostgreSQL ? .ofState() : nil
            let package = PackageDeployment(
                try PackageModel(json: PackageSourceTests.model), backEnds: ["enterprise": directory.file("enterprise.db")])
            var configuration = ServerConfiguration(cachePath: directory.file("state.db"), packages: [package], users: ["ada": "x", "bob": "x"])
            configuration.passwordParameters = .init(n: 16)
            configuration.storeAddress = state?.configuration.address
            server = try MobileServer(configuration)
            try server.administration.setRoles(["sales"], ofUser: "ada")
            try server.administration.setAttribute("region", to: ["NORTH"], ofUser: "ada")
            sources = Dictionary(uniqueKeysWithValues: try RhoConnectServer.sources(of: server).map { ($0.name, $0) })
        }

        func adapter(_ name: String) throws -> any RhoConnectAdapter { try #require(sources[name]).adapter }
        func rows(_ sql: String) throws -> [[Value]] { try backEnd.read { try $0.rows(sql) } }

        /// Does a change, as the queue of a source does.
        func change(
            _ kind: RhoConnectChange.Kind, _ source: String, _ object: String = "t", _ attributes: [String: String] = [:], user: String = "ada",
            upload: String = UUID().uuidString
        ) throws -> String? {
            let adapter = try adapter(source)
            try adapter.login(user: user)
            return try adapter.change(RhoConnectChange(kind: kind, user: user, object: object, attributes: attributes, upload: upload, number: 1))
        }
    }

    @Test("sources have the names of the objects, the partition of their rows, and their references")
    func sources() throws {
        let bench = try Bench()
        #expect(bench.sources.keys.sorted() == ["Line", "Site"])
        #expect(bench.sources.values.allSatisfy { $0.partition == .user && $0.schema == nil })
        #expect(bench.sources["Line"]?.belongsTo == ["site": "Site"])
        let store = try PackageModel(json: try StoreBackEnd.package().json)
        try StoreBackEnd.create(at: bench.directory.file("store.db"))
        let package = PackageDeployment(store, backEnds: ["store": bench.directory.file("store.db")])
        let server = try MobileServer(ServerConfiguration(cachePath: bench.directory.file("other.db"), packages: [package]))
        let sources = try RhoConnectServer.sources(of: server)
        #expect(sources.map(\.name) == ["Customer", "Product", "Order"] && sources.allSatisfy { $0.partition == .app })
        #expect(sources[2].belongsTo == ["customer": "Customer", "product": "Product"])
    }

    @Test("rows are texts under the texts of their keys; those of the user's region, with the default of what he may choose")
    func query() throws {
        let bench = try Bench()
        let site = try bench.adapter("Site"), line = try bench.adapter("Line")
        let first = ["id": "1", "region": "NORTH", "year": "2025", "isOpen": "true", "opened": "2025-02-03", "rate": "12.5"]
        #expect(try site.query(user: "ada", parameters: [:]) == ["1": first])
        #expect(try site.query(user: "ada", parameters: ["year": "2026"]).keys.sorted() == ["3"])
        #expect(try line.query(user: "ada", parameters: [:])["[1,2]"] == ["site": "1", "number": "2", "text": "two"])
        #expect(try line.search(user: "ada", parameters: ["text": "one"]).keys.sorted() == ["[1,1]"])
        #expect(throws: RhoConnectAdapterError.self) { try site.query(user: "ada", parameters: ["year": "soon"]) }
        #expect(throws: RhoConnectAdapterError.self, "the server alone gives this parameter its values") {
            try site.query(user: "ada", parameters: ["region": "SOUTH"])
        }
        #expect(throws: RhoConnectAdapterError.self, "he has no role") { try site.query(user: "bob", parameters: [:]) }
    }

    @Test("changes reach the back end in its own types; new rows have defaults and the user's region")
    func changes() throws {
        let bench = try Bench()
        let id = try #require(try bench.change(.create, "Site", "t", ["opened": "2026-01-02", "rate": "7.25"]))
        #expect(id == "4")
        #expect(try bench.rows("SELECT region, year, isOpen, opened, rate FROM site WHERE id = 4") == [["NORTH", 2025, 1, "2026-01-02", 7.25]])
        #expect(try bench.change(.update, "Site", id, ["isOpen": "false", "rate": ""]) == nil)
        #expect(try bench.rows("SELECT isOpen, opened, rate FROM site WHERE id = 4") == [[0, "2026-01-02", .null]])
        #expect(try bench.change(.delete, "Site", id, ["opened": "2026-01-02"]) == nil)
        #expect(try bench.rows("SELECT 1 FROM site WHERE id = 4").isEmpty)
        #expect(try bench.change(.delete, "Site", id) == nil, "a row that is not there is deleted already")
        #expect(try bench.change(.create, "Line", "t", ["site": "1", "number": "9", "text": "nine"]) == "[1,9]")
        #expect(try bench.change(.update, "Line", "[1,9]", ["text": "changed"]) == nil)
        #expect(try bench.rows("SELECT text FROM line WHERE number = 9") == [["changed"]])
    }

    @Test("a change that comes again is not done again, and its first result is the answer")
    func once() throws {
        let bench = try Bench()
        let first = try bench.change(.create, "Site", "t", ["opened": "2026-01-02"], upload: "same")
        #expect(try bench.change(.create, "Site", "t", ["opened": "2026-01-02"], upload: "same") == first)
        #expect(try bench.rows("SELECT count(*) FROM site WHERE opened = '2026-01-02'") == [[1]])
        #expect(try bench.change(.create, "Site", "t", ["opened": "2026-01-02"], upload: "other") != first)
        let adapter = try bench.adapter("Line")
        let change = RhoConnectChange(kind: .update, user: "ada", object: "[1,1]", attributes: ["text": "new"], upload: "u", number: 1)
        _ = try adapter.change(change)
        try bench.backEnd.write { _ = try $0.execute("UPDATE line SET text = 'newer'") }
        _ = try adapter.change(change)
        #expect(try bench.rows("SELECT text FROM line WHERE number = 1") == [["newer"]])
    }

    @Test("refusals have a sentence, and change nothing")
    func refusals() throws {
        let bench = try Bench()
        let before = try bench.rows("SELECT * FROM site UNION ALL SELECT site, number, text, 0, 0, 0, 0 FROM line")
        func refusal(_ body: () throws -> String?) -> String {
            do { return try body().map { "done: \($0)" } ?? "done" } catch { return (error as? RhoConnectAdapterError)?.message ?? "\(error)" }
        }
        #expect(refusal { try bench.change(.update, "Site", "2", ["year": "2024"]) } == "the row of \"Site\" is not in the back end any more")
        #expect(refusal { try bench.change(.update, "Site", "1", ["region": "SOUTH"]) } == "the row of \"Site\" would not be one of the user's rows")
        #expect(refusal { try bench.change(.delete, "Site", "2") } == "done", "another user's row looks as if it were not there")
        #expect(refusal { try bench.change(.update, "Site", "1", ["year": "many"]) }.hasPrefix("\"many\" is not a value of \"year\""))
        #expect(refusal { try bench.change(.update, "Site", "1", ["colour": "red"]) } == "\"Site\" has no attribute \"colour\"")
        #expect(refusal { try bench.change(.update, "Site", "1", ["id": "7"]) } == "the key of a row of \"Site\" cannot be changed")
        #expect(refusal { try bench.change(.update, "Site", "x", ["year": "1"]) } == "the row of \"Site\" is not in the back end any more")
        #expect(refusal { try bench.change(.create, "Line", "t", ["site": "1", "number": "1", "text": "x"]) }.contains("this primary key"))
        #expect(refusal { try bench.change(.delete, "Line", "[1,1]") } == "\"Line\" has no operation delete")
        let constraint = refusal { try bench.change(.update, "Line", "[1,1]", ["text": "bad"]) }
        #expect(!constraint.isEmpty && !constraint.hasPrefix("done") && !constraint.contains("CHECK constraint"), "\(constraint)")
        #expect(refusal { try bench.change(.update, "Line", "[1,1]", ["text": "x"], user: "bob") }.contains("no role"))
        #expect(try bench.rows("SELECT * FROM site UNION ALL SELECT site, number, text, 0, 0, 0, 0 FROM line") == before)
    }

    @Test("a server with a new state reads the record of such changes, and serves the rows")
    func newState() throws {
        let bench = try Bench()
        _ = try bench.change(.create, "Site", "t", ["opened": "2026-01-02"])
        try bench.server.close()
        // The next server reads the records of the changes when it begins its era.
        let package = PackageDeployment(try PackageModel(json: Self.model), backEnds: ["enterprise": bench.directory.file("enterprise.db")])
        var configuration = ServerConfiguration(cachePath: bench.directory.file("new-state.db"), packages: [package], users: ["ada": "x"])
        configuration.passwordParameters = .init(n: 16)
        let next = try MobileServer(configuration)
        try next.administration.setRoles(["sales"], ofUser: "ada")
        try next.administration.setAttribute("region", to: ["NORTH"], ofUser: "ada")
        let site = try #require(try RhoConnectServer.sources(of: next).first { $0.name == "Site" })
        #expect(try site.adapter.query(user: "ada", parameters: [:]).keys.sorted() == ["1", "4"])
        try next.close()
    }
}
