import Foundation
import MobileObjects
import MobileStore
import SampleCRM
import TestSupport
import Testing

@testable import MobileSync

/// The trace of the traffic with the server on the console.
@Suite struct MessageTraceTests {
    /// Makes a device with a recorded console, and with an order of the user in the outbox.
    private func device(_ bench: TestBench, _ lines: RecordedLines) throws -> Device {
        let device = try Device(
            directory: bench.directory.file("traced"), transport: bench.network,
            environment: Environment(console: ConsoleLogger(level: .error, sink: { lines.add($0) })))
        try device.application.register(timeout: .seconds(60))
        try device.crm.subscribe()
        try device.crm.synchronize("default")
        let customer = try #require(try Customer.findAll(in: device.crm).first)
        customer.city = "Kinsale"
        try customer.update()
        try customer.submitPending()
        #expect(lines.take().isEmpty, "nothing is traced unless somebody asks for it")
        return device
    }

    @Test("TRC-09 DBP-11: the trace of the synchronization profile writes headers both ways, and no values")
    func headers() throws {
        let bench = try TestBench(), lines = RecordedLines()
        let device = try device(bench, lines)
        device.crm.syncProfile.enableTrace()
        #expect(device.crm.synchronizationProfile.messageTrace == .headers)
        try device.crm.synchronize("default")
        var written = lines.take()
        #expect(written.contains { $0.hasPrefix("SENT: H package CRM:1.0") } && written.contains { $0.hasPrefix("SENT: O U of Customer") })
        #expect(written.contains { $0.hasPrefix("RECEIVED: T upsert of Customer") } && written.contains { $0.contains("1 replay results") })
        #expect(!written.contains { $0.contains("Kinsale") })
        try device.crm.suspendSubscription()
        written = lines.take()
        #expect(written.count == 2 && written[0].hasPrefix("SENT: {") && written[0].contains("\"suspend\"") && written[1].hasPrefix("RECEIVED: {"))
        device.crm.syncProfile.enableTrace(false)
        try device.crm.resumeSubscription()
        #expect(lines.take().isEmpty)
    }

    @Test("TRC-09: with payload the contents are there too, credentials included")
    func payload() throws {
        let bench = try TestBench(), lines = RecordedLines()
        let device = try device(bench, lines)
        device.crm.syncProfile.enableTrace(withPayload: true)
        try device.crm.synchronize("default")
        let written = lines.take()
        #expect(written.contains { $0.hasPrefix("SENT: O {") && $0.contains("Kinsale") })
        #expect(written.contains { $0.hasPrefix("RECEIVED: R [") })
        try device.crm.onlineLogin(user: TestBench.user, password: TestBench.password)
        let login = try #require(lines.take().first { $0.hasPrefix("SENT: {") && $0.contains("\"login\"") })
        #expect(login.contains(TestBench.user) && login.contains(TestBench.password))
        device.crm.syncProfile.enableTrace()
        try device.crm.onlineLogin(user: TestBench.user, password: TestBench.password)
        #expect(!lines.take().contains { $0.contains(TestBench.password) }, "headers alone hold no password")
    }

    @Test("TRC-10: the debug settings write headers with the contents of replays, and contents of the server's messages, each by its switch")
    func debugSettings() throws {
        let bench = try TestBench(), lines = RecordedLines()
        let device = try device(bench, lines)
        device.crm.debugSettings = .printServerMessages
        try device.crm.synchronize("default")
        var written = lines.take()
        #expect(written.contains { $0.hasPrefix("SENT: O {") && $0.contains("Kinsale") }, "the client's replay with its content")
        #expect(written.contains { $0.hasPrefix("SENT: H package") } && !written.contains { $0.hasPrefix("RECEIVED: R [") })
        device.crm.debugSettings = .printServerMessageContent
        try device.crm.synchronize("default")
        written = lines.take()
        #expect(!written.isEmpty && written.allSatisfy { $0.hasPrefix("RECEIVED: ") } && written.contains { $0.hasPrefix("RECEIVED: H {") })
        device.crm.debugSettings = []
        try device.crm.synchronize("default")
        #expect(lines.take().isEmpty)
    }
}
