import Foundation
import MobileObjects
import MobileStore
import Testing

/// Where an answer comes without a row, the server's version is the last known one, with the columns that it has just accepted.
@Suite struct KnownServerVersionTests {
    let shop: Shop
    let customer: GenericEntity

    init() throws {
        shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods", city: "Dublin")
        customer = try #require(try shop.customer(1))
    }

    private func change(_ name: String, _ value: AttributeValue) throws {
        try customer.refresh()
        try customer.set(name, value)
        try customer.update()
    }

    private func submit(_ name: String, _ value: AttributeValue) throws -> Int64 {
        try change(name, value)
        try customer.submitPending()
        return customer.replayPending
    }

    /// Returns the current name and city of the row.
    private func now() throws -> String {
        try customer.refresh()
        return "\(customer.name), \(customer.city), \(customer.pendingChange.letter)"
    }

    @Test("what an import brought before the submit is not lost when the accepted update changes nothing on the server")
    func importedBeforeSubmit() throws {
        try change("city", "Cork")
        try shop.importCustomer(1, id: "c1", name: "Bay Foods", city: "Cork")
        try customer.submitPending()
        try shop.accept(customer.replayPending)
        let row = try now()
        #expect(row == "Bay Foods, Cork, N")
    }

    @Test("nor when the row was changed again since: cancel brings it back with what was accepted")
    func changedSince() throws {
        try change("city", "Cork")
        try shop.importCustomer(1, id: "c1", name: "Bay Foods", city: "Cork")
        try customer.submitPending()
        let id = customer.replayPending
        try change("credit", .decimal(7))
        try shop.accept(id)
        try customer.refresh()
        try customer.cancelPending()
        let row = try now()
        #expect(row == "Bay Foods, Cork, N")
    }

    @Test("a row that stays pending shows the server's values where nothing is pending any more")
    func shownWhilePending() throws {
        try change("city", "Cork")
        try shop.importCustomer(1, id: "c1", name: "Bay Foods", city: "Dublin")
        let row = try now()
        #expect(row == "Harbour Foods, Cork, U")
        try customer.submitPending()
        let id = customer.replayPending
        try change("credit", .decimal(7))
        try shop.accept(id)
        let again = try now()
        #expect(again == "Bay Foods, Cork, U")
        #expect(try customer.value("credit") == .decimal(7))
    }

    @Test("an older submission that was accepted is part of the server's version", arguments: ["accept", "cancel"])
    func olderAccepted(end: String) throws {
        let older = try submit("city", "Cork"), newer = try submit("name", "Harbour")
        try shop.accept(older)
        if end == "accept" { try shop.accept(newer) } else { try customer.cancelPending() }
        let row = try now()
        #expect(row == (end == "accept" ? "Harbour, Cork, N" : "Harbour Foods, Cork, N"))
    }

    @Test("a version that was imported since the submission wins whole, also where another submission followed")
    func importedSinceOlder() throws {
        let older = try submit("city", "cork")
        try shop.importCustomer(1, id: "c1", name: "Bay Foods", city: "CORK")
        let newer = try submit("credit", .decimal(7))
        try shop.accept(older)
        let row = try now()
        #expect(row == "Bay Foods, CORK, U")
        try shop.accept(newer)
        let again = try now()
        #expect(again == "Bay Foods, CORK, N")
        #expect(try customer.value("credit") == .decimal(7))
    }

    @Test("a child that the server has moved is below its parent there, and so are the marks, when it is no longer pending")
    func movedOnServer() throws {
        try shop.importCustomer(2, id: "c2", name: "Castle Inn")
        try shop.importOrder(11, number: 11, customer: 1)
        let order = try shop.objects("SalesOrder").load(11)
        try order.set("status", "PAID")
        try order.update()
        try shop.importOrder(11, number: 11, customer: 2)
        try order.submitPending()
        let id = order.replayPending
        try order.set("status", "SENT")
        try order.update()
        try shop.accept(id)
        #expect(try shop.customer(1)?.pendingChange == PendingChange.none)
        #expect(try shop.customer(2)?.pendingChange == .parent)
        try order.refresh()
        try order.submitPending()
        try shop.accept(order.replayPending)
        #expect(try shop.customer(2)?.pendingChange == PendingChange.none)
        #expect(try shop.value("SELECT \"_ref_customer\" FROM \"SalesOrder\"") == .integer(2))
    }

    @Test("a large value that an older submission has brought is the server's, and the row's in the end")
    func largeValue() throws {
        try shop.importRows("Product", ["id", "name", "price"], "[[31,1,\"Tea\",2.50]]")
        let product = try shop.objects("Product").load(31)
        try shop.write(picture: [1, 2, 3], to: product)
        try product.update()
        try product.submitPending()
        try product.set("name", "Green tea")
        try product.update()
        try product.submitPending()
        for record in try shop.database.outbox { try shop.accept(record.id) }
        try product.refresh()
        let picture = try shop.picture(of: product)
        #expect(picture == [1, 2, 3] && !product.isPending)
    }
}
