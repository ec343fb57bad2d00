import Foundation
import MobileObjects
import MobileStore
import MobileSync
import Testing

/// Attributes that are structures, objects, or lists: kept in the row, sent and received as they are.
@Suite struct ComplexTypeTests {
    private func visit(_ id: Int64, in package: RemedyCU) -> Visit {
        let visit = Visit(in: package)
        (visit.id_, visit.day, visit.region) = (id, LocalDate(year: 2010, month: 9, day: 1) ?? .epoch, nil)
        return visit
    }

    @Test("CPX-02: attributes are simple values, lists of them, structures and objects of the model, and lists of those; all come back as they were")
    func everyForm() throws {
        let remedy = try Remedy()
        let ticket = HelpDesk_Query_Service(in: remedy.package)
        ticket.company = "Calbro"
        ticket.assigned = ["a", nil, "ü\"\\"]
        ticket.next = Step(
            place: "Cork", planned: Date(timeIntervalSince1970: 0.125), marks: [nil, .min], contact: AuthenticationInfo(userName: "F"))
        ticket.steps = [Step(), Step(place: "Dublin")]
        let caller = Caller(in: remedy.package)
        (caller.id_, caller.fname, caller.lname, caller.city) = (.max, "Dorothi", "O'Hara", nil)
        ticket.requester = caller
        ticket.related = [visit(1, in: remedy.package), nil, visit(2, in: remedy.package)]
        try ticket.helpDesk_Submit_Service(header: AuthenticationInfo(userName: "Francie", password: "password"), action: "CREATE")
        let found = try #require(try HelpDesk_Query_Service.find(ticket.surrogateKey, in: remedy.package))
        #expect(found.assigned == ticket.assigned && found.next == ticket.next && found.steps == ticket.steps)
        let requester = try #require(found.requester)
        #expect(requester.id_ == .max && requester.fname == "Dorothi" && requester.lname == "O'Hara" && requester.city == nil && requester.isNew)
        #expect(found.related?.map { $0?.id_ } == [1, nil, 2] && found.related?[2]?.day == visit(2, in: remedy.package).day)
        #expect(try Caller.findAll(in: remedy.package).isEmpty, "an object that is a value is no row")
        for attribute in ["assigned", "next", "steps", "requester", "related"] {
            #expect(try found.value(attribute) == ticket.value(attribute), "\(attribute)")
        }
        let generic = try remedy.package.entity("HelpDesk_Query_Service").load(ticket.surrogateKey)
        #expect(try generic.value("requester") == ticket.value("requester"))
    }

    @Test("CPX-02: they travel to the back end and back")
    func travel() throws {
        let remedy = try Remedy()
        let ticket = HelpDesk_Query_Service(in: remedy.package)
        ticket.company = "Calbro"
        try ticket.helpDesk_Submit_Service(header: AuthenticationInfo(userName: "Francie", password: "password"), action: "CREATE")
        try ticket.submitPending()
        try remedy.package.synchronize()
        try ticket.refresh()
        let caller = Caller(in: remedy.package)
        (caller.id_, caller.fname, caller.lname) = (101, "Michaels", "Devlin")
        ticket.requester = caller
        ticket.related = [nil, visit(5, in: remedy.package)]
        ticket.steps = [Step(place: "Cork")]
        try ticket.update()
        try ticket.submitPending()
        #expect(try remedy.package.synchronize().operationsAccepted == 1)
        #expect(
            try remedy.rows(
                "SELECT json_extract(requester, '$.lname'), json_extract(related, '$[1].id'), json_extract(steps, '$[0].place') FROM helpdesk")
                == ["Devlin 5 Cork"])
        try ticket.refresh()
        #expect(ticket.requester?.fname == "Michaels" && ticket.related?.map { $0?.id_ } == [nil, 5] && ticket.steps == [Step(place: "Cork")])
    }

    @Test("CPX-02: JSON of another form is refused, and the attribute stays as it was")
    func wrong() throws {
        let remedy = try Remedy(synchronizes: false)
        let ticket = HelpDesk_Query_Service(in: remedy.package)
        ticket.requester = Caller(in: remedy.package)
        for json in ["{\"town\":\"x\"}", "{\"id\":\"x\"}", "[]", "3", "{", "{\"fname\":null}"] {
            let error = #expect(throws: ObjectError.self) { try ticket.setValue(.json(json), "requester") }
            #expect(error?.code == .invalidValue, "\(json)")
        }
        for json in ["{}", "[3]", "[{\"id\":true}]"] {
            #expect(throws: ObjectError.self) { try ticket.setValue(.json(json), "related") }
        }
        #expect(ticket.requester != nil && ticket.related == nil)
        try ticket.setValue(.json("{\"fname\":\"A\"}"), "requester")
        #expect(ticket.requester?.fname == "A")
        try ticket.setValue(.null, "requester")
        #expect(ticket.requester == nil)
        let operation = CustomerOtherOperation(in: remedy.package)
        #expect(throws: ObjectError.self) { try operation.setValue(.null, "visits") }
        #expect(throws: ObjectError.self) { try operation.setValue(.json("[null]"), "visits") }
        try operation.setValue(.json("[{\"id\":4}]"), "visits")
        #expect(operation.visits.map(\.id_) == [4])
    }
}
