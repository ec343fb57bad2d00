import Foundation
import MobileModel
import MobileProtocol
import MobileServer
import MobileStore
import PostgreSQLClient
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import MobileServer

/// Objects that refuse operations on rows that changed since the device saw them, on both engines.
@Suite struct ConflictTests {
    /// The package of field sales; customers refuse conflicts, orders do not. The back end computes the rate of each customer that is renamed.
    private static let model = {
        var model = FieldSales.model
        model.objects[0].conflicts = .refuse
        return model
    }()

    private static let computed = """
        CREATE TRIGGER computed AFTER UPDATE OF name ON "the customers"
        BEGIN UPDATE "the customers" SET rate = coalesce(rate, 0) + 1 WHERE "customer no" = new."customer no"; END;
        """

    private static let postgreSQLComputed = """
        CREATE FUNCTION computed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN new.rate := coalesce(new.rate, 0) + 1; RETURN new; END $$;
        CREATE TRIGGER computed BEFORE UPDATE OF name ON "the customers" FOR EACH ROW EXECUTE FUNCTION computed();
        """

    private static func server(_ kind: BackEndKind) throws -> TestServer {
        try TestServer(
            model: model, tables: FieldSales.tables + computed, postgreSQL: FieldSales.postgreSQLTables + postgreSQLComputed, on: kind)
    }

    /// A server with a device in the region NORTH.
    private struct Office {
        let server: TestServer
        let device: TestDevice

        init(_ kind: BackEndKind) throws {
            server = try ConflictTests.server(kind)
            device = try TestDevice.inRegion("NORTH", of: server)
        }

        /// The values of the device's row.
        func original(_ id: Int64) -> JSONObject {
            let row = device.rows("Customer", by: "id")[.integer(id)] ?? [:]
            return JSONObject(
                uniqueKeys: row.filter { !["_sk", "id"].contains($0.key) && !$0.key.hasPrefix("_ref_") }.map { ($0.key, Self.sent($0.key, $0.value)) }
            )
        }

        /// Downloads have 0 and 1 for booleans.
        static func sent(_ attribute: String, _ value: JSONValue) -> JSONValue { attribute == "active" ? .boolean(value == 1) : value }

        func operation(
            _ change: OperationFrame.Change = .update, of id: Int64 = 1, set attributes: JSONObject = [:], original: JSONObject? = nil,
            follows: Int64? = nil, batch: Int64? = nil
        ) -> OperationFrame {
            OperationFrame(
                id: device.nextID(), object: "Customer", change: change, batch: batch, key: device.key("Customer", "id", .integer(id)),
                attributes: attributes, primaryKey: ["id": .integer(id)], original: original ?? self.original(id), follows: follows)
        }

        func send(_ operations: OperationFrame..., losesAnswer: Bool = false) throws -> [String] {
            let result = try device.synchronize(upload: device.upload(operations), losesAnswer: losesAnswer)
            #expect(result.failure == nil)
            return result.results.map { "\($0.outcome.rawValue) \($0.code)" }
        }

        func change(_ assignment: String, of id: Int = 1) throws {
            _ = try server.backEnd { try $0.execute("UPDATE \"the customers\" SET \(assignment) WHERE \"customer no\" = \(id)") }
        }

        func value(_ column: String, of id: Int = 1) throws -> String? {
            try server.backEndValue("SELECT \(column) FROM \"the customers\" WHERE \"customer no\" = \(id)")?.text
        }
    }

    @Test(
        "an unchanged row is updated; one that another application has changed is not, and the answer has the row, each time",
        arguments: BackEndKind.allCases)
    func changed(kind: BackEndKind) throws {
        let office = try Office(kind)
        #expect(try office.send(office.operation(set: ["name": "Quay"])) == ["accepted 200"])
        let stale = office.operation(set: ["name": "Mine"])
        try office.change("credit = 77.25")
        let first = try office.device.synchronize([stale]), again = try office.device.synchronize([stale])
        for result in [first, again] {
            let answer = try #require(result.results.first)
            #expect(answer.outcome == .rejected && answer.code == ResultCode.changedSince)
            #expect(answer.message == "the row of \"Customer\" changed in the back end since the device last saw it: \"credit\"")
            #expect(
                answer.row?["name"] == "Quay" && answer.row?["credit"]?.double == 77.25 && answer.row?["notes"] == nil
                    && answer.row?["active"] == true)
        }
        #expect(first.logRecords.map(\.code) == [583])
        #expect(try office.value("name") == "Quay")
        // The device has the row now.
        #expect(try office.send(office.operation(set: ["name": "Mine"])) == ["accepted 200"])
        // Another notation of a value is not a change.
        let same = office.operation(set: ["name": "Still mine"])
        try office.change("credit = 77.250")
        #expect(try office.send(same) == ["accepted 200"] && office.value("name") == "Still mine")
    }

    @Test("a delete against an edit, an edit against a delete, and a row that has left the device's partitions", arguments: BackEndKind.allCases)
    func gone(kind: BackEndKind) throws {
        let office = try Office(kind)
        let delete = office.operation(.delete, of: 2), edit = office.operation(of: 2, set: ["name": "Mine"])
        try office.change("credit = 1", of: 2)
        #expect(try office.send(delete) == ["rejected 583"] && office.value("name", of: 2) == "Mill & Sons")
        try office.change("region = 'SOUTH'", of: 2)
        let left = try #require(try office.device.synchronize([edit]).results.first)
        #expect(left.code == 583 && left.row == nil)
        #expect(left.message == "the row of \"Customer\" is not among the device's rows in the back end any more")
        #expect(try office.value("name", of: 2) == "Mill & Sons")
        let other = try TestDevice.inRegion("SOUTH", of: office.server, name: "other"), row = other.rows("Customer", by: "id")[2] ?? [:]
        let original = JSONObject(uniqueKeys: row.filter { !["_sk", "id"].contains($0.key) }.map { ($0.key, Office.sent($0.key, $0.value)) })
        _ = try office.server.backEnd { try $0.execute("DELETE FROM \"the customers\" WHERE \"customer no\" = 2") }
        for change in [OperationFrame.Change.update, .delete] {
            let operation = OperationFrame(
                id: other.nextID(), object: "Customer", change: change, key: row["_sk"]?.integer ?? 0, primaryKey: ["id": 2], original: original)
            let result = try #require(try other.synchronize([operation]).results.first)
            #expect(result.code == 583 && result.row == nil)
        }
    }

    @Test(
        "a device's operations are no conflict with each other: in one upload, after lost answers, repeated, and after a rejected one",
        arguments: BackEndKind.allCases)
    func chain(kind: BackEndKind) throws {
        let office = try Office(kind), before = office.original(1)
        let one = office.operation(set: ["name": "One"]), two = office.operation(set: ["name": "Two"], original: before, follows: one.id)
        #expect(try office.send(one, two, losesAnswer: true) == [])
        let refused = office.operation(set: ["credit": -1], original: before, follows: two.id)
        let three = office.operation(set: ["name": "Three"], original: before, follows: refused.id)
        #expect(try office.send(one, two, refused, losesAnswer: true) == [])
        #expect(try office.send(one, two, refused, three) == ["accepted 200", "accepted 200", "rejected 412", "accepted 200"])
        #expect(try office.value("name") == "Three")
        // Another application's change after the device's own is a conflict, although the operation follows it.
        let four = office.operation(set: ["name": "Four"], follows: three.id), five = office.operation(set: ["name": "Five"], follows: four.id)
        try office.change("credit = 5")
        #expect(try office.send(four, five) == ["rejected 583", "rejected 583"])
        #expect(try office.value("name") == "Three")
        // A row of another name does not help.
        let wrong = office.operation(of: 2, set: ["name": "Wrong"], original: ["credit": 0], follows: three.id)
        #expect(try office.send(wrong) == ["rejected 583"])
    }

    @Test("a new row, changed before the device knows its key", arguments: BackEndKind.allCases)
    func created(kind: BackEndKind) throws {
        let office = try Office(kind), device = office.device
        let create = device.create("Customer", ["name": "New", "region": "NORTH", "credit": 0, "active": true])
        let update = OperationFrame(
            id: device.nextID(), object: "Customer", change: .update, key: create.key, attributes: ["name": "Newer"], original: [:],
            follows: create.id)
        #expect(try office.send(create, update, losesAnswer: true) == [])
        let last = OperationFrame(
            id: device.nextID(), object: "Customer", change: .update, key: create.key, attributes: ["name": "Newest"], original: [:],
            follows: update.id)
        #expect(try office.send(create, update, last) == ["accepted 200", "accepted 200", "accepted 200"])
        let row = try #require(device.rows("Customer", by: "name")["Newest"])
        // Another application has changed it since, and the device has not seen that.
        try office.change("credit = 5", of: Int(row["id"]?.integer ?? 0))
        let stale = OperationFrame(
            id: device.nextID(), object: "Customer", change: .update, key: create.key, attributes: ["name": "Stale"], original: [:], follows: last.id)
        let answer = try #require(try device.synchronize([stale]).results.first)
        #expect(answer.code == ResultCode.changedSince && answer.row?["name"] == "Newest" && answer.row?["credit"] == 5)
        #expect(answer.message == "the row of \"Customer\" changed in the back end since the device's previous operation on it")
    }

    @Test("the operations of a batch share the fate, not the code and the row")
    func batch() throws {
        let office = try Office(.underTest)
        let stale = office.operation(set: ["name": "Mine"])
        let innocent = office.operation(of: 2, set: ["name": "Innocent"], batch: stale.id)
        try office.change("credit = 5")
        let results = try office.device.synchronize([stale, innocent]).results
        #expect(results.map(\.code) == [583, 424] && results[0].row != nil && results[1].row == nil)
        #expect(try office.value("name", of: 2) == "Mill & Sons")
    }

    @Test("an upload without the original row is refused in words, and nothing of it is done; other objects need none")
    func missing() throws {
        let office = try Office(.underTest)
        let first = office.operation(of: 2, set: ["name": "First"])
        var update = office.operation(set: ["name": "Mine"])
        update.original = nil
        let refused = try office.device.synchronize([first, update])
        #expect(refused.status == 400 && refused.failure?.message.contains("the object \"Customer\" refuses conflicts") == true)
        #expect(try office.value("name", of: 2) == "Mill & Sons")
        update.original = ["nothing": 1]
        #expect(try office.device.synchronize([update]).failure?.message.contains("has no attribute \"nothing\"") == true)
        let order = office.device.update("Order", where: "id", is: 10, set: ["status": "DONE"], primaryKey: ["id": 10])
        #expect(try office.send(order) == ["accepted 200"])
    }

    @Test("a row of another user is not shown, and counts as missing")
    func authorization() throws {
        var model = try PackageModel(json: Regions.json)
        model.objects[0].conflicts = .refuse
        let server = try TestServer(model: model, tables: Regions.tables, on: .sqlite)
        try server.server.administration.setRoles(["sales"], ofUser: "ada")
        try server.server.administration.setAttribute("region", to: ["NORTH"], ofUser: "ada")
        let device = try TestDevice(server)
        try device.synchronize()
        func rename(_ id: Int64, _ original: JSONObject) throws -> ReplayResult {
            let operation = OperationFrame(
                id: device.nextID(), object: "Site", change: .update, operation: "update", key: device.key("Site", "id", .integer(id)),
                attributes: ["name": "Mine"], primaryKey: ["id": .integer(id)], original: original)
            return try device.synchronize([operation]).results[0]
        }
        let foreign = try rename(2, ["region": "NORTH", "year": 2025, "name": "?"])
        #expect(foreign.code == ResultCode.notFound && foreign.row == nil)
        _ = try server.backEnd { try $0.execute("UPDATE site SET name = 'Other' WHERE id = 1") }
        let own = try rename(1, ["region": "NORTH", "year": 2025, "name": "Quay"])
        #expect(own.code == ResultCode.changedSince && own.row?["name"] == "Other")
    }

    @Test(
        "a change that another application has not committed yet is waited for",
        .enabled(if: PostgreSQLInstallation.runsTests, Comment(rawValue: PostgreSQLInstallation.isMissing)))
    func lock() throws {
        let office = try Office(.postgreSQL), database = try #require(office.server.backEndDatabase)
        let upload = try office.device.upload([office.operation(set: ["name": "Mine"])])
        let watcher = try database.connect()
        let (server, token) = (office.server.server, office.device.token)
        let answer = try database.connect().transaction { connection in
            _ = try connection.execute("UPDATE \"the customers\" SET credit = 5 WHERE \"customer no\" = 1")
            let answer = concurrently {
                let response = server.respond(
                    to: ServerRequest(
                        method: "POST", path: Endpoint.synchronize, headers: ["authorization": "Bearer \(token)"], body: Spool(upload)))
                return String(decoding: (try? TestServer.bytes(of: response)) ?? [], as: UTF8.self)
            }
            let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
            #expect(try eventually { try watcher.first(waiting)?.first?.integer == 1 })
            return answer
        }
        #expect(answer().contains("\"code\":583"))
        #expect(try office.value("name") == "Harbour Foods")
    }

    @Test("a back end without a record of operations cannot refuse conflicts")
    func idempotent() throws {
        var model = Self.model
        model.backEnds[0].isIdempotent = true
        let error = #expect(throws: ServerError.self) { _ = try TestServer(model: model, tables: FieldSales.tables, on: .sqlite) }
        #expect(error?.code == .package && error?.message.contains("the object \"Customer\" refuses conflicts") == true)
    }
}
