import Foundation
import MobileObjects
import MobileStore
import Testing

/// An update sends the values that were changed since the row was last submitted, and the rejected ones. It sends no value that the server has taken
/// already, because another device may have written since.
@Suite struct ChangedColumnsTests {
    let shop: Shop
    let customer: GenericEntity

    init() throws {
        shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods", city: "Dublin")
        customer = try #require(try shop.customer(1))
    }

    /// Changes one attribute and submits it.
    @discardableResult
    private func submit(_ name: String, _ value: AttributeValue) throws -> Int64 {
        try change(name, value)
        try customer.submitPending()
        return customer.replayPending
    }

    private func change(_ name: String, _ value: AttributeValue) throws {
        try customer.refresh()
        try customer.set(name, value)
        try customer.update()
    }

    /// Returns the attributes of the last operation in the outbox.
    private func lastSent() throws -> [String] { try shop.database.outbox.last?.attributes.map(\.key) ?? [] }

    @Test("what was accepted is not sent again with what was changed since")
    func acceptedOnce() throws {
        let id = try submit("city", "Cork")
        try change("name", "Harbour")
        try shop.accept(id)
        try customer.refresh()
        try customer.submitPending()
        let sent = try lastSent()
        #expect(sent == ["name"])
    }

    @Test("a create that was accepted sends what was changed since, and leaves alone what the back end computed")
    func acceptedCreate() throws {
        let created = try shop.newCustomer("c2", name: "Castle Inn")
        try created.create()
        try created.submitPending()
        let id = created.replayPending
        try created.set("city", "Cork")
        try created.update()
        try shop.importRows("Customer", ["id", "name", "city", "credit"], "[[\(created.surrogateKey),\"c2\",\"CASTLE INN\",null,500]]")
        try shop.accept(id)
        try created.refresh()
        try created.submitPending()
        #expect(created.pendingChange == .update)
        let sent = try lastSent()
        #expect(sent == ["city"])
    }

    @Test("a second submission before the answer to the first has what was changed in between")
    func secondSubmission() throws {
        try submit("city", "Cork")
        try submit("name", "Harbour")
        #expect(try shop.database.outbox.map { $0.attributes.map(\.key) } == [["city"], ["name"]])
        let created = try shop.newCustomer("c2")
        try created.create()
        try created.submitPending()
        try created.set("city", "Cork")
        try created.update()
        try created.submitPending()
        let sent = try lastSent()
        #expect(sent == ["city"])
    }

    @Test("what was rejected is sent again, with what was changed since")
    func rejected() throws {
        let id = try submit("city", "Cork")
        try change("name", "Harbour")
        try shop.reject(id)
        try customer.refresh()
        try customer.submitPending()
        let sent = try lastSent()
        #expect(sent == ["name", "city"])
        try shop.reject(customer.replayPending)
        try customer.refresh()
        #expect(customer.state == .failed)
        try customer.submitPending()
        let again = try lastSent()
        #expect(again == ["name", "city"])
    }

    @Test("an older submission that was rejected stays pending behind a newer one that is accepted, and is sent again")
    func olderRejected() throws {
        let older = try submit("city", "Cork")
        let newer = try submit("name", "Harbour")
        try shop.reject(older)
        try shop.accept(newer)
        try customer.refresh()
        #expect(customer.pendingChange == .update && customer.replayPending == 0 && customer.city == "Cork")
        try customer.submitPending()
        let sent = try lastSent()
        #expect(sent == ["city"])
        try shop.accept(customer.replayPending)
        try customer.refresh()
        #expect(!customer.isPending && customer.city == "Cork" && customer.name == "Harbour")
    }

    @Test("an older submission that was rejected has nothing left where a newer one has a later value of the same column")
    func olderReplaced() throws {
        let older = try submit("city", "Cork"), newer = try submit("city", "Galway")
        try shop.reject(older)
        try shop.accept(newer)
        try customer.refresh()
        #expect(!customer.isPending && customer.city == "Galway")
    }

    @Test("an answer that overtakes an older one leaves pending what the older one has")
    func overtaken() throws {
        let older = try submit("city", "Cork"), newer = try submit("name", "Harbour")
        try shop.accept(newer)
        try customer.refresh()
        #expect(customer.pendingChange == .update && customer.city == "Cork")
        try shop.reject(older)
        try customer.refresh()
        try customer.submitPending()
        let sent = try lastSent()
        #expect(sent == ["city"])
    }

    @Test("what was cancelled does not come back with the rejection of its submission", arguments: [true, false])
    func cancelled(accepted: Bool) throws {
        let id = try submit("city", "Cork")
        try customer.cancelPending()
        try change("name", "Harbour")
        try shop.answer(id, accepted: accepted)
        try customer.refresh()
        try customer.submitPending()
        let sent = try lastSent()
        #expect(sent == ["name"])
        #expect(customer.city == "Dublin")
    }

    @Test("a large value travels once")
    func largeValues() throws {
        try shop.importRows("Product", ["id", "name", "price"], "[[31,1,\"Tea\",2.50]]")
        let product = try shop.objects("Product").load(31)
        try shop.write(picture: [1, 2, 3], to: product)
        try product.update()
        try product.submitPending()
        try product.set("name", "Green tea")
        try product.update()
        try product.submitPending()
        #expect(try shop.database.outbox.map(\.largeValues.count) == [1, 0])
    }
}
