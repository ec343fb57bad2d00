import MobileObjects
import Testing

/// Children of one object, chosen by a query.
@Suite struct ChildQueryTests {
    let shop: Shop
    init() throws {
        shop = try Shop()
        for key in 1...2 { try shop.importCustomer(Int64(key), id: "c\(key)", name: "Customer \(key)") }
        for key in 11...30 {
            try shop.importOrder(Int64(key), number: Int64(key), customer: key % 2 == 0 ? 2 : 1, status: key % 3 == 0 ? "OPEN" : "NEW")
        }
        for key in 11...20 { try shop.importLine(Int64(100 + key), order: Int64(key), number: 1, text: key < 15 ? "tea" : "coffee") }
    }

    private func orders() throws -> Children<GenericEntity> { try shop.objects("Customer").load(1).orders }
    private func find(_ query: Query) throws -> [Int64] { try orders().findWithQuery(query).map(\.surrogateKey) }

    @Test("REL-05: children are filtered by a query with joins and tests, sorted and paged; those of other parents are not among them")
    func filter() async throws {
        #expect(try find(Query()) == [11, 13, 15, 17, 19, 21, 23, 25, 27, 29])
        #expect(try find(Query().where(.equal("status", "OPEN"))) == [15, 21, 27])
        #expect(try find(Query().where(.equal("status", "OPEN") || .equal("number", 12))) == [15, 21, 27], "whatever the test allows")
        let tea = Query().join("Line", "l", "l.orderNumber", "SalesOrder.number").where(.equal("l.text", "tea"))
        #expect(try find(tea) == [11, 13])
        #expect(try find(tea.where(.equal("SalesOrder.status", "OPEN"))) == [])
        #expect(
            try find(Query().from("SalesOrder", "o").where(.greaterThan("o.number", 22)).sorted(by: .descending("o.number"))) == [29, 27, 25, 23])
        #expect(try find(Query().skip(2).take(3)) == [15, 17, 19])
        let open = Query().where(.equal("status", "OPEN")), orders = try orders()
        #expect(try count(orders, open) == 3 && count(orders, Query().take(4)) == 4)
        #expect(try await orders.findWithQuery(open).count == 3)
        #expect(try await orders.countWithQuery(open) == 3)
    }

    private func count(_ orders: Children<GenericEntity>, _ query: Query) throws -> Int { try orders.countWithQuery(query) }

    @Test("children as a list that reads pages, which sees what changes underneath")
    func list() throws {
        let list = try orders().list(Query().sorted(by: .descending("number")), pageSize: 3)
        #expect(try list.count() == 10 && list.object(at: 7).surrogateKey == 15)
        try shop.importDeletions("SalesOrder", 29)
        #expect(try list.count() == 9 && list.object(at: 7).surrogateKey == 13)
        #expect(try orders().list().map(\.surrogateKey).count == 9)
    }

    @Test("a new parent has no children in the database; a list that belongs to nobody, and a query of another class, are errors")
    func errors() throws {
        let customer = try shop.newCustomer("new")
        _ = try shop.newOrder(of: customer)
        #expect(
            try customer.orders.findWithQuery(Query()).isEmpty && customer.orders.countWithQuery(Query()) == 0 && customer.orders.list().count() == 0)
        #expect(#expect(throws: ObjectError.self) { try Children<GenericEntity>([customer]).findWithQuery(Query()) }?.code == .misuse)
        #expect(#expect(throws: ObjectError.self) { try find(Query().from("Customer")) }?.code == .invalidQuery)
        #expect(#expect(throws: ObjectError.self) { try find(Query().where(.equal("colour", 1))) }?.code == .noSuchAttribute)
    }
}
