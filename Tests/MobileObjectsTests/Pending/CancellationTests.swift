import Foundation
import MobileObjects
import Testing

/// Cancelling, before and after the submit.
@Suite struct CancellationTests {
    let shop: Shop
    init() throws {
        shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods", city: "Dublin")
        try shop.importCustomer(2, id: "c2", name: "Castle Inn", city: "Cork")
    }

    @Test("PND-06: cancelPending of an update brings the old values back")
    func update() throws {
        let customer = try #require(try shop.customer(1))
        let counter = customer.replayCounter
        try customer.set("city", "Galway")
        try customer.update()
        try customer.cancelPending()
        #expect(try customer.value("city") == "Dublin" && customer.stateRow == "F F F F F F N \(counter) 0 0")
        #expect(try shop.count("Customer_os") == 0)
    }

    @Test("PND-06: cancelPending of a create removes the row, of a delete brings it back")
    func createAndDelete() throws {
        let created = try shop.newCustomer("c3"), deleted = try #require(try shop.customer(1))
        try created.create()
        try deleted.delete()
        try created.cancelPending()
        try deleted.cancelPending()
        #expect(created.isNew && created.surrogateKey == 0)
        #expect(!deleted.isDeleted && deleted.name == "Harbour Foods")
        #expect(try shop.count("Customer") == 2 && !shop.database.hasPendingOperations())
    }

    @Test("PND-07 PSP-14: cancelPendingOperations of a class cancels each pending row of it")
    func cancelClass() throws {
        for key in [1, 2] as [Int64] {
            let customer = try #require(try shop.customer(key))
            try customer.set("city", "Galway")
            try customer.update()
        }
        let product = try shop.new("Product", ["id": 1, "name": "Tea", "price": .decimal(2)])
        try product.create()
        try shop.database.cancelPendingOperations(of: shop.objects("Customer").metadata)
        #expect(try shop.customer(1)?.value("city") == "Dublin" && shop.customer(2)?.value("city") == "Cork")
        #expect(try shop.count("Product_os") == 1)
    }

    @Test("PND-08: cancelPendingOperations of the database cancels what was not submitted")
    func cancelDatabase() throws {
        let submitted = try #require(try shop.customer(1)), waiting = try #require(try shop.customer(2))
        for customer in [submitted, waiting] {
            try customer.set("city", "Galway")
            try customer.update()
        }
        try submitted.submitPending()
        try shop.database.cancelPendingOperations()
        #expect(try shop.customer(1)?.value("city") == "Galway" && shop.customer(2)?.value("city") == "Cork")
    }

    @Test("PND-09: cancelPendingObjects cancels the given objects")
    func cancelObjects() throws {
        let customers = try [1, 2].map { try #require(try shop.customer($0)) }
        for customer in customers {
            try customer.set("city", "Galway")
            try customer.update()
        }
        try shop.database.cancelPendingObjects([customers[1]])
        #expect(try shop.customer(1)?.value("city") == "Galway" && shop.customer(2)?.value("city") == "Cork")
    }

    @Test("PND-10: after a submit only the state goes; the record stays, and its answer finds nothing pending", arguments: [true, false])
    func afterSubmit(accepted: Bool) throws {
        let customer = try #require(try shop.customer(1))
        try customer.set("city", "Galway")
        try customer.update()
        try customer.submitPending()
        let id = customer.replayPending
        try customer.cancelPending()
        #expect(try customer.value("city") == "Dublin" && !customer.isPending)
        #expect(try shop.database.outbox.map(\.id) == [id])
        if accepted { try shop.importCustomer(1, id: "c1", name: "Harbour Foods", city: "Galway") }
        let outcome = try shop.answer(id, accepted: accepted)
        #expect(outcome?.changedState == false)
        try customer.refresh()
        #expect(try customer.value("city") == (accepted ? "Galway" : "Dublin") && !customer.isPending)
        #expect(try shop.database.outbox.isEmpty)
    }

    @Test("PND-10: a cancelled create that was submitted comes back with the import when the server took it")
    func createAfterSubmit() throws {
        let customer = try shop.newCustomer("c3", name: "Bridge House")
        try customer.create()
        try customer.submitPending()
        let (id, key) = (customer.replayPending, customer.surrogateKey)
        try customer.cancelPending()
        #expect(customer.isNew)
        #expect(try shop.customer(key) == nil)
        try shop.importCustomer(key, id: "c3", name: "Bridge House")
        try shop.accept(id)
        #expect(try shop.customer(key)?.isPending == false)
    }

    @Test("cancelling a parent cancels its pending children, whatever they wait for, and takes the mark away")
    func cascade() throws {
        try shop.importOrder(11, number: 11, customer: 1)
        try shop.importOrder(12, number: 12, customer: 1)
        let customer = try #require(try shop.customer(1))
        let orders = try customer.orders.all()
        try orders[0].set("status", "PAID")
        try orders[1].delete()
        _ = try shop.newOrder(of: customer, status: "EXTRA")
        try customer.save()
        try customer.refresh()
        #expect(customer.pendingChange == .parent)
        try customer.cancelPending()
        #expect(try customer.orders.all().map { try $0.value("status") } == ["NEW", "NEW"])
        #expect(customer.pendingChange == PendingChange.none)
        #expect(try !shop.database.hasPendingOperations())
    }

    @Test("cancelling a child takes the parent's mark away when it was the last one")
    func child() throws {
        try shop.importOrder(11, number: 11, customer: 1)
        try shop.importLine(21, order: 11, number: 1, text: "tea")
        let line = try #require(try shop.objects("Line").find(21)), order = try #require(try shop.objects("SalesOrder").find(11))
        try line.set("text", "coffee")
        try line.update()
        try order.set("status", "PAID")
        try #require(try shop.objects("SalesOrder").find(11)).refresh()
        try line.cancelPending()
        #expect(try shop.customer(1)?.pendingChange == PendingChange.none)
        #expect(try shop.objects("SalesOrder").find(11)?.pendingChange == PendingChange.none)
    }
}
