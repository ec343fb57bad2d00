import MobileStore
import SampleCRM
import TestSupport
import Testing

@testable import MobileObjects

/// Observation of one object, of children, of results that differ, and of their differences.
@Suite struct ObservedObjectTests {
    private let shop: Shop

    init() throws {
        shop = try Shop(maxConnections: 4)
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        try shop.importCustomer(2, id: "c2", name: "Castle Inn", city: "Cork")
    }

    private func change(_ key: Int64, city: String) throws {
        let customer = try shop.objects("Customer").load(key)
        try customer.set("city", .string(city))
        try customer.update()
    }

    /// Sends all customers under other keys.
    private func sendAgain() throws {
        try shop.database.write("reset") { transaction in
            let session = try transaction.importSession(for: "Customer")
            _ = try session.removeAll()
            let rows = try session.rows(["_sk", "id", "name", "city"])
            try rows.push([UInt8](#"[[71,"c1","Harbour Foods","Dublin"],[72,"c2","Castle Inn","Cork"]]"#.utf8))
            try rows.finish()
        }
    }

    private func delete(_ key: Int64) throws { try shop.objects("Customer").load(key).delete() }

    @Test func `one object is observed until it is gone, and others tell nothing`() async throws {
        var results = try await shop.objects("Customer").load(1).observe().makeAsyncIterator()
        #expect(try await results.next()?.first?.value("city") == "Dublin")
        try change(2, city: "Galway")
        try change(1, city: "Sligo")
        #expect(try await results.next()?.first?.value("city") == "Sligo")
        try await shop.objects("Customer").load(1).submitPending()
        #expect(try await results.next()?.first?.state == .submitted)
        try change(2, city: "Cork")
        try delete(1)
        let last = try await results.next()
        #expect(last?.isEmpty == true && last?.first == nil)
        #expect(ObjectError.of { _ = try shop.newCustomer("c9").observe() }?.code == .notSaved)
    }

    @Test func `a row that gets another key is not gone, and its later changes are seen`() async throws {
        try change(1, city: "Sligo")
        var results = try await shop.objects("Customer").load(1).observe().removeDuplicates().makeAsyncIterator()
        #expect(try await results.next()?.first?.surrogateKey == 1)
        // The server has lost its state, and sends the rows under other keys.
        try sendAgain()
        let moved = try await results.next()?.first
        #expect(try moved?.surrogateKey == 71 && moved?.value("city") == "Sligo")
        try change(71, city: "Galway")
        #expect(try await results.next()?.first?.value("city") == "Galway")
    }

    @Test func `a row without a pending change that gets another key is not gone either, nor are its children and its objects`() async throws {
        try shop.importOrder(11, number: 5, customer: 1)
        let customer = try await shop.objects("Customer").load(1), order = try await shop.objects("SalesOrder").load(11)
        var results = try customer.observe().makeAsyncIterator(), children = try customer.orders.observe().makeAsyncIterator()
        #expect(try await results.next()?.first?.surrogateKey == 1)
        #expect(try await children.next()?.count == 1)
        try sendAgain()
        try change(71, city: "Galway")
        try shop.importRows("SalesOrder", ["_ref_customer"], "[[11,71]]")
        #expect(try await results.next()?.first?.value("city") == "Galway")
        try change(71, city: "Cork")
        #expect(try await results.next()?.first?.value("city") == "Cork")
        #expect(try await children.next()?.count == 1)
        // Objects from before.
        #expect(try await customer.orders.all().map(\.surrogateKey) == [11])
        let parent: GenericEntity? = try await order.parent("customer")
        #expect(parent?.surrogateKey == 71)
        try await customer.refresh()
        #expect(customer.surrogateKey == 71 && customer.city == "Cork")
    }

    @Test func `a generated object is observed as its class`() async throws {
        let directory = try TemporaryDirectory(), crm = try await CRM.open(ConnectionProfile(path: directory.file("crm.db")))
        let customer = Customer(in: crm)
        (customer.name, customer.since) = ("Quay Books", .epoch)
        try await customer.save()
        var results = try customer.observe().makeAsyncIterator()
        #expect(try await results.next()?.first?.name == "Quay Books")
        var orders = try customer.orders.observe().makeAsyncIterator()
        #expect(try await orders.next()?.count == 0)
        let order = SalesOrder(in: crm)
        (order.customer, order.orderDate, order.status) = (customer, .epoch, "NEW")
        try await order.save()
        #expect(try await orders.next()?.first?.status == "NEW")
        #expect(throws: ObjectError.self) { try Customer(in: crm).orders.observe() }
    }

    @Test func `children are observed: those of the owner that pass the query's test`() async throws {
        let customer = try await shop.objects("Customer").load(1)
        let query = Query().where(.equal("status", "OPEN")).sorted(by: .descending("number"))
        var results = try customer.orders.observe(query).removeDuplicates().makeAsyncIterator()
        #expect(try await results.next()?.isEmpty == true)
        try shop.importOrder(11, number: 11, customer: 2, status: "OPEN")
        try shop.importOrder(12, number: 12, customer: 1, status: "NEW")
        try shop.importOrder(13, number: 13, customer: 1, status: "OPEN")
        #expect(try await results.next()?.surrogateKeys == [13])
        try shop.importOrder(14, number: 14, customer: 1, status: "OPEN")
        #expect(try await results.next()?.surrogateKeys == [14, 13])
        try shop.importDeletions("SalesOrder", 13)
        #expect(try await results.next()?.surrogateKeys == [14])
    }

    @Test func `of many commits only those give a result that change it`() async throws {
        let query = Query().where(.equal("city", "Dublin"))
        var plain = try shop.objects("Customer").observe(query).makeAsyncIterator()
        var distinct = try shop.objects("Customer").observe(query).removeDuplicates().makeAsyncIterator()
        var rows = shop.database.observe(Query().select("c.name").from("Customer", "c").where(.equal("c.city", "Dublin"))).removeDuplicates()
            .makeAsyncIterator()
        #expect(try await plain.next() == distinct.next())
        #expect(try await rows.next()?.count == 1)
        for number in 1...20 { try change(2, city: "City \(number)") }
        #expect(try await plain.next()?.surrogateKeys == [1])
        try change(2, city: "Dublin")
        #expect(try await distinct.next()?.surrogateKeys == [1, 2])
        #expect(try await rows.next()?.count == 2)
        // A mark that changes is a change of the objects, and none of the names.
        try await shop.objects("Customer").load(2).submitPending()
        #expect(try await distinct.next()?[1].state == .submitted)
        try shop.importCustomer(1, id: "c1", name: "Harbour Mills")
        #expect(try await rows.next()?.rows.map { try $0[0].read(as: String.self) }.sorted() == ["Castle Inn", "Harbour Mills"])
    }

    @Test func `relatives that are read along are not compared: a change of theirs gives a result`() async throws {
        let query = Query().sorted(by: .ascending("id")).prefetching("orders")
        var distinct = try shop.objects("Customer").observe(query).removeDuplicates().makeAsyncIterator()
        var steps = try shop.objects("Customer").observe(query).withChanges().makeAsyncIterator()
        _ = try await distinct.next()
        _ = try await steps.next()
        try shop.importOrder(11, number: 11, customer: 1)
        #expect(try await distinct.next()?.objects()[0].orders.count == 1)
        #expect(try await steps.next()?.changes.isEmpty == true)
    }

    @Test func `a comparison of the caller decides`() async throws {
        var counts = try shop.objects("Customer").observe().removeDuplicates { $0.count == $1.count }.makeAsyncIterator()
        #expect(try await counts.next()?.count == 2)
        try change(1, city: "Sligo")
        try shop.importCustomer(3, id: "c3", name: "Third")
        #expect(try await counts.next()?.count == 3)
    }

    @Test func `the differences lead from one list to the next`() async throws {
        var results = try shop.objects("Customer").observe(Query().sorted(by: .ascending("name"))).withChanges().makeAsyncIterator()
        #expect(try await results.next()?.changes == .init(removed: [], inserted: [0, 1], moved: [], updated: []))
        try shop.importOrder(11, number: 11, customer: 2)
        try shop.importCustomer(3, id: "c3", name: "Docks")
        #expect(try await results.next()?.changes == .init(removed: [], inserted: [1], moved: [], updated: []))
        try shop.importCustomer(1, id: "c1", name: "Abbey")
        #expect(try await results.next()?.changes == .init(removed: [], inserted: [], moved: [.init(from: 2, to: 0)], updated: [0]))
        try shop.importDeletions("Customer", 3)
        let last = try await results.next()
        #expect(last?.changes == .init(removed: [2], inserted: [], moved: [], updated: []) && last?.snapshot.count == 2)
    }

    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func `differences of random lists can be applied, and move as few objects as possible`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var results = try shop.objects("Customer").observe(Query().sorted(by: .ascending("name"))).withChanges().makeAsyncIterator()
        var list = try #require(try await results.next()).snapshot.surrogateKeys
        for _ in 1...15 {
            try write(&random)
            guard let step = try await results.next() else { return }
            let changes = step.changes, now = step.snapshot.surrogateKeys
            let kept = list.indices.filter { !changes.removed.contains($0) }.map { list[$0] }
            let moved = Set(changes.moved.map { list[$0.from] })
            #expect(changes.moved.allSatisfy { list[$0.from] == now[$0.to] })
            var rebuilt = kept.filter { !moved.contains($0) }
            #expect(rebuilt == now.filter { kept.contains($0) && !moved.contains($0) })
            for position in (changes.inserted + changes.moved.map(\.to)).sorted() { rebuilt.insert(now[position], at: position) }
            #expect(rebuilt == now)
            let places = now.filter { kept.contains($0) }.compactMap { list.firstIndex(of: $0) }
            #expect(places.count - moved.count == longestRise(places))
            list = now
        }
    }

    /// Returns the length of a longest rising subsequence, the plain way.
    private func longestRise(_ numbers: [Int]) -> Int {
        var lengths: [Int] = []
        for (position, number) in numbers.enumerated() {
            lengths.append(1 + (zip(numbers[..<position], lengths).filter { $0.0 < number }.map(\.1).max() ?? 0))
        }
        return lengths.max() ?? 0
    }

    /// One to four changes in one transaction, at least one of which is seen.
    private func write(_ random: inout SeededGenerator) throws {
        try shop.database.transaction {
            let objects = try shop.objects("Customer")
            let new = try shop.newCustomer(
                "n\(Int.random(in: 0..<1 << 40, using: &random))", name: "Customer \(Int.random(in: 0..<1000, using: &random))")
            try new.create()
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                let all = try objects.findWithQuery(Query()).filter { $0.surrogateKey != new.surrogateKey }
                guard !all.isEmpty else { continue }
                let customer = all[Int.random(in: 0..<all.count, using: &random)]
                if Int.random(in: 0..<3, using: &random) == 0 {
                    try customer.delete()
                } else {
                    try customer.set("name", .string("Customer \(Int.random(in: 0..<1000, using: &random))"))
                    try customer.update()
                }
            }
        }
    }
}
