import Foundation
import MobileObjects
import MobileStore
import Testing

/// The effects of the server's answers on pending rows: the rows of the table of events, one by one.
@Suite struct SettlementTests {
    let shop: Shop
    init() throws {
        shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods", city: "Dublin")
    }

    private func changed(city: String, submitted: Bool = true) throws -> GenericEntity {
        let customer = try #require(try shop.customer(1))
        try customer.set("city", .string(city))
        try customer.update()
        if submitted { try customer.submitPending() }
        return customer
    }

    @Test("PSP-04 PSP-05: accepted after an import: the server's version is what remains, not pending")
    func acceptedWithImport() throws {
        let customer = try changed(city: "Cork")
        try shop.importCustomer(1, id: "c1", name: "HARBOUR FOODS", city: "Cork City")
        #expect(try shop.customer(1)?.value("city") == "Cork")
        try shop.accept(customer.replayPending)
        let now = try #require(try shop.customer(1))
        #expect(try now.value("city") == "Cork City" && now.name == "HARBOUR FOODS" && !now.isPending)
        #expect(try shop.count("Customer_os") == 0 && shop.database.outbox.isEmpty)
    }

    @Test("accepted without an import: the submitted values remain, with the counter that the row had before")
    func acceptedWithoutImport() throws {
        let counter = try #require(try shop.customer(1)).replayCounter
        let customer = try changed(city: "Cork")
        try shop.accept(customer.replayPending)
        let now = try #require(try shop.customer(1))
        #expect(try now.value("city") == "Cork" && !now.isPending && now.replayCounter == counter)
    }

    @Test("X-46: accepted, but changed again since: the newer edit stays pending, relative to what was accepted")
    func changedSince() throws {
        let customer = try changed(city: "Cork")
        let id = customer.replayPending
        try customer.set("name", "Harbour")
        try customer.update()
        try shop.accept(id)
        try customer.refresh()
        #expect(customer.stateRow.hasPrefix("F F F F T T U") && customer.replayPending == 0)
        #expect(try customer.value("city") == "Cork" && customer.name == "Harbour")
        try customer.cancelPending()
        #expect(try customer.value("city") == "Cork" && customer.name == "Harbour Foods" && !customer.isPending)
    }

    @Test("X-46: a create that was changed since its submit becomes an update when it is accepted")
    func changedCreate() throws {
        let customer = try shop.newCustomer("c2", name: "Castle Inn")
        try customer.create()
        try customer.submitPending()
        let id = customer.replayPending
        try customer.set("name", "Castle Hotel")
        try customer.update()
        try shop.accept(id)
        try customer.refresh()
        #expect(customer.pendingChange == .update && customer.name == "Castle Hotel")
        try customer.cancelPending()
        #expect(customer.name == "Castle Inn" && !customer.isNew && !customer.isPending)
    }

    @Test("the same after an import: cancel brings the imported version back")
    func changedSinceWithImport() throws {
        let customer = try changed(city: "Cork")
        let id = customer.replayPending
        try customer.set("name", "Harbour")
        try customer.update()
        try shop.importCustomer(1, id: "c1", name: "HARBOUR FOODS", city: "Cork City")
        try shop.accept(id)
        try customer.refresh()
        #expect(customer.pendingChange == .update && customer.replayPending == 0)
        try customer.cancelPending()
        #expect(try customer.value("city") == "Cork City" && customer.name == "HARBOUR FOODS")
    }

    @Test("accepted, another id: an answer to an older submission changes no state")
    func olderAccepted() throws {
        let customer = try changed(city: "Cork")
        let first = customer.replayPending
        try customer.set("city", "Galway")
        try customer.update()
        try customer.submitPending()
        try shop.accept(first)
        try customer.refresh()
        #expect(customer.pendingChange == .update && customer.replayPending == customer.replayCounter)
        #expect(try shop.database.outbox.map(\.id) == [customer.replayPending])
        try shop.accept(customer.replayPending)
        try customer.refresh()
        #expect(try !customer.isPending && customer.value("city") == "Galway")
    }

    @Test("an older create that was accepted keeps a later rejected change from being sent as a second create")
    func olderCreateAccepted() throws {
        let customer = try shop.newCustomer("c2", name: "Castle Inn")
        try customer.create()
        try customer.submitPending()
        let first = customer.replayPending
        try customer.set("name", "Castle Hotel")
        try customer.update()
        try customer.submitPending()
        try shop.accept(first)
        try shop.reject(customer.replayPending)
        try customer.refresh()
        #expect(customer.state == .failed && customer.name == "Castle Hotel")
        try customer.submitPending()
        #expect(try shop.database.outbox.map(\.change) == [.update])
    }

    @Test("PSP-07 PND-18: rejected: stays pending, failure set, replayPending 0")
    func rejected() throws {
        let customer = try changed(city: "Cork")
        let id = customer.replayPending
        try shop.reject(id)
        try customer.refresh()
        #expect(customer.isPending && customer.replayFailure == id && customer.replayPending == 0)
        #expect(try customer.value("city") == "Cork" && shop.database.outbox.isEmpty)
    }

    @Test("rejected, but changed since: stays pending and is not marked as failed")
    func rejectedChangedSince() throws {
        let customer = try changed(city: "Cork")
        let id = customer.replayPending
        try customer.set("city", "Galway")
        try customer.update()
        try shop.reject(id)
        try customer.refresh()
        #expect(customer.pendingChange == .update && customer.replayFailure == 0 && customer.replayPending == 0)
    }

    @Test("PSP-13: a rejected change is changed and submitted again under a new id")
    func resubmit() throws {
        let customer = try changed(city: "Cork")
        let id = customer.replayPending
        try shop.reject(id)
        try customer.refresh()
        try customer.set("city", "Galway")
        try customer.save()
        try customer.submitPending()
        #expect(customer.replayPending > id && customer.replayFailure == 0 && customer.state == .submitted)
        try shop.accept(customer.replayPending)
        try customer.refresh()
        #expect(customer.state == .unchanged)
    }

    @Test("accepted delete: nothing is left of the row")
    func deleteAccepted() throws {
        let customer = try #require(try shop.customer(1))
        try customer.delete()
        try customer.submitPending()
        try shop.accept(customer.replayPending)
        #expect(try shop.count("Customer") == 0 && shop.count("Customer_os") == 0 && !shop.database.hasPendingOperations())
        try customer.refresh()
        #expect(customer.state == .deleted)
    }

    @Test("rejected delete: stays pending as failed, and cancel brings the row back")
    func deleteRejected() throws {
        let customer = try #require(try shop.customer(1))
        try customer.delete()
        try customer.submitPending()
        try shop.reject(customer.replayPending)
        try customer.refresh()
        #expect(customer.state == .failed && customer.pendingChange == .delete)
        try customer.cancelPending()
        #expect(!customer.isDeleted && !customer.isPending && customer.name == "Harbour Foods")
    }

    @Test("delete of a create that was submitted: the answer decides", arguments: [true, false])
    func deleteOfSubmittedCreate(accepted: Bool) throws {
        let customer = try shop.newCustomer("c2")
        try customer.create()
        try customer.submitPending()
        let id = customer.replayPending
        try customer.delete()
        #expect(customer.pendingChange == .delete && customer.replayPending == id)
        try shop.answer(id, accepted: accepted)
        if accepted {
            try customer.refresh()
            #expect(customer.pendingChange == .delete && customer.replayPending == 0)
            try customer.submitPending()
            #expect(try shop.outboxLines() == ["D Customer \(customer.surrogateKey)"])
        } else {
            #expect(try shop.count("Customer_os") == 0 && !shop.database.hasPendingOperations())
        }
    }

    @Test("an import of a pending row leaves the row alone; a deletion on the server is noted, and cancel removes the row then")
    func importOfPending() throws {
        let customer = try changed(city: "Cork", submitted: false)
        try shop.importCustomer(1, id: "c1", name: "HARBOUR FOODS", city: "Limerick")
        try shop.importDeletions("Customer", 1)
        try customer.refresh()
        #expect(try customer.value("city") == "Cork" && customer.name == "Harbour Foods" && customer.pendingChange == .update)
        try customer.cancelPending()
        #expect(customer.isNew)
        #expect(try shop.count("Customer") == 0 && shop.count("Customer_os") == 0)
    }

    @Test("a row that the server deleted goes when its update is accepted")
    func acceptedButDeleted() throws {
        let customer = try changed(city: "Cork")
        try shop.importDeletions("Customer", 1)
        try shop.accept(customer.replayPending)
        #expect(try shop.count("Customer") == 0 && shop.count("Customer_os") == 0)
    }

    @Test("an import of a row that was deleted here does not bring it back; cancel brings the imported version")
    func importOfDeleted() throws {
        let customer = try #require(try shop.customer(1))
        try customer.delete()
        try shop.importCustomer(1, id: "c1", name: "HARBOUR FOODS", city: "Limerick")
        #expect(try shop.customer(1) == nil)
        try customer.cancelPending()
        #expect(customer.name == "HARBOUR FOODS" && !customer.isDeleted)
    }

    @Test("X-47: a parent that is pending through its children takes imports, and keeps its mark")
    func importOfParent() throws {
        try shop.importOrder(11, number: 11, customer: 1)
        let order = try #require(try shop.objects("SalesOrder").find(11))
        try order.set("status", "PAID")
        try order.update()
        try shop.importCustomer(1, id: "c1", name: "HARBOUR FOODS", city: "Limerick")
        let customer = try #require(try shop.customer(1))
        #expect(customer.name == "HARBOUR FOODS" && customer.pendingChange == .parent)
        try order.submitPending()
        try shop.accept(order.replayPending)
        try customer.refresh()
        #expect(customer.pendingChange == PendingChange.none)
    }

    @Test("an answer to an operation that is not known changes nothing")
    func unknown() throws {
        _ = try changed(city: "Cork")
        #expect(try shop.answer(77, accepted: true) == nil)
        #expect(try shop.database.outbox.count == 1)
    }
}
