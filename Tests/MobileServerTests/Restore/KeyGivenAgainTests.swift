import MobileExecution
import MobileModel
import MobileProtocol
import MobileStore
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import MobileServer

/// A back end that gives a generated primary key a second time: after it was restored, or after the row was deleted. No operation of a device that knows
/// the first row reaches the second one.
@Suite struct KeyGivenAgainTests {
    /// A device that returns what it has seen, as clients do.
    final class Phone {
        let device: TestDevice
        var seen: [String: Int64] = [:]

        init(_ device: TestDevice) throws {
            self.device = device
            try synchronize()
        }

        @discardableResult
        func synchronize(_ operations: [OperationFrame] = []) throws -> TestDevice.Result {
            device.adjustHeader = { [seen] in $0.seen = seen }
            let result = try device.synchronize(operations, groups: device.server.package == "Field:2.0" ? ["default", "lines"] : ["default"])
            for case .answer(let answer) in result.frames { seen.merge(answer.records) { max($0, $1) } }
            return result
        }

        func operation(
            _ change: OperationFrame.Change, _ object: String, key: Int64, _ primaryKey: JSONObject, _ attributes: JSONObject = [:],
            name: String? = nil, refs: JSONObject = [:], parameters: JSONObject = [:]
        ) -> OperationFrame {
            OperationFrame(
                id: device.nextID(), object: object, change: change, operation: name, key: key, attributes: attributes, primaryKey: primaryKey,
                refs: refs, parameters: parameters)
        }
    }

    enum Loss: CaseIterable { case backEnd, backEndAndState, backEndAndLaterState }

    /// Two devices; one has a row that the restored back end lacks, and the other one creates a row that gets its primary key.
    struct Scene {
        let server: TestServer
        let phone: Phone, other: TestDevice
        let gone: Int64
        let id: JSONValue

        init(_ loss: Loss) throws {
            server = try FieldSales.server()
            let backup = server.folder.file("enterprise.backup")
            phone = try Phone(TestDevice.inRegion("NORTH", of: server))
            other = try TestDevice.inRegion("NORTH", of: server, name: "other")
            try server.saveBackEnd(to: backup)
            try other.synchronize([other.create("Customer", RestoredBackEndTests.customer("gone"))])
            try phone.synchronize()
            gone = phone.device.key("Customer", "name", "gone")
            id = try #require(phone.device.rows["Customer"]?[gone]?["id"])
            try server.reopen(withBackEnd: backup)
            if loss == .backEndAndState { try lose() }
            try other.synchronize()
            #expect(try other.synchronize([other.create("Customer", RestoredBackEndTests.customer("new"))]).results.map(\.code) == [200])
            if loss == .backEndAndLaterState { try lose() }
        }

        private func lose() throws {
            try server.loseCache()
            try phone.device.register()
            try other.register()
        }

        func names() throws -> Value? {
            try server.backEndValue(#"SELECT count(*) FROM "the customers" WHERE name = 'new' AND credit = 1 AND "customer no" = 4"#)
        }
    }

    @Test("an update, a delete and another operation of the lost row are rejected, and the row with its primary key stays", arguments: Loss.allCases)
    func operationsOfLostRow(loss: Loss) throws {
        let scene = try Scene(loss), phone = scene.phone
        #expect(scene.id == 4)
        let results = try phone.synchronize([
            phone.operation(.update, "Customer", key: scene.gone, ["id": scene.id], ["name": "changed"]),
            phone.operation(
                .other, "Customer", key: scene.gone, ["id": scene.id], name: "raise", parameters: ["number": scene.id, "amount": 5]),
            phone.operation(.delete, "Customer", key: scene.gone, ["id": scene.id]),
        ]).results
        #expect(results.map(\.code) == [404, 404, 404])
        #expect(results.allSatisfy { $0.message == "the row of \"Customer\" is not in the back end any more" }, "\(results.map(\.message))")
        #expect(try scene.names() == 1)
        #expect(phone.device.key("Customer", "name", "gone") == 0 && phone.device.key("Customer", "name", "new") != scene.gone)
    }

    @Test("a row that refers to the lost one is rejected, and not given to another parent", arguments: Loss.allCases)
    func referenceToLostRow(loss: Loss) throws {
        let scene = try Scene(loss), phone = scene.phone
        let order = phone.device.key("Order", "id", 10)
        let created = phone.device.create("Order", ["customerId": scene.id, "status": "NEW"], refs: ["customer": .integer(scene.gone)])
        let moved = phone.operation(.update, "Order", key: order, ["id": 10], ["customerId": scene.id], refs: ["customer": .integer(scene.gone)])
        // Without its state, the server does not know the order either.
        #expect(try phone.synchronize([created, moved]).results.map(\.code) == [424, loss == .backEnd ? 424 : 404])
        #expect(try scene.server.backEndValue(#"SELECT count(*) FROM "order" WHERE customer = 4"#) == 0)
    }

    @Test("a key that contains that of a lost parent is generated as well", arguments: Loss.allCases)
    func partsOfGeneratedKeys(loss: Loss) throws {
        let server = try FieldSales.server(), backup = server.folder.file("enterprise.backup")
        let phone = try Phone(TestDevice.inRegion("NORTH", of: server)), other = try TestDevice.inRegion("NORTH", of: server, name: "other")
        func createOrder(_ product: JSONValue) throws -> [Int64] {
            let customer = other.key("Customer", "name", "Harbour Foods")
            let order = other.create("Order", ["status": "NEW"], refs: ["customer": .integer(customer)])
            let line = other.create("Line", ["line": 1, "product": product, "quantity": 1], refs: ["order": .integer(order.key)])
            return try other.synchronize([order, line], groups: ["default", "lines"]).results.map(\.code)
        }
        try server.saveBackEnd(to: backup)
        #expect(try createOrder("gone") == [200, 200])
        try phone.synchronize()
        let line = phone.device.key("Line", "product", "gone")
        try server.reopen(withBackEnd: backup)
        if loss == .backEndAndState { try server.loseCache() }
        try other.register()
        try other.synchronize(groups: ["default", "lines"])
        #expect(try createOrder("new") == [200, 200])
        if loss == .backEndAndLaterState { try server.loseCache() }
        try phone.device.register()
        let update = phone.operation(.update, "Line", key: line, ["orderId": 12, "line": 1], ["quantity": 9])
        #expect(try phone.synchronize([update]).results.map(\.code) == [404])
        #expect(try server.backEndValue(#"SELECT quantity FROM "order line" WHERE product = 'new'"#) == 1)
    }

    @Test("a key that devices give is the row's identity, whatever was restored", arguments: Loss.allCases)
    func givenKey(loss: Loss) throws {
        let server = try Folders.server(), backup = server.folder.file("enterprise.backup")
        let phone = try Phone(TestDevice(server)), other = try TestDevice(server, name: "other")
        try other.synchronize()
        try server.saveBackEnd(to: backup)
        try other.synchronize([other.create("Label", ["code": "b", "color": "gone"])])
        try phone.synchronize()
        let gone = phone.device.key("Label", "color", "gone")
        try server.reopen(withBackEnd: backup)
        if loss == .backEndAndState { try server.loseCache() }
        try other.register()
        try other.synchronize()
        #expect(try other.synchronize([other.create("Label", ["code": "b", "color": "new"])]).results.map(\.code) == [200])
        if loss == .backEndAndLaterState { try server.loseCache() }
        try phone.device.register()
        #expect(try phone.synchronize([phone.operation(.update, "Label", key: gone, ["code": "b"], ["color": "mine"])]).results.map(\.code) == [200])
        #expect(try server.backEndValue("SELECT color FROM label WHERE code = 'b'") == "mine")
    }

    @Test func `where only the server's state was lost, rows are found by their primary keys`() throws {
        let server = try FieldSales.server()
        let phone = try Phone(TestDevice.inRegion("NORTH", of: server)), other = try TestDevice.inRegion("NORTH", of: server, name: "other")
        try other.synchronize([other.create("Customer", RestoredBackEndTests.customer("kept"))])
        try phone.synchronize()
        let key = phone.device.key("Customer", "name", "kept"), first = phone.device.key("Customer", "id", 1)
        #expect(phone.seen.values.max() == 1)
        try server.loseCache()
        try phone.device.register()
        let order = phone.device.create("Order", ["customerId": 1, "status": "NEW"], refs: ["customer": .integer(first)])
        let update = phone.operation(.update, "Customer", key: key, ["id": 4], ["name": "changed"])
        #expect(try phone.synchronize([order, update]).results.map(\.code) == [200, 200])
        #expect(try server.backEndValue(#"SELECT name FROM "the customers" WHERE "customer no" = 4"#) == "changed")
        #expect(try server.backEndValue(#"SELECT count(*) FROM "order" WHERE customer = 1"#) == 2)
    }

    @Test func `the key of a deleted row that the back end gives again is that of the new row, also for clients that do not say what they saw`()
        throws
    {
        let server = try FieldSales.server()
        let phone = try TestDevice.inRegion("NORTH", of: server), other = try TestDevice.inRegion("NORTH", of: server, name: "other")
        try server.backEnd {
            // Another program's row: the record of operations does not have it.
            _ = try $0.execute(#"INSERT INTO "the customers" ("customer no", name, region) VALUES (4, 'gone', 'NORTH')"#)
        }
        try phone.synchronize()
        let gone = phone.key("Customer", "name", "gone")
        try other.synchronize()
        try server.backEnd {
            try $0.execute(#"DELETE FROM "the customers" WHERE "customer no" = 4"#)
            if server.backEndDatabase == nil { try $0.execute("UPDATE sqlite_sequence SET seq = 3 WHERE name = 'the customers'") }
        }
        #expect(try other.synchronize([other.create("Customer", RestoredBackEndTests.customer("new"))]).results.map(\.code) == [200])
        let update = OperationFrame(
            id: phone.nextID(), object: "Customer", change: .update, key: gone, attributes: ["name": "changed"], primaryKey: ["id": 4])
        #expect(try phone.synchronize([update]).results.map(\.code) == [404])
        #expect(try server.backEndValue(#"SELECT name FROM "the customers" WHERE "customer no" = 4"#) == "new")
    }

    @Test func `statements of the model find no row by the parameters of an operation whose row nobody knows`() throws {
        let update = """
            {"name": "update", "kind": "update", "statements": ["UPDATE folder SET name = :name WHERE id = :id"],
             "parameters": [{"name": "id", "type": "long", "attribute": "id"}, {"name": "name", "type": "string", "attribute": "name"}]}
            """
        let json = Folders.json.replacing("IDEMPOTENT", with: "false").replacing(
            #""create", "update", "delete""#, with: "\"create\", \(update), \"delete\"", maxReplacements: 1)
        let server = try TestServer(model: PackageModel(json: json), tables: Folders.tables, postgreSQL: Folders.postgreSQLTables, on: .underTest)
        let phone = try TestDevice(server)
        try phone.synchronize()
        func change(_ key: Int64, _ primaryKey: JSONObject) throws -> [Int64] {
            let parameters: JSONObject = ["id": 1, "name": "changed"]
            let operation = OperationFrame(
                id: phone.nextID(), object: "Folder", change: .update, operation: "update", key: key, attributes: ["name": "changed"],
                primaryKey: primaryKey, parameters: parameters)
            return try phone.synchronize([operation]).results.map(\.code)
        }
        #expect(try change(phone.nextKey(), [:]) == [404])
        #expect(try server.backEndValue("SELECT name FROM folder") == "first")
        #expect(try change(phone.key("Folder", "id", 1), ["id": 1]) == [200])
    }

    @Test func `a row that is created under the key while the upload is replayed is not reached either`() throws {
        let meanwhile = SystemLock<(@Sendable () throws -> Void)?>(nil), failure = SystemLock<(any Error)?>(nil)
        let server = try FieldSales.server {
            $0.log = { line in
                guard line.contains("rejected"), let action = meanwhile.withLock({ $0.take() }) else { return }
                do { try action() } catch { failure.withLock { $0 = error } }
            }
        }
        let backup = server.folder.file("enterprise.backup")
        let phone = try TestDevice.inRegion("NORTH", of: server), other = try TestDevice.inRegion("NORTH", of: server, name: "other")
        try server.saveBackEnd(to: backup)
        try other.synchronize([other.create("Customer", RestoredBackEndTests.customer("gone"))])
        try phone.synchronize()
        let gone = phone.key("Customer", "name", "gone")
        try server.reopen(withBackEnd: backup)
        let create = other.create("Customer", RestoredBackEndTests.customer("new")), isDone = SystemLock(false)
        // The server calls it while this thread waits for its answer.
        nonisolated(unsafe) let author = other
        meanwhile.withLock {
            $0 = {
                // Without groups, the server does not read the record again.
                let codes = try author.synchronize([create], groups: []).results.map(\.code)
                isDone.withLock { $0 = codes == [200] }
            }
        }
        let update = OperationFrame(
            id: phone.nextID() + 1, object: "Customer", change: .update, key: gone, attributes: ["name": "changed"], primaryKey: ["id": 4])
        let rejected = OperationFrame(id: phone.nextID() - 1, object: "Customer", change: .create, key: phone.nextKey(), attributes: ["name": ""])
        let results = try phone.synchronize([rejected, update]).results
        #expect(failure.withLock { $0 == nil } && isDone.withLock { $0 })
        #expect(results.map(\.outcome) == [.rejected, .rejected] && results.last?.code == 404)
        #expect(try server.backEndValue(#"SELECT name FROM "the customers" WHERE "customer no" = 4"#) == "new")
    }

    @Test(.needsPostgreSQL) func `a database without the last commits in place of the back end, under a running server`() throws {
        let server = try FieldSales.server(on: .postgreSQL), standby = server.folder.file("standby")
        let phone = try Phone(TestDevice.inRegion("NORTH", of: server)), other = try TestDevice.inRegion("NORTH", of: server, name: "other")
        try server.copyBackEnd(to: standby)
        try other.synchronize([other.create("Customer", RestoredBackEndTests.customer("gone"))])
        try phone.synchronize()
        let gone = phone.device.key("Customer", "name", "gone")
        try server.failOver(toBackEnd: standby)
        #expect(try other.synchronize([other.create("Customer", RestoredBackEndTests.customer("new"))]).results.map(\.code) == [200])
        let update = phone.operation(.update, "Customer", key: gone, ["id": 4], ["name": "changed"])
        #expect(try phone.synchronize([update]).results.map(\.code) == [404])
        #expect(try server.backEndValue(#"SELECT name FROM "the customers" WHERE "customer no" = 4"#) == "new")
    }

    @Test func `a download with changes says how far the records have come, one without does not`() throws {
        let server = try FieldSales.server(), device = try TestDevice.inRegion("NORTH", of: server)
        func records(_ operations: [OperationFrame] = []) throws -> [String: Int64] {
            try device.synchronize(operations).frames.lazy.compactMap { if case .answer(let answer) = $0 { answer.records } else { nil } }.first
                ?? [:]
        }
        #expect(try records().isEmpty)
        let receipt = try #require(device.synchronize([device.create("Customer", RestoredBackEndTests.customer("one"))]).results.first?.receipt)
        #expect(try records().isEmpty)
        #expect(try records([device.create("Customer", RestoredBackEndTests.customer("two"))]) == [receipt.era: 2])
        try server.backEnd { _ = try $0.execute(#"UPDATE "the customers" SET name = 'other' WHERE "customer no" = 1"#) }
        #expect(try records() == [receipt.era: 2])
        // The record may lack its last entries, because their clients are long gone.
        try server.backEnd { _ = try $0.execute("DELETE FROM mobile_processed_operation WHERE seq = 2") }
        try server.loseCache()
        try device.register()
        #expect(try records() == [receipt.era: 2])
    }
}
