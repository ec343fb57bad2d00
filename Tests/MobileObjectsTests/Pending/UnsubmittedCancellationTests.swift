import MobileObjects
import Testing

/// `cancelPendingOperations` of the database: unsubmitted changes are cancelled, changes that wait for an answer stay (PND-08).
@Suite struct UnsubmittedCancellationTests {
    let shop: Shop
    init() throws {
        shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        try shop.importOrder(11, number: 11, customer: 1)
    }

    private func customer(_ key: Int64 = 1) throws -> GenericEntity { try shop.objects("Customer").load(key) }
    private func order(_ key: Int64 = 11) throws -> GenericEntity { try shop.objects("SalesOrder").load(key) }

    @Test("PND-08: a child that waits for its answer stays below a parent whose change is cancelled, and marks it", arguments: ["U", "C", "D"])
    func childInFlight(change: String) throws {
        let child: GenericEntity
        switch change {
        case "C":
            child = try shop.newOrder(of: customer(), status: "NEW")
            try child.create()
        case "U":
            child = try order()
            try child.set("status", "PAID")
            try child.update()
        default:
            child = try order()
            try child.delete()
        }
        try child.submitPending()
        let parent = try customer()
        try parent.set("name", "Other")
        try parent.update()
        try shop.database.cancelPendingOperations()
        #expect(try customer().name == "Harbour Foods" && customer().pendingChange == .parent)
        try child.refresh()
        #expect(String(child.pendingChange.letter) == change && child.state == .submitted)
        let outcome = try shop.answer(child.replayPending, accepted: true)
        #expect(outcome?.changedState == true)
        #expect(try customer().pendingChange == PendingChange.none && !shop.database.hasPendingOperations())
    }

    @Test("PND-08: a parent that was deleted here comes back, its children in flight do not")
    func deletedParent() throws {
        let child = try order()
        try child.delete()
        try child.submitPending()
        try customer().delete()
        try shop.database.cancelPendingOperations()
        #expect(try customer().pendingChange == .parent)
        try child.refresh()
        #expect(child.isDeleted && child.state == .submitted)
    }

    @Test("PND-08: a row that was changed since its submit goes back to what was submitted, and waits on", arguments: ["update", "delete"])
    func changedSince(later: String) throws {
        let customer = try customer()
        try customer.set("city", "Cork")
        try customer.update()
        try customer.submitPending()
        let submitted = customer.stateRow
        if later == "update" {
            try customer.set("city", "Galway")
            try customer.set("name", "Other")
            try customer.update()
        } else {
            try customer.delete()
        }
        try shop.database.cancelPendingOperations()
        let found = try self.customer()
        #expect(found.city == "Cork" && found.name == "Harbour Foods" && found.stateRow == submitted)
        try shop.accept(found.replayPending)
        #expect(try self.customer().city == "Cork" && !shop.database.hasPendingOperations())
    }

    @Test("PND-08: where the server has deleted the row since, it goes back to all of what was submitted")
    func deletedOnServer() throws {
        let customer = try customer()
        try customer.set("city", "Cork")
        try customer.update()
        try shop.importCustomer(1, id: "c1", name: "Bay Foods")
        try customer.submitPending()
        try shop.importDeletions("Customer", 1)
        try customer.set("name", "Other")
        try customer.update()
        try shop.database.cancelPendingOperations()
        let name = try self.customer().name, city = try self.customer().city
        #expect(name == "Harbour Foods" && city == "Cork")
    }

    @Test("PND-08: a create in flight that was changed since stays with its children in flight", arguments: [true, false])
    func createInFlight(accepted: Bool) throws {
        let parent = try shop.newCustomer("c2", name: "Castle Inn")
        let child = try shop.newOrder(of: parent)
        try parent.save()
        try parent.submitPending()
        try parent.set("name", "Other")
        try parent.update()
        try shop.database.cancelPendingOperations()
        try parent.refresh()
        try child.refresh()
        #expect(parent.name == "Castle Inn" && parent.state == .submitted && parent.isCreated && child.state == .submitted)
        for record in try shop.database.outbox { try shop.answer(record.id, accepted: accepted) }
        try parent.refresh()
        #expect(parent.state == (accepted ? .unchanged : .failed))
    }

    @Test("PND-08: a create that was rejected vanishes with its children: without it they belong to nobody")
    func rejectedParent() throws {
        let parent = try shop.newCustomer("c2", name: "Castle Inn")
        let child = try shop.newOrder(of: parent)
        try parent.save()
        try parent.submitPending()
        try shop.reject(parent.replayPending)
        let waiting = child.surrogateKey
        try shop.database.cancelPendingOperations()
        #expect(try shop.count("Customer") == 1 && shop.count("SalesOrder") == 1 && shop.count("SalesOrder_os") == 0)
        // PND-10: its record is still sent.
        #expect(try shop.outboxLines() == ["C SalesOrder \(waiting)"])
        try shop.reject(shop.database.outbox[0].id)
        #expect(try !shop.database.hasPendingOperations())
    }

    @Test("PND-07: the form of one class cancels what waits for an answer too")
    func ofClass() throws {
        let customer = try customer()
        try customer.set("city", "Cork")
        try customer.update()
        try customer.submitPending()
        try shop.database.cancelPendingOperations(of: customer.metadata)
        #expect(try self.customer().city == "Dublin" && !self.customer().isPending)
    }
}
