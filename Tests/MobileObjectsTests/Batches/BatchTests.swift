import MobileObjects
import MobileStore
import SampleCRM
import TestSupport
import Testing

/// Changes of all objects that a query finds.
@Suite struct BatchTests {
    private let directory: TemporaryDirectory
    private let crm: CRM
    private struct Failed: Error {}

    init() throws {
        directory = try TemporaryDirectory()
        crm = try CRM.open(ConnectionProfile(path: directory.file("crm.db")))
    }

    /// Saves customers, without pending changes of other kinds.
    private func customers(_ count: Int, city: (Int) -> String = { $0 % 2 == 0 ? "Cork" : "Dublin" }) throws -> [Customer] {
        let customers = (0..<count).map { number in
            let customer = Customer(in: crm)
            (customer.name, customer.city, customer.since) = ("Customer \(10_000 + number)", city(number), .epoch)
            return customer
        }
        try crm.save(customers)
        return customers
    }

    @Test func `an update changes the objects that the query finds, each with its mark and its original state`() throws {
        let all = try customers(10)
        let changed = try crm.customers.where(\.city == "Cork").update { $0.city = "Galway" }
        #expect(changed == 5)
        let found = try crm.customers.where(\.city == "Galway").find()
        #expect(found.map(\.surrogateKey) == stride(from: 0, to: 10, by: 2).map { all[$0].surrogateKey })
        #expect(found.allSatisfy { $0.state == .pending })
        #expect(try crm.customers.where(\.city == "Cork").isEmpty() && crm.customers.where(\.city == "Dublin").count() == 5)
    }

    @Test(arguments: [1, 3, 499, 500, 501, 1203])
    func `each object is changed once, whatever the change does to the result, its order and its limit`(count: Int) throws {
        _ = try customers(count)
        var seen: [String] = []
        // Each change moves the customer after all others, and into the test's other half.
        let found = try crm.customers.where { $0.name.starts(with: "Customer") }.sorted(by: \.name).limit(count - 1 + count % 2).update { customer in
            seen.append(customer.name)
            customer.name = "Customer 2" + customer.name.dropFirst(9)
        }
        let expected = (0..<(count - 1 + count % 2)).map { "Customer \(10_000 + $0)" }
        #expect(found == expected.count && seen == expected)
        #expect(try crm.customers.where { $0.name.starts(with: "Customer 2") }.count() == expected.count)
    }

    @Test func `a closure that throws leaves all objects as they were`() throws {
        _ = try customers(700)
        var number = 0
        #expect(throws: Failed.self) {
            try crm.customers.where(\.city == "Cork").update { customer in
                number += 1
                if number == 340 { throw Failed() }
                customer.city = "Galway"
            }
        }
        #expect(try crm.customers.where(\.city == "Cork").count() == 350)
        let error = #expect(throws: ObjectError.self) {
            try crm.customers.update { $0.name = String(repeating: "long", count: 1000) }
        }
        #expect(error?.code == .invalidValue)
        #expect(try crm.customers.where(\.city == "Cork").count() == 350)
    }

    @Test func `objects that the closure leaves alone do not become pending`() async throws {
        let shop = try Shop()
        for key in 1...4 { try shop.importCustomer(Int64(key), id: "c\(key)", name: "Customer \(key)") }
        let objects = try shop.objects("Customer")
        let found = try await objects.update { customer in
            if customer.surrogateKey == 2 { try customer.setValue("Cork", "city") }
        }
        #expect(found == 4)
        let changed = try await objects.load(2)
        #expect(try shop.count("Customer_os") == 1 && changed.state == .pending)
        try await changed.cancelPending()
        #expect(try await objects.load(2).value("city") == "Dublin" && shop.count("Customer_os") == 0)
    }

    @Test func `an object that joins find twice is changed once`() throws {
        let shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Customer")
        for key in 11...13 { try shop.importOrder(Int64(key), number: Int64(key), customer: 1) }
        let query = Query().join("SalesOrder", "o", "o.customerId", "Customer.id")
        var calls = 0
        let found = try shop.objects("Customer").update(query) { customer in
            calls += 1
            try customer.setValue("Cork", "city")
        }
        #expect(found == 1 && calls == 1)
        #expect(try shop.objects("Customer").delete(query) == 1)
        #expect(try shop.count("Customer") == 0)
    }

    @Test func `a delete takes composite children along, also those that it finds itself`() throws {
        let shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Customer")
        for key in 11...13 {
            try shop.importOrder(Int64(key), number: Int64(key), customer: 1)
            try shop.importLine(Int64(key + 10), order: Int64(key), number: 1, text: "tea")
        }
        #expect(try shop.objects("SalesOrder").delete(Query().where(.notEqual("number", 12))) == 2)
        #expect(try shop.count("SalesOrder") == 1 && shop.count("Line") == 1)
        #expect(try shop.count("SalesOrder_os") == 2 && shop.count("Line_os") == 2)
    }

    @Test func `a submit sends the pending changes of the found objects, deleted ones too, and no others`() async throws {
        let all = try customers(6)
        let submitted = try await crm.customers.where(\.city == "Cork").submit()
        #expect(submitted == 3)
        #expect(try crm.outbox.count == 3)
        let states = try await crm.customers.sorted(by: \.name).find().map(\.state)
        #expect(states == [.submitted, .pending, .submitted, .pending, .submitted, .pending])
        #expect(try await crm.customers.where(\.city == "Cork").submit() == 3)
        #expect(try crm.outbox.count == 3)

        let shop = try Shop()
        for key in 1...3 { try shop.importCustomer(Int64(key), id: "c\(key)", name: "Customer \(key)") }
        let objects = try shop.objects("Customer")
        try await objects.delete(Query().where(.greaterThan("id", "c1")))
        #expect(try await objects.submit(Query()) == 0)
        #expect(try await objects.submit(Query().filter(.deleted)) == 2)
        #expect(try shop.outboxLines().count == 2)
        #expect(all.count == 6)
    }

    @Test func `an object that was read before is stale after a change`() throws {
        let first = try #require(customers(1).first)
        try crm.customers.update { $0.city = "Galway" }
        first.city = "Sligo"
        #expect(ObjectError.of { try first.update() }?.code == .stale)
        try first.refresh()
        #expect(first.city == "Galway")
    }

    @Test func `inside of a transaction a batch is part of it`() throws {
        _ = try customers(3)
        #expect(throws: Failed.self) {
            try crm.transaction {
                try crm.customers.update { $0.city = "Galway" }
                #expect(try crm.customers.where(\.city == "Galway").count() == 3)
                throw Failed()
            }
        }
        #expect(try crm.customers.where(\.city == "Galway").isEmpty())
    }
}
