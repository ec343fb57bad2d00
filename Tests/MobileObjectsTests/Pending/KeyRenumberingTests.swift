@_spi(GeneratedCode) import MobileObjects
import MobileStore
import TestSupport
import Testing

/// New keys for rows whose range of surrogate keys belongs to another client.
@Suite struct KeyRenumberingTests {
    let shop: Shop
    /// The refused range.
    let range: ClosedRange<Int64>
    let customer, order, line, product, settled: GenericEntity
    private let settledKey: Int64

    /// A customer with an order, its line and its favourite product with a large value, all submitted; the customer was changed again. And a customer
    /// that the server has, and a cancelled one whose create waits.
    init() throws {
        shop = try Shop(grantingKeys: false)
        try shop.database.enableChangeLog()
        product = try shop.new("Product", ["id": 1, "name": "Tea", "price": 2])
        try product.create()
        try product.write("Pour water.", "manual")
        try product.update()
        customer = try shop.newCustomer("c1")
        customer.setParent(product, 1)
        order = try shop.newOrder(of: customer)
        line = try shop.newLine(of: order, 1)
        try customer.save()
        try customer.submitPending()
        try customer.set("city", "Cork")
        try customer.update()
        settled = try shop.newCustomer("c2")
        try settled.create()
        try settled.submitPending()
        try shop.accept(settled.replayPending)
        // Its create waits in the outbox, although the row was cancelled.
        let cancelled = try shop.newCustomer("c3")
        try cancelled.create()
        try cancelled.submitPending()
        try cancelled.cancelPending()
        var record = customer.newLogRecord(level: .warn, message: "call back")
        try record.save()
        settledKey = settled.surrogateKey
        let first = try #require(try shop.database.keyClaims.first)
        range = first...(first + 65_535)
    }

    private func renumber() throws -> Int? {
        try shop.database.write("renumber") { try $0.renumberKeys(ofRefusedRanges: [range.lowerBound]) }
    }

    /// Returns the tables, with their columns, in which one of these numbers occurs, also inside of a text.
    private func places(of keys: [Int64]) throws -> [String] {
        try shop.database.read { connection in
            let tables = try connection.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> '_settings'").compactMap(\.first?.text)
            return try tables.flatMap { table in
                try connection.rows("SELECT name FROM pragma_table_info(?1)", [.text(table)]).compactMap(\.first?.text).filter { column in
                    try keys.contains { key in
                        try connection.first("SELECT 1 FROM \"\(table)\" WHERE instr(\"\(column)\", ?1) > 0 LIMIT 1", [.text(String(key))]) != nil
                    }
                }.map { "\(table).\($0)" }
            }
        }
    }

    @Test("rows, references of two relationships, original states, operations, change log and log records get the new keys; known rows keep theirs")
    func everything() throws {
        let old = [product, customer, order, line].map(\.surrogateKey), before = try shop.database.outbox
        #expect(old.allSatisfy(range.contains) && before.count == 5)
        #expect(try places(of: old).count >= 12, "each place has such a key before")
        #expect(try renumber() == 5)
        #expect(try places(of: old) == [])
        let outbox = try shop.database.outbox
        #expect(
            outbox.map(\.id) == before.map(\.id) && outbox.map(\.batch) == before.map(\.batch) && outbox.map(\.attributes) == before.map(\.attributes)
        )
        #expect(outbox.allSatisfy { !range.contains($0.surrogateKey) } && Set(outbox.map(\.surrogateKey)).count == 5)
        let favourite = try #require(try shop.objects("Product").findAll().first)
        #expect(outbox[0].surrogateKey == favourite.surrogateKey && outbox[1].references == ["favourite": .integer(favourite.surrogateKey)])
        #expect(outbox[2].references == ["customer": .integer(outbox[1].surrogateKey)])
        #expect(outbox[3].references == ["order": .integer(outbox[2].surrogateKey)])
        #expect(try shop.objects("Customer").load(settledKey).state == .unchanged)
        let claims = try shop.database.keyClaims
        #expect(claims.count == 1 && !range.contains(claims[0]))
        // Answers find the rows, and their submitted values have the new references.
        for operation in outbox.prefix(4) { try shop.accept(operation.id) }
        let found = try shop.objects("Customer").load(outbox[1].surrogateKey)
        #expect(try found.state == .pending && found.pendingChange == .update && found.logRecords().map(\.message) == ["call back"])
        try found.cancelPending()
        let tea: GenericEntity? = try found.parentObject(1)
        #expect(try shop.database.text("Product", #require(tea).surrogateKey, "manual") == "Pour water.")
        #expect(try found.orders.all().map(\.surrogateKey) == [outbox[2].surrogateKey])
        #expect(try shop.value("PRAGMA integrity_check") == .text("ok"))
    }

    @Test("an object in memory is stale: reads follow the new key, writes are refused until it is refreshed")
    func memory() throws {
        let old = customer.surrogateKey
        _ = try renumber()
        let now = try #require(try shop.customer(old))
        #expect(now.surrogateKey != old && now.city == "Cork")
        let known = try shop.database.outbox[1].surrogateKey
        #expect(now.surrogateKey == known)
        try customer.set("city", "Sligo")
        for write in [customer.update, customer.delete, customer.submitPending, customer.cancelPending] {
            let error = ObjectError.of { try write() }
            #expect(error?.code == .stale && error?.message.contains("its surrogate key is \(now.surrogateKey) now") == true)
        }
        #expect(try shop.database.text("Product", product.surrogateKey, "manual") == "Pour water.")
        #expect(try product.bigString(5).length == 11, "the stale object reads its large value, too")
        #expect(try customer.lastOperation == "create")
        // A child of a stale parent gets the parent's new key.
        let another = try shop.new("SalesOrder", ["status": "NEW"])
        another.setParent(customer, 0)
        try another.create()
        #expect(try shop.value("SELECT \"_ref_customer\" FROM \"SalesOrder\" WHERE \"_sk\" = \(another.surrogateKey)") == .integer(now.surrogateKey))
        try customer.refresh()
        #expect(try customer.surrogateKey == now.surrogateKey && customer.city == "Cork" && customer.orders.all().count == 2)
        try customer.set("city", "Sligo")
        try customer.update()
        try order.refresh()
        try order.delete()
        #expect(try order.isDeleted && shop.customer(old)?.city == "Sligo")
        #expect(try shop.objects("Customer").find(range.upperBound) == nil)
    }

    @Test("where another client's row arrives under a former key, an object of the renumbered row does not become that row")
    func collision() throws {
        let old = customer.surrogateKey
        _ = try renumber()
        try shop.importCustomer(old, id: "other", name: "Other client's")
        let foreign = try #require(try shop.customer(old))
        #expect(foreign.name == "Other client's" && foreign.orders.isEmpty)
        try customer.set("city", "Sligo")
        for write in [customer.update, customer.delete, customer.submitPending, customer.cancelPending] {
            #expect(ObjectError.of { try write() }?.code == .stale)
        }
        #expect(try shop.customer(old)?.stateRow == foreign.stateRow && shop.customer(old)?.city == "Dublin")
        let added = try shop.newOrder(of: foreign), followed = try shop.new("SalesOrder", ["status": "NEW"])
        try foreign.save()
        followed.setParent(customer, 0)
        try followed.create()
        try customer.refresh()
        #expect(
            try customer.name == "Harbour Foods" && customer.surrogateKey != old
                && customer.orders.all().map(\.surrogateKey).contains(followed.surrogateKey))
        try foreign.refresh()
        try added.refresh()
        let parent: GenericEntity? = try added.parentObject(0)
        #expect(try foreign.surrogateKey == old && foreign.orders.all().map(\.surrogateKey) == [added.surrogateKey] && parent?.surrogateKey == old)
        try foreign.set("city", "Derry")
        try foreign.update()
        try foreign.submitPending()
        #expect(try shop.customer(old)?.city == "Derry")
    }

    @Test("a large value that an answer released in the same transaction stays with its renumbered row")
    func releasedValue() throws {
        let submitted = try #require(try shop.database.outbox.first)
        let renumbered = try shop.database.write("settle") { transaction in
            _ = try transaction.settle([ReplayAnswer(id: submitted.id, isAccepted: false)])
            return try transaction.renumberKeys(ofRefusedRanges: [range.lowerBound])
        }
        #expect(renumbered == 5 && submitted.entity == "Product")
        #expect(try shop.database.text("Product", product.surrogateKey, "manual") == "Pour water.")
    }

    @Test("a row that is renumbered twice is found by all of its keys")
    func twice() throws {
        let first = customer.surrogateKey
        _ = try renumber()
        let second = try #require(try shop.customer(first)).surrogateKey, claims = try shop.database.keyClaims
        #expect(try shop.database.write("renumber") { try $0.renumberKeys(ofRefusedRanges: claims) } == 5)
        let third = try #require(try shop.customer(first)).surrogateKey
        #expect(try Set([first, second, third]).count == 3 && shop.customer(second)?.surrogateKey == third)
    }

    @Test("a deleted row whose create waits, and a rejected one, are renumbered; a row that is deleted on the server is not")
    func otherStates() throws {
        try order.refresh()
        try order.delete()
        try settled.refresh()
        try settled.set("city", "Cork")
        try settled.update()
        try shop.importDeletions("Customer", settled.surrogateKey)
        let rejected = try shop.newCustomer("c4")
        try rejected.create()
        try rejected.submitPending()
        try shop.reject(rejected.replayPending)
        let deleted = order.surrogateKey, failed = rejected.surrogateKey
        #expect(try renumber() == 6)
        try order.refresh()
        try rejected.refresh()
        #expect(order.isDeleted && order.surrogateKey != deleted && rejected.state == .failed && rejected.surrogateKey != failed)
        #expect(try rejected.logRecords().isEmpty && settled.surrogateKey == settledKey && shop.customer(settledKey)?.city == "Cork")
        #expect(try shop.database.keyClaims.allSatisfy { !range.contains($0) })
    }

    @Test("a transaction that fails after it leaves all keys as they were; a range that is not the database's own changes nothing")
    func nothing() throws {
        struct Stop: Error {}
        let old = [product, customer, order, line].map(\.surrogateKey), places = try places(of: old), outbox = try shop.outboxLines()
        #expect(throws: Stop.self) {
            try shop.database.write("renumber") { transaction in
                _ = try transaction.renumberKeys(ofRefusedRanges: [range.lowerBound])
                throw Stop()
            }
        }
        #expect(try self.places(of: old) == places && shop.outboxLines() == outbox)
        try shop.grant(first: 10, last: 20)
        #expect(try shop.database.write("renumber") { try $0.renumberKeys(ofRefusedRanges: [10, range.lowerBound + 1 << 16, 0]) } == nil)
        #expect(try shop.outboxLines() == outbox && shop.database.keyGenerator.keysLeft == 11)
        try customer.set("name", "Still the same")
        try customer.update()
    }
}
