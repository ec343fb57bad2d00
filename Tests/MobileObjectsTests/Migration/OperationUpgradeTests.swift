import Foundation
import MobileModel
import MobileObjects
import MobileStore
import Testing

/// Calls of operations that wait while the model changes.
@Suite struct OperationUpgradeTests {
    private let desk: HelpdeskDatabase
    init() throws { desk = try HelpdeskDatabase() }

    private func model(_ edit: (inout ObjectModel) -> Void) -> PackageModel {
        var model = Helpdesk.model
        model.object("Ticket", edit)
        return model
    }

    @Test("calls by name, submitted or not, keep their parameters when attributes and the object have other names")
    func calls() throws {
        let first = try desk.importedTicket(1), second = try desk.importedTicket(2)
        try first.call("move", ["reason": "they asked", "stops": .json("[1]")])
        try first.submitPending()
        try second.set("city", "Galway")
        try second.call("move", ["reason": "again", "stops": .json("[]")])
        let all = try second.call("closeAll", ["P1": "a", "P2": 2, "P3": .dateTime(Date(timeIntervalSince1970: 0))])
        let database = try desk.shop.upgraded(
            to: model { ticket in
                (ticket.name, ticket.was) = ("Issue", "Ticket")
                for index in ticket.attributes.indices where ticket.attributes[index].name == "effort" {
                    (ticket.attributes[index].name, ticket.attributes[index].was) = ("work", "effort")
                }
                for index in ticket.operations.indices where ticket.operations[index].name == "move" {
                    ticket.operations[index].parameters[1].attribute = "work"
                }
            })
        let issue = try database.load("Issue", 2)
        #expect(try issue.lastOperation == "move" && issue.city == "Galway")
        try issue.submitPending()
        let call = try database.load("IssueCloseAllOperation", all.surrogateKey)
        #expect(try call.value("P1") == "a" && call.pendingChange == .create)
        try call.submitPending()
        let records = try database.outbox
        #expect(records.map(\.operation) == ["move", "move", "closeAll"] && records.map(\.entity) == ["Issue", "Issue", "Issue"])
        #expect(records[0].parameters["reason"] == "they asked" && records[1].parameters["reason"] == "again" && records[2].parameters["P2"] == 2)
        #expect(records[1].attributes == ["city": "Galway"])
        for record in records { try database.accept(record.id) }
        #expect(try !database.hasPendingOperations())
    }

    @Test("a call that waits keeps its parameters where they may be longer now, and is in the way of shorter ones and of other digits")
    func digits() throws {
        func model(_ length: Int?, _ scale: Int) -> PackageModel {
            self.model { ticket in
                for index in ticket.operations.indices where ticket.operations[index].name == "reopen" {
                    ticket.operations[index].parameters[0].length = length
                    ticket.operations[index].parameters.append(
                        ParameterModel(name: "hours", type: .decimal, isNullable: true, precision: 10, scale: scale))
                }
            }
        }
        let desk = try HelpdeskDatabase(model(20, 2))
        try desk.importedTicket(1).call("reopen", ["reason": "still broken"])
        for (length, scale) in [(10, 2), (20, 3)] {
            #expect(try desk.shop.refusal(of: model(length, scale))?.message.contains("its operation reopen is changed") == true)
        }
        let database = try desk.shop.upgraded(to: model(nil, 2))
        #expect(try database.load("Ticket", 1).lastOperation == "reopen")
    }

    enum Call: CaseIterable { case named, submitted, other }

    @Test("an operation with calls that wait cannot go, nor take other parameters", arguments: Call.allCases)
    func refused(call: Call) throws {
        let ticket = try desk.importedTicket(1)
        switch call {
        case .named: try ticket.call("move", ["stops": .json("[1]")])
        case .submitted:
            try ticket.call("move", ["stops": .json("[1]")])
            try ticket.submitPending()
            try ticket.cancelPending()
        case .other: try ticket.call("closeAll", ["P1": "a", "P2": 2, "P3": .dateTime(Date(timeIntervalSince1970: 0))])
        }
        let name = call == .other ? "closeAll" : "move"
        let without = model { $0.operations.removeAll { $0.name == name } }
        let changed = model { ticket in
            for index in ticket.operations.indices where ticket.operations[index].name == name {
                ticket.operations[index].parameters[0].type = .dateTime
                ticket.operations[index].parameters[0].defaultValue = nil
            }
        }
        for (model, word) in [(without, "removed"), (changed, "changed")] {
            let error = try #require(try desk.shop.refusal(of: model))
            #expect(error.code == .version)
            let place =
                call == .other
                ? "TicketCloseAllOperation: it is removed, but 1 pending changes" : "Ticket: its operation move is \(word), but calls of it wait"
            #expect(error.message.contains(place), "\(error.message)")
        }
    }

    @Test("an operation without calls goes, and one that is new is there")
    func free() throws {
        let database = try desk.shop.upgraded(
            to: model { ticket in
                ticket.operations.removeAll { $0.name == "closeAll" }
                ticket.operations.append(OperationModel(name: "openAll", kind: .other, parameters: [ParameterModel(name: "why", type: .string)]))
            })
        try database.importRows("Ticket", ["id", "company", "city", "effort"], "[[1,1,\"Calbro\",\"Cork\",1.5]]")
        let call = try database.load("Ticket", 1).call("openAll", ["why": "spring"])
        try call.submitPending()
        #expect(try database.outbox.map(\.operation) == ["openAll"])
        #expect(try database.value("SELECT count(*) FROM sqlite_schema WHERE name LIKE '%CloseAll%'") == .integer(0))
    }

    @Test("a pending change that the new model has no operation for cannot be taken along")
    func plainChanges() throws {
        let ticket = try desk.importedTicket(1)
        try ticket.set("city", "Galway")
        try ticket.update()
        let error = try #require(try desk.shop.refusal(of: model { $0.operations.removeAll { $0.name == "update" } }))
        #expect(error.message.contains("Ticket: it has no plain update any longer, but 1 of them are pending"))
    }
}
