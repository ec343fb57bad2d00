import Foundation
import MobileModel
import MobileObjects
import MobileStore
import MobileSync
import Testing

/// The documents' own samples of operations and complex types, through generated classes, a server and a back end.
@Suite struct DocumentedOperationTests {
    private func authentication() -> AuthenticationInfo {
        var authinfo = AuthenticationInfo()
        authinfo.userName = "Francie"
        authinfo.password = "password"
        return authinfo
    }

    @Test("CPX-03 CPX-04 OPS-12 OPS-13: a create with credentials, a list of strings and many values that are missing, as the back end gets them")
    func submitTicket() throws {
        let remedy = try Remedy()
        let cr = HelpDesk_Query_Service(in: remedy.package)
        cr.company = "Calbro Services"
        try cr.helpDesk_Submit_Service(
            header: authentication(), assigned_Group: ["Frontoffice Support", nil], ci_Name: nil, action: "CREATE", work_Info_Summary: "create it")
        try cr.submitPending()
        #expect(cr.isCreated)
        #expect(try remedy.package.hasPendingOperations())
        #expect(try remedy.package.synchronize().operationsAccepted == 1)
        #expect(try !remedy.package.hasPendingOperations())
        #expect(
            try remedy.rows("SELECT company, summary, submitter, assigned FROM helpdesk")
                == [#"Calbro Services create it Francie ["Frontoffice Support",null]"#])
        #expect(try remedy.rows("SELECT entry_id, text FROM request") == [#"1 [null,"CREATE","YES",null,null]"#])
        try cr.refresh()
        #expect(!cr.isPending && cr.entry_id == 1 && cr.submitter == "Francie" && cr.assigned == ["Frontoffice Support", nil])
    }

    @Test("CPX-04 PSP-07 PSP-08: wrong credentials are a rejection; the ticket is submitted again under others")
    func wrongCredentials() throws {
        let remedy = try Remedy()
        let cr = HelpDesk_Query_Service(in: remedy.package)
        cr.company = "Calbro Services"
        var wrong = authentication()
        wrong.password = "guessed"
        try cr.helpDesk_Submit_Service(header: wrong, action: "CREATE")
        try cr.submitPending()
        #expect(try remedy.package.synchronize().operationsRejected == 1)
        try cr.refresh()
        #expect(cr.state == .failed)
        #expect(try cr.logRecords().first?.operation == "helpDesk_Submit_Service")
        #expect(try remedy.rows("SELECT count(*) FROM helpdesk") == ["0"])
        try cr.helpDesk_Submit_Service(header: authentication(), action: "CREATE")
        try cr.submitPending()
        #expect(try remedy.package.synchronize().operationsAccepted == 1)
        #expect(try remedy.rows("SELECT company, submitter FROM helpdesk") == ["Calbro Services Francie"])
    }

    @Test("CPX-05: the generated create takes the structure as its argument; the record is replayed at the next synchronization")
    func simpleCaseList() throws {
        let remedy = try Remedy()
        var authinfo = AuthenticationInfo()
        authinfo.userName = "Francie"
        let cr = SimpleCaseList(in: remedy.package)
        cr.company = "Calbro Services"
        try cr.create(authinfo: authinfo)
        try cr.submitPending()
        #expect(try remedy.rows("SELECT count(*) FROM case_list") == ["0"])
        try remedy.package.synchronize()
        #expect(try remedy.rows("SELECT company, opened_by FROM case_list") == ["Calbro Services Francie"])
        try cr.refresh()
        #expect(cr.id_ == 1 && cr.state == .unchanged)
        try cr.delete()
        try cr.submitPending()
        try remedy.package.synchronize()
        #expect(try remedy.rows("SELECT count(*) FROM case_list") == ["0"])
    }

    @Test("OPS-11 OPS-13: an update by name: the key comes from the object, a reason and numbers from the caller, a delete likewise")
    func update() async throws {
        let remedy = try Remedy()
        let cr = HelpDesk_Query_Service(in: remedy.package)
        cr.company = "Calbro Services"
        try await cr.helpDesk_Submit_Service(header: authentication(), action: "CREATE", work_Info_Summary: "old")
        try await cr.submitPending()
        // The device does not know the back end's key yet when it changes the row.
        _ = try await remedy.package.synchronize()
        try await cr.refresh()
        cr.summary = "new"
        try await cr.changeSummary(reason: "a typo", steps_done: [1, 2])
        try await cr.submitPending()
        #expect(try await remedy.package.synchronize().operationsAccepted == 1)
        #expect(try remedy.rows("SELECT summary FROM helpdesk") == ["new"])
        #expect(try remedy.rows("SELECT entry_id, text FROM request ORDER BY id DESC LIMIT 1") == [#"1 ["a typo","[1,2]","old"]"#])
        try await cr.refresh()
        try await cr.withdraw()
        try await cr.submitPending()
        #expect(try await remedy.package.synchronize().operationsRejected == 1)
        #expect(try remedy.rows("SELECT count(*) FROM helpdesk") == ["1"], "its requests still refer to it")
        try await cr.cancelPending()
        let found = try #require(try await HelpDesk_Query_Service.findByPrimaryKey(1, in: remedy.package))
        #expect(found.summary == "new" && !found.isPending)
    }

    @Test("OPS-17 OPS-18: an operation that is none of these has parameters as properties, and is saved and submitted")
    func otherOperation() throws {
        let remedy = try Remedy()
        let other = CustomerOtherOperation(in: remedy.package)
        other.P1 = "somevalue"
        other.P2 = 2
        other.P3 = Date(timeIntervalSince1970: 1_700_000_000)
        other.id_ = ["a", nil]
        other.step = Step(place: "Rutherford", marks: [1, nil], contact: authentication())
        let visit = Visit(in: remedy.package)
        (visit.id_, visit.day) = (7, LocalDate(year: 2010, month: 9, day: 1) ?? .epoch)
        other.visits = [visit]
        try other.save()
        try other.submitPending()
        #expect(other.state == .submitted)
        try remedy.package.synchronize()
        let found = try remedy.rows(
            """
            SELECT json_extract(json_extract(text, '$[5]'), '$[0].day'), json_extract(text, '$[0]'), json_extract(text, '$[1]'), json_extract(text, '$[2]'), json_extract(text, '$[3]'),
                json_extract(json_extract(text, '$[4]'), '$.contact.userName') FROM request
            """)
        #expect(found == [#"2010-09-01 somevalue 2 2023-11-14T22:13:20.000Z ["a",null] Francie"#])
        #expect(try CustomerOtherOperation.findAll(in: remedy.package).isEmpty && !remedy.package.hasPendingOperations())
        let cleaning = CustomerCleanUpOperation(in: remedy.package)
        try cleaning.save()
        try cleaning.submitPending()
        try remedy.package.synchronize()
        #expect(try remedy.rows("SELECT count(*) FROM request") == ["0"])
    }

    @Test("OPS-18: CustomerChangeLastNameOperation changes rows in the back end, and they come back changed")
    func changeLastName() async throws {
        let remedy = try Remedy()
        let operation = CustomerChangeLastNameOperation(in: remedy.package)
        operation.oldLastName = "Devlin"
        operation.newLastName = "Smith"
        try await operation.save()
        let saved = try #require(try await CustomerChangeLastNameOperation.where(\.oldLastName == "Devlin").first(in: remedy.package))
        #expect(saved.newLastName == "Smith" && saved.isPending)
        try await saved.submitPending()
        _ = try await remedy.package.synchronize()
        #expect(try await Customer.findAll(in: remedy.package).map(\.lname) == ["Smith", "Reiser", "Smith"])
        #expect(try await !remedy.package.hasPendingOperations())
    }

    @Test("OPS-19: a list of numbers is the argument of an operation")
    func listOfNumbers() throws {
        let remedy = try Remedy()
        var intlist: [Int32] = []
        intlist.reserveCapacity(2)
        intlist.append(1)
        intlist.append(2)
        let thecustomer = try #require(try Marked.findByPrimaryKey(101, in: remedy.package))
        try thecustomer.AnOperation(thelist: intlist)
        try thecustomer.submitPending()
        try remedy.package.synchronize()
        #expect(try remedy.rows("SELECT marks FROM marked") == ["[1,2]"])
        try thecustomer.refresh()
        #expect(thecustomer.marks == "[1,2]" && !thecustomer.isPending)
    }

    @Test("parameters may be called user and size; a decimal travels with the digits that the model gives it, and no others are taken")
    func digitsOfParameters() throws {
        let remedy = try Remedy()
        let marked = try #require(try Marked.findByPrimaryKey(101, in: remedy.package))
        let size = try #require(Decimal(string: "123456789012345678.000001"))
        try marked.measure(user: "Francie", size: size)
        try marked.submitPending()
        try remedy.package.synchronize()
        #expect(try remedy.rows("SELECT marks FROM marked") == ["Francie 123456789012345678.000001"])
        try marked.refresh()
        for wrong in ["0.0000001", "1234567890123456789"] {
            let error = #expect(throws: ObjectError.self) { try marked.measure(user: "Francie", size: try #require(Decimal(string: wrong))) }
            #expect(error?.code == .invalidValue)
        }
        #expect(!marked.isPending)
    }

    @Test("PND-16 PND-17: the documented multilevel insert: keys from the generator, parent and child saved and submitted once")
    func multilevelInsert() throws {
        let remedy = try Remedy()
        let c = Customer(in: remedy.package)
        c.id_ = try remedy.package.localKeyGenerator.generateID()
        (c.fname, c.lname, c.city) = ("Dorothi", "Scranton", "smallVille")
        let ol = Sales_order(in: remedy.package)
        ol.id_ = try remedy.package.localKeyGenerator.generateID()
        (ol.order_date, ol.region) = (LocalDate(year: 2010, month: 9, day: 1) ?? .epoch, "Eastern")
        ol.customer = c
        c.customerSalesOrders.append(ol)
        try c.save()
        try c.refresh()
        try c.submitPending()
        #expect(c.pending)
        #expect(try remedy.package.synchronize().operationsAccepted == 2)
        #expect(try !remedy.package.hasPendingOperations())
        #expect(
            try remedy.rows("SELECT c.id, c.fname, o.cust_id, o.order_date, o.region FROM sales_order o JOIN customer c ON c.id = o.cust_id")
                == ["104 Dorothi 104 2010-09-01 Eastern"])
        try c.refresh()
        #expect(c.id_ == 104 && c.customerSalesOrders.map(\.cust_id) == [104])
    }
}
