import Foundation
import MobileObjects
import SampleCRM
import Testing

/// The examples in the comments of `Query` and its parts are the code between the marks below, and they run.
@Suite struct QueryExampleTests {
    private let example: ExampleCRM
    private let crm: CRM

    init() throws {
        example = try ExampleCRM()
        crm = example.crm
    }

    private func print(_ value: Any) { example.add(value) }

    @Test func `rows and their order`() throws {
        // Example: Query.init()
        var query = Query()
        query.testCriteria = .equal("city", "Cork")
        let inCork = try Customer.findWithQuery(query, in: crm)
        // Example: end
        #expect(inCork.map(\.name) == ["Mill & Sons", "Castle Inn"])

        try order()
        try part()
        do {
            // Example: Query.where(_:)
            let query = Query().where(.equal("city", "Cork")).where(.greaterThan("creditLimit", 1000))
            for customer in try Customer.findWithQuery(query, in: crm) { print(customer.name) }
            // Example: end
            #expect(example.take() == ["Castle Inn"])
        }
        try Customer.load(2, in: crm).delete()
        let mill = try Customer.load(3, in: crm)
        mill.city = "Galway"
        try mill.update()
        do {
            // Example: Query.filter(_:)
            let query = Query().filter([.created, .updated])
            for customer in try Customer.findWithQuery(query, in: crm) { print("\(customer.name) is to be submitted") }
            // Example: end
            #expect(example.take() == ["Castle Inn is to be submitted"])
        }
    }

    private func order() throws {
        do {
            // Example: Query.sorted(by:)
            let query = Query().sorted(by: .ascending("city"), .descending("creditLimit"))
            for customer in try Customer.findWithQuery(query, in: crm) { print("\(customer.city): \(customer.name)") }
            // Example: end
            #expect(example.take() == ["Cork: Castle Inn", "Cork: Mill & Sons", "Dublin: Harbour Foods"])
        }
        let isDescending = Bool("true") ?? false
        do {
            // Example: AttributeSort.init(_:_:)
            let order = AttributeSort("name", isDescending ? .descending : .ascending)
            let customers = try Customer.findWithQuery(Query().sorted(by: order), in: crm)
            // Example: end
            #expect(customers.first?.name == "Mill & Sons")
        }
        do {
            // Example: AttributeSort.ascending(_:)
            let query = Query().sorted(by: .ascending("name"))
            let customers = try Customer.findWithQuery(query, in: crm)
            // Example: end
            #expect(customers.first?.name == "Castle Inn")
        }
        do {
            // Example: AttributeSort.descending(_:)
            let query = Query().sorted(by: .descending("name"))
            let customers = try Customer.findWithQuery(query, in: crm)
            // Example: end
            #expect(customers.first?.name == "Mill & Sons")
        }
        do {
            // Example: AttributeSort.ascending(_:)
            let smallestFirst: AttributeSort = .ascending(Customer.columns.creditLimit)
            let customers = try Customer.findByCity(city: "Cork", sortedBy: [smallestFirst], in: crm)
            // Example: end
            #expect(customers.first?.name == "Mill & Sons")
        }
        do {
            // Example: AttributeSort.descending(_:)
            let largestFirst: AttributeSort = .descending(Customer.columns.creditLimit)
            let customers = try Customer.findByCity(city: "Cork", sortedBy: [largestFirst], in: crm)
            // Example: end
            #expect(customers.first?.name == "Castle Inn")
        }
    }

    private func part() throws {
        do {
            // Example: Query.skip(_:)
            let second = Query().sorted(by: .ascending("name")).skip(2).take(2)  // the second two customers
            for customer in try Customer.findWithQuery(second, in: crm) { print(customer.name) }
            // Example: end
            #expect(example.take() == ["Mill & Sons"])
        }
        do {
            // Example: Query.take(_:)
            let query = Query().sorted(by: .descending("creditLimit")).take(1)
            let largest = try Customer.findWithQuery(query, in: crm).first
            // Example: end
            #expect(largest?.name == "Castle Inn")
        }
        // Example: Query.prefetching(_:)
        let query = Query().where(.equal("city", "Dublin")).prefetching("orders", "lines")
        for customer in try Customer.findWithQuery(query, in: crm) {
            for order in customer.orders { print("\(customer.name): \(order.lines.count) lines") }
        }
        // Example: end
        #expect(example.take() == ["Harbour Foods: 1 lines"])
    }

    @Test func `selected items`() throws {
        do {
            // Example: Query.select(_:)
            let query = Query().select("name, creditLimit").from("Customer")
            for row in try crm.executeQuery(query) { try print("\(row[0].string()): \(row[1].decimal())") }
            // Example: end
            #expect(example.take() == ["Harbour Foods: 1500", "Mill & Sons: 500", "Castle Inn: 2000"])
        }
        do {
            // Example: Query.select(_:)
            let items = [SelectItem("city"), SelectItem("COUNT(*)", as: "number")]
            let query = Query().select(items).from("Customer").groupBy("city")
            for row in try crm.executeQuery(query) { try print("\(row[0].string()): \(row[1].long())") }
            // Example: end
            #expect(example.take().sorted() == ["Cork: 2", "Dublin: 1"])
        }
        do {
            // Example: SelectItem.init(_:as:)
            let total = SelectItem("SUM(total)", as: "sum")
            let results = try crm.executeQuery(Query().select([total]).from("SalesOrder"))
            // Example: end
            #expect(results.columnNames == ["sum"])
            #expect(try results[0][0].decimal() == 120)
        }
        do {
            // Example: SelectItem.init(_:as:)
            let orders = Query().select("COUNT(*)").from("SalesOrder", "o").where(.equal("o.customerId", QueryColumn("c", "id")))
            let query = Query().select([SelectItem("c.name"), SelectItem(orders, as: "orders")]).from("Customer", "c")
            for row in try crm.executeQuery(query) { try print("\(row[0].string()): \(row[1].long())") }
            // Example: end
            #expect(example.take() == ["Harbour Foods: 1", "Mill & Sons: 0", "Castle Inn: 0"])
        }
        // Example: Query.distinct()
        let query = Query().select("city").from("Customer").distinct()
        let cities = try crm.executeQuery(query).map { try $0[0].string() }
        // Example: end
        #expect(cities.sorted() == ["Cork", "Dublin"])
    }

    @Test func `sources and joins`() throws {
        do {
            // Example: Query.from(_:_:)
            let query = Query().select("c.name").from("Customer", "c").where(.equal("c.city", "Cork"))
            let names = try crm.executeQuery(query).map { try $0[0].string() }
            // Example: end
            #expect(names.sorted() == ["Castle Inn", "Mill & Sons"])
        }
        do {
            // Example: Query.from(_:_:)
            let sums = Query().select("o.customerId, SUM(o.total) as sum").from("SalesOrder", "o").groupBy("o.customerId")
            let largest = try crm.executeQuery(Query().select("MAX(t.sum)").from(sums, "t"))
            // Example: end
            #expect(try largest[0][0].decimal() == 120)
        }
        do {
            // Example: Query.join(_:_:_:_:type:)
            let query = Query().select("c.name, o.total").from("Customer", "c").join("SalesOrder", "o", "o.customerId", "c.id")
            for row in try crm.executeQuery(query) { try print("\(row[0].string()): \(row[1].decimal())") }
            // Example: end
            #expect(example.take() == ["Harbour Foods: 120"])
        }
        do {
            // Example: Query.join(_:)
            let orders = JoinCondition("SalesOrder", "o", "o.customerId", "c.id", type: .left)
            let query = Query().select("c.name, o.status").from("Customer", "c").join(orders).where(.isNull("o.status"))
            for row in try crm.executeQuery(query) { try print("\(row[0].string()) has no order") }
            // Example: end
            #expect(example.take().sorted() == ["Castle Inn has no order", "Mill & Sons has no order"])
        }
        // Example: JoinCondition.init(_:_:_:_:type:)
        var query = Query().select("c.name, o.status").from("Customer", "c")
        query.joinCriteria.append(JoinCondition("SalesOrder", "o", "o.customerId", "c.id", type: .left))
        let results = try crm.executeQuery(query)
        // Example: end
        #expect(results.count == 3)
    }

    @Test func groups() throws {
        do {
            // Example: Query.groupBy(_:)
            let query = Query().select("city, MAX(creditLimit)").from("Customer").groupBy("city")
            for row in try crm.executeQuery(query) { try print("\(row[0].string()): \(row[1].decimal())") }
            // Example: end
            #expect(example.take().sorted() == ["Cork: 2000", "Dublin: 1500"])
        }
        // Example: Query.having(_:)
        let query = Query().select("city").from("Customer").groupBy("city").having(.greaterThan("COUNT(*)", 1))
        let cities = try crm.executeQuery(query).map { try $0[0].string() }
        // Example: end
        #expect(cities == ["Cork"])
    }

    @Test func combinations() throws {
        do {
            // Example: Query.union(_:)
            let inCork = Query().select("name").from("Customer").where(.equal("city", "Cork"))
            let large = Query().select("name").from("Customer").where(.greaterThan("creditLimit", 1000))
            let either = try crm.executeQuery(inCork.union(large)).map { try $0[0].string() }
            // Example: end
            #expect(either.sorted() == ["Castle Inn", "Harbour Foods", "Mill & Sons"])
        }
        do {
            // Example: Query.unionAll(_:)
            let customers = Query().select("name").from("Customer")
            let products = Query().select("name").from("Product")
            let names = try crm.executeQuery(customers.unionAll(products)).map { try $0[0].string() }
            // Example: end
            #expect(names.sorted() == ["Castle Inn", "Harbour Foods", "Mill & Sons", "Tea"])
        }
        do {
            // Example: Query.except(_:)
            let all = Query().select("id").from("Customer")
            let buyers = Query().select("customerId").from("SalesOrder")
            let others = try crm.executeQuery(all.except(buyers)).map { try $0[0].long() }
            // Example: end
            #expect(others.sorted() == [102, 103])
        }
        // Example: Query.intersect(_:)
        let inCork = Query().select("name").from("Customer").where(.equal("city", "Cork"))
        let large = Query().select("name").from("Customer").where(.greaterThan("creditLimit", 1000))
        let both = try crm.executeQuery(inCork.intersect(large)).map { try $0[0].string() }
        // Example: end
        #expect(both == ["Castle Inn"])
    }
}
