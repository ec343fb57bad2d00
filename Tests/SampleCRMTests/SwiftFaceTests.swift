import Foundation
import MobileObjects
import MobileStore
import SampleCRM
import TestSupport
import Testing

/// Swift features of generated classes: lists, relationships read along, observation, Codable, Identifiable, Sendable.
@Suite struct SwiftFaceTests {
    private let crm: CRM
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        crm = try CRM.open(ConnectionProfile(path: directory.file("crm.db")))
        try crm.write("grant") { try $0.grantKeyRange(first: 1, last: 1000) }
        for number in 1...30 {
            let customer = Customer(in: crm)
            (customer.name, customer.city, customer.since) = ("Customer \(number)", number % 2 == 0 ? "Dublin" : "Cork", .epoch)
            customer.street = "Quay \(number)"
            try customer.create()
        }
    }

    private func finish() { try? crm.close() }

    @Test("lists and cursors of generated classes")
    func lists() async throws {
        defer { finish() }
        let query = Customer.where(\.city == "Dublin").sorted(by: \.name, .descending)
        let list = try query.list(pageSize: 4, in: crm), names = try found(query).map(\.name)
        #expect(try await list.count() == 15 && list[7].name == names[7])
        #expect(try query.cursor(in: crm).map(\.name) == names)
        #expect(try await Customer.list(in: crm).object(at: 29).name == "Customer 30")
        #expect(try await Customer.list("findByCity", ["Cork"], in: crm).count() == 15)
        var seen: [String] = []
        for try await page in query.pages(size: 4, in: crm) { seen += page.map(\.name) }
        for try await customer in query.pages(size: 4, in: crm).objects { seen.append(customer.name) }
        #expect(seen == names + names)
    }

    private func found(_ query: EntityQuery<Customer>) throws -> EntityList<Customer> { try query.find(in: crm) }

    @Test("relationships by key path: read along with parents and children, and filtered")
    func relationships() throws {
        defer { finish() }
        let first = try #require(try Customer.where(\.name == "Customer 1").first(in: crm))
        for number in 1...3 {
            let order = SalesOrder(in: crm)
            order.orderDate = .epoch
            order.total = 0
            order.status = number == 2 ? "OPEN" : "NEW"
            first.orders.append(order)
        }
        try first.save()
        let customers = try found(Customer.all.prefetching(\.orders))
        #expect(customers.first { $0.name == "Customer 1" }?.orders.count == 3)
        #expect(try SalesOrder.all.prefetching(\.customer).find(in: crm).map { $0.customer?.name } == Array(repeating: "Customer 1", count: 3))
        #expect(try found(Customer.all.prefetching(\.orders, \.lines).take(1)).first?.orders[0].lines.count == 0)
        let open = SalesOrder.where(\.status == "OPEN")
        #expect(try first.orders.find(open).count == 1 && first.orders.count(open) == 1 && first.orders.list(open).count() == 1)
    }

    @Test("an observation of a typed query delivers its objects' rows")
    func observation() async throws {
        var results = crm.observe(Customer.where(\.city == "Galway").sorted(by: \.name)).makeAsyncIterator()
        #expect(try await results.next()?.isEmpty == true)
        try move()
        let snapshot = try #require(try await results.next())
        #expect(snapshot.map(\.name) == ["Customer 1"] && snapshot[0].isCreated)
        finish()
    }

    private func move() throws {
        let customer = try #require(try Customer.where(\.name == "Customer 1").first(in: crm))
        customer.city = "Galway"
        try customer.save()
    }

    @Test("an object's attributes as JSON, and a new object from them")
    func codable() throws {
        defer { finish() }
        let customer = try #require(try Customer.where(\.name == "Customer 2").first(in: crm))
        customer.creditLimit = Decimal(string: "1234567890.12", locale: nil) ?? 0
        customer.discount = 0.1
        customer.lastChange = Date(timeIntervalSince1970: 1_700_000_000.25)
        let encoder = JSONEncoder(), decoder = JSONDecoder()
        let data = try encoder.encode(customer)
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.contains(#""creditLimit":1234567890.12"#) && text.contains(#""since":"1970-01-01""#) && text.contains(#""contact":null"#))
        let copy = try decoder.decode(Customer.self, from: data, configuration: crm)
        #expect(copy.isNew && copy.surrogateKey == 0)
        for attribute in Customer.metadata.attributes {
            #expect(copy.value(ofAttribute: attribute.index) == customer.value(ofAttribute: attribute.index), "\(attribute.name)")
        }
        try copy.create()
        let some = try decoder.decode(Customer.self, from: Data(#"{"name":"New","colour":"red"}"#.utf8), configuration: crm)
        #expect(some.name == "New" && some.region == "NORTH" && some.isDirty)
        #expect(throws: DecodingError.self) { try decoder.decode(Customer.self, from: Data(#"{"name":5}"#.utf8), configuration: crm) }
        let null = #expect(throws: ObjectError.self) { try decoder.decode(Customer.self, from: Data(#"{"name":null}"#.utf8), configuration: crm) }
        #expect(null?.code == .invalidValue)
    }

    @Test("an object is identified by its row; before it has one, by itself")
    func identity() throws {
        defer { finish() }
        let one = try #require(try Customer.where(\.name == "Customer 1").first(in: crm))
        let same = try #require(try Customer.where(\.name == "Customer 1").first(in: crm))
        let other = try #require(try Customer.where(\.name == "Customer 2").first(in: crm))
        #expect(one.id == same.id && one.id != other.id)
        let new = Customer(in: crm), another = Customer(in: crm)
        #expect(new.id == new.id && new.id != another.id)
        #expect(Set(try Customer.findAll(in: crm).map(\.id)).count == 30)
    }

    /// The test is that this compiles: these values may cross isolations, by the compiler's own check. Objects may not, and have no conformance.
    @Test("pages, snapshots, results, queries, predicates and ids are Sendable")
    func sendable() throws {
        defer { finish() }
        func check<T: Sendable>(_ type: T.Type) -> String { "\(type)" }
        let types = [
            check(EntitySnapshot<Customer>.self), check(QueryObservation<EntitySnapshot<Customer>>.self), check(QueryResultSet.self),
            check(RowPage.self),
            check(EntityQuery<Customer>.self), check(EntityPredicate<Customer>.self), check(Query.self), check(Column<Customer, String>.self),
            check(Relationship<Customer, SalesOrder>.self), check(EntityID.self), check(EntityClass.self), check(CRM.self), check(LogRecord.self),
            check(ChangeLog.self), check(AttributeValue.self), check(Customer.Columns.self), check(Customer.Relationships.self),
        ]
        #expect(Set(types).count == types.count)
    }
}
