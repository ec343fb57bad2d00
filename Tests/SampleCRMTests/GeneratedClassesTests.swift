import Foundation
import MobileObjects
import SampleCRM
import TestSupport
import Testing

/// The generated classes of the sample package at work, on a database of the test's own.
@Suite struct GeneratedClassesTests {
    /// Runs `body` with an open, empty database.
    private func withCRM(_ body: (CRM) throws -> Void) throws {
        let directory = try TemporaryDirectory()
        let crm = try CRM.open(ConnectionProfile(path: directory.file("crm.db")))
        try crm.write("keys of the test") { try $0.grantKeyRange(first: 1, last: 1000) }
        try body(crm)
        try crm.close()
    }

    private func customer(_ name: String, city: String, in crm: CRM) throws -> Customer {
        let customer = Customer(in: crm)
        customer.name = name
        customer.street = "Harbour Road 1"
        customer.city = city
        customer.creditLimit = Decimal(string: "1250.50") ?? 0
        customer.since = LocalDate(year: 2026, month: 11, day: 21) ?? .epoch
        customer.lastChange = Date(timeIntervalSince1970: 1_700_000_000.125)
        return customer
    }

    @Test("DTT-05: what a typed property was given comes back from the database")
    func values() throws {
        try withCRM { crm in
            let customer = try customer("Ødegård Foods", city: "Bergen", in: crm)
            customer.discount = 0.1
            #expect(customer.region == "NORTH" && customer.active && customer.contact == nil)
            try customer.create()
            let found = try #require(try Customer.find(customer.surrogateKey, in: crm))
            #expect(found.name == "Ødegård Foods" && found.city == "Bergen" && found.region == "NORTH" && found.contact == nil)
            #expect(found.creditLimit == Decimal(string: "1250.50") && found.discount == 0.1 && found.active)
            #expect(found.since.description == "2026-11-21")
            #expect(found.lastChange == Date(timeIntervalSince1970: 1_700_000_000.125))
            #expect(!found.isDirty)
        }
    }

    @Test("FND-07 FND-08: a modelled query is a method with its parameters and its kind of result; a list also with skip, take and an order")
    func queries() throws {
        try withCRM { crm in
            for (name, city) in [("C", "Cork"), ("A", "Cork"), ("B", "Cork"), ("D", "Dublin")] { try customer(name, city: city, in: crm).create() }
            #expect(try Customer.findByCity(city: "Cork", in: crm).map(\.name) == ["A", "B", "C"])
            #expect(try Customer.findByCity(city: "Cork", skip: 1, take: 1, in: crm).map(\.name) == ["B"])
            let descending = [AttributeSort.descending(Customer.columns.name)]
            #expect(try Customer.findByCity(city: "Cork", sortedBy: descending, in: crm).map(\.name) == ["C", "B", "A"])
            #expect(try Customer.findByCity(city: "Cork", sortedBy: descending, skip: 1, take: 1, in: crm).map(\.name) == ["B"])
            #expect(try Customer.findByName(name: "D", in: crm)?.city == "Dublin")
            #expect(try Customer.findByName(name: "E", in: crm) == nil)
        }
    }

    @Test("REL-02 REL-03 REL-06: parents and children are properties of both ends")
    func relationships() throws {
        try withCRM { crm in
            let customer = try customer("A", city: "Cork", in: crm)
            let order = SalesOrder(in: crm)
            order.orderDate = LocalDate(year: 2026, month: 1, day: 2) ?? .epoch
            order.total = 12
            let line = SalesOrderLine(in: crm)
            line.line = 1
            line.price = 12
            order.lines.append(line)
            customer.orders.append(order)
            try customer.save()
            let found = try #require(try Customer.find(customer.surrogateKey, in: crm))
            let child = try #require(found.orders.first { _ in true })
            #expect(found.orders.count == 1 && child.total == 12)
            #expect(child.customer?.name == "A")
            #expect(child.lines.map(\.line) == [1])
        }
    }

    @Test("LBO-02: a local object has a key of several characters and the same finders")
    func localObject() throws {
        try withCRM { crm in
            let visit = Visit(in: crm)
            visit.id_ = "6F9619FF-8B86-D011-B42D-00CF4FC964FF"
            visit.customerName = "A"
            visit.plannedFor = Date(timeIntervalSince1970: 0)
            try visit.save()
            let found = try #require(try Visit.findByPrimaryKey("6F9619FF-8B86-D011-B42D-00CF4FC964FF", in: crm))
            #expect(found.customerName == "A" && !found.done && !found.isPending)
        }
    }

    @Test("GEN-18: members are reached by name, through metadata that are always there")
    func byName() throws {
        try withCRM { crm in
            let customer = try customer("A", city: "Cork", in: crm)
            try customer.setValue("Dublin", "city")
            #expect(customer.city == "Dublin")
            #expect(try customer.value("city") == "Dublin")
            #expect(Customer.metadata.attributes.map(\.name).prefix(3) == ["id", "name", "contact"])
            #expect(CRM.metadata.entities.map(\.name) == ["Customer", "SalesOrder", "SalesOrderLine", "Product", "Visit"])
            #expect(throws: ObjectError.self) { try customer.setValue(3, "city") }
        }
    }

    @Test("GEN-10: a class per object with attributes, queries and operations; the database class; parameters, keys, personalization and metadata")
    func everyClass() throws {
        try withCRM { crm in
            let classes = CRM.entityClasses
            #expect(classes.map { "\($0)" } == CRM.metadata.classList.map(\.name))
            for (type, entity) in zip(classes, CRM.metadata.entities + CRM.metadata.operationClasses) {
                #expect((type as? any ModelledEntity.Type)?.metadata === entity)
            }
            // One object through all of them: made, found by a query of the model, changed by an operation, waiting for the server.
            let customer = try customer("A", city: "Cork", in: crm)
            try customer.save()
            #expect(try Customer.findByCity(city: "Cork", in: crm).first?.surrogateKey == customer.surrogateKey)
            let raising = CustomerRaiseCreditLimitOperation(in: crm)
            raising.amount = 10
            try raising.save()
            #expect(try crm.hasPendingOperations() && crm.keyGenerator.generateID() == 3)
            try Customer.addSubscription(CustomerSubscription(region: "EAST"), in: crm)
            #expect(try Customer.subscriptions(in: crm).map(\.region) == ["EAST"])
            var personalization: CRMPersonalizationParameters = try crm.personalizationParameters
            personalization.region = "WEST"
            try personalization.save()
            #expect(try crm.personalizationParameters.region == "WEST")
            try crm.submitPendingOperations()
            #expect(try crm.outbox.map { "\($0.change.rawValue) \($0.entity) \($0.operation)" } == ["C Customer ", "O Customer raiseCreditLimit"])
        }
    }
}
