import Foundation
import MobileExecution
import MobileObjects
import MobileStore
import MobileTransport
import SampleCRM
import TestSupport
import Testing

@testable import MobileSync

/// A synchronization that breaks at any byte can be repeated: nothing is lost, nothing is done twice.
@Suite struct InterruptionTests {
    /// Synchronizes with a fault of the network, which affects only this synchronization.
    private func synchronize(_ device: Device, _ bench: TestBench, _ fault: NetworkFault) -> Result<SynchronizationResult, SyncError> {
        bench.network.conditions.fault = { _, _ in fault }
        defer { bench.network.conditions.fault = { _, _ in nil } }
        return Result { () throws(SyncError) in try device.crm.synchronize("default") }
    }

    /// Makes and submits a customer with an order, offline.
    private func submitTree(_ number: Int, _ device: Device) throws -> Customer {
        let customer = Customer(in: device.crm)
        customer.name = "Customer \(number)"
        customer.street = "s"
        customer.city = "c"
        customer.since = try #require(LocalDate(year: 2026, month: 1, day: 1))
        let order = SalesOrder(in: device.crm)
        order.orderDate = customer.since
        customer.orders.append(order)
        try customer.save()
        try customer.submitPending()
        return customer
    }

    private func count(_ bench: TestBench, _ number: Int) throws -> [Int64?] {
        try [
            bench.value("SELECT count(*) FROM customer WHERE name = ?", [.text("Customer \(number)")])?.integer,
            bench.value("SELECT count(*) FROM sales_order o JOIN customer c ON c.id = o.customer_id WHERE c.name = ?", [.text("Customer \(number)")])?
                .integer,
        ]
    }

    @Test func `an upload that breaks at any byte changes nothing on the server, and the next one sends everything once`() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        let customer = try submitTree(0, device)
        // Longer than the upload, so that a cut after its last byte is included.
        for position in 0...1500 {
            guard case .failure(let error) = synchronize(device, bench, .cutUpload(after: position)) else {
                Issue.record("a cut at \(position) went unnoticed")
                return
            }
            #expect(error.code == .serverNotReached)
            #expect(try count(bench, 0) == [0, 0], "cut at \(position)")
        }
        #expect(try device.crm.hasPendingOperations())
        let result = try device.crm.synchronize("default")
        #expect(result.bytesSent < 1500 && result.operationsAccepted == 2)
        #expect(try count(bench, 0) == [1, 1])
        try customer.refresh()
        #expect(!customer.isPending)
    }

    @Test func `a download that breaks at any byte leaves the device as it was; the operations were done once, and their answers come again`() throws
    {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        var length: Int?, position = 0, number = 0
        // Each position is tried with a new change: its first answer is cut there, the second one arrives.
        while position <= length ?? .max {
            number += 1
            let customer = try submitTree(number, device)
            let before = try device.customers()
            guard case .failure = synchronize(device, bench, .cutDownload(after: position)) else {
                Issue.record("a cut at \(position) went unnoticed")
                return
            }
            #expect(try device.customers() == before)
            #expect(try customer.isStillPending())
            #expect(try count(bench, number) == [1, 1], "the server has done it, cut at \(position)")
            let result = try device.crm.synchronize("default")
            #expect(result.operationsAccepted == 2)
            #expect(try count(bench, number) == [1, 1], "done again after a cut at \(position)")
            #expect(try !device.crm.hasPendingOperations())
            length = length ?? Int(result.bytesReceived)
            position += 7
        }
        let second = try bench.synchronizedDevice("second", groups: "default")
        #expect(try device.customers() == second.customers())
    }

    @Test func `an answer that never comes back leaves the operation done once`() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        let customer = try submitTree(1, device)
        for _ in 0..<3 { #expect(throws: SyncError.self) { try synchronize(device, bench, .cutResponse).get() } }
        #expect(try count(bench, 1) == [1, 1])
        try device.crm.synchronize("default")
        #expect(try count(bench, 1) == [1, 1])
        try customer.refresh()
        #expect(!customer.isPending && customer.orders.count == 1)
    }

    @Test(arguments: [1 as UInt64, 2, 3, 4])
    func `over a network that fails at random, edits of two devices all arrive, once`(seed: UInt64) throws {
        let bench = try TestBench(seed: seed)
        let devices = try [bench.synchronizedDevice("first", groups: "default"), bench.synchronizedDevice("second", groups: "default")]
        var random = SeededGenerator(seed: seed)
        bench.network.conditions = .unreliable(probability: 0.5, maximumBytes: 3000)
        var expected = 0
        for round in 0..<30 {
            let device = devices[Int.random(in: 0...1, using: &random)]
            if Bool.random(using: &random) {
                expected += 1
                _ = try submitTree(10_000 + expected, device)
            } else if let customer = try Customer.findAll(in: device.crm).randomElement(using: &random) {
                customer.city = "Round \(round)"
                try customer.save()
                if Bool.random(using: &random) { try customer.submitPending() }
            }
            _ = try? device.crm.synchronize("default")
        }
        bench.network.conditions = NetworkConditions()
        for device in devices {
            try device.crm.submitPendingOperations()
            try device.crm.synchronize("default")
            #expect(try !device.crm.hasPendingOperations())
        }
        for number in 0..<expected { #expect(try count(bench, 10_001 + number) == [1, 1]) }
        for device in devices { try device.crm.synchronize("default") }
        let north = try bench.rows("SELECT name, city FROM customer WHERE region = 'NORTH' ORDER BY id").map {
            "\($0[0].text ?? "") \($0[1].text ?? "")"
        }
        for device in devices {
            #expect(try Customer.findAll(in: device.crm).sorted { $0.id_ ?? 0 < $1.id_ ?? 0 }.map { "\($0.name) \($0.city)" } == north)
        }
    }

    @Test func `a first synchronization that broke between two groups goes on with the second one`() throws {
        let bench = try TestBench()
        let device = try bench.subscribedDevice()
        // A handler cannot stop a synchronization between two groups; a refusing database can.
        try device.crm.store.write {
            _ = try $0.execute("CREATE TRIGGER \"refuse\" BEFORE INSERT ON \"Product\" BEGIN SELECT raise(ABORT, 'no space'); END", [])
        }
        let error = #expect(throws: SyncError.self) { try device.crm.synchronize() }
        #expect(error?.kind == .persistence)
        #expect(try device.crm.isSynchronized("default") && !device.crm.isSynchronized("catalog"))
        #expect(try Customer.findAll(in: device.crm).count == bench.contents.northCustomers)
        try device.crm.store.write { _ = try $0.execute("DROP TRIGGER \"refuse\"", []) }
        let result = try device.crm.synchronize()
        #expect(try Product.findAll(in: device.crm).count == bench.contents.products)
        #expect(result.rowsImported == bench.contents.products, "the first group has nothing new")
    }

    @Test(
        "ERR-16 ACB-05: what is no stream is an error of the communication, number 63, and nothing changes",
        arguments: ["", "H", "not frames at all", "\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}"])
    func noStream(body: String) throws {
        let bench = try TestBench()
        let isHostile = SystemLock(false), network = bench.network
        let transport = SwitchedTransport { isHostile.withLock { $0 } ? hostile(body) : network }
        let device = try bench.subscribedDevice(transport: transport)
        isHostile.withLock { $0 = true }
        let error = #expect(throws: SyncError.self) { try device.crm.synchronize("default") }
        #expect(error?.code == .synchronizationCommunication && error?.code.rawValue == 63)
        device.application.work.sync {}
        #expect(device.events.take().contains { if case .httpCommunicationError(63, _, _) = $0 { true } else { false } })
        #expect(try Customer.findAll(in: device.crm).isEmpty)
        isHostile.withLock { $0 = false }
        try device.crm.synchronize("default")
        #expect(try Customer.findAll(in: device.crm).count == bench.contents.northCustomers)
    }
}

/// A server that answers everything with these bytes.
private func hostile(_ body: String) -> SimulatedTransport {
    SimulatedTransport { request in
        while try request.nextChunk() != nil {}
        var rest: [UInt8]? = body.isEmpty ? nil : Array(body.utf8)
        return SimulatedResponse(status: 200) {
            defer { rest = nil }
            return rest
        }
    }
}

extension Customer {
    fileprivate func isStillPending() throws -> Bool {
        try refresh()
        return isPending
    }
}
