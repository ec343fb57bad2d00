import Foundation
import MobileObjects
import MobileStore
import Testing

/// Submitting: the operations in the outbox, and their order.
@Suite struct SubmittingTests {
    @Test("PND-01 PND-02 OPS-01: submitPending writes a record with the values as they are then, and nothing before does")
    func record() throws {
        let shop = try Shop()
        let customer = try shop.newCustomer("c1")
        try customer.set("credit", .decimal(12.5))
        try customer.create()
        #expect(try shop.database.outbox.isEmpty)
        try customer.submitPending()
        let record = try #require(try shop.database.outbox.first)
        #expect(record.id == customer.replayPending && record.batch == record.id)
        #expect(record.entity == "Customer" && record.surrogateKey == customer.surrogateKey && record.change == .create)
        #expect(
            JSONValue.object(record.attributes).description
                == #"{"id":"c1","name":"Harbour Foods","city":null,"credit":12.50,"since":null}"#)
        #expect(record.primaryKey.isEmpty && record.references.isEmpty)
    }

    @Test("an update names the key that the server knows, a delete carries no values")
    func updateAndDelete() throws {
        let shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        try shop.importCustomer(2, id: "c2", name: "Castle Inn")
        let updated = try #require(try shop.customer(1)), deleted = try #require(try shop.customer(2))
        try updated.set("id", "c1-new")
        try updated.update()
        try updated.submitPending()
        try deleted.delete()
        try deleted.submitPending()
        let records = try shop.database.outbox
        #expect(records.map(\.change) == [.update, .delete])
        #expect(records[0].primaryKey["id"] == "c1" && records[0].attributes["id"] == "c1-new")
        #expect(records[1].primaryKey["id"] == "c2" && records[1].attributes.isEmpty)
    }

    @Test("OPS-04: an update sends what was changed since the row was last that of the server, and nothing else")
    func changedValues() throws {
        let shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        let customer = try #require(try shop.customer(1))
        try customer.set("city", "Cork")
        try customer.update()
        try customer.set("credit", .decimal(7))
        try customer.update()
        try customer.submitPending()
        let first = try #require(try shop.database.outbox.first)
        #expect(JSONValue.object(first.attributes).description == #"{"city":"Cork","credit":7.00}"#)

        // After the settlement the row begins again.
        _ = try shop.database.write("answer") { try $0.settle([.init(id: first.id, isAccepted: true)]) }
        try customer.refresh()
        try customer.set("name", "Harbour Foods Ltd")
        try customer.update()
        try customer.submitPending()
        #expect(try shop.database.outbox.map(\.attributes.count) == [1])
    }

    @Test("a change that waits for its answer is not submitted again; one that was changed since is")
    func submitTwice() throws {
        let shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        let customer = try #require(try shop.customer(1))
        try customer.set("city", "Cork")
        try customer.update()
        try customer.submitPending()
        let first = customer.replayPending
        try customer.submitPending()
        #expect(try shop.database.outbox.count == 1 && customer.replayPending == first)
        try customer.set("city", "Galway")
        try customer.update()
        try customer.submitPending()
        let records = try shop.database.outbox
        #expect(records.map(\.attributes).map { $0["city"] } == ["Cork", "Galway"])
        #expect(records.map(\.id) == [first, customer.replayPending])
    }

    @Test("a create that was changed while its answer is awaited goes as an update: the server must not make two rows")
    func changedCreate() throws {
        let shop = try Shop()
        let customer = try shop.newCustomer("c1")
        try customer.create()
        try customer.submitPending()
        try customer.set("city", "Cork")
        try customer.update()
        #expect(customer.isCreated)
        try customer.submitPending()
        #expect(try shop.database.outbox.map(\.change) == [.create, .update])
    }

    @Test("PND-03: submitPendingOperations of a class submits every pending row of it, and of no other class")
    func submitClass() throws {
        let shop = try Shop()
        let first = try shop.newCustomer("c1"), second = try shop.newCustomer("c2")
        try first.create()
        try second.create()
        let product = try shop.new("Product", ["id": 1, "name": "Tea", "price": .decimal(2)])
        try product.create()
        try shop.database.submitPendingOperations(of: shop.objects("Customer").metadata)
        #expect(try shop.outboxLines() == ["C Customer 1000", "C Customer 1001"])
    }

    @Test("PND-04: submitPendingOperations of the database submits all objects")
    func submitAll() throws {
        let shop = try Shop()
        try shop.newCustomer("c1").create()
        try shop.new("Product", ["id": 1, "name": "Tea", "price": .decimal(2)]).create()
        #expect(try shop.database.hasPendingOperations())
        try shop.database.submitPendingOperations()
        #expect(try shop.outboxLines() == ["C Customer 1000", "C Product 1001"])
        #expect(try shop.database.hasPendingOperations())
    }

    @Test("PND-05: submitPendingOperations of a group submits the objects of that group")
    func submitGroup() throws {
        let shop = try Shop()
        try shop.newCustomer("c1").create()
        try shop.new("Product", ["id": 1, "name": "Tea", "price": .decimal(2)]).create()
        try shop.database.submitPendingOperations(group: "catalog")
        #expect(try shop.outboxLines() == ["C Product 1001"])
    }

    @Test("hasPendingOperations is false when nothing waits, and again when everything was answered")
    func hasPending() throws {
        let shop = try Shop()
        #expect(try !shop.database.hasPendingOperations())
        let customer = try shop.newCustomer("c1")
        try customer.create()
        #expect(try shop.database.hasPendingOperations())
        try customer.submitPending()
        try shop.accept(customer.replayPending)
        #expect(try !shop.database.hasPendingOperations())
    }
}

/// The order of a tree.
@Suite struct TreeSubmitTests {
    @Test("PND-12 PND-13: submitting the parent submits the tree, parents before children, in one batch")
    func preorder() throws {
        let shop = try Shop()
        let customer = try shop.newCustomer("c1")
        let first = try shop.newOrder(of: customer), second = try shop.newOrder(of: customer)
        _ = try shop.newLine(of: first, 1)
        _ = try shop.newLine(of: first, 2)
        _ = try shop.newLine(of: second, 1)
        try customer.save()
        try customer.submitPending()
        #expect(
            try shop.outboxLines() == [
                "C Customer 1000", "C SalesOrder 1001", "C Line 1002", "C Line 1003", "C SalesOrder 1004", "C Line 1005",
            ])
        let records = try shop.database.outbox
        #expect(Set(records.map(\.batch)) == [records[0].id])
        #expect(
            records.map(\.references).map { JSONValue.object($0).description } == [
                "{}", #"{"customer":1000}"#, #"{"order":1001}"#, #"{"order":1001}"#, #"{"customer":1000}"#, #"{"order":1004}"#,
            ])
    }

    @Test("PND-12: submitting a child submits its parent and the whole tree")
    func fromChild() throws {
        let shop = try Shop()
        let customer = try shop.newCustomer("c1")
        let order = try shop.newOrder(of: customer)
        let line = try shop.newLine(of: order, 1)
        _ = try shop.newOrder(of: customer)
        try customer.save()
        try line.submitPending()
        #expect(try shop.outboxLines() == ["C Customer 1000", "C SalesOrder 1001", "C Line 1002", "C SalesOrder 1003"])
        #expect(line.state == .submitted)
    }

    @Test("PND-14: deletes go children first, each with its subtree, then the parent")
    func postorder() throws {
        let shop = try Shop()
        try tree(shop)
        try #require(try shop.customer(1)).delete()
        try shop.database.submitPendingOperations()
        #expect(
            try shop.outboxLines() == [
                "D Line 21", "D Line 22", "D SalesOrder 11", "D Line 23", "D Line 24", "D SalesOrder 12", "D Customer 1",
            ])
        let records = try shop.database.outbox
        #expect(Set(records.map(\.batch)) == [records[0].id])
    }

    @Test("PND-15: a mixed tree is walked once: root update, create with its two creates, then the deletes under the second child")
    func mixed() throws {
        let shop = try Shop()
        try tree(shop)
        let customer = try #require(try shop.customer(1))
        let kept = try #require(try shop.objects("SalesOrder").find(12))
        for line in kept.lines { try line.delete() }
        try kept.delete()
        let order = try shop.newOrder(of: customer)
        _ = try shop.newLine(of: order, 1)
        _ = try shop.newLine(of: order, 2)
        try customer.set("city", "Cork")
        try customer.save()
        try customer.submitPending()
        // The surrogate key of the new order is above that of the deleted one: children come in the order of their keys.
        #expect(
            try shop.outboxLines() == [
                "U Customer 1", "D Line 23", "D Line 24", "D SalesOrder 12", "C SalesOrder 1000", "C Line 1001", "C Line 1002",
            ])
    }

    @Test("REL-04 OPS-07: a parent without a change of its own is not sent; its pending child is")
    func parentOnly() throws {
        let shop = try Shop()
        try tree(shop)
        let line = try #require(try shop.objects("Line").find(21))
        try line.set("text", "two cases")
        try line.update()
        let customer = try #require(try shop.customer(1))
        #expect(customer.pendingChange == .parent)
        #expect(try shop.objects("SalesOrder").find(11)?.pendingChange == .parent)
        #expect(try shop.objects("SalesOrder").find(12)?.pendingChange == PendingChange.none)
        try customer.submitPending()
        #expect(try shop.outboxLines() == ["U Line 21"])
    }

    /// Imports a customer with two orders of two lines each, as the server sends them.
    private func tree(_ shop: Shop) throws {
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        for order in [11, 12] as [Int64] { try shop.importOrder(order, number: order, customer: 1) }
        for (line, order) in [(21, 11), (22, 11), (23, 12), (24, 12)] as [(Int64, Int64)] {
            try shop.importLine(line, order: order, number: line, text: "tea")
        }
    }

    @Test("PND-11: the bulk forms look through every object of the model they are for; the object's own form looks at its tree only")
    func costs() throws {
        let trace = StatementTrace()
        let shop = try Shop(trace: { trace.append($0) })
        /// Returns the number of statements that submitting one pending change takes.
        func cost(_ submit: (PackageDatabase, GenericEntity) throws -> Void) throws -> Int {
            let customer = try shop.newCustomer("c\(trace.count)")
            try customer.create()
            let before = trace.count, submitted = try shop.database.outbox.count
            try submit(shop.database, customer)
            let statements = trace.count - before
            #expect(try shop.database.outbox.count == submitted + 1)
            return statements
        }
        let own = try cost { _, customer in try customer.submitPending() }
        let ofClass = try cost { database, customer in try database.submitPendingOperations(of: customer.metadata) }
        let ofPackage = try cost { database, _ in try database.submitPendingOperations() }
        #expect(own < ofClass && ofClass < ofPackage)
    }
}
