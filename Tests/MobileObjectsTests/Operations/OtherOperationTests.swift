import Foundation
import MobileModel
import MobileObjects
import MobileStore
import Testing

/// Operations other than create, update and delete: objects of their own.
@Suite struct OtherOperationTests {
    private let desk: HelpdeskDatabase

    init() throws { desk = try HelpdeskDatabase() }

    private let day = Date(timeIntervalSince1970: 1_700_000_000.125)

    /// Makes the documented sample: an operation with three parameters.
    private func newOperation() throws -> GenericEntity {
        try desk.shop.new("TicketCloseAllOperation", ["P1": "somevalue", "P2": 2, "P3": .dateTime(day)])
    }

    @Test("OPS-17 OPS-18: an operation is an object named after object and operation; it is saved, submitted, and travels with its parameters")
    func sample() throws {
        let other = try newOperation()
        #expect(other.isNew && !other.isPending)
        try other.save()
        #expect(other.state == .pending && other.pendingChange == .create && other.surrogateKey == 1000)
        #expect(try desk.database.hasPendingOperations() && desk.database.outbox.isEmpty)
        #expect(try other.lastOperation == "closeAll")
        try other.submitPending()
        #expect(other.state == .submitted && other.replayPending == other.replayCounter)
        let record = try #require(try desk.database.outbox.first)
        #expect(record.change == .other && record.entity == "Ticket" && record.operation == "closeAll" && record.surrogateKey == 1000)
        #expect(JSONValue.object(record.parameters).description == #"{"P1":"somevalue","P2":2,"P3":"2023-11-14T22:13:20.125Z","tags":null}"#)
        #expect(record.attributes == [:] && record.primaryKey == [:] && record.references == [:])
    }

    @Test("OPS-17: an accepted operation is done with and gone; nothing is pending any more")
    func accepted() throws {
        let other = try newOperation()
        try other.save()
        try other.submitPending()
        let outcome = try #require(try desk.shop.answer(other.replayPending, accepted: true))
        #expect(outcome.changedState && outcome.isAccepted && outcome.surrogateKey == 1000)
        #expect(try desk.shop.count("TicketCloseAllOperation") == 0 && desk.shop.count("TicketCloseAllOperation_os") == 0)
        #expect(try !desk.database.hasPendingOperations())
        #expect(ObjectError.of { try other.refresh() }?.code == .notFound)
    }

    @Test("OPS-17: a rejected operation stays with its parameters and log records, is changed and sent again")
    func rejected() throws {
        let other = try newOperation()
        try other.save()
        try other.submitPending()
        let id = other.replayPending
        try desk.database.write("answer") { transaction in
            _ = try transaction.settle([ReplayAnswer(id: id, isAccepted: false)])
            try transaction.store(
                desk.database.makeLogRecord(
                    messageID: 7, level: .error, code: 500, eisCode: nil, message: "refused", component: "Ticket", entityKey: "1000",
                    operation: "closeAll", requestID: "\(id)", timestamp: day))
        }
        let found = try #require(try desk.shop.objects("TicketCloseAllOperation").find(1000))
        #expect(found.state == .failed && found.replayFailure == id)
        #expect(try found.value("P1") == "somevalue")
        #expect(try found.logRecords().map(\.message) == ["refused"])
        #expect(try desk.database.keysWithLogRecords(of: found.metadata) == ["1000"])
        try found.set("P2", 3)
        try found.save()
        try found.submitPending()
        let record = try #require(try desk.database.outbox.first)
        #expect(record.id > id && record.change == .other && record.parameters["P2"] == .integer(3))
        try desk.shop.accept(record.id)
        #expect(try desk.shop.count("TicketCloseAllOperation") == 0)
    }

    @Test("PND-06 PND-10: an operation is cancelled before its submit; after it, it is sent all the same")
    func cancel() throws {
        let other = try newOperation()
        try other.save()
        try other.cancelPending()
        #expect(other.isNew)
        #expect(try !desk.database.hasPendingOperations() && desk.shop.count("TicketCloseAllOperation") == 0)
        let second = try newOperation()
        try second.save()
        try second.submitPending()
        let id = second.replayPending
        try second.cancelPending()
        #expect(try desk.outboxLines().count == 1 && desk.shop.count("TicketCloseAllOperation") == 0)
        #expect(try desk.shop.answer(id, accepted: true)?.changedState == false)
        #expect(try !desk.database.hasPendingOperations())
    }

    @Test("OPS-17: an operation that was submitted is not changed while its answer is awaited: it would run twice", arguments: [true, false])
    func changedSince(accepted: Bool) throws {
        let other = try newOperation()
        try other.set("P2", 3)
        try other.save()
        try other.set("P2", 4)
        try other.save()
        try other.submitPending()
        let first = other.replayPending
        try other.set("P2", 9)
        let error = ObjectError.of { try other.save() }
        #expect(error?.code == .otherOperationPending && error?.message.contains("wait for the server's answer, or make a new one") == true)
        try desk.database.submitPendingOperations()
        #expect(try desk.database.outbox.map { $0.parameters["P2"] } == [.integer(4)])
        try desk.shop.answer(first, accepted: accepted)
        if accepted {
            #expect(try !desk.database.hasPendingOperations() && desk.shop.count("TicketCloseAllOperation") == 0)
        } else {
            // A refused operation did not run: it may be changed, and is sent again.
            try other.refresh()
            try other.set("P2", 9)
            try other.save()
            try other.submitPending()
            #expect(try desk.database.outbox.map { $0.parameters["P2"] } == [.integer(9)])
        }
    }

    @Test("PND-03 PND-04 PND-08: the bulk forms take operations along, in the order of time")
    func bulk() throws {
        try newOperation().save()
        try desk.shop.new("Contact", ["id": 1, "name": "Ann"]).save()
        try desk.database.cancelPendingOperations()
        #expect(try !desk.database.hasPendingOperations())
        try newOperation().save()
        try desk.shop.new("Contact", ["id": 1, "name": "Ann"]).save()
        try desk.database.submitPendingOperations(group: "default")
        #expect(try desk.database.outbox.map { "\($0.change.rawValue) \($0.entity)" } == ["O Ticket", "C Contact"])
        try newOperation().save()
        try desk.database.submitPendingOperations(of: desk.database.metadata.entity(named: "TicketCloseAllOperation"))
        try newOperation().save()
        try desk.database.submitPendingOperations()
        #expect(try desk.database.outbox.map(\.change) == [.other, .create, .other, .other])
    }

    @Test("OPS-17: what the operation's parameters do not allow is refused before anything is written; it needs no granted key")
    func errors() throws {
        let other = try desk.shop.new("TicketCloseAllOperation", ["P1": "x", "P2": 1])
        #expect(ObjectError.of { try other.save() }?.code == .missingValue)
        #expect(ObjectError.of { try other.set("P2", .integer(1 << 40)) }?.code == .invalidValue)
        #expect(ObjectError.of { try other.set("P4", 1) }?.code == .noSuchAttribute)
        #expect(try desk.shop.count("TicketCloseAllOperation") == 0)
        let before = try HelpdeskDatabase(grantingKeys: false)
        let early = try before.shop.new("TicketCloseAllOperation", ["P1": "x", "P2": 1, "P3": .dateTime(day)])
        try early.save()
        #expect(early.surrogateKey >= OwnKeyRangeTests.lowest)
        let submitted = try newOperation()
        try submitted.save()
        try submitted.submitPending()
        #expect(ObjectError.of { try submitted.delete() }?.code == .noSuchOperation)
    }

    @Test("OPS-17: the asynchronous forms do the same; cleaning all data takes operations along")
    func asynchronous() async throws {
        let other = try newOperation()
        try await other.save()
        try await other.submitPending()
        #expect(try desk.database.outbox.map(\.operation) == ["closeAll"])
        try await desk.database.cleanAllData()
        #expect(try await !desk.database.hasPendingOperations())
        #expect(try desk.shop.count("TicketCloseAllOperation") == 0)
    }
}
