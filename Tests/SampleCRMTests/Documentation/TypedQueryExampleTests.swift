import Foundation
import MobileObjects
import SampleCRM
import Testing

/// The examples in the comments of `EntityQuery` and of its parts are the code between the marks below, and they run.
@Suite struct TypedQueryExampleTests {
    private let example: ExampleCRM
    private let crm: CRM

    init() throws {
        example = try ExampleCRM()
        crm = example.crm
    }

    private func print(_ value: Any) { example.add(value) }

    @Test func tests() throws {
        do {
            // Example: QueryableEntity.where(_:)
            let query = Customer.where(\.city == "Cork" && \.creditLimit > 1000)
            for customer in try query.find(in: crm) { print(customer.name) }
            // Example: end
            #expect(example.take() == ["Castle Inn"])
        }
        do {
            // Example: EntityQuery.where(_:)
            let active = Customer.where(\.active == true)
            let customers = try active.where(\.city == "Dublin").find(in: crm)
            // Example: end
            #expect(customers.map(\.name) == ["Harbour Foods"])
        }
        do {
            // Example: EntityQuery.where(_:)
            let active = Customer.where(\.active == true)
            let customers = try active.where { $0.name.contains("inn") || $0.contact == nil }.find(in: crm)
            // Example: end
            #expect(customers.count == 3)
        }
        do {
            // Example: EntityPredicate.exists(_:)
            let orders = Query().select("o.id").from("SalesOrder", "o").where(.equal("o.customerId", QueryColumn("Customer", "id")))
            let buyers = try Customer.where(.exists(orders)).find(in: crm)
            // Example: end
            #expect(buyers.map(\.name) == ["Harbour Foods"])
        }
        do {
            // Example: EntityPredicate.contains(_:where:)
            let buyers = Customer.where(\.city == "Dublin" && .contains(\.orders, where: \.total > 100))
            for customer in try buyers.find(in: crm) { print(customer.name) }
            // Example: end
            #expect(example.take() == ["Harbour Foods"])
        }
        do {
            // Example: EntityPredicate.matching(_:)
            let query = Customer.where(\.city == "Dublin" && .matching("harbour fo"))
            for customer in try query.find(in: crm) { print(customer.name) }
            // Example: end
            #expect(example.take() == ["Harbour Foods"])
        }
        do {
            // Example: EntityPredicate.matching(_:)
            let anyWord = TextSearch("harbour mill", in: ["name"], requiring: .any)
            for customer in try Customer.where(.matching(anyWord)).find(in: crm) { print(customer.name) }
            // Example: end
            #expect(example.take() == ["Harbour Foods", "Mill & Sons"])
        }
        do {
            // Example: EntityQuery.matching(_:)
            let query = Customer.where(\.city == "Dublin").matching("harbour fo").sortedByRelevance()
            for customer in try query.find(in: crm) { print(customer.name) }
            // Example: end
            #expect(example.take() == ["Harbour Foods"])
        }
        do {
            // Example: EntityQuery.sortedByRelevance()
            let best = Customer.all.matching("harbour").sortedByRelevance().limit(10)
            for customer in try best.find(in: crm) { print(customer.name) }
            // Example: end
            #expect(example.take() == ["Harbour Foods"])
        }
        do {
            // Example: EntityPredicate.contains(_:_:)
            let query = Customer.where(\.city == "Dublin" && .contains(\.name, "food"))
            let customers = try query.find(in: crm)
            // Example: end
            #expect(customers.map(\.name) == ["Harbour Foods"])
        }
        let castle = try Customer.load(3, in: crm)
        castle.city = "Galway"
        try castle.update()
        // Example: EntityQuery.filter(_:)
        let changed = Customer.where(\.active == true).filter([.created, .updated])
        for customer in try changed.find(in: crm) { print("\(customer.name) is to be submitted") }
        // Example: end
        #expect(example.take() == ["Castle Inn is to be submitted"])
    }

    @Test func `tests of attributes`() throws {
        func names(_ query: EntityQuery<Customer>) throws -> [String] { try query.sorted(by: \.name).find(in: crm).map(\.name) }
        do {
            // Example: Column.isIn(_:)
            let query = Customer.where { $0.city.isIn(["Cork", "Galway"]) }
            let customers = try query.find(in: crm)
            // Example: end
            #expect(try customers.count == 2 && names(query) == ["Castle Inn", "Mill & Sons"])
        }
        do {
            // Example: Column.isNotIn(_:)
            let query = Customer.where { $0.city.isNotIn(["Cork", "Galway"]) }
            let customers = try query.find(in: crm)
            // Example: end
            #expect(customers.map(\.name) == ["Harbour Foods"])
        }
        do {
            // Example: Column.like(_:)
            let query = Customer.where { $0.name.like("%inn") }
            let customers = try query.find(in: crm)
            // Example: end
            #expect(customers.map(\.name) == ["Castle Inn"])
        }
        do {
            // Example: Column.contains(_:)
            let query = Customer.where { $0.name.contains("food") }
            let customers = try query.find(in: crm)
            // Example: end
            #expect(customers.map(\.name) == ["Harbour Foods"])
        }
        do {
            // Example: Column.starts(with:)
            let query = Customer.where { $0.name.starts(with: "Mill") }
            let customers = try query.find(in: crm)
            // Example: end
            #expect(customers.map(\.name) == ["Mill & Sons"])
        }
        // Example: Column.ends(with:)
        let query = Customer.where { $0.street.ends(with: "Street 3") }
        let customers = try query.find(in: crm)
        // Example: end
        #expect(customers.map(\.name) == ["Castle Inn"])
    }

    @Test func `order and parts`() throws {
        do {
            // Example: EntityQuery.sorted(by:_:)
            let query = Customer.all.sorted(by: \.city).sorted(by: \.creditLimit, .descending)
            for customer in try query.find(in: crm) { print("\(customer.city): \(customer.name)") }
            // Example: end
            #expect(example.take() == ["Cork: Castle Inn", "Cork: Mill & Sons", "Dublin: Harbour Foods"])
        }
        do {
            // Example: EntityQuery.skip(_:)
            let second = Customer.all.sorted(by: \.name).skip(2).take(2)  // the second two customers
            for customer in try second.find(in: crm) { print(customer.name) }
            // Example: end
            #expect(example.take() == ["Mill & Sons"])
        }
        do {
            // Example: EntityQuery.take(_:)
            let largest = Customer.all.sorted(by: \.creditLimit, .descending).take(2)
            for customer in try largest.find(in: crm) { print("\(customer.name): \(customer.creditLimit)") }
            // Example: end
            #expect(example.take() == ["Castle Inn: 2000", "Harbour Foods: 1500"])
        }
        do {
            // Example: EntityQuery.offset(_:)
            let second = Customer.all.sorted(by: \.name).offset(2).limit(2)  // the second two customers
            for customer in try second.find(in: crm) { print(customer.name) }
            // Example: end
            #expect(example.take() == ["Mill & Sons"])
        }
        do {
            // Example: EntityQuery.limit(_:)
            let largest = Customer.all.sorted(by: \.creditLimit, .descending).limit(2)
            for customer in try largest.find(in: crm) { print("\(customer.name): \(customer.creditLimit)") }
            // Example: end
            #expect(example.take() == ["Castle Inn: 2000", "Harbour Foods: 1500"])
        }
        do {
            // Example: EntityQuery.ordered(by:_:)
            let query = Customer.all.ordered(by: \.city).ordered(by: \.creditLimit, .descending)
            for customer in try query.find(in: crm) { print("\(customer.city): \(customer.name)") }
            // Example: end
            #expect(example.take() == ["Cork: Castle Inn", "Cork: Mill & Sons", "Dublin: Harbour Foods"])
        }
        do {
            // Example: EntityQuery.orderedByRelevance()
            let best = Customer.all.matching("harbour").orderedByRelevance().limit(10)
            for customer in try best.find(in: crm) { print(customer.name) }
            // Example: end
            #expect(example.take() == ["Harbour Foods"])
        }
        do {
            // Example: EntityQuery.isEmpty(in:)
            let inSligo = Customer.where(\.city == "Sligo")
            if try inSligo.isEmpty(in: crm) { print("nobody in Sligo") }
            // Example: end
            #expect(example.take() == ["nobody in Sligo"])
            #expect(try !Customer.where(\.city == "Cork").isEmpty(in: crm))
        }
        do {
            // Example: EntityQuery.min(of:in:)
            let inCork = Customer.where(\.city == "Cork")
            let lowest = try inCork.min(of: \.creditLimit, in: crm)
            // Example: end
            #expect(lowest == 500)
        }
        do {
            // Example: EntityQuery.max(of:in:)
            let inCork = Customer.where(\.city == "Cork")
            let highest = try inCork.max(of: \.creditLimit, in: crm)
            // Example: end
            #expect(highest == 2000)
        }
        do {
            // Example: EntityQuery.sum(of:in:)
            let inCork = Customer.where(\.city == "Cork")
            let total = try inCork.sum(of: \.creditLimit, in: crm) ?? 0
            // Example: end
            #expect(total == 2500)
            #expect(try Customer.where(\.city == "Sligo").sum(of: \.creditLimit, in: crm) == nil)
            #expect(try Customer.all.sorted(by: \.name).skip(1).take(1).max(of: \.name, in: crm) == "Mill & Sons")
            #expect(try Customer.all.max(of: \.phone, in: crm) == Customer.findAll(in: crm).compactMap(\.phone).max())
        }
        do {
            // Example: EntityQuery.average(of:in:)
            let inCork = Customer.where(\.city == "Cork")
            let average = try inCork.average(of: \.creditLimit, in: crm) ?? 0
            // Example: end
            #expect(average == 1250)
            #expect(try Customer.where(\.city == "Sligo").average(of: \.creditLimit, in: crm) == nil)
            #expect(try Customer.all.average(of: \.discount, in: crm) == nil)
        }
        do {
            // Example: EntityQuery.prefetching(_:)
            for customer in try Customer.all.sorted(by: \.name).prefetching(\.orders).find(in: crm) {
                print("\(customer.name): \(customer.orders.count) orders")
            }
            // Example: end
            #expect(example.take() == ["Castle Inn: 0 orders", "Harbour Foods: 1 orders", "Mill & Sons: 0 orders"])
        }
        // Example: EntityQuery.prefetching(_:_:)
        for customer in try Customer.where(\.city == "Dublin").prefetching(\.orders, \.lines).find(in: crm) {
            for order in customer.orders { print("\(customer.name): \(order.lines.count) lines") }
        }
        // Example: end
        #expect(example.take() == ["Harbour Foods: 1 lines"])
    }

    @Test func results() throws {
        do {
            // Example: EntityQuery.find(in:)
            let customers = try Customer.where(\.city == "Cork").sorted(by: \.name).find(in: crm)
            for customer in customers { print(customer.name) }
            // Example: end
            #expect(example.take() == ["Castle Inn", "Mill & Sons"])
        }
        do {
            // Example: EntityQuery.first(in:)
            if let newest = try SalesOrder.all.sorted(by: \.orderDate, .descending).first(in: crm) {
                print("\(newest.orderDate): \(newest.total)")
            }
            // Example: end
            #expect(example.take() == ["2026-05-06: 120"])
        }
        do {
            // Example: EntityQuery.count(in:)
            let inCork = try Customer.where(\.city == "Cork").count(in: crm)
            print("\(inCork) customers in Cork")
            // Example: end
            #expect(example.take() == ["2 customers in Cork"])
        }
        do {
            // Example: QueryableEntity.findWithQuery(_:in:)
            let query = Query().where(.equal("city", "Cork")).sorted(by: .ascending("name"))
            for customer in try Customer.findWithQuery(query, in: crm) { print(customer.name) }
            // Example: end
            #expect(example.take() == ["Castle Inn", "Mill & Sons"])
        }
        // Example: QueryableEntity.countWithQuery(_:in:)
        let query = Query().where(.equal("city", "Cork"))
        try print("\(Customer.countWithQuery(query, in: crm)) customers in Cork")
        // Example: end
        #expect(example.take() == ["2 customers in Cork"])
    }

    @Test func `lists and cursors`() throws {
        do {
            // Example: EntityQuery.list(pageSize:keptPages:in:)
            let customers = try Customer.all.sorted(by: \.name).list(pageSize: 50, in: crm)
            let last = try customers.object(at: customers.count() - 1)
            // Example: end
            #expect(last.name == "Mill & Sons")
        }
        // Example: EntityQuery.cursor(pageSize:readsAhead:in:)
        let customers = try Customer.where(\.city == "Cork").sorted(by: \.name).cursor(in: crm)
        while let customer = try customers.nextObject() { print(customer.name) }
        // Example: end
        #expect(example.take() == ["Castle Inn", "Mill & Sons"])
    }

    @Test func pages() async throws {
        // Example: EntityQuery.pages(size:in:)
        for try await customers in Customer.all.sorted(by: \.name).pages(size: 50, in: crm) {
            for customer in customers { print(customer.name) }
        }
        // Example: end
        #expect(example.take() == ["Castle Inn", "Harbour Foods", "Mill & Sons"])
    }
}
