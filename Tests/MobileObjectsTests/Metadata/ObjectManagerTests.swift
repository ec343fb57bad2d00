import Foundation
import MobileModel
import MobileObjects
import MobileStore
import SampleCRM
import TestSupport
import Testing

/// Members accessed by their names: of generic objects and of generated classes.
@Suite struct ObjectManagerTests {
    private let desk: HelpdeskDatabase

    init() throws { desk = try HelpdeskDatabase() }

    @Test("MET-10: attributes are read and written, creates, updates, deletes and other operations called by name, with parameters by name")
    func byName() throws {
        let ticket = try desk.database.entity("Ticket").newObject()
        try ticket.setValue("Calbro Services", "company")
        #expect(try ticket.value("company") == "Calbro Services")
        #expect(try ticket.call("submit", ["action": "CREATE"]) === ticket)
        #expect(ticket.isCreated)
        try ticket.submitPending()
        try desk.shop.accept(ticket.replayPending)
        try ticket.refresh()
        try ticket.setValue("Cork", "city")
        try ticket.call("update")
        #expect(ticket.isUpdated && !ticket.isDirty)
        try ticket.call("delete")
        #expect(ticket.isDeleted)
        let closing = try desk.database.entity("Ticket").call(
            "closeAll", ["P1": "a", "P2": 2, "P3": .dateTime(Date(timeIntervalSince1970: 0))])
        #expect(closing.metadata.name == "TicketCloseAllOperation" && closing.isCreated)
        #expect(try closing.value("P2") == 2 && closing.value("tags").isNull)
        try closing.submitPending()
        #expect(try desk.database.outbox.map(\.operation) == ["closeAll"])
    }

    @Test("MET-10 OPS-20: names that do not exist and values that do not fit have their errors, and nothing is changed")
    func errors() throws {
        let ticket = try desk.importedTicket(), tickets = try desk.database.entity("Ticket")
        let cases: [(ObjectError.Code, String, () throws -> Void)] = [
            (.noSuchClass, #"package Helpdesk:1.0 has no object "Tickt""#, { _ = try desk.database.entity("Tickt") }),
            (.noSuchAttribute, #"object "Ticket" has no attribute "town""#, { _ = try ticket.value("town") }),
            (.noSuchAttribute, #"object "Ticket" has no attribute "town""#, { try ticket.setValue("x", "town") }),
            (.invalidValue, "Ticket.company: null, expected string", { try ticket.setValue(.null, "company") }),
            (.noSuchOperation, #"object "Ticket" has no operation "close""#, { try ticket.call("close") }),
            (.noSuchOperation, #"object "Ticket" has no operation "create""#, { try ticket.call("create") }),
            (.noSuchOperation, #"object "Ticket" has no operation "close""#, { try tickets.call("close") }),
            (.noSuchParameter, #"operation "reopen" has no parameter "why""#, { try ticket.call("reopen", ["why": "x"]) }),
            (.noSuchParameter, #"operation "reopen": the parameter "reason" is missing"#, { try ticket.call("reopen") }),
            (.noSuchParameter, #"operation "update" has no parameter "reason""#, { try ticket.call("update", ["reason": "x"]) }),
            (
                .invalidValue, #"parameter "reason" of operation "reopen": the integer 1, expected string"#,
                { try ticket.call("reopen", ["reason": 1]) }
            ),
            (.noSuchParameter, #"operation "closeAll": the parameter "P1" is missing"#, { try tickets.call("closeAll", ["P2": 1]) }),
            (.misuse, "reopen of Ticket: it changes a row; call it on an object", { try tickets.call("reopen", ["reason": "x"]) }),
            (.alreadySaved, "create of Ticket 1: it is in the database already; use update or save", { try ticket.call("submit", ["action": "x"]) }),
            (.notSaved, "reopen of a new Ticket: create or save it first", { try desk.newTicket().call("reopen", ["reason": "x"]) }),
        ]
        for (code, message, body) in cases {
            let error = ObjectError.of(body)
            #expect(error?.code == code && error?.message == message, "\(message)")
        }
        #expect(!ticket.isDirty && !ticket.isPending)
        #expect(try desk.shop.count("Ticket_os") == 0 && desk.shop.count("TicketCloseAllOperation") == 0)
    }

    @Test("MET-10: objects of generated classes are reached in the same way; other operations come back as their generated class")
    func generated() async throws {
        let directory = try TemporaryDirectory()
        let crm = try await CRM.open(ConnectionProfile(path: directory.file("crm.db")))
        try await crm.write("grant") { try $0.grantKeyRange(first: 1000, last: 1999) }
        let customer = Customer(in: crm)
        try customer.setValue("Harbour Foods", "name")
        try customer.setValue(.date(.epoch), "since")
        try await customer.call("create")
        #expect(customer.name == "Harbour Foods" && customer.isCreated)
        let raising = try await customer.call("raiseCreditLimit", ["customerId": 7, "amount": .decimal(10)])
        let typed = try #require(raising as? CustomerRaiseCreditLimitOperation)
        #expect(typed.customerId == 7 && typed.amount == 10 && typed.isCreated)
        #expect(ObjectError.of { try customer.setValue("x", "creditLimit") }?.code == .invalidValue)
        try await crm.closeConnection()
    }

    @Test("MET-10: relationships and large attributes are reached by name, lists, parents and streams")
    func relationships() throws {
        let shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        try shop.importOrder(11, number: 11, customer: 1)
        let customer = try shop.objects("Customer").load(1), orders: Children<GenericEntity> = try customer.children("orders")
        #expect(try orders.all().map(\.surrogateKey) == [11])
        let order = try shop.objects("SalesOrder").load(11)
        #expect(try (order.parent("customer") as GenericEntity?)?.surrogateKey == 1)
        let new = try shop.new("SalesOrder", ["status": "NEW"])
        try new.setParent(customer, "customer")
        try new.create()
        #expect(try shop.objects("SalesOrder").load(new.surrogateKey).value("customerId") == "c1")
        try shop.importRows("Product", ["id", "name", "price"], "[[31,1,\"Tea\",2.50]]")
        let product = try shop.objects("Product").load(31)
        let manual = try product.bigString("manual")
        try manual.openForWrite(0)
        try manual.write("Pour water.")
        try manual.close()
        #expect(try product.bigString("manual") === manual && product.bigBinary("picture").length == nil && product.isDirty)
        let cases: [(ObjectError.Code, String, () throws -> Void)] = [
            (
                .noSuchRelationship, #"object "Customer" has no relationship "order""#,
                { let _: Children<GenericEntity> = try customer.children("order") }
            ),
            (
                .misuse, "SalesOrder.customer: it leads to one object, not to a list",
                { let _: Children<GenericEntity> = try order.children("customer") }
            ),
            (.misuse, "Customer.orders: it leads to a list, not to one object", { let _: GenericEntity? = try customer.parent("orders") }),
            (
                .misuse, "Customer.orders: its objects are of class GenericEntity, not Customer",
                { let _: Children<Customer> = try customer.children("orders") }
            ),
            (.noSuchAttribute, #"object "Product" has no attribute "photo""#, { _ = try product.bigBinary("photo") }),
            (.misuse, "Product.manual: its type is bigString, not bigBinary", { _ = try product.bigBinary("manual") }),
        ]
        for (code, message, body) in cases {
            let error = ObjectError.of(body)
            #expect(error?.code == code && error?.message == message, "\(message)")
        }
    }

    @Test("MET-10: the blocking calls of a class have twins that block no thread")
    func twins() async throws {
        let shop = try Shop()
        for key in 1...5 as ClosedRange<Int64> { try importCustomer(key, to: shop) }
        let customers = try shop.objects("Customer")
        #expect(try await customers.find(3)?.name == "Customer 3")
        #expect(try await customers.find(9) == nil)
        #expect(try await customers.load(2).name == "Customer 2")
        #expect(try await customers.findByPrimaryKey("c4")?.surrogateKey == 4)
        #expect(try await customers.findAll(skip: 1, take: 2).map(\.surrogateKey) == [2, 3])
        #expect(try await customers.page(after: 3, size: 1).map(\.surrogateKey) == [4])
        let error = await #expect(throws: ObjectError.self) { _ = try await customers.load(9).name }
        #expect(error?.code == .notFound)
        let none = await #expect(throws: ObjectError.self) { _ = try await customers.query("findByNothing").count }
        #expect(none?.code == .noSuchOperation)
    }

    private func importCustomer(_ key: Int64, to shop: Shop) throws { try shop.importCustomer(key, id: "c\(key)", name: "Customer \(key)") }
}
