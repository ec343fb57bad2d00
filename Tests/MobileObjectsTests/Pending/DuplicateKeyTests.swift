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

    @Test("a row whose key was changed to an existing one does not hide the row that has this key at the server", arguments: [(1, 2), (2, 1)])
    func changedKey(changed: Int64, other: Int64) throws {
        let shop = try Shop()
        try shop.importCustomer(changed, id: "c1", name: "Changed")
        try shop.importCustomer(other, id: "c2", name: "Server")
        let customer = try #require(try shop.customer(changed))
        try customer.set("id", "c2")
        try customer.update()
        #expect(try shop.objects("Customer").findByPrimaryKey("c2")?.name == "Server")
        try customer.submitPending()
        try shop.reject(customer.replayPending)
        #expect(try shop.objects("Customer").findByPrimaryKey("c2")?.name == "Server")
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
