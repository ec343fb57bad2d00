import Foundation
import MobileObjects
import SampleCRM
import Testing

/// The examples in the comments of `EntitySet` are the code between the marks below, and they run.
@Suite struct EntitySetExampleTests {
    private let example: ExampleCRM
    private let crm: CRM

    init() throws {
        example = try ExampleCRM()
        crm = example.crm
    }

    private func print(_ value: Any) { example.add(value) }

    @Test func `sets, tests and order`() throws {
        do {
            // Example: EntitySet.init(in:)
            let customers = EntitySet<Customer>(in: crm)
            print(try customers.count())
            // Example: end
        }
        do {
            // Example: EntitySet.init(_:in:)
            let inCork = Customer.where(\.city == "Cork")
            print(try EntitySet(inCork, in: crm).count())
            // Example: end
            #expect(example.take() == ["3", "2"])
        }
        do {
            // Example: EntitySet.where(_:)
            let rich = crm.customers.where(\.creditLimit > 1000)
            for customer in try rich.where(\.city == "Cork").find() { print(customer.name) }
            // Example: end
            #expect(example.take() == ["Castle Inn"])
        }
        do {
            // Example: EntitySet.where(_:)
            let query = crm.customers.where { $0.name.contains("inn") || $0.contact == nil }
            for customer in try query.find() { print(customer.name) }
            // Example: end
            #expect(example.take().count == 3)
        }
        do {
            // Example: EntitySet.ordered(by:_:)
            let query = crm.customers.ordered(by: \.city).ordered(by: \.creditLimit, .descending)
            for customer in try query.find() { print("\(customer.city): \(customer.name)") }
            // Example: end
            #expect(example.take() == ["Cork: Castle Inn", "Cork: Mill & Sons", "Dublin: Harbour Foods"])
        }
        do {
            // Example: EntitySet.matching(_:)
            let found = crm.customers.matching("harbour fo")
            for customer in try found.find() { print(customer.name) }
            // Example: end
            #expect(example.take() == ["Harbour Foods"])
        }
        do {
            // Example: EntitySet.orderedByRelevance()
            let best = crm.customers.matching("harbour").orderedByRelevance().limit(10)
            for customer in try best.find() { print(customer.name) }
            // Example: end
            #expect(example.take() == ["Harbour Foods"])
        }
        do {
            // Example: EntitySet.sorted(by:_:)
            let query = crm.customers.sorted(by: \.city).sorted(by: \.creditLimit, .descending)
            for customer in try query.find() { print("\(customer.city): \(customer.name)") }
            // Example: end
            #expect(example.take() == ["Cork: Castle Inn", "Cork: Mill & Sons", "Dublin: Harbour Foods"])
        }
        do {
            // Example: EntitySet.sortedByRelevance()
            let best = crm.customers.matching("harbour").sortedByRelevance().take(10)
            for customer in try best.find() { print(customer.name) }
            // Example: end
            #expect(example.take() == ["Harbour Foods"])
        }
        do {
            // Example: EntitySet.skip(_:)
            let second = crm.customers.sorted(by: \.name).skip(2).take(2)  // the second two customers
            for customer in try second.find() { print(customer.name) }
            // Example: end
            #expect(example.take() == ["Mill & Sons"])
        }
        do {
            // Example: EntitySet.take(_:)
            let largest = crm.customers.sorted(by: \.creditLimit, .descending).take(2)
            for customer in try largest.find() { print(customer.name) }
            // Example: end
            #expect(example.take() == ["Castle Inn", "Harbour Foods"])
        }
        do {
            // Example: EntitySet.offset(_:)
            let second = crm.customers.ordered(by: \.name).offset(2).limit(2)  // the second two customers
            for customer in try second.find() { print(customer.name) }
            // Example: end
            #expect(example.take() == ["Mill & Sons"])
        }
        do {
            // Example: EntitySet.limit(_:)
            let largest = crm.customers.ordered(by: \.creditLimit, .descending).limit(2)
            for customer in try largest.find() { print(customer.name) }
            // Example: end
            #expect(example.take() == ["Castle Inn", "Harbour Foods"])
        }
    }

    @Test func `states and relatives`() throws {
        let mill = try Customer.load(2, in: crm)
        mill.creditLimit = 600
        try mill.save()
        do {
            // Example: EntitySet.filter(_:)
            let changed = crm.customers.filter([.created, .updated])
            for customer in try changed.find() { print("\(customer.name) is to be submitted") }
            // Example: end
            #expect(example.take() == ["Mill & Sons is to be submitted"])
        }
        do {
            // Example: EntitySet.prefetching(_:)
            for customer in try crm.customers.prefetching(\.orders).find() {
                print("\(customer.name): \(customer.orders.count) orders")
            }
            // Example: end
            #expect(example.take().first == "Harbour Foods: 1 orders")
        }
        do {
            // Example: EntitySet.prefetching(_:_:)
            for customer in try crm.customers.prefetching(\.orders, \.lines).find() {
                for order in customer.orders { print("\(customer.name): \(order.lines.count) lines") }
            }
            // Example: end
            #expect(example.take() == ["Harbour Foods: 1 lines"])
        }
    }

    @Test func `objects, numbers and values`() throws {
        do {
            // Example: EntitySet.find()
            let customers = try crm.customers.where(\.city == "Cork").ordered(by: \.name).find()
            print("\(customers.count) customers in Cork")
            // Example: end
        }
        do {
            // Example: EntitySet.count()
            let inCork = try crm.customers.where(\.city == "Cork").count()
            print("\(inCork) customers in Cork")
            // Example: end
            #expect(example.take() == ["2 customers in Cork", "2 customers in Cork"])
        }
        do {
            // Example: EntitySet.first()
            if let newest = try crm.salesOrders.ordered(by: \.orderDate, .descending).first() {
                print("\(newest.orderDate): \(newest.total)")
            }
            // Example: end
            #expect(example.take() == ["2026-05-06: 120"])
        }
        do {
            // Example: EntitySet.isEmpty()
            let inSligo = crm.customers.where(\.city == "Sligo")
            if try inSligo.isEmpty() { print("nobody in Sligo") }
            // Example: end
            #expect(example.take() == ["nobody in Sligo"])
        }
        do {
            // Example: EntitySet.list(pageSize:keptPages:)
            let customers = try crm.customers.ordered(by: \.name).list(pageSize: 50)
            let last = try customers.object(at: customers.count() - 1)
            // Example: end
            #expect(last.name == "Mill & Sons")
        }
        do {
            // Example: EntitySet.min(of:)
            let inCork = crm.customers.where(\.city == "Cork")
            let lowest = try inCork.min(of: \.creditLimit)
            // Example: end
            #expect(lowest == 500)
        }
        do {
            // Example: EntitySet.max(of:)
            let inCork = crm.customers.where(\.city == "Cork")
            let highest = try inCork.max(of: \.creditLimit)
            // Example: end
            #expect(highest == 2000)
        }
        do {
            // Example: EntitySet.sum(of:)
            let inCork = crm.customers.where(\.city == "Cork")
            let total = try inCork.sum(of: \.creditLimit) ?? 0
            // Example: end
            #expect(total == 2500)
        }
        do {
            // Example: EntitySet.average(of:)
            let inCork = crm.customers.where(\.city == "Cork")
            let average = try inCork.average(of: \.creditLimit) ?? 0
            // Example: end
            #expect(average == 1250)
        }
    }

    @Test func `asynchronous loops`() async throws {
        do {
            // Example: EntitySet.pages(size:)
            for try await customers in crm.customers.ordered(by: \.name).pages(size: 50) {
                for customer in customers { print(customer.name) }
            }
            // Example: end
            #expect(example.take() == ["Castle Inn", "Harbour Foods", "Mill & Sons"])
        }
        do {
            // Example: EntitySet.makeAsyncIterator()
            let inCork = crm.customers.where(\.city == "Cork").sorted(by: \.name)
            for try await customer in inCork { print(customer.name) }
            // Example: end
            #expect(example.take() == ["Castle Inn", "Mill & Sons"])
        }
        do {
            // Example: EntitySet.observe()
            for try await snapshot in crm.customers.where(\.city == "Cork").observe() {
                print("\(snapshot.count) customers in Cork")
                break  // ends the observation
            }
            // Example: end
            #expect(example.take() == ["2 customers in Cork"])
        }
        do {
            // Example: EntitySet.ordered(by:_:)
            for customer in try await crm.customers.where(\.city == "Cork").ordered(by: \.name) {
                print(customer.name)
            }
            // Example: end
            #expect(example.take() == ["Castle Inn", "Mill & Sons"])
        }
        do {
            // Example: EntitySet.orderedByRelevance()
            for customer in try await crm.customers.matching("harbour").orderedByRelevance() {
                print(customer.name)
            }
            // Example: end
            #expect(example.take() == ["Harbour Foods"])
        }
        let descending = try await crm.customers.ordered(by: \.creditLimit, .descending)
        #expect(descending.map(\.name) == ["Castle Inn", "Harbour Foods", "Mill & Sons"])
        for customer in try await crm.customers.where({ $0.name.contains("inn") }).find() { print(customer.name) }
        for try await customer in crm.customers.ordered(by: \.name).offset(1).limit(1) { print(customer.name) }
        #expect(example.take() == ["Castle Inn", "Harbour Foods"])
        let count = try await crm.customers.count(), first = try await crm.customers.first(), isEmpty = try await crm.customers.isEmpty()
        #expect(count == 3 && first?.surrogateKey == 1 && !isEmpty)
        let sum = try await crm.customers.sum(of: \.creditLimit), least = try await crm.customers.min(of: \.name)
        #expect(sum == 4000 && least == "Castle Inn")
        #expect(try await crm.customers.max(of: \.contact) == nil)
        let average = try await crm.customers.average(of: \.creditLimit), none = try await crm.customers.average(of: \.discount)
        #expect(average?.rounded() == 1333 && none == nil)
    }

    @Test func `a set is equal to one of the same query in the same database`() throws {
        let other = try ExampleCRM()
        let inCork = crm.customers.where(\.city == "Cork")
        #expect(inCork == crm.customers.where(\.city == "Cork") && inCork != crm.customers && inCork != other.crm.customers.where(\.city == "Cork"))
    }
}
