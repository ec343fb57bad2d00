import MobileProtocol
import MobileServer
import MobileStore
import Testing

/// The effects of operations on the back end, and their results.
@Suite struct ReplayTests {
    @Test("PSP-04 PSP-05 KEY-07: a created row gets the back end's key, keeps the device's surrogate key, and comes before its result")
    func create() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        let operation = device.create("Customer", ["id": -1, "name": "New", "region": "NORTH", "credit": .number("10.25"), "active": false])
        let result = try device.synchronize([operation])
        var expected = ReplayResult(id: operation.id, outcome: .accepted, object: "Customer", key: operation.key)
        expected.receipt = result.results.first?.receipt
        #expect(result.results == [expected] && expected.receipt?.number == 1)
        #expect(result.logRecords.isEmpty)
        #expect(device.rows["Customer"]?[operation.key]?["id"] == 4)
        #expect(device.rows["Customer"]?[operation.key]?["credit"] == .number("10.25"))
        #expect(result.upserts == ["Customer": 1], "only what is new")
        let types = result.frames.map(\.type)
        #expect(types.lastIndex(of: .groupEnd)! < types.firstIndex(of: .replayResults)!)
        #expect(try server.backEndValue("SELECT active FROM \"the customers\" WHERE name = 'New'") == .text("0"))
    }

    @Test("PND-13 PND-16: keys that the back end gives to new parents fill their children, also across uploads")
    func multilevelInsert() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        let customer = device.create("Customer", ["name": "New", "region": "NORTH", "credit": 1, "active": true])
        let order = device.create(
            "Order", ["customerId": -7, "status": "NEW"], refs: ["customer": .integer(customer.key)], batch: customer.id)
        let line = device.create(
            "Line", ["orderId": -8, "line": 1, "product": "ink", "quantity": 2], refs: ["order": .integer(order.key)], batch: customer.id)
        let result = try device.synchronize([customer, order, line], groups: ["default", "lines"])
        #expect(result.results.map(\.outcome) == [.accepted, .accepted, .accepted])
        #expect(device.rows["Order"]?[order.key]?["customerId"] == 4)
        #expect(device.rows["Order"]?[order.key]?["_ref_customer"] == .integer(customer.key))
        #expect(device.rows["Line"]?[line.key]?["orderId"] == device.rows["Order"]?[order.key]?["id"])

        let second = device.create("Order", ["customerId": 0, "status": "NEW"], refs: ["customer": .integer(customer.key)])
        #expect(try device.synchronize([second]).results.map(\.outcome) == [.accepted])
        #expect(device.rows["Order"]?[second.key]?["customerId"] == 4)
    }

    @Test func `an update writes the attributes that it has and no others`() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        try server.backEnd { try $0.execute("UPDATE \"the customers\" SET name = 'Renamed by others' WHERE \"customer no\" = 1") }
        let operation = device.update("Customer", where: "id", is: 1, set: ["credit": .number("99.99")], primaryKey: ["id": 1])
        let result = try device.synchronize([operation])
        #expect(result.results.map(\.outcome) == [.accepted])
        #expect(device.rows("Customer", by: "id")[1]?["name"] == "Renamed by others")
        #expect(device.rows("Customer", by: "id")[1]?["credit"] == .number("99.99"))
    }

    @Test func `a row can be changed and deleted before its device knows the key that the back end gave it`() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        let create = device.create("Customer", ["name": "New", "region": "NORTH", "credit": 1, "active": true])
        try device.synchronize(upload: device.upload([create], groups: []), losesAnswer: true)
        let update = OperationFrame(id: device.nextID(), object: "Customer", change: .update, key: create.key, attributes: ["name": "Newer"])
        #expect(try device.synchronize([update], groups: []).results.map(\.outcome) == [.accepted])
        #expect(try server.backEndValue("SELECT name FROM \"the customers\" WHERE \"customer no\" = 4") == .text("Newer"))
        let delete = OperationFrame(id: device.nextID(), object: "Customer", change: .delete, key: create.key)
        #expect(try device.synchronize([delete], groups: []).results.map(\.outcome) == [.accepted])
        #expect(try server.backEndValue("SELECT count(*) FROM \"the customers\"") == 3)
    }

    @Test func `composite keys address one row, and deleting a row that is gone is done`() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        let pepper = device.key("Line", "product", "pepper")
        let update = OperationFrame(
            id: device.nextID(), object: "Line", change: .update, key: pepper, attributes: ["quantity": 70], primaryKey: ["orderId": 10, "line": 2])
        let salt = device.key("Line", "product", "salt")
        let delete = OperationFrame(id: device.nextID(), object: "Line", change: .delete, key: salt, primaryKey: ["orderId": 10, "line": 1])
        let again = OperationFrame(id: device.nextID(), object: "Line", change: .delete, key: salt, primaryKey: ["orderId": 10, "line": 1])
        let result = try device.synchronize([update, delete, again], groups: ["lines"])
        #expect(result.results.map(\.outcome) == [.accepted, .accepted, .accepted])
        #expect(result.deletes == ["Line": 1])
        #expect(device.rows["Line"]?[pepper]?["quantity"] == 70)
        #expect(device.rows["Line"]?[salt] == nil)
    }

    @Test func `a changed key moves the row and its surrogate key stays`() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        let key = device.key("Line", "product", "tea")
        let update = OperationFrame(
            id: device.nextID(), object: "Line", change: .update, key: key, attributes: ["line": 9], primaryKey: ["orderId": 11, "line": 1])
        let result = try device.synchronize([update], groups: ["lines"])
        #expect(result.results.map(\.outcome) == [.accepted])
        #expect(device.rows["Line"]?[key]?["line"] == 9)
        #expect(result.deletes.isEmpty)
    }

    @Test func `an operation of the model runs its statements with its parameters`() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        let raise = OperationFrame(
            id: device.nextID(), object: "Customer", change: .other, operation: "raise", key: device.key("Customer", "id", 2),
            parameters: ["number": 2, "amount": .number("0.5")])
        #expect(try device.synchronize([raise]).results.map(\.outcome) == [.accepted])
        #expect(device.rows("Customer", by: "id")[2]?["credit"] == .number("12.5"))
    }

    @Test("large values of an operation go to the back end and come back to other devices")
    func largeValues() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        let other = try TestDevice.inRegion("NORTH", of: server, name: "tablet")
        let photo = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let operation = device.update("Customer", where: "id", is: 2, set: [:], primaryKey: ["id": 2])
        let first = device.update("Customer", where: "id", is: 1, set: [:], primaryKey: ["id": 1])
        let large: [Int64: [String: [UInt8]?]] = [operation.id: ["photo": photo, "notes": Array("Ünïcode ☃".utf8)], first.id: ["notes": nil]]
        #expect(try device.synchronize([operation, first], large: large).results.map(\.outcome) == [.accepted, .accepted])
        #expect(try server.backEndValue("SELECT typeof(notes) || length(photo) FROM \"the customers\" WHERE \"customer no\" = 2") == "text300000")
        let result = try other.synchronize()
        #expect(result.largeValues == 3)
        #expect(result.upserts.isEmpty, "the rows themselves have not changed")
        let key = other.key("Customer", "id", 2)
        #expect(other.largeValues["Customer"]?[key]?["photo"] == photo)
        #expect(other.largeValues["Customer"]?[key]?["notes"] == Array("Ünïcode ☃".utf8))
        #expect(other.largeValues["Customer"]?[other.key("Customer", "id", 1)]?["notes"] == nil)
    }
}
