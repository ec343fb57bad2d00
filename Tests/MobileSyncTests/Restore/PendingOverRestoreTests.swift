import Foundation
import MobileObjects
import MobileStore
import SampleCRM
import TestSupport
import Testing

@testable import MobileSync

/// Changes that wait on a device while the back end is restored. Another device then creates a row that gets the primary key of a lost one.
@Suite struct PendingOverRestoreTests {
    /// The parts that are restored from a backup, or lost.
    enum Loss: CaseIterable { case backEnd, backEndAndStore, backEndAndLostStore }

    /// A bench with a device that has a row which the back end will lose.
    struct Scene {
        let bench: RestoreBench
        let device: Device, other: Device
        let gone: Customer

        init(connectionTimeout: Duration? = nil) throws {
            bench = try RestoreBench(connectionTimeout: connectionTimeout)
            device = try bench.newDevice("device")
            other = try bench.newDevice("other")
            for device in [device, other] { try bench.synchronize(device) }
            for file in ["cache", "enterprise"] { try bench.backUp("\(file).db", to: "\(file).backup") }
            try bench.submit("Gone", other)
            for device in [other, device] { try bench.synchronize(device) }
            gone = try #require(Customer.findAll(in: device.crm).first { $0.name == "Gone" })
        }

        /// Changes the row without submitting it.
        func change() throws {
            gone.city = "Sligo"
            try gone.update()
        }

        /// Restores the back end, and creates a row that gets the key of the lost one.
        func restore(_ loss: Loss) throws {
            try bench.restore("enterprise.db", from: "enterprise.backup")
            if loss == .backEndAndStore { try bench.restore("cache.db", from: "cache.backup") }
            if loss == .backEndAndLostStore { try loseStore() }
            try bench.synchronize(other)
            try bench.submit("New", other)
            #expect(try bench.synchronize(other).operationsAccepted == 1)
            #expect(try bench.rows("SELECT id FROM customer WHERE name = 'New'") == [[.integer(gone.id_ ?? 0)]])
        }

        func loseStore() throws {
            try bench.closed {
                for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: bench.directory.file("cache.db") + suffix) }
            }
        }

        /// Whether the new row is as its device has created it.
        func isUntouched() throws -> Bool {
            try bench.rows("SELECT count(*) FROM customer WHERE name = 'New' AND city = ''") == [[1]]
                && bench.rows("SELECT count(*) FROM sales_order WHERE customer_id = ?1", [.integer(gone.id_ ?? 0)]) == [[0]]
        }
    }

    @Test("a change that is submitted only after the device has synchronized is rejected", arguments: Loss.allCases, [0, 1, 3])
    func submittedLater(loss: Loss, synchronizations: Int) throws {
        let scene = try Scene(), bench = scene.bench, device = scene.device
        try scene.change()
        try scene.restore(loss)
        for _ in 0..<synchronizations { try bench.synchronize(device) }
        try device.crm.submitPendingOperations()
        let result = try bench.synchronize(device)
        #expect(result.operationsRejected == 1 && result.operationsAccepted == 0)
        #expect(try scene.isUntouched())
        let row = try #require(try Customer.find(scene.gone.surrogateKey, in: device.crm))
        // Where another row has its number, the device has none to send.
        let message = try row.logRecords().last?.message ?? ""
        #expect(row.state == .failed && (message.hasSuffix("is not in the back end any more") || message.hasSuffix("is not known to the server")))
        try row.cancelPending()
        try bench.synchronize(device)
        #expect(try Customer.findAll(in: device.crm).allSatisfy { $0.name != "Gone" } && device.customers() == scene.other.customers())
    }

    @Test func `a row whose creation was accepted, and lost before its download, goes`() throws {
        let bench = try RestoreBench(), device = try bench.newDevice("device")
        try bench.synchronize(device)
        try bench.backUp("enterprise.db", to: "enterprise.backup")
        try bench.submit("Gone", device)
        // The operation is sent, and no group of rows is received.
        #expect(try device.crm.synchronize("system").operationsAccepted == 1)
        #expect(try Customer.findAll(in: device.crm).contains { $0.name == "Gone" })
        try bench.restore("enterprise.db", from: "enterprise.backup")
        for _ in 0..<2 { try bench.synchronize(device) }
        #expect(try device.crm.lostOperations().count == 1)
        #expect(try !Customer.findAll(in: device.crm).contains { $0.name == "Gone" })
    }

    @Test("so is a delete, and another operation", arguments: Loss.allCases)
    func otherChanges(loss: Loss) throws {
        let scene = try Scene(), bench = scene.bench
        try scene.gone.delete()
        try scene.restore(loss)
        try bench.synchronize(scene.device)
        try scene.device.crm.submitPendingOperations()
        #expect(try bench.synchronize(scene.device).operationsRejected == 1)
        #expect(try scene.isUntouched())
    }

    @Test("a row that refers to a lost one is rejected, and not given to another parent", arguments: Loss.allCases, [0, 1])
    func children(loss: Loss, synchronizations: Int) throws {
        let scene = try Scene(), bench = scene.bench
        let order = SalesOrder(in: scene.device.crm)
        (order.customer, order.orderDate) = (scene.gone, LocalDate(daysSince1970: 20_000))
        try order.create()
        #expect(order.customerId == scene.gone.id_)
        try scene.restore(loss)
        for _ in 0..<synchronizations { try bench.synchronize(scene.device) }
        try scene.device.crm.submitPendingOperations()
        #expect(try bench.synchronize(scene.device).operationsRejected == 1)
        #expect(try scene.isUntouched())
    }

    @Test("an operation whose answer was lost, and one that was deferred, are sent again and rejected", arguments: Loss.allCases, [true, false])
    func sentBefore(loss: Loss, isDeferred: Bool) throws {
        // The server waits that long for the locked back end before it defers.
        let scene = try Scene(connectionTimeout: isDeferred ? .seconds(2) : nil), bench = scene.bench
        try scene.change()
        try scene.gone.submitPending()
        if isDeferred {
            var profile = ConnectionProfile(path: bench.directory.file("enterprise.db"))
            profile.journal = .unchanged
            let database = try Database(profile)
            let result = try database.write { connection in
                _ = try connection.execute("UPDATE customer SET city = city WHERE id = 1", [])
                return try bench.synchronize(scene.device)
            }
            try database.close()
            #expect(result.operationsDeferred == 1)
        } else {
            bench.network.conditions.fault = { _, _ in .cutResponse }
            #expect(throws: SyncError.self) { try scene.device.crm.synchronize() }
            bench.network.conditions.fault = { _, _ in nil }
        }
        let before = try scene.device.crm.outbox.map(\.digest)
        try scene.restore(loss)
        #expect(try scene.device.crm.outbox.map(\.digest) == before)
        var result = try bench.synchronize(scene.device)
        // A deferred one waits for its time.
        while result.operationsSent == 0 { result = try bench.synchronize(scene.device) }
        #expect(result.operationsRejected == 1)
        #expect(try scene.isUntouched())
    }

    @Test("the copy of a device offers its operations with what the original had seen", arguments: Loss.allCases)
    func copies(loss: Loss) throws {
        let scene = try Scene(), bench = scene.bench
        try scene.change()
        try scene.gone.submitPending()
        let copy = try bench.copy(scene.device, to: "copy")
        try scene.restore(loss)
        #expect(try bench.synchronize(copy).operationsRejected == 1)
        #expect(try scene.isUntouched())
    }

    @Test(
        "lost operations that are submitted again reach no other row, also when the device has long forgotten what it saw", arguments: Loss.allCases)
    func submittedAgain(loss: Loss) throws {
        let scene = try Scene(), bench = scene.bench, device = scene.device
        try scene.change()
        let order = SalesOrder(in: device.crm)
        (order.customer, order.orderDate) = (scene.gone, LocalDate(daysSince1970: 20_000))
        try order.create()
        try device.crm.submitPendingOperations()
        #expect(try bench.synchronize(device).operationsAccepted == 2)
        let seen = try device.crm.seenRecords
        try scene.restore(loss)
        for _ in 0..<2 {
            try bench.synchronize(device)
            try bench.submit("Later", scene.other)
            try bench.synchronize(scene.other)
        }
        try bench.synchronize(device)
        #expect(try seen.allSatisfy { try device.crm.seenRecords[$0.key] != $0.value })
        // The row and its order are gone here as well.
        let lost = try device.crm.lostOperations()
        #expect(lost.map(\.entity).sorted() == ["Customer", "SalesOrder"])
        for operation in lost { try device.crm.submitAgain(operation) }
        #expect(try bench.synchronize(device).operationsRejected == 2)
        #expect(try scene.isUntouched())
    }

    @Test func `where only the store was lost, changes that wait are done`() throws {
        let scene = try Scene(), bench = scene.bench, device = scene.device
        try scene.change()
        let order = SalesOrder(in: device.crm)
        (order.customer, order.orderDate) = (scene.gone, LocalDate(daysSince1970: 20_000))
        try order.create()
        try scene.loseStore()
        try device.crm.submitPendingOperations()
        #expect(try bench.synchronize(device).operationsAccepted == 2)
        #expect(try bench.rows("SELECT city FROM customer WHERE name = 'Gone'") == [["Sligo"]])
        #expect(try bench.rows("SELECT count(*) FROM sales_order WHERE customer_id = ?1", [.integer(scene.gone.id_ ?? 0)]) == [[1]])
    }

    @Test func `after a restore, changes of rows that the device has read since are done, also when the store is lost then`() throws {
        let scene = try Scene(), bench = scene.bench, device = scene.device
        try scene.restore(.backEnd)
        try bench.synchronize(device)
        let new = try #require(try Customer.findAll(in: device.crm).first { $0.name == "New" })
        new.city = "Galway"
        try new.update()
        try new.submitPending()
        try scene.loseStore()
        #expect(try bench.synchronize(device).operationsAccepted == 1)
        #expect(try bench.rows("SELECT city FROM customer WHERE name = 'New'") == [["Galway"]])
    }
}
