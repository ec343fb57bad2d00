import MobileObjects
import TestSupport
import Testing

/// An object that was read before another writer's change is detected at its update, even if the documented counter of the row is the same again
/// (STA-13: an accepted row has the counter of before).
@Suite struct StaleObjectTests {
    let shop: Shop
    init() throws {
        shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        shop.clock.seconds += 100
    }

    private func customer(_ key: Int64 = 1) throws -> GenericEntity { try shop.objects("Customer").load(key) }

    private func save(_ customer: GenericEntity, city: String) throws {
        try customer.set("city", .string(city))
        try customer.update()
    }

    /// Expects that its update is refused, and that nothing is written.
    private func expectStale(_ object: GenericEntity, _ key: Int64 = 1) throws {
        let before = try customer(key)
        #expect(ObjectError.of { try save(object, city: "Galway") }?.code == .stale)
        #expect(try customer(key).city == before.city && customer(key).stateRow == before.stateRow)
        try object.refresh()
        try save(object, city: "Galway")
        #expect(try customer(key).city == "Galway")
    }

    @Test("STA-13: after another object's change was accepted, with the row's import or without", arguments: [true, false])
    func accepted(imported: Bool) throws {
        let seen = try customer(), other = try customer()
        try save(other, city: "Cork")
        try other.submitPending()
        if imported { try shop.importCustomer(1, id: "c1", name: "Harbour Foods", city: "CORK") }
        try shop.accept(other.replayPending)
        #expect(try customer().stateRow == "F F F F F F N \(seen.replayCounter) 0 0")
        try expectStale(seen)
    }

    @Test("after a change was accepted, and what was changed since was cancelled", arguments: ["update", "delete"])
    func cancelledSince(later: String) throws {
        let seen = try customer(), other = try customer()
        try save(other, city: "Cork")
        try other.submitPending()
        let id = other.replayPending
        if later == "update" { try save(other, city: "Sligo") } else { try other.delete() }
        try shop.accept(id)
        try other.cancelPending()
        #expect(other.city == "Cork" && other.replayCounter == seen.replayCounter)
        try expectStale(seen)
    }

    @Test("after an older submission was accepted and the newer one was cancelled")
    func older() throws {
        let seen = try customer(), other = try customer()
        try save(other, city: "Cork")
        try other.submitPending()
        let id = other.replayPending
        try other.set("name", "Castle Inn")
        try other.update()
        try other.submitPending()
        try shop.accept(id)
        try other.cancelPending()
        try expectStale(seen)
    }

    @Test("a create that was changed by another object and accepted, at a clock that stands still")
    func create() throws {
        let created = try shop.newCustomer("c2")
        try created.create()
        let other = try customer(1000)
        try save(other, city: "Cork")
        try other.submitPending()
        try shop.accept(other.replayPending)
        #expect(try customer(1000).replayCounter == created.replayCounter)
        try expectStale(created, 1000)
    }

    @Test("not after a change that was cancelled or refused and cancelled: the row is as it was read", arguments: [true, false])
    func cancelled(refused: Bool) throws {
        let seen = try customer(), other = try customer()
        try save(other, city: "Cork")
        if refused {
            try other.submitPending()
            try shop.reject(other.replayPending)
        }
        try other.cancelPending()
        try save(seen, city: "Galway")
        #expect(try customer().city == "Galway")
    }

    @Test("not the object that made a newer change itself: it goes on while answers to its older ones arrive")
    func ownAnswers() throws {
        let customer = try customer()
        for city in ["Cork", "Sligo", "Galway"] {
            try save(customer, city: city)
            try customer.submitPending()
            let id = customer.replayPending
            try save(customer, city: city + "!")
            try shop.accept(id)
        }
        #expect(try self.customer().city == "Galway!")
    }

    @Test func `an object does not become current by a submit of a row that it did not read`() throws {
        let seen = try customer(), other = try customer()
        try save(other, city: "Cork")
        try seen.submitPending()
        #expect(ObjectError.of { try seen.delete() }?.code == .stale)
        try expectStale(seen)
    }

    @Test func `an object with the values of a row that was submitted otherwise is current after its own submit`() throws {
        let customer = try customer()
        try save(customer, city: "Cork")
        try shop.database.submitPendingOperations()
        try shop.reject(try #require(try shop.database.outbox.first).id)
        try customer.submitPending()
        #expect(customer.state == .submitted)
        try save(customer, city: "Galway")
        #expect(try self.customer().city == "Galway")
    }
}
