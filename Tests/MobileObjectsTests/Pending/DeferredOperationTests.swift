import Foundation
import MobileExecution
import MobileObjects
import MobileStore
import TestSupport
import Testing

/// Operations that the server could not decide about yet.
@Suite struct DeferredOperationTests {
    let shop: Shop
    init() throws {
        shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods", city: "Dublin")
    }

    private func submitted(_ city: String) throws -> GenericEntity {
        let customer = try #require(try shop.customer(1))
        try customer.set("city", .string(city))
        try customer.update()
        try customer.submitPending()
        return customer
    }

    /// Keeps the names of the replay callbacks.
    private final class Handler: CallbackHandler {
        let calls = SystemLock<[String]>([])
        func onReplaySuccess(_ object: Entity) { calls.withLock { $0.append("success \(object.surrogateKey)") } }
        func onReplayFailure(_ object: Entity) { calls.withLock { $0.append("failure \(object.surrogateKey)") } }
        func onReplayDeferred(_ object: Entity) { calls.withLock { $0.append("deferred \(object.surrogateKey)") } }
    }

    @Test("CBK-07 CBK-08: a deferred operation stays submitted with all marks of its row, and is neither a success nor a failure")
    func state() throws {
        let handler = Handler()
        shop.database.registerCallbackHandler(handler)
        let customer = try submitted("Cork"), id = customer.replayPending, row = customer.stateRow
        let outcome = try #require(try shop.postpone(id))
        #expect(outcome.changedState && !outcome.isAccepted && handler.calls.withLock { $0 } == ["deferred 1"])
        try customer.refresh()
        #expect(customer.stateRow == row && customer.state == .submitted && customer.replayPending == id && customer.replayFailure == 0)
        #expect(try shop.database.outbox.map(\.id) == [id] && shop.database.settledBelow == id && shop.database.logRecords().isEmpty)
        let operation = try #require(try customer.deferredOperations().first)
        #expect(operation.id == id && operation.object == "Customer" && operation.surrogateKey == 1)
        #expect(operation.code == 409 && operation.message == "busy" && operation.attempts == 1 && operation.nextTry == shop.clock.date)
        #expect(try shop.database.deferredOperations() == [operation])
        // An answer to an older submission does not concern the state of the row.
        try customer.set("name", "Harbour")
        try customer.update()
        try customer.submitPending()
        #expect(try shop.postpone(id, code: 503, "down")?.changedState == false && handler.calls.withLock { $0 }.count == 1)
        #expect(try shop.database.deferredOperations().map(\.code) == [503])
        try shop.accept(id)
        try shop.accept(customer.replayPending)
        #expect(try shop.database.deferredOperations().isEmpty && !shop.database.hasPendingOperations())
        #expect(try shop.postpone(id) == nil, "an answer to an operation that was settled")
    }

    @Test("the next synchronization sends it again; after that the delay grows up to five minutes, at least half of it")
    func delays() throws {
        let customer = try submitted("Cork"), id = customer.replayPending
        var delays: [Double] = []
        for _ in 1...12 {
            try shop.postpone(id)
            delays.append(try #require(try customer.deferredOperations().first).nextTry.timeIntervalSince(shop.clock.date))
        }
        let longest: [Double] = [0, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]
        for (delay, longest) in zip(delays, longest) { #expect(delay >= longest / 2 && delay <= longest, "\(delays)") }
        #expect(Set(delays.suffix(3)).count > 1, "a part of it is random")
    }

    @Test("until its time has come it holds back itself, the rest of its batch, and all later operations; but not for longer than any delay")
    func heldBack() throws {
        let database = shop.database
        let first = try shop.newCustomer("c2"), other = try shop.newCustomer("c3"), last = try shop.newCustomer("c4")
        _ = try shop.newOrder(of: other)
        for customer in [first, other, last] {
            try customer.save()
            try customer.submitPending()
        }
        let ids = try database.outbox.map(\.id)
        #expect(try ids.count == 4 && database.lastSendableID == ids[3])
        for id in ids[1...] { try shop.postpone(id) }
        #expect(try database.lastSendableID == ids[3], "the first time there is no delay")
        // The second operation of a batch waits: its first one must wait as well.
        try shop.postpone(ids[2])
        #expect(try database.lastSendableID == ids[0])
        shop.clock.seconds += 2
        #expect(try database.lastSendableID == ids[3])
        try shop.postpone(ids[0])
        try shop.postpone(ids[0])
        #expect(try database.lastSendableID == 0)
        shop.clock.seconds -= 10_000
        #expect(try database.lastSendableID == ids[3], "a clock that was set back holds nothing back")
    }

    @Test("PND-10: a cancel withdraws an operation that was deferred each time it was sent, and no other")
    func cancel() throws {
        let database = shop.database
        let first = try submitted("Cork"), id = first.replayPending
        // It is deferred, and then sent again: its answer is under way.
        try shop.postpone(id)
        let before = try database.beginDoubt(through: id)
        try first.cancelPending()
        #expect(try database.outbox.map(\.id) == [id] && first.city == "Dublin" && !first.isPending)
        // That answer was lost, so the operation stays in doubt after the next one.
        #expect(try database.beginDoubt(through: id) == id && before == 0)
        try shop.postpone(id)
        try database.write("answers") { try $0.endDoubt(at: id) }
        try shop.importCustomer(2, id: "c2", name: "Castle Inn", city: "Cork")
        let second = try #require(try shop.customer(2))
        try second.set("city", "Galway")
        try second.update()
        try second.submitPending()
        let last = second.replayPending, doubt = try database.beginDoubt(through: last)
        try shop.postpone(last)
        try database.write("answers") { try $0.endDoubt(at: doubt) }
        try second.cancelPending()
        #expect(try database.outbox.map(\.id) == [id] && second.city == "Cork" && !second.isPending)
        #expect(try database.beginDoubt(through: 0) == id && database.settledBelow == id)
        try shop.accept(id)
        #expect(try !database.hasPendingOperations() && database.settledBelow > last, "no later operation gets the same id")
    }

    @Test("where all operations of a row were deferred they go with its cancel, with the rows of its tree; where one was not, all stay")
    func cancelTree() throws {
        let customer = try shop.newCustomer("c2")
        _ = try shop.newOrder(of: customer)
        try customer.save()
        try customer.submitPending()
        try customer.set("city", "Cork")
        try customer.update()
        try customer.submitPending()
        let ids = try shop.database.outbox.map(\.id)
        #expect(ids.count == 3)
        for id in ids.prefix(2) { try shop.postpone(id) }
        let kept = try #require(try shop.customer(1))
        try kept.set("city", "Naas")
        try kept.update()
        try kept.submitPending()
        let key = customer.surrogateKey
        try customer.cancelPending()
        // The update of the customer was not sent yet, so that its create stays as well; that of its order is gone.
        #expect(try shop.outboxLines() == ["C Customer \(key)", "U Customer \(key)", "U Customer 1"])
        #expect(try shop.count("Customer") == 1 && shop.count("SalesOrder") == 0)
        try shop.postpone(kept.replayPending)
        try kept.cancelPending()
        #expect(try shop.database.outbox.map(\.id) == [ids[0], ids[2]])
    }
}
