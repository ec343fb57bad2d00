import Foundation
@_spi(GeneratedCode) import MobileObjects
import MobileStore
import SampleCRM
import TestSupport
import Testing

/// Relatives that properties read while the database cannot be read, and the calls that report it.
@Suite struct LazyReadingTests {
    let shop: Shop

    init() throws {
        shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        try shop.importOrder(101, number: 101, customer: 1)
        try shop.importOrder(102, number: 102, customer: 1)
    }

    /// Runs `body` while a table does not exist.
    private func without<R>(_ table: String, _ body: () throws -> R) throws -> R {
        func rename(_ from: String, _ to: String) throws {
            try shop.database.store.write { try $0.execute("ALTER TABLE \"\(from)\" RENAME TO \"\(to)\"") }
        }
        try rename(table, "away")
        let result = Result { try body() }
        try rename("away", table)
        return try result.get()
    }

    private final class Failures: CallbackHandler {
        nonisolated(unsafe) var heard: [String] = []
        func onReadFailure(_ object: Entity, relationship: String, _ error: ObjectError) {
            heard.append("\(object.metadata.name) \(object.surrogateKey) \(relationship) \(error.code == .store)")
        }
    }

    @Test func `children that cannot be read are none, handlers hear of it once, and the next save throws`() throws {
        let failures = Failures()
        shop.database.registerCallbackHandler(failures)
        let customer = try #require(try shop.customer(1))
        try without("SalesOrder") {
            #expect(customer.orders.isEmpty && Array(customer.orders).isEmpty)
            #expect(customer.orders.error?.code == .store)
            #expect(throws: ObjectError.self) { try customer.orders.fetchCount() }
            #expect(throws: ObjectError.self) { try customer.orders.all() }
        }
        #expect(failures.heard == ["Customer 1 orders true"])
        try customer.set("name", .string("Bay Foods"))
        let error = #expect(throws: ObjectError.self) { try customer.update() }
        #expect(error?.code == .store && error?.message.contains("Customer 1: its orders could not be read") == true)
        #expect(try shop.customer(1)?.name == "Harbour Foods")
        #expect(customer.orders.count == 2 && customer.orders.error == nil)
        try customer.update()
        #expect(try shop.customer(1)?.name == "Bay Foods")
    }

    @Test func `a parent that cannot be read is none, and the next submit throws`() throws {
        let order = try shop.objects("SalesOrder").load(101)
        try order.set("status", .string("OPEN"))
        try order.update()
        try without("Customer") {
            #expect(order.parent(0) as GenericEntity? == nil)
            #expect(throws: ObjectError.self) { try order.parentObject(0) as GenericEntity? }
        }
        let error = #expect(throws: ObjectError.self) { try order.submitPending() }
        #expect(error?.message.contains("its customer could not be read") == true)
        #expect(try shop.count("_outbox") == 0)
        try order.submitPending()
        #expect(try shop.count("_outbox") == 1)
        #expect((order.parent(0) as GenericEntity?)?.surrogateKey == 1)
    }

    @Test func `what has no children for want of a database is not deleted`() throws {
        let customer = try #require(try shop.customer(1))
        let isUnused = try without("SalesOrder") { customer.orders.isEmpty }
        #expect(isUnused)
        let error = #expect(throws: ObjectError.self) { try customer.delete() }
        #expect(error?.message.contains("its orders could not be read") == true)
        #expect(try shop.customer(1) != nil && shop.count("SalesOrder") == 2)
        #expect(customer.orders.count == 2)
        try customer.delete()
        #expect(try shop.customer(1) == nil)
    }

    @Test func `a child that could not read its relatives is not saved with its owner`() throws {
        let customer = try #require(try shop.customer(1)), order = customer.orders[0]
        try without("Line") { #expect(order.lines.isEmpty) }
        try order.set("status", .string("EMPTY"))
        try customer.set("name", .string("Bay Foods"))
        let error = #expect(throws: ObjectError.self) { try customer.save() }
        #expect(error?.message.contains("SalesOrder 101: its lines could not be read") == true)
        #expect(try shop.customer(1)?.name == "Harbour Foods")
        try customer.save()
        #expect(try shop.customer(1)?.name == "Bay Foods")
    }

    @Test func `the number of children is counted without reading them, and those that are not saved count`() throws {
        let customer = try #require(try shop.customer(1))
        #expect(try customer.orders.fetchCount() == 2)
        let new = try shop.newOrder(of: customer)
        #expect(try customer.orders.fetchCount() == 3)
        #expect(customer.orders.count == 3 && customer.orders[2] === new)
        #expect((0..<customer.orders.count).map { customer.orders[$0].surrogateKey } == [101, 102, 0])
        #expect(try customer.orders.fetchCount() == 3)
        #expect(try shop.newCustomer("c2").orders.fetchCount() == 0)
    }
}

/// `load` through generated classes.
@Suite struct LoadTests {
    private let directory: TemporaryDirectory
    private let crm: CRM

    init() throws {
        directory = try TemporaryDirectory()
        crm = try CRM.open(ConnectionProfile(path: directory.file("crm.db")))
    }

    private func finish() { try? crm.close() }

    @Test func `load reads the relatives of a property, and keeps them for it`() async throws {
        defer { finish() }
        try await crm.write("grant") { try $0.grantKeyRange(first: 1000, last: 1999) }
        let customer = Customer(in: crm)
        customer.name = "Harbour Foods"
        customer.since = .epoch
        for _ in 0..<2 {
            let order = SalesOrder(in: crm)
            order.orderDate = .epoch
            customer.orders.append(order)
        }
        try await customer.save()
        let found = try #require(try await Customer.find(customer.surrogateKey, in: crm))
        let orders = try await found.load(\.orders)
        #expect(orders.count == 2 && orders[0] === found.orders[0])
        let counted = try await Customer.load(customer.surrogateKey, in: crm).orders.fetchCount()
        #expect(counted == 2)
        let order = try #require(try await SalesOrder.find(orders[1].surrogateKey, in: crm))
        let parent = try #require(try await order.load(\.customer))
        #expect(parent.surrogateKey == customer.surrogateKey && order.customer === parent)
        let none = await #expect(throws: ObjectError.self) { _ = try await order.load(\.nobody) }
        #expect(none?.code == .noSuchRelationship)
        let foreign = await #expect(throws: ObjectError.self) { _ = try await order.load(\.nothing) }
        #expect(foreign?.code == .misuse)
        let untouched = try #require(try await Customer.find(customer.surrogateKey, in: crm))
        let store = try crm.store
        _ = try await store.write { try $0.execute("ALTER TABLE \"SalesOrder\" RENAME TO \"away\"") }
        await #expect(throws: ObjectError.self) { _ = try await untouched.load(\.orders) }
        #expect(untouched.orders.isEmpty && untouched.orders.error != nil)
        // The objects that were read exist.
        #expect(found.orders[0] === orders[0])
    }
}

extension SalesOrder {
    fileprivate var nobody: Customer? { nil }
    fileprivate var nothing: Children<SalesOrder> { [] }
}
