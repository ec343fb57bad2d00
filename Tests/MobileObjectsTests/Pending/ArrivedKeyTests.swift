import MobileObjects
import MobileStore
import Testing

/// Attributes of references to rows that get their keys from the back end.
@Suite struct ArrivedKeyTests {
    let shop: Shop, order: GenericEntity, line: GenericEntity

    /// Makes an order with a line, submits both, and changes the line again.
    init() throws {
        shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        let customer = try #require(try shop.customer(1))
        order = try shop.newOrder(of: customer)
        line = try shop.newLine(of: order, 1, text: "a")
        try customer.save()
        try customer.submitPending()
        try line.refresh()
        try order.refresh()
    }

    private func importOrder() throws {
        try shop.importRows(
            "SalesOrder", ["number", "customerId", "status", "_ref_customer"], "[[\(order.surrogateKey),77,\"c1\",\"NEW\",1]]")
    }

    /// Checks that the line has the order's number, and the reference.
    private func check(_ moment: Comment) throws {
        let found = try #require(try shop.objects("Line").find(line.surrogateKey))
        #expect(try found.value("orderNumber") == .integer(77), moment)
        let parent: GenericEntity? = try found.parent("order")
        #expect(parent?.surrogateKey == order.surrogateKey, moment)
    }

    @Test(
        "a row that waits has the key of its parent as soon as the parent has one, and keeps it whatever the answers are", arguments: [true, false])
    func waiting(isAccepted: Bool) throws {
        let create = line.replayPending
        try line.set("text", "b")
        try line.update()
        try shop.accept(order.replayPending)
        try importOrder()
        try check("imported")
        try shop.answer(create, accepted: isAccepted)
        try check("answered")
        guard isAccepted else { return }
        try line.refresh()
        try line.cancelPending()
        try check("cancelled")
        #expect(try shop.objects("Line").find(line.surrogateKey)?.value("text") == "a")
    }

    @Test func `a row that was accepted has it before its own group was synchronized, and the change log tells of it`() throws {
        try shop.accept(order.replayPending)
        try shop.accept(line.replayPending)
        try shop.database.enableChangeLog()
        try importOrder()
        try check("imported")
        #expect(try shop.database.takeChangeLogs().contains { $0.entity == "Line" && $0.surrogateKey == line.surrogateKey })
    }

    @Test func `a number that this device has given to the parent is not the back end's key`() throws {
        try order.set("number", 4)
        try order.update()
        try importOrder()
        try check("imported")
        for row in [order, line] {
            try row.refresh()
            try shop.accept(row.replayPending)
        }
        try check("answered")
    }

    @Test func `a reference that the user has moved meanwhile is left alone`() throws {
        try shop.importOrder(500, number: 5, customer: 1)
        try line.set("orderNumber", 5)
        try line.update()
        try shop.accept(order.replayPending)
        try importOrder()
        let found = try #require(try shop.objects("Line").find(line.surrogateKey)), parent: GenericEntity? = try found.parent("order")
        #expect(try found.value("orderNumber") == .integer(5) && parent?.surrogateKey == 500)
    }
}
