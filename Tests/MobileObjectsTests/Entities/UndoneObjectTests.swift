import Foundation
import MobileStore
import Testing

@_spi(GeneratedCode) @testable import MobileObjects

/// Objects in memory after a transaction was rolled back: they have what they had before, and what was set last.
@Suite struct UndoneObjectTests {
    private let shop: Shop
    private struct Stop: Error {}

    init() throws {
        shop = try Shop()
        for key in [1, 2, 3] as [Int64] { try shop.importCustomer(key, id: "c\(key)", name: "Harbour Foods") }
        try shop.importOrder(11, number: 11, customer: 1)
    }

    private func order() throws -> GenericEntity { try shop.objects("SalesOrder").load(11) }
    private func customer(of order: GenericEntity) throws -> Int64? { try (order.parentObject(0) as GenericEntity?)?.surrogateKey }

    private func rolledBack(_ body: () throws -> Void) {
        #expect(throws: Stop.self) {
            try shop.database.transaction {
                try body()
                throw Stop()
            }
        }
    }

    /// Gives an order another customer, by its object or by its key.
    private func set(_ order: GenericEntity, _ key: Int64, byObject: Bool) throws {
        if byObject { order.setParent(try shop.objects("Customer").load(key), 0) } else { try order.setValue(.string("c\(key)"), "customerId") }
    }

    @Test(arguments: [false, true], [false, true])
    func `of a reference and its attribute, what was set after a save decides also when the save is undone`(first: Bool, second: Bool) throws {
        let order = try order()
        rolledBack {
            try set(order, 2, byObject: first)
            try order.update()
            try set(order, 3, byObject: second)
        }
        #expect(try customer(of: order) == 3 && order.value("customerId") == "c3")
        try order.update()
        #expect(try customer(of: self.order()) == 3 && self.order().value("customerId") == "c3")
    }

    @Test func `an object without a key yet, set after an attribute was saved, decides when that save is undone`() throws {
        let order = try shop.newOrder(of: shop.objects("Customer").load(1)), line = try shop.new("Line", ["orderNumber": 98, "line": 1])
        try order.create()
        try line.create()
        rolledBack {
            try line.setValue(99, "orderNumber")
            try line.update()
            line.setParent(order, 0)
        }
        try line.update()
        #expect(try shop.objects("SalesOrder").load(order.surrogateKey).lines.count == 1)
    }

    @Test func `a cancel that is undone gives the object its values back`() throws {
        let order = try order()
        try set(order, 2, byObject: true)
        try order.setValue("PAID", "status")
        try order.update()
        let state = order.stateRow
        rolledBack { try order.cancelPending() }
        #expect(try order.value("status") == "PAID" && customer(of: order) == 2 && order.stateRow == state)
        try order.setValue("SENT", "status")
        try order.update()
        #expect(try self.order().value("status") == "SENT")
    }

    @Test func `what is set after a cancel or refresh stays when that is undone`() throws {
        let order = try order()
        try order.setValue("PAID", "status")
        try order.update()
        rolledBack {
            try order.cancelPending()
            try set(order, 3, byObject: true)
        }
        #expect(try order.value("status") == "PAID" && customer(of: order) == 3)
        rolledBack {
            try order.refresh()
            try order.setValue("SENT", "status")
        }
        #expect(try order.value("status") == "SENT" && order.value("customerId") == "c3" && customer(of: order) == 3)
        try order.update()
        #expect(try self.order().value("status") == "SENT" && customer(of: self.order()) == 3)
    }

    @Test func `an object whose row vanished with its cancel keeps its values; its attribute and reference say the same`() throws {
        let order = try shop.new("SalesOrder", ["customerId": "c1"])
        try order.create()
        try order.setValue("c2", "customerId")
        try order.cancelPending()
        #expect(try order.isNew && order.value("customerId") == "c2" && customer(of: order) == 2)
        try order.create()
        #expect(try order.value("customerId") == "c2" && customer(of: shop.objects("SalesOrder").load(order.surrogateKey)) == 2)
        // A price has no empty value, but this one was set.
        let product = try shop.new("Product", ["id": 1, "name": "Tea", "price": .decimal(2)])
        try product.create()
        try product.cancelPending()
        try product.create()
        #expect(try shop.objects("Product").load(product.surrogateKey).value("price") == .decimal(2))
    }

    @Test func `a refresh that keeps an object which was set keeps its key, also where the row had it before`() throws {
        let order = try order(), other = try self.order()
        try set(order, 1, byObject: true)
        try set(other, 2, byObject: false)
        try other.update()
        try order.refresh(keepingChanges: true)
        #expect(try customer(of: order) == 1 && order.value("customerId") == "c1")
        try order.update()
        #expect(try customer(of: self.order()) == 1 && self.order().value("customerId") == "c1")
    }
}
