import Foundation
import MobileObjects
import SampleCRM
import Testing

/// The examples in the comments of `EntityClass` and `EntityList` are the code between the marks below, and they run.
@Suite struct EntityClassExampleTests {
    private let example: ExampleCRM
    private let crm: CRM
    private let customers: EntityClass

    init() throws {
        example = try ExampleCRM()
        crm = example.crm
        customers = try crm.entity("Customer")
    }

    private func print(_ value: Any) { example.add(value) }

    @Test func `objects by key`() throws {
        let key: Int64 = 1
        do {
            // Example: EntityClass.newObject()
            let customer = customers.newObject()
            try customer.setValue("Quay Books", "name")
            try customer.setValue(.date(LocalDate(Date())), "since")  // today
            try customer.create()
            // Example: end
            #expect(try Customer.load(customer.surrogateKey, in: crm).name == "Quay Books")
            try customer.delete()
        }
        do {
            // Example: EntityClass.find(_:)
            if let customer = try customers.find(key) {
                try print(customer.value("name"))
            }
            // Example: end
        }
        do {
            // Example: EntityClass.load(_:)
            let customer = try customers.load(key)
            try print(customer.value("name"))
            // Example: end
        }
        #expect(example.take() == ["Harbour Foods", "Harbour Foods"])

        // Example: EntityClass.findByPrimaryKey(_:)
        let lines = try crm.entity("SalesOrderLine")
        let line = try lines.findByPrimaryKey(17, 1)  // order and line
        try print("\(line?.value("quantity") ?? 0) pieces")
        // Example: end
        #expect(example.take() == ["4 pieces"])
    }

    @Test func `all objects`() throws {
        let names = ["Harbour Foods", "Mill & Sons", "Castle Inn"]
        // Example: EntityClass.findAll(skip:take:)
        for customer in try customers.findAll() {
            try print(customer.value("name"))
        }
        // Example: end
        #expect(example.take() == names)

        // Example: EntityClass.page(after:size:)
        var page = try customers.page(size: 100)
        while let last = page.last {
            for customer in page { try print(customer.value("name")) }
            page = try customers.page(after: last.surrogateKey, size: 100)
        }
        // Example: end
        #expect(example.take() == names)
    }

    @Test func queries() throws {
        do {
            // Example: EntityClass.query(_:_:sortedBy:skip:take:)
            for customer in try customers.query("findByCity", ["Cork"], sortedBy: [.descending("creditLimit")]) {
                try print(customer.value("name"))
            }
            // Example: end
            #expect(example.take() == ["Castle Inn", "Mill & Sons"])
        }
        do {
            // Example: EntityClass.query(_:_:sortedBy:skip:take:)
            for customer in try customers.query("findByCity", ["city": "Cork"], take: 10) {
                try print(customer.value("name"))
            }
            // Example: end
            #expect(example.take() == ["Castle Inn", "Mill & Sons"])
        }
        do {
            // Example: EntityClass.findWithQuery(_:)
            let query = Query().where(.equal("city", "Cork")).sorted(by: .ascending("name"))
            for customer in try customers.findWithQuery(query) { try print(customer.value("name")) }
            // Example: end
            #expect(example.take() == ["Castle Inn", "Mill & Sons"])
        }
        do {
            // Example: EntityClass.countWithQuery(_:)
            let query = Query().where(.equal("city", "Cork"))
            try print("\(customers.countWithQuery(query)) customers in Cork")
            // Example: end
            #expect(example.take() == ["2 customers in Cork"])
        }
        // Example: EntityClass.call(_:_:)
        let raise = try customers.call("raiseCreditLimit", ["customerId": 101, "amount": .decimal(250)])
        try raise.submitPending()
        // Example: end
        #expect(try crm.outbox.map(\.operation) == ["raiseCreditLimit"])
    }

    @Test func lists() async throws {
        try showLists()
        // Example: EntityClass.pages(_:size:)
        for try await page in customers.pages(Query().sorted(by: .ascending("name")), size: 50) {
            for customer in page { try print(customer.value("name")) }
        }
        // Example: end
        #expect(example.take() == ["Castle Inn", "Harbour Foods", "Mill & Sons"])
    }

    @Test func observation() async throws {
        let crm = crm
        let deletion = Task {
            for customer in try await Customer.findByCity(city: "Cork", in: crm) { try await customer.delete() }
        }
        // Example: EntityClass.observe(_:)
        let inCork = Query().where(.equal("city", "Cork"))
        for try await snapshot in customers.observe(inCork) {
            print("\(snapshot.count) customers in Cork")
            if snapshot.isEmpty { break }  // ends the observation
        }
        // Example: end
        try await deletion.value
        #expect(example.take().last == "0 customers in Cork")
    }

    private func showLists() throws {
        do {
            // Example: EntityClass.list(_:pageSize:keptPages:)
            let list = try customers.list(Query().sorted(by: .ascending("name")), pageSize: 50)
            let last = try list.object(at: list.count() - 1)
            // Example: end
            #expect(try last.value("name") == "Mill & Sons")
        }
        do {
            // Example: EntityClass.list(_:_:sortedBy:pageSize:keptPages:)
            let list = try customers.list("findByCity", ["Cork"], pageSize: 50)
            for customer in list { try print(customer.value("name")) }
            // Example: end
            #expect(example.take() == ["Castle Inn", "Mill & Sons"])
        }
        // Example: EntityClass.cursor(_:pageSize:readsAhead:)
        let cursor = try customers.cursor(Query().where(.equal("city", "Cork")))
        while let customer = try cursor.nextObject() { try print(customer.value("name")) }
        // Example: end
        #expect(example.take() == ["Mill & Sons", "Castle Inn"])
    }

    @Test func `lists in memory`() throws {
        do {
            // Example: EntityList.init()
            var active = EntityList<Customer>()
            for customer in try Customer.findAll(in: crm) where customer.active { active.append(customer) }
            // Example: end
            #expect(active.count == 3)
        }
        do {
            // Example: EntityList.init(_:)
            let large = EntityList(try Customer.findAll(in: crm).filter { $0.creditLimit > 1000 })
            print("\(large.count) large customers")
            // Example: end
            #expect(example.take() == ["2 large customers"])
        }
        do {
            // Example: EntityList.append(_:)
            var shown = try Customer.findByCity(city: "Cork", in: crm)
            for customer in try Customer.findByCity(city: "Dublin", in: crm) { shown.append(customer) }
            // Example: end
            #expect(shown.map(\.name) == ["Castle Inn", "Mill & Sons", "Harbour Foods"])
        }
        // Example: EntityList.prefetch(_:)
        let all = try Customer.findAll(in: crm)
        try all.prefetch("orders", "lines")
        for customer in all { print("\(customer.name): \(customer.orders.count) orders") }
        // Example: end
        #expect(example.take() == ["Harbour Foods: 1 orders", "Mill & Sons: 0 orders", "Castle Inn: 0 orders"])
    }
}
