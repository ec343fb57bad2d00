import Foundation
import MobileObjects
import MobileStore
import SampleCRM
import TestSupport
import Testing

/// The same through generated classes: the effect of a typed property on the runtime below it.
@Suite struct GeneratedClassTests {
    private let directory: TemporaryDirectory
    private let crm: CRM

    init() throws {
        directory = try TemporaryDirectory()
        crm = try CRM.open(ConnectionProfile(path: directory.file("crm.db")))
        try crm.write("grant") { try $0.grantKeyRange(first: 1000, last: 1999) }
    }

    private func finish() { try? crm.close() }

    private func newCustomer(_ name: String) -> Customer {
        let customer = Customer(in: crm)
        customer.name = name
        customer.since = LocalDate(year: 2026, month: 11, day: 21) ?? .epoch
        return customer
    }

    @Test("OPS-02 OPS-09 REL-02 REL-04: an application's few lines: a customer with an order and its line, saved and submitted")
    func fewLines() throws {
        defer { finish() }
        let customer = newCustomer("Harbour Foods")
        customer.creditLimit = Decimal(string: "1500.50")!
        let order = SalesOrder(in: crm)
        order.orderDate = .epoch
        customer.orders.append(order)
        try customer.save()
        try customer.submitPending()
        #expect(customer.state == .submitted && order.state == .submitted)
        #expect(try crm.outbox.map(\.entity) == ["Customer", "SalesOrder"])
        #expect(try crm.outbox[0].attributes["creditLimit"]?.description == "1500.50")
        let found = try #require(try Customer.find(customer.surrogateKey, in: crm))
        #expect(found.name == "Harbour Foods" && found.creditLimit == Decimal(string: "1500.50") && found.region == "NORTH" && found.contact == nil)
        #expect(found.orders.count == 1 && found.orders[0].customer === found)
    }

    @Test("STA-03: setting a property of a loaded object makes it dirty; loading does not")
    func dirty() throws {
        defer { finish() }
        try newCustomer("Harbour Foods").create()
        let customer = try #require(try Customer.findAll(in: crm).first)
        #expect(!customer.isDirty)
        customer.city = "Cork"
        #expect(customer.isDirty)
        try customer.update()
        #expect(try Customer.findByCity(city: "Cork", in: crm).map(\.name) == ["Harbour Foods"])
        #expect(try Customer.findByName(name: "Harbour Foods", in: crm)?.city == "Cork")
        #expect(try Customer.findByCity(city: "Dublin", in: crm).isEmpty)
    }

    @Test("OPS-21: a date that was never set is missing")
    func missing() throws {
        defer { finish() }
        let customer = Customer(in: crm)
        customer.name = "Harbour Foods"
        let error = #expect(throws: ObjectError.self) { try customer.create() }
        #expect(error?.code == .missingValue && error?.message == "create of Customer: since has no value")
    }

    @Test("typed and generic access see the same rows, and callbacks get objects of the generated class")
    func generic() throws {
        defer { finish() }
        try newCustomer("Harbour Foods").create()
        #expect(try crm.entity("Customer").findAll().map { try $0.value("name") } == ["Harbour Foods"])
        #expect(crm.objectClass(of: Customer.metadata) == Customer.self)
    }

    @Test("FND-12: typed pages after a key give every object once")
    func pages() throws {
        defer { finish() }
        try crm.transaction { for number in 1...25 { try newCustomer("Customer \(number)").create() } }
        var names: [String] = [], after: Int64 = 0
        while case let page = try Customer.page(after: after, size: 10, in: crm), let last = page.last {
            names += page.map(\.name)
            after = last.surrogateKey
        }
        #expect(names == (1...25).map { "Customer \($0)" })
    }

    @Test("BIG-15: notes are streamed through a generated property")
    func notes() throws {
        defer { finish() }
        let customer = newCustomer("Harbour Foods")
        try customer.create()
        try customer.notes.openForWrite()
        try customer.notes.write("likes tea")
        try customer.notes.close()
        try customer.save()
        let found = try #require(try Customer.find(customer.surrogateKey, in: crm))
        try found.notes.openForRead()
        #expect(try found.notes.read(100) == "likes tea")
    }

    @Test("the async finders and operations of a generated class")
    func asynchronous() async throws {
        defer { finish() }
        let customer = newCustomer("Harbour Foods")
        try await customer.create()
        let found = try #require(try await Customer.find(customer.surrogateKey, in: crm))
        found.city = "Cork"
        try await found.update()
        #expect(try await Customer.findByCity(city: "Cork", in: crm).count == 1)
        #expect(try await Customer.findAll(in: crm).count == 1)
        try await Customer.submitPendingOperations(in: crm)
        #expect(try await crm.hasPendingOperations())
    }
}
