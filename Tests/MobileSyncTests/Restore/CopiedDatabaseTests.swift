import Foundation
import MobileObjects
import MobileServer
import MobileStore
import SampleCRM
import TestSupport
import Testing

@testable import MobileSync

/// Databases of devices that are copies, or come from a backup: they find that out, and continue under an identity of their own.
@Suite struct CopiedDatabaseTests {
    private func submitted(_ name: String, _ device: Device) throws -> Customer {
        let customer = try created(name, device)
        try customer.submitPending()
        return customer
    }

    private func created(_ name: String, _ device: Device) throws -> Customer {
        let customer = Customer(in: device.crm)
        (customer.name, customer.since, customer.region) = (name, LocalDate(daysSince1970: 20_000), "NORTH")
        try customer.create()
        return customer
    }

    /// - Parameter now: a fixed time for the device's clock; nil for the real clock.
    private func registered(_ name: String, _ bench: TestBench, _ now: Date? = nil) throws -> Device {
        let device = try bench.newDevice(name, environment: now.map { now in Environment(now: { now }) } ?? Environment())
        try device.application.register(timeout: .seconds(60))
        return device
    }

    private func count(_ name: String, _ bench: TestBench) throws -> Value? {
        try bench.value("SELECT count(*) FROM customer WHERE name = ?1", [.text(name)])
    }

    @Test func `a copy offers what it inherited under the former client id, and what was not submitted under its own, with keys of its own`() throws {
        let bench = try TestBench(), device = try bench.synchronizedDevice()
        let waiting = try submitted("Waiting", device), pending = try created("Pending", device)
        try device.crm.closeConnection()
        try bench.copyDatabase(of: device, to: "copy", isImage: false)
        let copy = try registered("copy", bench), client = try device.crm.clientID
        #expect(try copy.crm.clientID != client && copy.crm.formerClients == [client])
        #expect(try copy.crm.outbox.map(\.id) == device.crm.outbox.map(\.id) && copy.crm.outbox.map(\.digest) == device.crm.outbox.map(\.digest))
        let own = try Customer.findAll(in: copy.crm).filter { $0.name == "Pending" }
        #expect(own.count == 1 && own[0].surrogateKey != pending.surrogateKey && own[0].surrogateKey >= 1 << 62)
        #expect(try Customer.find(waiting.surrogateKey, in: copy.crm)?.state == .submitted)
        // Both offer the inherited operation: it is done once.
        #expect(try device.crm.synchronize().operationsAccepted == 1)
        try copy.crm.submitPendingOperations()
        #expect(try copy.crm.synchronize().operationsAccepted == 2)
        try device.crm.submitPendingOperations()
        #expect(try device.crm.synchronize().operationsAccepted == 1)
        try copy.crm.synchronize()
        #expect(try count("Waiting", bench) == 1 && count("Pending", bench) == 2)
        #expect(try device.customers() == copy.customers() && copy.crm.formerClients.isEmpty)
        let report = try bench.server.administration.reconciliation()
        #expect(try report.map(\.client) == [client] && report.map(\.successor) == [copy.crm.clientID] && report.map(\.fate) == [.recorded])
    }

    @Test func `a database that is opened again and again goes on, also after a crash before its mark was written, and one without marks gets them`()
        throws
    {
        let bench = try TestBench(), device = try bench.newDevice(), client = try device.crm.clientID
        let mark = device.crm.databasePath + "-mark"
        for _ in 0..<3 {
            try device.crm.closeConnection()
            #expect(try device.crm.clientID == client)
        }
        let before = try Data(contentsOf: URL(filePath: mark))
        try device.crm.closeConnection()
        #expect(try device.crm.clientID == client)
        try device.crm.closeConnection()
        try before.write(to: URL(filePath: mark))
        #expect(try device.crm.clientID == client)
        // A database of an earlier release.
        try device.crm.write("earlier") { try $0.connection.execute("DELETE FROM \"_settings\" WHERE \"name\" IN ('mark', 'opened')", []) }
        try device.crm.closeConnection()
        try FileManager.default.removeItem(atPath: mark)
        #expect(try device.crm.clientID == client && FileManager.default.fileExists(atPath: mark))
        try device.crm.deleteDatabase()
        #expect(!FileManager.default.fileExists(atPath: mark))
    }

    @Test func `a backup that is put back in place of its database is noticed, and a later operation gets no number twice`() throws {
        let bench = try TestBench(), device = try bench.synchronizedDevice(), path = device.crm.databasePath, client = try device.crm.clientID
        try device.crm.closeConnection()
        let backup = try Data(contentsOf: URL(filePath: path))
        _ = try submitted("After the backup", device)
        #expect(try device.crm.synchronize().operationsAccepted == 1)
        try device.crm.closeConnection()
        let handle = try #require(FileHandle(forWritingAtPath: path))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: backup)
        try handle.close()
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        #expect(try device.crm.clientID != client)
        _ = try submitted("Later", device)
        let result = try device.crm.synchronize()
        #expect(result.operationsAccepted == 1 && result.operationsRejected == 0)
        #expect(try count("Later", bench) == 1 && device.customers().filter { $0.contains("After the backup") }.count == 1)
    }

    @Test func `images of a device that made different rows with the same keys and numbers: each row is stored once, under different keys`() throws {
        // Numbers of operations begin with the time in seconds: both devices have the same.
        let now = Date(), bench = try TestBench(), device = try registered("device", bench, now)
        try device.crm.subscribe()
        try device.crm.synchronize()
        try device.crm.closeConnection()
        try bench.copyDatabase(of: device, to: "image", isImage: true)
        let image = try registered("image", bench, now)
        let one = try submitted("One", device), other = try submitted("Other", image)
        #expect(one.surrogateKey == other.surrogateKey && one.replayPending == other.replayPending)
        #expect(try device.crm.synchronize().operationsAccepted == 1)
        let result = try image.crm.synchronize()
        #expect(result.operationsAccepted == 1 && result.operationsRejected == 0)
        try device.crm.synchronize()
        #expect(try count("One", bench) == 1 && count("Other", bench) == 1)
        #expect(try device.customers() == image.customers() && device.customers().count == bench.contents.northCustomers + 2)
        #expect(try bench.server.administration.reconciliation().map(\.fate) == [.renamed])
    }
}
