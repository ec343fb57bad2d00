import MobileStore
import Testing

@testable import MobileObjects

/// Lists of children with any number of objects.
@Suite struct ManyChildrenTests {
    /// If each child were compared with those before it, this test would take minutes.
    @Test("adding a child costs the same for any number of children, and so does the number and a position")
    func adding() throws {
        let shop = try Shop()
        let customer = try shop.newCustomer("c1")
        var sum = 0
        for number in 0..<20_000 {
            let order = try shop.newOrder(of: customer)
            customer.orders.append(order)
            sum += customer.orders.count
            if customer.orders[number] !== order { sum = -1 }
        }
        #expect(sum == 20_000 * 20_001 / 2)
    }

    @Test("the same holds where children were read before")
    func addingToRead() throws {
        let shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        try shop.importRows(
            "SalesOrder", ["number", "customerId", "_ref_customer"], "[\((0..<2_000).map { "[\(10 + $0),\($0),\"c1\",1]" }.joined(separator: ","))]")
        let customer = try #require(try shop.customer(1))
        let first = customer.orders[0]
        var wrong = 0
        for number in 2_000..<20_000 {
            let order = try shop.newOrder(of: customer)
            customer.orders.append(first)
            if customer.orders.count != number + 1 || customer.orders[number] !== order { wrong += 1 }
        }
        #expect(wrong == 0)
    }

    @Test("an object is in a list once, and a row is in it once")
    func membership() throws {
        let shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        try shop.importOrder(2, number: 7, customer: 1)
        let customer = try #require(try shop.customer(1)), again = try #require(try shop.objects("SalesOrder").find(2))
        let order = try #require(customer.orders.first)
        customer.orders.append(order)
        #expect(customer.orders.count == 1)
        // Another object of the same row.
        customer.orders.append(again)
        #expect(customer.orders.count == 1 && customer.orders[0] === order)
        let new = try shop.newOrder(of: customer)
        #expect(customer.orders.count == 2 && customer.orders[1] === new && Array(customer.orders).map { $0 === new } == [false, true])
        try customer.save()
        #expect(customer.orders.count == 2)
        #expect(try customer.orders.all().map(\.surrogateKey) == [2, new.surrogateKey])
    }

    @Test("a list that is read after a child was added and saved has its row once")
    func readLater() throws {
        let shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        let customer = try #require(try shop.customer(1))
        let order = try shop.newOrder(of: customer)
        try customer.save()
        #expect(customer.orders.count == 1)
        #expect(try customer.orders.all().map(\.surrogateKey) == [order.surrogateKey])
    }
}
