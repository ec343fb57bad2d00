import Dispatch
import Foundation
import MobileExecution
import MobileModel
import MobileProtocol
import MobileStore
import PostgreSQLClient
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import MobileServer

/// Back ends in PostgreSQL, where they differ from those in SQLite files.
@Suite(.needsPostgreSQL) struct PostgreSQLBackEndTests {
    // MARK: Values

    @Test("each type of PostgreSQL becomes the one form of the protocol, and takes it back")
    func types() throws {
        let server = try Self.typesServer()
        let device = try TestDevice(server)
        try device.synchronize()
        var first = try #require(device.rows("Thing", by: "id").first?.value)
        // The device of these tests reads such a number as a double.
        first["wide"] = nil
        #expect(try server.state { try $0.texts("SELECT body FROM _row") }.first?.contains(",12345678901234567890.25,") == true)
        #expect(first == Self.thing.merging(["_sk": first["_sk"] ?? .null]) { $1 })
        #expect(device.largeValues["Thing"]?.values.first == ["picture": [0, 1, 2], "story": Array("Ünï".utf8)])

        var attributes = JSONObject(uniqueKeys: Self.written.sorted { $0.key < $1.key })
        attributes["id"] = "00000000-0000-0000-0000-0000000000ff"
        attributes["flag"] = false
        attributes["wide"] = .number("-99999999999999999999.5")
        let create = device.create("Thing", attributes)
        let result = try device.synchronize([create])
        #expect(result.results.map(\.message) == [""] && result.results.map(\.outcome) == [.accepted])
        let second = try #require(device.rows["Thing"]?[create.key])
        for (name, value) in Self.written where name != "id" { #expect(second[name] == value, "\(name)") }
        #expect(try server.backEndValue("SELECT wide || ' ' || flag FROM stock.\"Thing\" WHERE small = 5") == "-99999999999999999999.5 false")
        #expect(second["doubled"] == 246 && second["id"] == "00000000-0000-0000-0000-0000000000ff")
    }

    @Test(
        "a value that a type cannot hold is refused with code 412, and nothing of its batch stays",
        arguments: [
            ("short", " the values of \"Thing\": value too long for type character varying(5)"),
            ("exact", " the values of \"Thing\": numeric field overflow"),
            ("kind", " this value of \"kind\" of \"Thing\": it is one of \"red\", \"blue\""),
        ])
    func unfit(attribute: String, reason: String) throws {
        let server = try Self.typesServer(), device = try TestDevice(server)
        try device.synchronize()
        let wrong: [String: JSONValue] = ["short": "too long for it", "exact": .number("123456789012.25"), "kind": "no such kind"]
        var attributes = JSONObject(uniqueKeys: Self.written.sorted { $0.key < $1.key })
        attributes["id"] = "00000000-0000-0000-0000-0000000000ff"
        attributes["flag"] = true
        attributes[attribute] = wrong[attribute]
        let result = try #require(try device.synchronize([device.create("Thing", attributes)], groups: []).results.first)
        #expect(result.outcome == .rejected && result.code == 412 && result.message == "the back end does not accept" + reason)
        #expect(try server.backEndValue("SELECT count(*) FROM stock.\"Thing\"") == 1)
    }

    static let thing: [String: JSONValue] = [
        "id": "00000000-0000-0000-0000-000000000001", "flag": 1, "small": -7, "big": 9_007_199_254_740_993, "exact": .number("12.5"),
        "real": .number("0.1"), "day": "2024-02-29", "clock": "23:59:58",
        "moment": "2024-02-29T22:30:00.125Z", "zoned": "2024-02-29T22:30:00.125Z", "short": "ab", "kind": "red", "document": #"{"a": 1}"#,
        "bytes": "AAEC", "doubled": 246,
    ]

    static let written: [String: JSONValue] = [
        "flag": 0, "small": 5, "big": -1, "exact": .number("0.01"), "real": .number("2.5e-10"),
        "day": "1999-12-31", "clock": "00:00:01", "moment": "1999-12-31T23:59:59.999Z", "zoned": "1999-12-31T23:59:59.999Z", "short": "xyz",
        "kind": "blue", "document": #"{"b": [null, "\"x\""]}"#, "bytes": "/w==",
    ]

    private static func typesServer() throws -> TestServer {
        let tables = """
            CREATE SCHEMA stock; CREATE TYPE kind AS ENUM ('red', 'blue'); CREATE DOMAIN amount AS numeric(12, 2);
            CREATE TABLE stock."Thing" (
                id uuid PRIMARY KEY, flag boolean, small smallint, big bigint, exact amount, wide numeric, "real" real, day date, clock time,
                moment timestamp, zoned timestamptz, short varchar(5), kind kind, document jsonb, bytes bytea, number integer DEFAULT 123,
                doubled integer GENERATED ALWAYS AS (number * 2) STORED, picture bytea, story text);
            INSERT INTO stock."Thing" VALUES ('00000000-0000-0000-0000-000000000001', true, -7, 9007199254740993, 12.50,
                12345678901234567890.25, 0.1, '2024-02-29', '23:59:58.75', '2024-02-29 22:30:00.125', '2024-03-01 00:30:00.1259+02', 'ab', 'red',
                '{"a": 1}', '\\x000102', 123, DEFAULT, '\\x000102', 'Ünï');
            """
        let attributes = [
            ("id", "string", ""), ("flag", "boolean", ""), ("small", "short", ""), ("big", "long", ""),
            ("exact", "decimal", #", "precision": 14, "scale": 2"#), ("wide", "decimal", #", "precision": 30, "scale": 4"#), ("real", "double", ""),
            ("day", "date", ""), ("clock", "time", ""), ("moment", "dateTime", ""), ("zoned", "dateTime", ""), ("short", "string", ""),
            ("kind", "string", ""), ("document", "string", ""), ("bytes", "binary", ""), ("doubled", "int", ""), ("picture", "bigBinary", ""),
            ("story", "bigString", ""),
        ].map { name, type, more in
            let length = ["string", "binary"].contains(type) ? #", "length": 100"# : ""
            return #"{"name": "\#(name)", "type": "\#(type)", "nullable": \#(name != "id")\#(length)\#(more)}"#
        }
        let json = """
            {"format": 1, "name": "Types", "version": "1.0", "synchronizationGroups": [{"name": "default"}],
             "backEnds": [{"name": "enterprise", "kind": "postgresql"}],
             "objects": [{"name": "Thing", "attributes": [\(attributes.joined(separator: ", "))], "primaryKey": ["id"],
                "operations": ["create", "update", "delete"], "binding": {"backEnd": "enterprise", "table": "stock.thing"}}]}
            """
        return try TestServer(model: PackageModel(json: json), postgreSQL: tables, on: .postgreSQL)
    }

    // MARK: Preparation

    @Test("servers that start together on a database without the tables of records all start", arguments: 0..<4)
    func together(attempt: Int) throws {
        let database = try PostgreSQLTestDatabase(), gate = DispatchSemaphore(value: 0), group = DispatchGroup()
        let failures = SystemLock<[String]>([])
        let backEnds = try (0..<8).map { _ in
            SQLBackEnd(
                name: "enterprise", engine: try PostgreSQLEngine(name: "enterprise", address: database.address, timeout: .seconds(30)),
                isIdempotent: false, wholeValueLimit: 1 << 20)
        }
        for backEnd in backEnds {
            group.enter()
            _ = SystemThread.start {
                gate.wait()
                do { try backEnd.prepareRecords() } catch { failures.withLock { $0.append("\(error)") } }
                group.leave()
            }
        }
        for _ in backEnds { gate.signal() }
        group.wait()
        for backEnd in backEnds { try backEnd.close() }
        #expect(failures.withLock { $0 } == [])
        #expect(try database.connect().rows("SELECT last FROM mobile_operation_number") == [[0]])
    }

    // MARK: Failures

    @Test("a constraint refuses an operation in the same words as one of SQLite", arguments: RejectionTests.refused)
    func constraints(_ refused: RejectionTests.Refused) throws {
        let messages = try BackEndKind.allCases.map { kind in
            let server = try FieldSales.server(on: kind)
            try server.backEnd { try $0.execute("UPDATE \"the customers\" SET code = 'taken' WHERE \"customer no\" = 1") }
            let device = try TestDevice.inRegion("NORTH", of: server)
            let result = try device.synchronize([device.create(refused.object, refused.attributes)], groups: [])
            let outcome = try #require(result.results.first)
            #expect(outcome.outcome == .rejected && outcome.code == 412)
            return outcome.message
        }
        #expect(messages[0] == messages[1] && messages[1].contains(refused.message))
    }

    @Test("where another session holds a lock, an operation is deferred with code 409, and done when it comes again")
    func busy() throws {
        let server = try FieldSales.server(on: .postgreSQL) { $0.connectionTimeout = .milliseconds(100) }
        let device = try TestDevice.inRegion("NORTH", of: server)
        let update = device.update("Customer", where: "id", is: 1, set: ["name": "Changed"], primaryKey: ["id": 1])
        let deferred = try server.backEnd { connection in
            _ = try connection.execute("UPDATE \"the customers\" SET region = region WHERE \"customer no\" = 1")
            return try device.synchronize([update], groups: [])
        }
        #expect(deferred.results.map(\.outcome) == [.deferred] && deferred.results.map(\.code) == [409])
        #expect(deferred.results.first?.message == "the back end is busy; try again")
        #expect(try server.backEndValue("SELECT count(*) FROM mobile_processed_operation") == 0)
        #expect(try device.synchronize([update]).results.map(\.outcome) == [.accepted])
        #expect(device.rows("Customer", by: "id")[1]?["name"] == "Changed")
    }

    @Test("an engine that stops defers operations with code 503; a download waits for it too")
    func stopped() throws {
        let own = try PostgreSQLServer(), database = try own.database()
        try database.connect().run(script: Folders.postgreSQLTables)
        let model = try PackageModel(json: Folders.json.replacing("IDEMPOTENT", with: "false").replacing("INSERT OR REPLACE", with: "INSERT"))
        let server = try TestServer(model: model, tables: Folders.tables, on: .sqlite) {
            $0.packages = [PackageDeployment(model, backEnds: ["enterprise": database.address])]
            $0.connectionTimeout = .milliseconds(500)
        }
        let device = try TestDevice(server)
        try device.synchronize()
        let create = device.create("Folder", ["name": "new"])
        let upload = try device.upload([create], groups: [])
        own.stop()
        let down = try device.synchronize(upload: upload)
        #expect(down.status == 503 || down.results.map(\.code) == [503], "\(down.status) \(down.results)")
        #expect(try device.synchronize().status == 503)
        try own.start()
        #expect(try device.synchronize(upload: upload).results.map(\.outcome) == [.accepted])
    }

    @Test(
        "where the connection breaks during COMMIT, the outcome is looked up: done operations are accepted, undone ones are deferred; each is done once",
        arguments: [(CuttingProxy.Place.beforeAnswer, ReplayResult.Outcome.accepted), (.beforeServer, .deferred)])
    func lostCommit(place: CuttingProxy.Place, outcome: ReplayResult.Outcome) throws {
        let database = try PostgreSQLTestDatabase(tables: Folders.postgreSQLTables)
        let proxy = try CuttingProxy(to: database.server, cutAt: "COMMIT\0", place, isArmed: false)
        let model = try PackageModel(json: Folders.json.replacing("IDEMPOTENT", with: "false").replacing("INSERT OR REPLACE", with: "INSERT"))
        let server = try TestServer(model: model, tables: Folders.tables, on: .sqlite) {
            let address = "postgresql://postgres@/\(database.name)?host=\(proxy.folder)&port=\(proxy.port)"
            $0.packages = [PackageDeployment(model, backEnds: ["enterprise": address])]
        }
        let backEnd = try #require(server.server.packages[0].deployed.backEnds["enterprise"]?.system)
        let device = try TestDevice(server)
        try device.synchronize()
        // Reads commit as well: the batch is replayed without the server around it.
        proxy.arm()
        let replayed = Result {
            try backEnd.replay(for: "direct") { transaction in
                try transaction.records()?.record("{}", of: 1, client: "direct")
                return "done"
            }
        }
        let records = "SELECT count(*) FROM mobile_processed_operation WHERE client = 'direct'"
        switch outcome {
        case .accepted:
            #expect(try replayed.get() == "done")
            #expect(try database.connect().first(records) == [1])
        default:
            let error = #expect(throws: (any Error).self) { try replayed.get() }
            #expect(backEnd.classify(try #require(error), of: nil).kind == .outcomeUnknown)
            #expect(try database.connect().first(records) == [0])
        }
        // The record of this test is not an outcome.
        try database.connect().execute("DELETE FROM mobile_processed_operation WHERE client = 'direct'")
        let create = try device.upload([device.create("Folder", ["name": "once"])], groups: [])
        #expect(try device.synchronize(upload: create).results.map(\.outcome) == [.accepted])
        #expect(try device.synchronize(upload: create).results.map(\.outcome) == [.accepted])
        #expect(try database.connect().first("SELECT count(*) FROM folder WHERE name = 'once'") == [1])
    }

    @Test(
        "errors are classified by SQLSTATE",
        arguments: [
            ("40001", 409), ("40P01", 409), ("55P03", 409), ("57P01", 503), ("53300", 503), ("08006", 503), ("57014", 503), ("25006", 503),
            ("23505", 412), ("23P01", 412), ("22003", 412), ("P0001", 412), ("42P01", 404), ("42501", 403), ("42601", 500), ("XX000", 500),
        ] as [(String, Int64)])
    func classified(state: String, code: Int64) throws {
        let server = try FieldSales.server(on: .postgreSQL)
        let backEnd = try #require(server.server.packages[0].deployed.backEnds["enterprise"]?.system)
        let error = #expect(throws: (any Error).self) {
            try server.backEnd { _ = try $0.execute("DO $$ BEGIN RAISE EXCEPTION 'words of the engine' USING ERRCODE = '\(state)'; END $$") }
        }
        let failure = backEnd.classify(try #require(error), of: nil)
        #expect(failure.code == code && failure.backEndCode == state && failure.detail.contains("words of the engine"))
        #expect((failure.kind == .refused) == (code != 409 && code != 503))
        // They are those of a trigger's owner, unless the operation is deferred, or the engine itself is broken.
        #expect((failure.message == "words of the engine") == (failure.kind == .refused && state != "XX000"))
    }

    // MARK: Records of operations

    @Test("a transaction that commits late has the higher number, so that a reader who has seen a number has seen all lower ones")
    func lateCommit() throws {
        let server = try FieldSales.server(on: .postgreSQL)
        let backEnd = try #require(server.server.packages[0].deployed.backEnds["enterprise"]?.system)
        let recorded = DispatchSemaphore(value: 0), goOn = DispatchSemaphore(value: 0), ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            #expect(throws: Never.self) {
                try backEnd.replay(for: "slow") { transaction in
                    try transaction.records()?.record("{}", of: 1, client: "slow")
                    recorded.signal()
                    goOn.wait()
                }
            }
            ended.signal()
        }
        recorded.wait()
        try backEnd.replay(for: "fast") { try $0.records()?.record("{}", of: 1, client: "fast") }
        func clients(after number: Int64) throws -> [String] {
            try backEnd.read { snapshot in
                var clients: [String] = []
                try snapshot.records()?.forEachOutcome(after: number) { _, client, _ in clients.append(client) }
                return clients
            }
        }
        let seen = try backEnd.read { try $0.records()?.lastNumber() ?? 0 }
        #expect(try clients(after: 0) == ["fast"])
        goOn.signal()
        ended.wait()
        #expect(try clients(after: seen) == ["slow"])
    }

    @Test("two batches of one client run one after the other, also without an earlier one")
    func order() throws {
        let server = try FieldSales.server(on: .postgreSQL)
        let backEnd = try #require(server.server.packages[0].deployed.backEnds["enterprise"]?.system)
        let isFirstOver = SystemLock(false), locked = DispatchSemaphore(value: 0), ended = DispatchSemaphore(value: 0)
        let seen = SystemLock<[Bool]>([])
        let database = try #require(server.backEndDatabase)
        Thread.detachNewThread {
            #expect(throws: Never.self) {
                try backEnd.replay(for: "one") { transaction in
                    _ = try transaction.records()?.raiseFloor(of: "one", to: 0)
                    locked.signal()
                    // The other one waits for the lock by now, or will.
                    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
                    let observer = try database.connect()
                    while try observer.first(waiting) == [0] {}
                    isFirstOver.withLock { $0 = true }
                }
            }
        }
        locked.wait()
        Thread.detachNewThread {
            #expect(throws: Never.self) {
                try backEnd.replay(for: "one") { transaction in
                    _ = try transaction.records()?.raiseFloor(of: "one", to: 0)
                    seen.withLock { $0.append(isFirstOver.withLock { $0 }) }
                }
            }
            ended.signal()
        }
        ended.wait()
        #expect(seen.withLock { $0 } == [true])
    }

    // MARK: Reading

    @Test("nothing is loaded while nothing has changed, and a change is seen")
    func positions() throws {
        let server = try FieldSales.server(on: .postgreSQL)
        let backEnd = try #require(server.server.packages[0].deployed.backEnds["enterprise"]?.system)
        func position() throws -> BackEndPosition? { try backEnd.read { try $0.position() } }
        let before = try #require(try position())
        #expect(!before.historyID.isEmpty)
        let isQuiet = try before == position()
        try server.backEnd { _ = try $0.execute("UPDATE \"the customers\" SET name = name WHERE \"customer no\" = 1") }
        // Other tests write to the same server at the same time, so that its position may move by itself; it must not stay.
        #expect(try isQuiet || before != position())
        #expect(try before != position())
    }

    @Test("a large value of several pieces arrives as it is, and so does a text", arguments: [0, 1, 1 << 20, (1 << 20) + 1, 20_000_000])
    func pieces(length: Int) throws {
        let server = try FieldSales.server(on: .postgreSQL)
        let device = try TestDevice.inRegion("NORTH", of: server)
        let bytes = patternBytes(length), text = Array(String(repeating: "ü☃", count: length / 5).utf8)
        let update = device.update("Customer", where: "id", is: 2, set: [:], primaryKey: ["id": 2])
        let other = try TestDevice.inRegion("NORTH", of: server, name: "tablet")
        let result = try device.synchronize([update], large: [update.id: ["photo": bytes, "notes": text]])
        #expect(result.results.map(\.outcome) == [.accepted])
        try other.synchronize()
        let found = other.largeValues["Customer"]?[other.key("Customer", "id", 2)]
        #expect(found?["photo"] == bytes && found?["notes"] == text)
        let backEnd = try #require(server.server.packages[0].deployed.backEnds["enterprise"]?.system)
        let object = try #require(server.server.packages[0].deployed.object(named: "Customer"))
        var sizes: [Int] = []
        let key = try #require(RowKey(["id": 2], of: object.model)), photo = try #require(object.model.attribute(named: "photo"))
        _ = try backEnd.value(of: photo, in: key, of: object.model) { sizes.append($0.count) }
        #expect(sizes.reduce(0, +) == length && (sizes.max() ?? 0) <= max(1 << 20, length / 16 + 1))
    }

    @Test("a modelled statement names the row that it creates by returning its key")
    func returning() throws {
        let json = FieldSales.json.replacing(
            #""primaryKey": ["id"],\#n      "relationships": [\#n        {"name": "customer", "#,
            with: #""primaryKey": ["id"],\#n      "relationships": [\#n        {"name": "customer", "#
        ).replacing(
            #""operations": ["create", "update", "delete"],\#n      "binding": {"backEnd": "enterprise", "table": "order","#,
            with:
                #""operations": [{"name": "create", "kind": "create", "statements": ["INSERT INTO \"order\" (customer, status) VALUES (:customerId, upper(:status)::text) RETURNING id"]}],\#n      "binding": {"backEnd": "enterprise", "table": "order","#
        )
        #expect(json.contains("RETURNING id"))
        let server = try TestServer(
            model: PackageModel(json: json), tables: FieldSales.tables, postgreSQL: FieldSales.postgreSQLTables, on: .postgreSQL)
        let device = try TestDevice.inRegion("NORTH", of: server)
        let create = device.create("Order", ["customerId": 1, "status": "new"])
        let result = try device.synchronize([create])
        #expect(result.results.map(\.message) == [""])
        #expect(device.rows["Order"]?[create.key]?["id"] == 12 && device.rows["Order"]?[create.key]?["status"] == "NEW")
    }

    // MARK: Opening

    @Test("an address with a password, and a database that is not there, are refused with the back end's name")
    func addresses() throws {
        let database = try PostgreSQLTestDatabase()
        let secret = "postgresql://postgres:hidden@/\(database.name)?host=\(database.server.folder)"
        let missing = "postgresql://postgres@/none?host=\(database.server.folder)"
        for (address, code) in [(secret, ServerError.Code.configuration), (missing, .missingBackEnd)] {
            let error = #expect(throws: ServerError.self) {
                try PackageDeployment(FieldSales.model, backEnds: ["enterprise": address]).verify()
            }
            #expect(error?.code == code && error?.message.hasPrefix("back end \"enterprise\"") == true)
            #expect(error?.message.contains("hidden") == false)
        }
    }

    @Test("a table that is missing, or has no such column, is named")
    func missingParts() throws {
        for (change, code) in [
            ("DROP TABLE \"order line\"", ServerError.Code.missingTable),
            ("ALTER TABLE \"order line\" RENAME COLUMN product TO article", .missingColumn),
            ("ALTER TABLE \"the customers\" DROP COLUMN rate", .missingColumn), ("ALTER TABLE \"the customers\" RENAME region TO area", .statement),
        ] {
            let database = try PostgreSQLTestDatabase(tables: FieldSales.postgreSQLTables + change)
            let error = #expect(throws: ServerError.self) {
                try PackageDeployment(FieldSales.model, backEnds: ["enterprise": database.address]).verify()
            }
            #expect(error?.code == code)
        }
    }
}
