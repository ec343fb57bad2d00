import Foundation
import MobileObjects
import MobileServer
import MobileStore
import MobileTransport
import SampleCRM
import TestSupport
import Testing

@testable import MobileSync

/// Shutting down, starting again, and recovering the losses of a server or a device.
@Suite struct RecoveryTests {
    @Test("LIF-05 LIF-06: in the background synchronization is off and the connection stopped; in the foreground both come back")
    func background() throws {
        let bench = try TestBench()
        let device = try bench.subscribedDevice()
        device.crm.disableSync()
        try device.application.stopConnection(timeout: .zero)
        let error = #expect(throws: SyncError.self) { try device.crm.synchronize() }
        #expect(error?.code == .invalidState)
        device.crm.enableSync()
        try device.application.startConnection(timeout: .seconds(30))
        #expect(device.application.connectionStatus == .connected)
        try device.crm.synchronize("default")
        #expect(try !Customer.findAll(in: device.crm).isEmpty)
    }

    @Test("LIF-05: disabling interrupts the synchronization that runs, and returns when it has ended")
    func interruptedByDisabling() throws {
        let bench = try TestBench()
        let device = try bench.subscribedDevice()
        let crm = device.crm
        device.handler.act { name in if name.hasPrefix("uploading") { crm.disableSync() } }
        try device.crm.beginSynchronize()
        device.crm.synchronizer.work.sync {}
        #expect(device.handler.take().last == "error [default,catalog]")
        #expect(try Customer.findAll(in: device.crm).isEmpty)
    }

    @Test("LIF-08 LIF-09 LIF-10: at shutdown the connection stops before the database closes; an uninstall unregisters and deletes the database")
    func shutdownAndUninstall() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        try device.application.stopConnection(timeout: .seconds(60))
        device.crm.disableSync()
        try device.crm.closeConnection()
        #expect(device.crm.databaseExists)
        try device.application.unregister(timeout: .seconds(60))
        try device.crm.deleteDatabase()
        #expect(!device.crm.databaseExists && device.application.registrationStatus == .unregistered)
    }

    @Test("RCV-02: a lost registration is healed by registering without unregistering, with synchronization off meanwhile; nothing pending is lost")
    func lostRegistration() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        let customer = try #require(try Customer.findByPrimaryKey(1, in: device.crm))
        customer.city = "Bray"
        try customer.update()
        try customer.submitPending()
        try bench.forgetDevices()
        let error = #expect(throws: SyncError.self) { try device.crm.synchronize() }
        #expect(error?.code == .registrationUnknown)
        device.crm.disableSync()
        try device.application.register(timeout: .seconds(60))
        device.crm.enableSync()
        #expect(try device.crm.synchronize().operationsAccepted == 1)
        #expect(try bench.value("SELECT city FROM customer WHERE id = 1") == .text("Bray"))
    }

    @Test("RCV-07: a database that is deleted and subscribed again has all data, under a new client id")
    func recreated() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        let before = try device.customers(), client = try device.crm.clientID
        try device.crm.deleteDatabase()
        #expect(try !device.crm.isSubscribed())
        try device.crm.subscribe()
        try device.crm.synchronize("default")
        #expect(try device.customers() == before && device.crm.clientID != client)
    }

    @Test("RCV-12: a package that was unsubscribed on the server only: unsubscribe fails and says so, subscribe heals it")
    func unsubscribedOnTheServer() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        let cache = try Database(ConnectionProfile(path: bench.directory.file("cache.db")))
        try cache.write { _ = try $0.execute("UPDATE _client SET state = 'unsubscribed'", []) }
        try cache.close()
        _ = device.handler.take()
        #expect(throws: SyncError.self) { try device.crm.unsubscribe() }
        #expect(device.handler.take() == ["unsubscribeFailure"])
        try device.crm.subscribe()
        #expect(device.handler.take() == ["subscribeSuccess", "commit"])
        try device.crm.synchronize("default")
    }

    @Test func `a server that lost its cache sends everything again, and pending changes stay`() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        let customer = try #require(try Customer.findByPrimaryKey(1, in: device.crm))
        customer.city = "Mine"
        try customer.update()
        try device.crm.write("forget") { try $0.setToken("{\"epoch\":\"another life\"}", ofGroup: "default") }
        let result = try device.crm.synchronize("default")
        #expect(result.rowsImported > bench.contents.northCustomers)
        #expect(try Customer.findAll(in: device.crm).count == bench.contents.northCustomers)
        try customer.refresh()
        #expect(customer.city == "Mine" && customer.isPending)
        try customer.cancelPending()
        try customer.refresh()
        #expect(customer.city != "Mine")
    }

    @Test func `a device that ends between the import and the answers finds both at its next synchronization`() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        let customer = try #require(try Customer.findByPrimaryKey(1, in: device.crm))
        customer.city = "Swords"
        try customer.update()
        try customer.submitPending()
        // The answers cannot be settled, as if the process had ended just before.
        try device.crm.store.write {
            _ = try $0.execute("CREATE TRIGGER \"refuse\" BEFORE DELETE ON \"_outbox\" BEGIN SELECT raise(ABORT, 'stop'); END", [])
        }
        #expect(throws: SyncError.self) { try device.crm.synchronize("default") }
        try customer.refresh()
        #expect(customer.isPending && customer.city == "Swords")
        try device.crm.store.write { _ = try $0.execute("DROP TRIGGER \"refuse\"", []) }
        #expect(try device.crm.synchronize("default").operationsAccepted == 1)
        try customer.refresh()
        #expect(!customer.isPending && customer.city == "Swords")
        #expect(try bench.value("SELECT count(*) FROM mobile_processed_operation") != .integer(2), "replayed once")
    }

    @Test("SYN-20: cancelling the task that waits cancels its synchronization")
    func cancelledTask() async throws {
        let bench = try TestBench()
        let device = try bench.subscribedDevice()
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let gate = Gate()
        device.handler.act { name in
            guard name.hasPrefix("uploading") else { return }
            start.yield()
            gate.wait()
        }
        let crm = device.crm
        let task = Task { () async throws -> SynchronizationResult in try await crm.synchronize() }
        _ = await started.first { true }
        task.cancel()
        gate.open()
        await #expect(throws: SyncError.self) { _ = try await task.value }
        #expect(try await Customer.findAll(in: device.crm).isEmpty)
        #expect(device.handler.take().contains("error [default,catalog]"))
    }

    @Test("REG-27: an application does not unregister while a synchronization runs")
    func unregisterWhileSynchronizing() throws {
        let bench = try TestBench()
        let device = try bench.subscribedDevice()
        let application = device.application
        let code = Recorded<SyncError.Code>()
        device.handler.act { name in
            guard name.hasPrefix("uploading") else { return }
            do throws(SyncError) { try application.unregister(timeout: .zero) } catch { code.set(error.code) }
        }
        try device.crm.synchronize("default")
        #expect(code.value == .invalidState && application.registrationStatus == .registered)
    }

    @Test func `key ranges are filled up by synchronizing before they are used up`() throws {
        let bench = try TestBench { $0.keyRangeSize = 10 }
        let device = try bench.synchronizedDevice(groups: "default")
        for _ in 0..<5 {
            for _ in 0..<5 { _ = try device.crm.keyGenerator.generateID() }
            try device.crm.synchronize("default")
            #expect(try device.crm.keyGenerator.keysLeft >= 5)
        }
    }
}
