import Foundation
import MobileModel
import MobileStore
import Testing

@_spi(GeneratedCode) @testable import MobileObjects

/// A reference and the attributes that are its key are two views of one fact: what was set last decides, at once.
@Suite struct ReferencesByAttributeTests {
    let shop: Shop
    init() throws {
        shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        try shop.importCustomer(2, id: "c2", name: "Castle Inn")
        try shop.importOrder(11, number: 11, customer: 1)
    }

    private func order(_ key: Int64 = 11) throws -> GenericEntity { try shop.objects("SalesOrder").load(key) }
    private func customer(of order: GenericEntity) throws -> Int64? { try (order.parentObject(0) as GenericEntity?)?.surrogateKey }
    private func orders(of customer: Int64) throws -> [Int64] { try shop.objects("Customer").load(customer).orders.all().map(\.surrogateKey) }
    private var sent: [OutboxRecord] { get throws { try shop.database.outbox } }

    @Test("an attribute that is set leads its reference to the row with this key: in the object at once, in the database with the save")
    func attribute() throws {
        let order = try order()
        #expect(try customer(of: order) == 1)
        try order.setValue("c2", "customerId")
        #expect(try customer(of: order) == 2)
        try order.update()
        #expect(try customer(of: order) == 2 && customer(of: self.order()) == 2)
        #expect(try orders(of: 1).isEmpty && orders(of: 2) == [11])
        try order.submitPending()
        #expect(try sent.map(\.references) == [["customer": 2]] && sent.map(\.attributes) == [["customerId": "c2"]])
    }

    @Test("an object that is set sets the attribute at once; of both, the last one decides")
    func last() throws {
        let order = try order(), second = try shop.objects("Customer").load(2)
        order.setParent(second, 0)
        #expect(try order.value("customerId") == "c2")
        try order.setValue("c1", "customerId")
        #expect(try customer(of: order) == 1)
        order.setParent(second, 0)
        try order.update()
        #expect(try order.value("customerId") == "c2" && self.order().value("customerId") == "c2" && customer(of: self.order()) == 2)

        try order.setValue("c1", "customerId")
        try order.refresh(keepingChanges: true)
        #expect(try order.value("customerId") == "c1" && customer(of: order) == 1)
        try order.update()
        #expect(try customer(of: self.order()) == 1)
        let first = try shop.objects("Customer").load(1)
        first.orders.append(order)
        second.orders.append(order)
        #expect(try order.value("customerId") == "c2")
    }

    @Test("a key without a row on the device is kept as value, and leads to the row when it comes: with an import, or created here")
    func byValue() throws {
        let order = try order(), other = try shop.new("SalesOrder", ["customerId": "c8"])
        try order.setValue("c9", "customerId")
        #expect(try customer(of: order) == nil)
        try order.update()
        try other.create()
        #expect(try customer(of: self.order()) == nil && orders(of: 1).isEmpty)
        #expect(try self.order().value("customerId") == "c9")

        try shop.importCustomer(9, id: "c9", name: "Quay Books")
        #expect(try orders(of: 9) == [11] && customer(of: order) == 9)
        let made = try shop.newCustomer("c8")
        try made.create()
        #expect(try orders(of: made.surrogateKey) == [other.surrogateKey])
        #expect(made.isPending && made.isCreated)

        try order.setValue("c7", "customerId")
        try order.update()
        try shop.database.submitPendingOperations()
        let update = try #require(try sent.first { $0.surrogateKey == 11 })
        #expect(update.references == [:] && update.attributes == ["customerId": "c7"])
    }

    @Test("rows go to the server after the rows that their attributes name, also where these were created later")
    func submission() throws {
        let early = try shop.new("SalesOrder", ["customerId": "n1"])
        try early.create()
        try shop.newCustomer("n1").create()
        // A whole list, children first.
        let children = try (0..<3).map { try shop.new("SalesOrder", ["customerId": .string("m\($0)")]) }
        try shop.database.save(children)
        for number in 0..<3 { try shop.newCustomer("m\(number)").create() }
        try shop.database.submitPendingOperations()
        var customers: Set<Int64> = []
        for operation in try sent {
            if operation.entity == "Customer" {
                customers.insert(operation.surrogateKey)
            } else {
                #expect(customers.contains(try #require(operation.references["customer"]?.integer)))
            }
        }
        #expect(try sent.count == 8)
    }

    @Test("an attribute names no row whose key the back end has yet to assign")
    func unknownKey() throws {
        let customer = try shop.newCustomer("c3"), order = try shop.newOrder(of: customer)
        try customer.save()
        let line = try shop.new("Line", ["orderNumber": 0, "line": 1])
        try line.create()
        #expect(try line.parentObject(0) as GenericEntity? == nil)
        #expect(try shop.objects("SalesOrder").load(order.surrogateKey).lines.isEmpty)
        // By its object, it is one of its lines, and has the number when the back end has assigned it.
        let other = try shop.newLine(of: order, 2)
        try other.create()
        #expect(try shop.objects("SalesOrder").load(order.surrogateKey).lines.count == 1)
        let copy = try GenericEntity("Line", in: shop.database)
        try copy.copyAll(other)
        try copy.setValue(3, "line")
        try copy.create()
        #expect(try shop.objects("SalesOrder").load(order.surrogateKey).lines.count == 2)
    }

    @Test("a save that fails leaves what was set in the object, and a rollback what was there before")
    func failure() throws {
        let order = try order()
        try order.setValue("c2", "customerId")
        #expect(throws: CancellationError.self) {
            try shop.database.transaction {
                try order.update()
                throw CancellationError()
            }
        }
        #expect(try customer(of: self.order()) == 1 && order.isDirty && customer(of: order) == 2)
        try order.update()
        #expect(try customer(of: self.order()) == 2)
        try order.cancelPending()
        #expect(try customer(of: order) == 1 && order.value("customerId") == "c1")
    }

    @Test("a waiting row is found after a transaction that deleted it could not commit")
    func failedCommit() throws {
        let order = try shop.new("SalesOrder", ["customerId": "c9"])
        try order.create()
        #expect(throws: CancellationError.self) {
            try shop.database.transaction {
                try order.delete()
                try shop.newCustomer("c5").create()
                try shop.database.write("no commit") { $0.atEnd(.importRecords) { _ in throw CancellationError() } }
            }
        }
        let made = try shop.newCustomer("c9")
        try made.create()
        #expect(try orders(of: made.surrogateKey) == [order.surrogateKey])
    }

    @Test("a waiting row is found in a file that was restored while its database was closed")
    func restoredFile() throws {
        let order = try shop.new("SalesOrder", ["customerId": "c9"]), file = shop.directory.appending(path: "shop.db"),
            saved = shop.directory.appending(path: "saved.db")
        try order.create()
        try shop.database.closeConnection()
        try FileManager.default.copyItem(at: file, to: saved)
        try shop.database.openConnection()
        try order.cancelPending()
        try shop.newCustomer("c5").create()
        try shop.database.closeConnection()
        try FileManager.default.removeItem(at: file)
        try FileManager.default.moveItem(at: saved, to: file)
        try shop.database.openConnection()
        let made = try shop.newCustomer("c9")
        try made.create()
        #expect(try orders(of: made.surrogateKey).count == 1)
    }

    @Test("the object behind an attribute is loaded without blocking a cooperative thread")
    func asynchronous() async throws {
        let order = try await shop.objects("SalesOrder").load(11)
        try order.setValue("c2", "customerId")
        let customer: GenericEntity? = try await order.parent("customer")
        #expect(customer?.surrogateKey == 2)
    }

    @Test func `an async read and a prefetch find nothing where an attribute was set that leads nowhere`() async throws {
        let order = try await shop.objects("SalesOrder").load(11)
        try order.setValue("", "customerId")
        let customer: GenericEntity? = try await order.parent("customer")
        #expect(customer == nil)
        let orders = try await shop.objects("SalesOrder").findAll()
        for order in orders { try order.setValue("c7", "customerId") }
        try await orders.prefetch("customer")
        #expect(try orders.allSatisfy { try self.customer(of: $0) == nil })
    }
}
