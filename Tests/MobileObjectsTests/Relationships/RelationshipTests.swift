@_spi(GeneratedCode) import MobileObjects
import MobileStore
import Testing

/// Parents and children, as properties of each other.
@Suite struct RelationshipTests {
    let shop: Shop
    init() throws {
        shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        try shop.importOrder(11, number: 11, customer: 1)
        try shop.importOrder(12, number: 12, customer: 1)
    }

    private func customer() throws -> GenericEntity { try shop.objects("Customer").load(1) }

    @Test("REL-02: the children of a parent are loaded when read, in the order of their keys")
    func children() throws {
        let customer = try customer()
        #expect(try customer.orders.all().map(\.surrogateKey) == [11, 12])
        #expect(customer.orders.count == 2 && customer.orders[1].surrogateKey == 12)
        #expect(customer.orders.error == nil)
    }

    @Test("children are kept with the parent until it is refreshed")
    func cached() throws {
        let customer = try customer()
        let first = try customer.orders.all()
        try shop.importOrder(13, number: 13, customer: 1)
        #expect(customer.orders.count == 2 && customer.orders[0] === first[0])
        try customer.refresh()
        #expect(customer.orders.count == 3)
    }

    @Test("REL-03: a child gives its parent; the one that it was read from is the same object")
    func parent() throws {
        let order = try shop.objects("SalesOrder").load(11)
        let parent: GenericEntity? = order.parent(0)
        #expect(parent?.surrogateKey == 1)
        let customer = try customer()
        let same: GenericEntity? = customer.orders[0].parent(0)
        #expect(same === customer)
    }

    @Test("REL-01: a many-to-one relationship without an inverse; setting and clearing it is a change")
    func oneWay() throws {
        try shop.importRows("Product", ["id", "name", "price"], "[[31,31,\"Tea\",2.50]]")
        let customer = try customer(), product = try shop.objects("Product").load(31)
        customer.setParent(product, 1)
        #expect(customer.isDirty)
        try customer.update()
        var found: GenericEntity? = try self.customer().parent(1)
        #expect(found?.surrogateKey == 31)
        try customer.submitPending()
        #expect(try shop.database.outbox[0].references["favourite"] == 31)
        let none: GenericEntity? = nil
        customer.setParent(none, 1)
        try customer.update()
        found = try self.customer().parent(1)
        #expect(found == nil)
    }

    @Test("REL-06: setting a child's parent fills the mapped attribute when it is saved")
    func setParent() throws {
        try shop.importCustomer(2, id: "c2", name: "Castle Inn")
        let order = try shop.objects("SalesOrder").load(11), other = try shop.objects("Customer").load(2)
        order.setParent(other, 0)
        try order.update()
        #expect(try order.value("customerId") == "c2")
        #expect(try shop.objects("Customer").load(2).orders.count == 1)
        #expect(try customer().orders.count == 1)
    }

    @Test("a pending child that moves to another parent takes the mark with it")
    func moveMark() throws {
        try shop.importCustomer(2, id: "c2", name: "Castle Inn")
        let order = try shop.objects("SalesOrder").load(11)
        order.setParent(try shop.objects("Customer").load(2), 0)
        try order.update()
        #expect(try shop.customer(1)?.pendingChange == PendingChange.none)
        #expect(try shop.customer(2)?.pendingChange == .parent)
        try order.cancelPending()
        #expect(try shop.customer(2)?.pendingChange == PendingChange.none)
        #expect(try shop.customer(1)?.orders.count == 2)
    }

    @Test("REL-06: setting a parent's list gives each object in it this parent")
    func setList() throws {
        let customer = try shop.newCustomer("c2")
        let orders = [try shop.new("SalesOrder", ["status": "A"]), try shop.new("SalesOrder", ["status": "B"])]
        customer.setChildren(Children(orders), 0)
        #expect(customer.orders.count == 2)
        try customer.save()
        #expect(try shop.objects("Customer").load(customer.surrogateKey).orders.map { try $0.value("status") } == ["A", "B"])
    }

    @Test("REL-04: a child of a new parent cannot be saved before it")
    func newParent() throws {
        let customer = try shop.newCustomer("c2")
        let order = try shop.newOrder(of: customer)
        #expect(#expect(throws: ObjectError.self) { try order.create() }?.code == .notSaved)
        try customer.create()
        try order.create()
        #expect(try shop.objects("SalesOrder").load(order.surrogateKey).value("customerId") == "c2")
    }

    @Test("a child that is saved after its parent went away still knows its parent's key")
    func parentWentAway() throws {
        let order: GenericEntity
        do {
            let customer = try shop.newCustomer("c2")
            order = try shop.newOrder(of: customer)
            try customer.create()
        }
        try order.create()
        #expect(try shop.value("SELECT \"_ref_customer\" FROM \"SalesOrder\" WHERE \"_sk\" = \(order.surrogateKey)") == 1000)
    }

    @Test("objects that refer to each other are freed together")
    func noCycle() throws {
        weak var seen: GenericEntity?
        do {
            let customer = try shop.newCustomer("c2")
            let order = try shop.newOrder(of: customer)
            order.setParent(customer, 0)
            seen = order
            try customer.save()
            #expect(customer.orders.count == 1)
        }
        #expect(seen == nil)
    }

    @Test("PND-16 PND-17 KEY-07: multilevel insert: references run over surrogate keys, what the back end assigns is left to it")
    func multilevelInsert() throws {
        let customer = try customer()
        let order = try shop.newOrder(of: customer)
        for number in 1...2 { _ = try shop.newLine(of: order, Int64(number)) }
        let other = try shop.newOrder(of: customer)
        _ = try shop.newLine(of: other, 1)
        try customer.save()
        try customer.refresh()
        try customer.submitPending()
        #expect(customer.pending)
        let lines = try shop.database.outbox.filter { $0.entity == "Line" }
        // Both orders have no number yet, so the lines' modelled keys look alike: they are not duplicates.
        #expect(lines.map { $0.attributes["orderNumber"] } == [0, 0, 0])
        #expect(lines.map { $0.references["order"] } == [1000, 1000, 1003])
        // The back end assigns the numbers; the answers settle all of it.
        try shop.importRows(
            "SalesOrder", ["number", "customerId", "status", "_ref_customer"], "[[1000,501,\"c1\",\"NEW\",1],[1003,502,\"c1\",\"NEW\",1]]")
        try shop.importRows(
            "Line", ["orderNumber", "line", "text", "_ref_order"],
            "[[1001,501,1,\"\",1000],[1002,501,2,\"\",1000],[1004,502,1,\"\",1003]]")
        for record in try shop.database.outbox { try shop.accept(record.id) }
        #expect(try shop.objects("Line").findByPrimaryKey(502, 1)?.isPending == false)
        #expect(try shop.customer(1)?.pendingChange == PendingChange.none)
        #expect(try !shop.database.hasPendingOperations())
    }

    @Test("a parent that is imported while its child is pending gets its mark")
    func importedParent() throws {
        let order = try shop.objects("SalesOrder").load(11)
        try order.set("status", "PAID")
        try order.update()
        try shop.importDeletions("Customer", 1)
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        #expect(try customer().pendingChange == .parent)
    }
}
