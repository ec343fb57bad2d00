import Foundation
import MobileObjects
import TestSupport
import Testing

/// The state attributes of an object, as in the documented table.
@Suite struct StateAttributeTests {
    @Test("STA-13 STA-12: an update goes through the steps of the state table")
    func stateTable() throws {
        let shop = try Shop()
        shop.clock.seconds = 33_422_977
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        let customer = try #require(try shop.customer(1))
        #expect(customer.stateRow == "F F F F F F N 33422977 0 0")

        try customer.set("name", "Harbour Foods Ltd")
        #expect(customer.stateRow == "F F T F F F N 33422977 0 0")

        shop.clock.seconds = 33_424_979
        try customer.save()
        #expect(customer.stateRow == "F F F F T T U 33424979 0 0")

        shop.clock.seconds = 33_424_981
        try customer.submitPending()
        #expect(customer.stateRow == "F F F F T T U 33424981 33424981 0")
        #expect(try shop.database.outbox.map(\.id) == [33_424_981])

        try shop.importCustomer(1, id: "c1", name: "Harbour Foods Ltd")
        try shop.accept(33_424_981)
        try customer.refresh()
        #expect(customer.stateRow == "F F F F F F N 33422977 0 0")
    }

    @Test("STA-13 STA-11: a rejected update keeps its change and is marked")
    func rejected() throws {
        let shop = try Shop()
        shop.clock.seconds = 33_422_977
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        let customer = try #require(try shop.customer(1))
        shop.clock.seconds = 33_424_979
        try customer.set("name", "Harbour Foods Ltd")
        try customer.update()
        shop.clock.seconds = 33_424_981
        try customer.submitPending()
        try shop.reject(33_424_981)
        try customer.refresh()
        #expect(customer.stateRow == "F F F F T T U 33424981 0 33424981")
        #expect(customer.state == .failed)
        #expect(customer.name == "Harbour Foods Ltd")
    }

    @Test("STA-01 STA-02 STA-03: a new object is new until create, then created until the server has taken it")
    func created() throws {
        let shop = try Shop()
        let customer = try shop.newCustomer("c1")
        #expect(customer.isNew && !customer.isCreated && customer.isDirty && !customer.isPending)
        #expect(customer.surrogateKey == 0)
        try customer.create()
        #expect(!customer.isNew && customer.isCreated && !customer.isDirty && customer.isPending && !customer.isUpdated)
        #expect(customer.pendingChange.letter == "C")
        try customer.submitPending()
        #expect(customer.isCreated && customer.state == .submitted)
        try shop.reject(customer.replayPending)
        try customer.refresh()
        #expect(customer.isCreated && customer.state == .failed)
        try customer.submitPending()
        try shop.accept(customer.replayPending)
        try customer.refresh()
        #expect(!customer.isCreated && customer.state == .unchanged)
    }

    @Test("STA-03: isDirty tells of changes in memory that are not saved")
    func dirty() throws {
        let shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        let customer = try #require(try shop.customer(1))
        #expect(!customer.isDirty)
        try customer.set("city", "Cork")
        #expect(customer.isDirty)
        #expect(try shop.customer(1)?.value("city") == "Dublin")
        try customer.save()
        #expect(!customer.isDirty)
        #expect(try shop.customer(1)?.value("city") == "Cork")
    }

    @Test("STA-04: isDeleted after delete of an object that was loaded")
    func deleted() throws {
        let shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        let customer = try #require(try shop.customer(1))
        #expect(!customer.isDeleted)
        try customer.delete()
        #expect(customer.isDeleted && customer.isPending && customer.pendingChange == .delete)
        #expect(try shop.customer(1) == nil)
    }

    @Test("STA-05: isUpdated while an update waits, is submitted, or was rejected; not after it was accepted")
    func updated() throws {
        let shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        let customer = try #require(try shop.customer(1))
        try customer.set("city", "Cork")
        #expect(!customer.isUpdated)
        try customer.update()
        #expect(customer.isUpdated && !customer.isCreated)
        try customer.submitPending()
        #expect(customer.isUpdated)
        try shop.reject(customer.replayPending)
        try customer.refresh()
        #expect(customer.isUpdated)
        try customer.submitPending()
        try shop.accept(customer.replayPending)
        try customer.refresh()
        #expect(!customer.isUpdated)
    }

    @Test("STA-06 STA-07 STA-08: pending and isPending are one flag, with the letter of the change")
    func pendingLetters() throws {
        let shop = try Shop()
        for key in 1...4 { try shop.importCustomer(Int64(key), id: "c\(key)", name: "Customer \(key)") }
        let unchanged = try #require(try shop.customer(1))
        let updated = try #require(try shop.customer(2))
        let deleted = try #require(try shop.customer(3))
        let parent = try #require(try shop.customer(4))
        let created = try shop.newCustomer("c5")
        try updated.set("city", "Cork")
        try updated.update()
        try deleted.delete()
        try created.create()
        let order = try shop.newOrder(of: parent)
        try order.create()
        try parent.refresh()
        let letters = [unchanged, created, updated, deleted, parent].map { String($0.pendingChange.letter) }
        #expect(letters == ["N", "C", "U", "D", "P"])
        for object in [unchanged, created, updated, deleted, parent] { #expect(object.pending == object.isPending) }
        #expect([unchanged, created, updated, deleted, parent].map(\.isPending) == [false, true, true, true, true])
    }

    @Test("STA-09: the counter comes from the clock and always grows, even when the clock does not")
    func counterGrows() throws {
        let shop = try Shop()
        shop.clock.seconds = 1_999_999
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        let customer = try #require(try shop.customer(1))
        var counters: [Int64] = []
        for (city, time) in [("Cork", 2_000_000), ("Galway", 2_000_000), ("Sligo", 1_000_000), ("Ennis", 3_000_000)] as [(String, Int64)] {
            shop.clock.seconds = time
            try customer.set("city", .string(city))
            try customer.update()
            counters.append(customer.replayCounter)
        }
        #expect(counters == [2_000_000, 2_000_001, 2_000_002, 3_000_000])
    }

    @Test("STA-10: replayCounter above replayPending tells of a change since the submit")
    func changedSinceSubmit() throws {
        let shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        let customer = try #require(try shop.customer(1))
        try customer.set("city", "Cork")
        try customer.update()
        #expect(customer.replayPending == 0)
        try customer.submitPending()
        #expect(customer.replayPending == customer.replayCounter)
        try customer.set("city", "Galway")
        try customer.update()
        #expect(customer.replayPending > 0 && customer.replayCounter > customer.replayPending)
    }
}
