import Foundation
@_spi(GeneratedCode) import MobileObjects
import MobileStore
import Testing

/// Creates, updates and deletes that are called by their names, with parameters of their own.
@Suite struct NamedOperationTests {
    private let desk: HelpdeskDatabase

    init() throws { desk = try HelpdeskDatabase() }

    private let credentials = AttributeValue.json(#"{"password":"secret","userName":"Francie"}"#)

    @Test("OPS-12 CPX-03 CPX-05: a create with parameters makes the row and keeps its name and parameters beside it until the submit")
    func create() throws {
        let ticket = try desk.newTicket()
        try ticket.perform(operation: desk.index("submit"), [credentials, .json(#"["Frontoffice Support",null]"#), "CREATE"])
        #expect(ticket.pendingChange == .create && ticket.isCreated && !ticket.isNew && ticket.surrogateKey == 1000)
        #expect(
            try desk.pendingOperation(1000)
                == #"submit {"auth":"{\"password\":\"secret\",\"userName\":\"Francie\"}","groups":"[\"Frontoffice Support\",null]","action":"CREATE","day":null}"#
        )
        #expect(try ticket.lastOperation == "submit" && desk.database.outbox.isEmpty)
        try ticket.submitPending()
        let record = try #require(try desk.database.outbox.first)
        #expect(record.change == .create && record.operation == "submit" && record.entity == "Ticket")
        #expect(record.parameters["auth"]?.string == #"{"password":"secret","userName":"Francie"}"#)
        #expect(record.parameters["groups"]?.string == #"["Frontoffice Support",null]"#)
        #expect(record.parameters["day"] == .null && record.attributes["company"]?.string == "Calbro Services")
    }

    @Test("OPS-11: a parameter that is mapped to an attribute is no argument; it is filled with the attribute's value at the submit")
    func mapped() throws {
        let submit = try desk.database.metadata.entity(named: "Ticket").operation(named: "submit")
        #expect(submit.ownParameters.map(\.name) == ["auth", "groups", "action", "day"])
        let ticket = try desk.newTicket("Before")
        try ticket.call("submit", ["action": "CREATE"])
        #expect(try desk.pendingOperation(1000)?.contains("firm") == false)
        try ticket.submitPending()
        #expect(try desk.database.outbox.map { $0.parameters["firm"]?.string } == ["Before"])
        let error = ObjectError.of { try desk.newTicket().call("submit", ["action": "CREATE", "firm": "Other"]) }
        #expect(
            error?.code == .noSuchParameter && error?.message == #"parameter "firm" of operation "submit" is filled from the attribute "company""#)
        // With the digits of the attribute, not with those of other decimals.
        let moved = try desk.importedTicket()
        try moved.set("effort", .decimal(Decimal(string: "12.1234") ?? 0))
        try moved.call("move", ["stops": .json("[1,2]")])
        try moved.submitPending()
        #expect(try desk.outboxLines().last == #"U Ticket move {"reason":"none","hours":12.1234,"stops":"[1,2]"}"#)
    }

    @Test("OPS-12: an update by name sends changed attributes and parameters; it is pending even where no attribute was changed")
    func update() throws {
        let ticket = try desk.importedTicket()
        try ticket.call("move", ["reason": "they asked", "stops": .json("[]")])
        #expect(ticket.pendingChange == .update && ticket.isUpdated)
        #expect(try ticket.lastOperation == "move")
        try ticket.submitPending()
        #expect(try desk.outboxLines() == [#"U Ticket move {"reason":"they asked","hours":1.5000,"stops":"[]"}"#])
        try desk.shop.accept(ticket.replayPending)
        try ticket.refresh()
        #expect(!ticket.isPending && ticket.city == "Cork")
        #expect(try ticket.lastOperation == nil && desk.database.outbox.isEmpty)
    }

    @Test("OPS-12: a delete by name carries its parameters; one of a row that the server never saw has nothing to tell")
    func delete() throws {
        let ticket = try desk.importedTicket()
        try ticket.call("discard", ["reason": "twice"])
        #expect(ticket.isDeleted && ticket.pendingChange == .delete)
        #expect(try ticket.lastOperation == "discard")
        try ticket.submitPending()
        #expect(try desk.outboxLines() == [#"D Ticket discard {"reason":"twice"}"#])
        let new = try desk.newTicket()
        try new.call("submit", ["action": "CREATE"])
        try new.call("discard", ["reason": "never mind"])
        #expect(try desk.outboxLines().count == 1 && desk.shop.count("Ticket_os") == 1)
    }

    @Test("OPS-13 OPS-19: structures, lists of numbers and strings with missing elements arrive as given, nil where the parameter allows it")
    func complexParameters() throws {
        let ticket = try desk.importedTicket()
        try ticket.call("move", ["stops": try .encoded([1, -2, Int32.max])])
        #expect(try desk.pendingOperation(1) == #"move {"reason":"none","stops":"[1,-2,2147483647]"}"#)
        try ticket.cancelPending()
        let missing = ObjectError.of { try ticket.call("move") }
        #expect(missing?.code == .noSuchParameter && missing?.message == #"operation "move": the parameter "stops" is missing"#)
        let null = ObjectError.of { try ticket.call("move", ["stops": .null]) }
        #expect(null?.code == .invalidValue && null?.message == #"parameter "stops" of operation "move": null, expected int[]"#)
        let wrong = ObjectError.of { try ticket.call("move", ["stops": "text"]) }
        #expect(wrong?.message == #"parameter "stops" of operation "move": the string "text", expected int[]"#)
        #expect(!ticket.isPending && ticket.state == .unchanged)
        #expect(try desk.shop.count("Ticket_os") == 0)
        let new = try desk.newTicket()
        try new.call("submit", ["auth": .null, "groups": try .encoded(["a", nil] as [String?]), "action": "", "day": .null])
        #expect(try desk.pendingOperation(1000) == #"submit {"auth":null,"groups":"[\"a\",null]","action":"","day":null}"#)
    }

    @Test("OPS-05: an update of a row that a named operation changed is refused until that one is submitted; nothing is written")
    func conflict() throws {
        let ticket = try desk.importedTicket()
        try ticket.call("move", ["stops": .json("[1]")])
        let counter = ticket.replayCounter
        try ticket.set("city", "Dublin")
        let error = ObjectError.of { try ticket.update() }
        #expect(error?.code == .otherOperationPending)
        #expect(error?.message == "update of Ticket 1: it was changed by move already; submit or cancel that first")
        #expect(ticket.isDirty && ticket.isUpdated && ticket.replayCounter == counter)
        #expect(try desk.shop.objects("Ticket").load(1).city == "Cork")
        #expect(try desk.pendingOperation(1) == #"move {"reason":"none","stops":"[1]"}"#)
        #expect(ObjectError.of { try ticket.call("reopen", ["reason": "x"]) }?.code == .otherOperationPending)
        try ticket.submitPending()
        try ticket.update()
        #expect(ticket.isUpdated && ticket.replayCounter > ticket.replayPending)
        #expect(try desk.pendingOperation(1) == " ")
        try ticket.submitPending()
        #expect(try desk.outboxLines().map { $0.prefix(13) } == ["U Ticket move", "U Ticket upda"])
    }

    @Test("OPS-05: the same holds for a create by name; the same operation may be called again, with other parameters")
    func createConflict() throws {
        let ticket = try desk.newTicket()
        try ticket.call("submit", ["action": "ONE"])
        try ticket.set("city", "Dublin")
        #expect(ObjectError.of { try ticket.update() }?.code == .otherOperationPending)
        #expect(
            ObjectError.of { try ticket.call("reopen", ["reason": "x"]) }?.message
                == "reopen of Ticket 1000: its create is pending; wait for the server's answer")
        try ticket.call("submit", ["action": "TWO"])
        try ticket.submitPending()
        let record = try #require(try desk.database.outbox.first)
        #expect(try desk.database.outbox.count == 1 && record.parameters["action"]?.string == "TWO" && record.attributes["city"]?.string == "Dublin")
        #expect(ObjectError.of { try ticket.call("submit", ["action": "THREE"]) }?.code == .otherOperationPending)
        try desk.shop.accept(record.id)
        try ticket.refresh()
        #expect(ObjectError.of { try ticket.call("submit", ["action": "THREE"]) }?.code == .alreadySaved)
    }

    @Test("PSP-13: a rejected operation is sent again with its parameters, or called with others")
    func rejected() throws {
        let ticket = try desk.newTicket()
        try ticket.call("submit", ["auth": credentials, "action": "ONE"])
        try ticket.submitPending()
        try desk.shop.reject(ticket.replayPending)
        try ticket.refresh()
        #expect(ticket.state == .failed)
        try ticket.set("city", "Dublin")
        try ticket.update()
        try ticket.set("city", "Galway")
        try ticket.update()
        try ticket.submitPending()
        let again = try #require(try desk.database.outbox.first)
        #expect(
            again.change == .create && again.operation == "submit"
                && again.parameters["auth"]?.string == #"{"password":"secret","userName":"Francie"}"#)
        try desk.shop.reject(again.id)
        try ticket.refresh()
        try ticket.call("submit", ["action": "TWO"])
        try ticket.submitPending()
        #expect(try desk.database.outbox.map { $0.parameters["action"]?.string } == ["TWO"])
        #expect(try desk.database.outbox.map { $0.parameters["auth"] } == [.null])
    }

    @Test("a create that was changed after its submit is an update once it is accepted, and a create again where it was rejected")
    func changedSince() throws {
        for isAccepted in [true, false] {
            let ticket = try desk.newTicket()
            try ticket.call("submit", ["action": "ONE"])
            try ticket.submitPending()
            let id = ticket.replayPending
            try ticket.set("city", "Dublin")
            try ticket.update()
            try desk.shop.answer(id, accepted: isAccepted)
            try ticket.refresh()
            #expect(ticket.pendingChange == (isAccepted ? .update : .create))
            try ticket.submitPending()
            let sent = try #require(try desk.database.outbox.last)
            #expect(sent.change == (isAccepted ? .update : .create) && sent.operation == (isAccepted ? "update" : "submit"))
            #expect(sent.parameters["action"]?.string == (isAccepted ? nil : "ONE"))
            try desk.shop.accept(sent.id)
        }
    }

    @Test("PND-06: cancelPending drops the operation with its parameters, and the server's version comes back")
    func cancel() throws {
        let ticket = try desk.importedTicket()
        try ticket.set("city", "Dublin")
        try ticket.call("move", ["stops": .json("[1]")])
        try ticket.cancelPending()
        #expect(ticket.city == "Cork" && !ticket.isPending)
        #expect(try desk.shop.count("Ticket_os") == 0 && ticket.lastOperation == nil)
        try ticket.set("city", "Galway")
        try ticket.update()
        try ticket.submitPending()
        #expect(try desk.outboxLines() == ["U Ticket update {}"])
    }

    @Test("a rollback takes name and parameters back with the change")
    func rollback() throws {
        struct Stop: Error {}
        let ticket = try desk.importedTicket()
        #expect(throws: Stop.self) {
            try desk.database.transaction {
                try ticket.call("move", ["stops": .json("[1]")])
                throw Stop()
            }
        }
        #expect(!ticket.isPending)
        #expect(try desk.pendingOperation(1) == nil)
    }

    @Test("OPS-12: the asynchronous forms do the same")
    func asynchronous() async throws {
        let ticket = try desk.newTicket()
        try await ticket.call("submit", ["action": "CREATE"])
        try await ticket.submitPending()
        try desk.shop.accept(ticket.replayPending)
        try await ticket.refresh()
        try await ticket.perform(operation: desk.index("reopen"), ["why not"])
        try await ticket.submitPending()
        #expect(try desk.outboxLines() == [#"U Ticket reopen {"reason":"why not"}"#])
        try await ticket.call("discard", ["reason": "done"])
        #expect(try desk.pendingOperation(1000) == #"discard {"reason":"done"}"#)
    }
}
