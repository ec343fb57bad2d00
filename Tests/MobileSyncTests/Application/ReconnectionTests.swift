import MobileExecution
import MobileTransport
import SampleCRM
import Testing

@testable import MobileSync

/// The time of the next attempt after the answer of a busy server.
@Suite struct ReconnectionTests {
    @Test("a 503 when connecting is no end: it is tried again, and the connection comes")
    func unavailableWhileConnecting() throws {
        let bench = try TestBench()
        let stepped = try SteppedDevice.registered(bench)
        stepped.work.sync { _ = stepped.application.beginStop() }
        stepped.work.runAll()
        _ = stepped.statuses()
        stepped.busy.answer(503)
        let outcome = try #require(try stepped.application.beginConnection())
        stepped.work.runAll()
        #expect(outcome.result == nil && stepped.work.delays.count == 1)
        stepped.busy.answer(nil)
        stepped.work.elapse()
        stepped.work.runAll()
        #expect(throws: Never.self) { try outcome.result?.get() }
        #expect(stepped.statuses() == ["connecting", "connectionError", "connecting", "connected"])
    }

    @Test("a server that has no time for a registration is asked again, from its first question on", arguments: [429, 502, 503, 504])
    func unavailableWhileRegistering(status: Int) throws {
        let stepped = try SteppedDevice(TestBench())
        stepped.busy.answer(status)
        let outcome = try stepped.application.beginRegistration()
        stepped.work.runAll()
        #expect(outcome.result == nil && stepped.application.registrationStatus == .registering)
        stepped.busy.answer(nil)
        stepped.work.elapse()
        stepped.work.runAll()
        #expect(throws: Never.self) { try outcome.result?.get() }
        #expect(stepped.statuses() == ["registering", "connecting", "connectionError", "connecting", "connected", "registered"])
    }

    @Test("the delays grow, are left to chance in part, and obey what the server orders")
    func delays() throws {
        let stepped = try SteppedDevice.registered(TestBench())
        stepped.busy.answer(503)
        stepped.application.connectionWasLost(SyncError(.synchronize, .serverNotReached, "gone"))
        stepped.work.runAll()
        for _ in 0..<2 {
            stepped.work.elapse()
            stepped.work.runAll()
        }
        // 2027-01-15 08:00:30 UTC is thirty seconds from now.
        for headers in [[("Retry-After", "40")], [("retry-after", "Fri, 15 Jan 2027 08:00:30 GMT")], [("Retry-After", "nonsense")]] {
            stepped.busy.answer(503, headers)
            stepped.work.elapse()
            stepped.work.runAll()
        }
        #expect(stepped.work.delays == [1, 2, 4, 60, 46, 30].map { Duration.seconds($0) })
    }

    @Test("a network that is back does not shorten a time that the server has set")
    func orderedTime() throws {
        let stepped = try SteppedDevice.registered(TestBench())
        stepped.work.sync { _ = stepped.application.beginStop() }
        stepped.busy.answer(503, [("Retry-After", "40")])
        let outcome = try #require(try stepped.application.beginConnection())
        stepped.work.runAll()
        _ = stepped.statuses()
        stepped.application.networkBecameAvailable()
        let joined = try stepped.application.beginConnection()
        stepped.work.runAll()
        #expect(stepped.statuses().isEmpty && joined === outcome)
        stepped.busy.answer(nil)
        stepped.work.elapse()
        stepped.work.runAll()
        #expect(throws: Never.self) { try outcome.result?.get() }
    }

    @Test("who synchronizes hears what the server orders")
    func orderOfASynchronization() throws {
        let stepped = try SteppedDevice.subscribed(TestBench())
        stepped.busy.answer(503, [("Retry-After", "12")])
        let request = SynchronizationRequest(groups: ["default"])
        try stepped.crm.synchronizer.add(request, of: stepped.crm)
        stepped.synchronization.runAll()
        let error = #expect(throws: SyncError.self) { try request.outcome.result?.get() }
        #expect(error?.code == .unavailable && error?.isRecoverable == true && error?.retryAfter == .seconds(12))
    }
}
