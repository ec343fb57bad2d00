import Foundation
import MobileModel
import MobileObjects
import MobileStore

/// A database in the middle of its work: pending and submitted creates, updates and deletes, large values, log, change log, subscriptions,
/// personalization.
enum PendingWork {
    static func write(to shop: Shop) throws {
        let database = shop.database
        try database.enableChangeLog()
        for key in 1...4 { try shop.importCustomer(Int64(key), id: "c\(key)", name: "Customer \(key)", city: "Dublin") }
        for key in 1...3 { try shop.importOrder(Int64(10 + key), number: Int64(10 + key), customer: Int64(key)) }
        try shop.importLine(21, order: 11, number: 1, text: "Tea")
        try shop.importRows("Product", ["id", "name", "price"], "[[31,1,\"Tea\",2.50],[32,2,\"Milk\",1]]")
        try database.write("groups") { transaction in
            try transaction.setSubscribed(true)
            try transaction.setToken("t1", ofGroup: "default")
        }
        // Updated, not submitted.
        let first = try shop.objects("Customer").load(1)
        try first.set("city", "Galway")
        try first.update()
        // Submitted, and changed again.
        let second = try shop.objects("Customer").load(2)
        try second.set("name", "Two")
        try second.update()
        try second.submitPending()
        try second.set("city", "Sligo")
        try second.update()
        // Deleted with its order; created with an order and a line; a created one submitted.
        try shop.objects("Customer").load(3).delete()
        let created = try shop.newCustomer("c5", name: "Five")
        let order = try shop.newOrder(of: created)
        _ = try shop.newLine(of: order, 1, text: "Milk")
        try created.save()
        let submitted = try shop.newCustomer("c6", name: "Six")
        try submitted.create()
        try submitted.submitPending()
        // Large values, one of them submitted.
        let tea = try shop.objects("Product").load(31)
        try tea.write("Pour water.", "manual")
        try tea.update()
        try tea.submitPending()
        let milk = try shop.objects("Product").load(32)
        try milk.write([UInt8](repeating: 7, count: 3000), "picture")
        try milk.update()
        try shop.new("Note", ["title": "local", "body": "kept"]).create()
        // Data outside of the rows.
        var record = second.newLogRecord(level: .warn, message: "call back")
        try record.save()
        var personalization = database.personalization
        try personalization.setValue("SOUTH", "region")
        try personalization.save()
        try database.addSubscription(["region": "SOUTH"], to: shop.objects("Customer").metadata)
    }
}
