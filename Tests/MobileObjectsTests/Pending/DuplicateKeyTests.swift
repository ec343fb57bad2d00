import MobileObjects
import MobileStore
import Testing

/// Rows that have one modelled key for a time: the finders return the one that the server has.
@Suite struct DuplicateKeyTests {
    @Test("after a create that was refused, the row of the server is found, in any order of the surrogate keys", arguments: [500, 5000])
    func refusedCreate(serverKey: Int64) throws {
        let shop = try Shop()
        let own = try shop.newCustomer("c1", name: "Own")
        try own.create()
        try own.submitPending()
        try shop.reject(own.replayPending)
        // The server refused it because another device had created this one. It comes with a key below or above the own one.
        try shop.importCustomer(serverKey, id: "c2", name: "Server")
        try shop.database.write("same key") {
            try $0.connection.execute("UPDATE \"Customer\" SET \"id\" = 'c1' WHERE \"_sk\" = ?1", [.integer(serverKey)])
        }
        let found = try #require(try shop.objects("Customer").findByPrimaryKey("c1"))
        #expect(found.name == "Server" && found.surrogateKey == serverKey)
        // Without it, the own row is there.
        try shop.importDeletions("Customer", serverKey)
        #expect(try shop.objects("Customer").findByPrimaryKey("c1")?.name == "Own")
    }

    @Test(
        "a row whose key was changed to one that another device has used does not hide the row that has this key at the server",
        arguments: [(1, 2), (2, 1)])
    func changedKey(changed: Int64, other: Int64) throws {
        let shop = try Shop()
        try shop.importCustomer(changed, id: "c1", name: "Changed")
        try shop.importCustomer(other, id: "c2", name: "Server")
        let customer = try #require(try shop.customer(changed))
        try customer.set("id", "c3")
        try customer.update()
        try shop.importCustomer(other, id: "c3", name: "Server")
        #expect(try shop.objects("Customer").findByPrimaryKey("c3")?.name == "Server")
        try customer.submitPending()
        try shop.reject(customer.replayPending)
        #expect(try shop.objects("Customer").findByPrimaryKey("c3")?.name == "Server")
    }

    @Test func `an update of a key to an existing one is refused as a create is, and leaves everything as it was`() throws {
        let shop = try Shop()
        for key in 1...2 { try shop.importCustomer(Int64(key), id: "c\(key)", name: "Customer \(key)") }
        let customer = try #require(try shop.customer(1))
        try customer.set("id", "c2")
        #expect(ObjectError.of { try customer.update() }?.code == .duplicateKey)
        #expect(try customer.isDirty && !shop.database.hasPendingOperations())
        // A key that is set to what it was, and a free one, are allowed.
        try customer.set("id", "c1")
        try customer.update()
        try customer.set("id", "c3")
        try customer.update()
        #expect(try shop.objects("Customer").findByPrimaryKey("c3")?.surrogateKey == 1)
    }

    @Test func `a part that moves to an owner which has one with its number is refused`() throws {
        let shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        for order in 11...12 {
            try shop.importOrder(Int64(order), number: Int64(order), customer: 1)
            try shop.importLine(Int64(order + 10), order: Int64(order), number: 1, text: "Tea")
        }
        let line = try shop.objects("Line").load(21)
        try line.setParent(shop.objects("SalesOrder").load(12), "order")
        #expect(ObjectError.of { try line.update() }?.code == .duplicateKey)
        try line.set("line", 2)
        try line.update()
        #expect(try shop.objects("SalesOrder").load(12).lines.all().count == 2)
    }

    @Test(arguments: [true, false])
    func `a cancel that would bring back a key which another row has is refused, and leaves everything as it was`(isDelete: Bool) throws {
        let shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Server")
        let former = try #require(try shop.customer(1))
        if isDelete {
            try former.delete()
        } else {
            try former.set("id", "c9")
            try former.update()
        }
        let new = try shop.newCustomer("c1", name: "Own")
        try new.create()
        let error = ObjectError.of { try former.cancelPending() }
        #expect(error?.code == .duplicateKey && error?.message.contains("delete or cancel that row first") == true)
        #expect(try shop.database.outbox.isEmpty && shop.count("Customer_os") == 2)
        #expect(try shop.objects("Customer").findByPrimaryKey("c1")?.name == "Own")
        // Both together, in any order: nothing is pending any more.
        try shop.database.cancelPendingOperations()
        #expect(try shop.count("Customer") == 1 && shop.count("Customer_os") == 0)
        #expect(try shop.objects("Customer").findByPrimaryKey("c1")?.name == "Server")
    }

    @Test("a reference by value leads to the row that the server has")
    func reference() throws {
        let shop = try Shop()
        let own = try shop.newCustomer("c1", name: "Own")
        try own.create()
        try own.submitPending()
        try shop.reject(own.replayPending)
        try shop.importCustomer(5000, id: "c2", name: "Server")
        try shop.database.write("same key") { try $0.connection.execute("UPDATE \"Customer\" SET \"id\" = 'c1' WHERE \"_sk\" = 5000") }
        let order = try shop.new("SalesOrder", ["customerId": "c1"])
        try order.create()
        #expect(try shop.value("SELECT \"_ref_customer\" FROM \"SalesOrder\"") == .integer(5000))
    }
}
