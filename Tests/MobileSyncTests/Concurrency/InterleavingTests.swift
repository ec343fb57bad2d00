import MobileExecution
import MobileObjects
import MobileTransport
import SampleCRM
import TestSupport
import Testing

@testable import MobileSync

/// Calls that occur between the steps of other calls: before each of their locks, and while their work waits for its turn. The test
/// determines every order, so no result depends on chance.
@Suite struct InterleavingTests {
    /// More locks than any of the functions takes; after the last one, the second call occurs when the first has returned.
    static let locks = 0..<6

    // MARK: Connection

    @Test("of two callers that start the connection, neither waits for ever, whenever the second one comes", arguments: locks)
    func twoStarts(lock: Int) throws {
        let stepped = try SteppedDevice.registered(TestBench())
        stepped.application.work.sync { _ = stepped.application.beginStop() }
        stepped.work.runAll()
        _ = stepped.statuses()
        let second = SystemLock<Promise<Void, SyncError>?>(nil)
        let application = stepped.application
        stepped.intruder.come(before: lock) {
            #expect(throws: Never.self) { try second.withLock { $0 = try application.beginConnection() } }
        }
        let first = try application.beginConnection()
        stepped.intruder.comeAtLast()
        stepped.work.runAll()
        #expect(first != nil && first?.result != nil, "the first caller waits for ever")
        #expect(second.withLock { $0?.result != nil }, "the second caller waits for ever")
        #expect(stepped.statuses() == ["connecting", "connected"])
    }

    @Test("whoever starts the connection behind a stop that is still to be done gets a connection")
    func startBehindStop() throws {
        let stepped = try SteppedDevice.registered(TestBench())
        let stop = stepped.application.beginStop()
        let start = try stepped.application.beginConnection()
        stepped.work.runAll()
        #expect(throws: Never.self) { try stop.result?.get() }
        #expect(throws: Never.self) { try start?.result?.get() }
        #expect(start?.result != nil)
        #expect(stepped.statuses() == ["disconnecting", "disconnected", "connecting", "connected"])
    }

    @Test("a stop ends what was asked for before it, while it waits for the network and while it is on its way")
    func stopEndsWhatWasBefore() throws {
        let bench = try TestBench()
        let stepped = try SteppedDevice.registered(bench)
        stepped.work.sync { _ = stepped.application.beginStop() }
        stepped.work.runAll()
        bench.network.conditions.fault = { _, _ in .refuse }
        let waiting = try #require(try stepped.application.beginConnection())
        stepped.work.runAll()
        #expect(waiting.result == nil)
        _ = stepped.application.beginStop()
        stepped.work.runAll()
        #expect(throws: SyncError.self) { try waiting.result?.get() }
        _ = stepped.statuses()
        stepped.work.elapse()
        stepped.work.runAll()
        #expect(stepped.statuses().isEmpty, "the timer of a wish that was taken back is still there")
    }

    @Test("a start that joins an attempt which nobody asked for is done when that is")
    func startWhileReconnecting() throws {
        let bench = try TestBench()
        let stepped = try SteppedDevice.registered(bench)
        stepped.application.connectionWasLost(SyncError(.synchronize, .serverNotReached, "gone"))
        stepped.work.runAll()
        let joined = try stepped.application.beginConnection()
        #expect(joined != nil, "there is a connection only in future, and nothing to wait for")
        stepped.work.elapse()
        stepped.work.runAll()
        #expect(throws: Never.self) { try joined?.result?.get() }
        #expect(stepped.statuses() == ["connectionError", "connecting", "connected"])
    }

    // MARK: Registration

    @Test("a registration that is asked for behind an unregistration that is still to be done comes about")
    func registerBehindUnregistration() throws {
        let stepped = try SteppedDevice.registered(TestBench())
        let gone = try #require(try stepped.application.beginUnregistration())
        let back = try stepped.application.beginRegistration()
        stepped.work.runAll()
        #expect(throws: Never.self) { try gone.result?.get() }
        #expect(throws: Never.self) { try back.result?.get() }
        #expect(stepped.application.registrationStatus == .registered && stepped.application.connectionStatus == .connected)
    }

    @Test("the identifier cannot change under a registration", arguments: 0..<24)
    func identifierUnderRegistration(lock: Int) throws {
        let stepped = try SteppedDevice(TestBench())
        let application = stepped.application
        stepped.intruder.come(before: lock) { try? application.setIdentifier("OTHER") }
        let outcome = try application.beginRegistration()
        stepped.work.runAll()
        _ = try outcome.wait(timeout: .zero)
        stepped.intruder.comeAtLast()
        let remembered = try #require(try application.store.load().registration)
        #expect(remembered.identifier == application.identifier)
        #expect(application.settings?.string("connectionId") == application.connectionID)
    }

    @Test("two callers that unregister are told the same, whenever the second one comes", arguments: locks)
    func twoUnregistrations(lock: Int) throws {
        let stepped = try SteppedDevice.registered(TestBench())
        let application = stepped.application
        let second = SystemLock<Promise<Void, SyncError>?>(nil)
        stepped.intruder.come(before: lock) {
            #expect(throws: Never.self) { try second.withLock { $0 = try application.beginUnregistration() } }
        }
        let first = try application.beginUnregistration()
        stepped.intruder.comeAtLast()
        stepped.work.runAll()
        #expect(throws: Never.self) { try first?.result?.get() }
        #expect(throws: Never.self) { try second.withLock { $0 }?.result?.get() }
        #expect(stepped.statuses() == ["disconnecting", "disconnected", "unregistering", "unregistered"])
    }

    @Test("no synchronization begins once an unregistration was accepted, and none is accepted while one runs", arguments: locks)
    func synchronizeUnderUnregistration(lock: Int) throws {
        let stepped = try SteppedDevice.subscribed(TestBench())
        let (application, crm, work) = (stepped.application, stepped.crm, stepped.work)
        // The application's accepted work runs during the synchronization.
        stepped.network.interrupt {
            work.runAll()
            #expect(application.registrationStatus == .registered, "the registration was deleted under a synchronization")
        }
        stepped.intruder.come(before: lock) { [synchronization = stepped.synchronization] in
            try? crm.beginSynchronize()
            synchronization.runAll()
        }
        let outcome = try? application.beginUnregistration()
        stepped.intruder.comeAtLast()
        stepped.network.interrupt {}
        work.runAll()
        #expect(outcome == nil || application.registrationStatus == .unregistered)
    }

    @Test("an unregistration comes while a synchronization looks whether it may begin", arguments: locks)
    func unregisterUnderSynchronization(lock: Int) throws {
        let stepped = try SteppedDevice.subscribed(TestBench())
        let (application, work) = (stepped.application, stepped.work)
        stepped.network.interrupt {
            work.runAll()
            #expect(application.registrationStatus == .registered, "the registration was deleted under a synchronization")
        }
        stepped.intruder.come(before: lock) { _ = try? application.beginUnregistration() }
        try stepped.crm.beginSynchronize()
        stepped.synchronization.runAll()
        stepped.network.interrupt {}
        work.runAll()
        #expect([.registered, .unregistered].contains(application.registrationStatus))
    }

    @Test("a login that ends when the application is unregistered leaves no registration behind")
    func loginUnderUnregistration() throws {
        let bench = try TestBench()
        let stepped = try SteppedDevice.registered(bench)
        let (application, work) = (stepped.application, stepped.work)
        stepped.network.interrupt {
            _ = try? application.beginUnregistration()
            work.runAll()
        }
        try? stepped.crm.beginOnlineLogin()
        stepped.synchronization.runAll()
        #expect(application.registrationStatus == .unregistered)
        #expect(try application.store.load().registration == nil)
        #expect(try bench.newDevice().application.registrationStatus == .unregistered)
    }

    // MARK: Synchronization

    @Test("nothing of a synchronization happens once disableSync has returned, whenever it comes", arguments: locks)
    func disable(lock: Int) throws {
        let stepped = try SteppedDevice.subscribed(TestBench())
        let (crm, handler) = (stepped.crm, stepped.device.handler)
        stepped.intruder.come(before: lock) {
            crm.disableSync()
            _ = handler.take()
        }
        try? crm.beginSynchronize()
        stepped.intruder.comeAtLast()
        stepped.synchronization.runAll()
        #expect(handler.take() == [])
    }

    @Test("disableSync cancels a synchronization that has been taken from the queue and not begun", arguments: locks)
    func disableWhileItStarts(lock: Int) throws {
        let stepped = try SteppedDevice.subscribed(TestBench())
        let (crm, synchronization) = (stepped.crm, stepped.synchronization)
        try crm.beginSynchronize()
        let request = try #require(crm.synchronizer.state.withLock { $0.queue.waiting.first })
        stepped.intruder.come(before: lock) {
            guard request.outcome.result == nil else { return }
            crm.synchronizer.disable()
            #expect(request.isCancelled, "neither waiting nor running")
        }
        synchronization.runAll()
    }

    @Test("a login for a synchronization fetches no keys while synchronization is disabled")
    func loginWhileDisabled() throws {
        let stepped = try SteppedDevice.subscribed(TestBench())
        stepped.crm.disableSync()
        let outcome = stepped.crm.begin { package throws(SyncError) in try package.loginToSync(user: TestBench.user, password: TestBench.password) }
        stepped.synchronization.runAll()
        #expect(stepped.device.handler.take() == ["loginFailure"])
        let error = #expect(throws: SyncError.self) { try outcome.wait(timeout: .zero) }
        #expect(error?.code == .invalidState)
    }
}
