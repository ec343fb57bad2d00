import Foundation
import MobileObjects
import MobileStore
import MobileSync
import MobileTransport
import SampleCRM
import TestSupport
import Testing

/// The server is a process that is killed with SIGKILL at random moments while it replays a device's operations.
@Suite struct KilledServerTests {
    /// The number of kills that hit a synchronization, in each of the cases.
    private static let kills = 10

    @Test(
        "fifty kills of the server during replays lose nothing and do nothing twice",
        arguments: [11 as UInt64, 12, 13, 14, 15])
    func killedDuringReplay(seed: UInt64) throws {
        let directory = try TemporaryDirectory(), backEndPath = directory.file("enterprise.db")
        try SampleBackEnd.create(at: backEndPath, scale: 0.0001)
        let server = try ServerProcess(directory, backEnd: backEndPath)
        defer { server.kill() }
        try server.start()
        let device = try Device(directory: directory.file("device"), transport: MovingTransport { server.port })
        try device.application.register(timeout: .seconds(60))
        try device.crm.subscribe()
        try device.crm.synchronize("default")

        var random = SeededGenerator(seed: seed), work = Work(device)
        try work.submit(using: &random)
        var usual = try device.crm.synchronize("default").networkDuration
        var hits = 0, attempts = 0
        while hits < Self.kills {
            attempts += 1
            try #require(attempts < 20 * Self.kills, "the server answers faster than it can be killed")
            try work.submit(using: &random)
            let moment = usual * Double.random(in: 0...1, using: &random)
            let isDone = Outcome()
            Thread.detachNewThread {
                isDone.wait(atMost: moment)
                server.kill()
                isDone.killed()
            }
            // The usual duration is the shortest so far, because it depends on the machine's other load.
            do { usual = min(usual, try device.crm.synchronize("default").networkDuration) } catch {
                #expect(error.code == .serverNotReached || error.code == .synchronizationCommunication, "\(error)")
                hits += 1
            }
            isDone.synchronized()
            try server.start()
        }
        try device.crm.synchronize("default")
        try work.check(backEnd: backEndPath)
    }

    /// The operations of the device, and their expected results.
    private struct Work {
        let device: Device
        private var created: [String] = []
        private var cities: [Int64: String] = [:]

        init(_ device: Device) { self.device = device }

        /// Submits three customers with two orders each, in one batch each; two updates; a rejected one.
        mutating func submit(using random: inout SeededGenerator) throws {
            for _ in 0..<3 {
                let customer = Customer(in: device.crm)
                customer.name = "Made \(created.count)"
                customer.street = "s"
                customer.city = "c"
                customer.since = LocalDate(daysSince1970: 20_000)
                for _ in 0..<2 {
                    let order = SalesOrder(in: device.crm)
                    order.orderDate = customer.since
                    customer.orders.append(order)
                }
                try customer.save()
                try customer.submitPending()
                created.append(customer.name)
            }
            for key in [1, 2] as [Int64] {
                guard let customer = try Customer.findByPrimaryKey(key, in: device.crm) else { continue }
                customer.city = "City \(UInt32.random(in: 0 ... .max, using: &random))"
                try customer.save()
                try customer.submitPending()
                cities[key] = customer.city
            }
            guard let refused = try Customer.findByPrimaryKey(3, in: device.crm) else { return }
            refused.creditLimit = -1 - Decimal(created.count)
            try refused.save()
            try refused.submitPending()
        }

        func check(backEnd path: String) throws {
            let backEnd = try Database(ConnectionProfile(path: path, journal: .unchanged))
            defer { try? backEnd.close() }
            let rows = try backEnd.read { connection in
                try connection.rows(
                    """
                    SELECT c.name, count(o.id) FROM customer c LEFT JOIN sales_order o ON o.customer_id = c.id
                    WHERE c.name LIKE 'Made %' GROUP BY c.id ORDER BY c.id
                    """)
            }
            #expect(rows.map { $0[0].text ?? "" } == created, "every customer once, in order")
            #expect(rows.allSatisfy { $0[1] == .integer(2) }, "every order once")
            for (key, city) in cities {
                #expect(try backEnd.read { try $0.first("SELECT city FROM customer WHERE id = ?", [.integer(key)])?.first } == .text(city))
            }
            // Only the refused change remains, with one record for each time it was sent.
            #expect(try device.crm.outbox.isEmpty)
            #expect(try Customer.findAll(in: device.crm).filter(\.isPending).map(\.id_) == [3])
            let refusals = try device.crm.logRecords()
            #expect(Set(refusals.map(\.requestID)).count == refusals.count && !refusals.isEmpty)
            let mine = try Customer.findAll(in: device.crm).map { "\($0.id_ ?? 0) \($0.name) \($0.city)" }.sorted()
            let theirs = try backEnd.read { connection in
                try connection.rows("SELECT id, name, city FROM customer WHERE region = 'NORTH'").map {
                    "\($0[0].integer ?? 0) \($0[1].text ?? "") \($0[2].text ?? "")"
                }
            }
            #expect(mine == theirs.sorted())
        }
    }

    /// The coordination between the thread that synchronizes the device and the one that kills the server.
    private final class Outcome: Sendable {
        private let condition = NSCondition()
        // Accessed only while the condition is locked.
        private nonisolated(unsafe) var isSynchronized = false, isKilled = false

        /// Waits for the moment of the kill, or until the synchronization has ended.
        func wait(atMost duration: Duration) {
            let moment = Date(timeIntervalSinceNow: duration / .seconds(1))
            condition.lock()
            while !isSynchronized, condition.wait(until: moment) {}
            condition.unlock()
        }

        func killed() {
            condition.lock()
            isKilled = true
            condition.broadcast()
            condition.unlock()
        }

        /// Reports the end of the synchronization; returns when the server is dead.
        func synchronized() {
            condition.lock()
            isSynchronized = true
            condition.broadcast()
            while !isKilled { condition.wait() }
            condition.unlock()
        }
    }
}
