import MobileObjects
import Testing

/// A reset: the server sends everything that this device should have. Rows that it does not send are removed.
@Suite struct ResetTests {
    let shop: Shop
    init() throws {
        shop = try Shop()
        for key in [1, 2] as [Int64] {
            try shop.importCustomer(key, id: "c\(key)", name: "Customer \(key)")
            try shop.importOrder(10 + key, number: 10 + key, customer: key)
        }
    }

    /// Sends customers again: these and no others.
    private func reset(_ keys: Int64...) throws {
        try shop.database.write("reset") { transaction in
            let session = try transaction.importSession(for: "Customer")
            _ = try session.removeAll()
            let rows = try session.rows(["_sk", "id", "name", "credit"])
            try rows.push([UInt8](("[" + keys.map { "[\($0),\"c\($0)\",\"Customer \($0)\",1]" }.joined(separator: ",") + "]").utf8))
            try rows.finish()
        }
    }

    private func changeOrders() throws {
        for key in [11, 12] as [Int64] {
            let order = try shop.objects("SalesOrder").load(key)
            try order.set("status", "PAID")
            try order.update()
        }
    }

    @Test("a parent of pending children that the server does not send again goes; one that it sends is marked again")
    func parents() throws {
        try changeOrders()
        try reset(2)
        #expect(try shop.customer(1) == nil)
        #expect(try shop.customer(2)?.pendingChange == .parent)
        // As after an ordinary deletion of a parent, its pending children live on, and are submitted and cancelled as before.
        let orphan = try shop.objects("SalesOrder").load(11)
        #expect(orphan.pendingChange == .update)
        try orphan.submitPending()
        #expect(try shop.outboxLines() == ["U SalesOrder 11"])
        try shop.accept(orphan.replayPending)
        try shop.database.cancelPendingOperations()
        #expect(try shop.customer(2)?.pendingChange == PendingChange.none && !shop.database.hasPendingOperations())
    }

    @Test("rows with a change of their own stay, and are noted as gone until they come again")
    func ownChanges() throws {
        for key in [1, 2] as [Int64] {
            let customer = try #require(try shop.customer(key))
            try customer.set("city", "Cork")
            try customer.update()
        }
        try reset(2)
        #expect(try shop.count("Customer") == 2)
        try shop.database.cancelPendingOperations()
        #expect(try shop.customer(1) == nil && shop.customer(2)?.isPending == false)
    }
}
