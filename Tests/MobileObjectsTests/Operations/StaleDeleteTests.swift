@_spi(GeneratedCode) import MobileObjects
import MobileStore
import TestSupport
import Testing

/// Objects whose rows another object has changed or deleted.
@Suite struct StaleDeleteTests {
    @Test("a delete of an object whose row another writer changed is refused, as an update is, and deletes nothing")
    func stale() throws {
        let shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        let first = try #require(try shop.customer(1)), second = try #require(try shop.customer(1))
        try first.set("city", "Cork")
        try first.update()
        let error = #expect(throws: ObjectError.self) { try second.delete() }
        #expect(error?.code == .stale && error?.message == "delete of Customer 1: it was changed since this object read it; refresh and try again")
        #expect(try shop.customer(1)?.city == "Cork" && second.isDeleted == false)
        try second.refresh()
        try second.delete()
        #expect(try shop.customer(1) == nil)
    }

    @Test("so is one after an import of another version, in async code too")
    func imported() async throws {
        let shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        let customer = try #require(try await shop.objects("Customer").findWithQuery(Query()).first)
        shop.clock.advance(by: .seconds(10))
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods Ltd")
        let changed = try #require(try shop.customer(1))
        guard changed.replayCounter != customer.replayCounter else { return try await customer.delete() }
        let error = await #expect(throws: ObjectError.self) { try await customer.delete() }
        #expect(error?.code == .stale)
    }

    @Test("an object with pending children, whose mark came after it was read, is deleted with them")
    func parentMark() throws {
        let shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        try shop.importOrder(2, number: 7, customer: 1)
        let customer = try #require(try shop.customer(1)), order = try #require(try shop.objects("SalesOrder").find(2))
        try order.set("status", "PAID")
        try order.update()
        try customer.delete()
        #expect(try shop.count("Customer") == 0 && shop.count("SalesOrder") == 0)
    }

    @Test("a large value of a row that was deleted cannot be opened, not even through another object of the row")
    func largeValue() throws {
        let shop = try Shop()
        try shop.importRows("Product", ["id", "name", "price"], "[[1,1,\"Salmon\",2.50]]")
        let first = try #require(try shop.objects("Product").find(1)), second = try #require(try shop.objects("Product").find(1))
        try first.delete()
        for object in [first, second] {
            for index in [4, 5] {
                let stream: LargeValueStream = index == 4 ? object.bigBinary(index) : object.bigString(index)
                #expect(throws: (any Error).self, "\(index)") { try stream.openForRead() }
            }
        }
        let error = #expect(throws: ObjectError.self) { try second.bigString(5).openForRead() }
        #expect(error?.code == .notFound && error?.message == "manual of Product 1: there is no such row any more")
    }
}
