import Foundation
import MobileObjects
import MobileProtocol
import MobileServer
import MobileTransport
import SampleCRM
import TestSupport
import Testing

@testable import MobileSync

/// The administrator's *Get Trace*: the log of a device in the server's domain log.
@Suite struct PerformanceLogTests {
    /// Makes a device that measures into a folder of reports, and has measured one interaction.
    private func measuredDevice(_ bench: TestBench, _ name: String) throws -> (Device, PerformanceAgent, String) {
        let agent = PerformanceAgent(directory: URL(fileURLWithPath: bench.directory.file(name + "-reports")))
        let device = try Device(
            directory: bench.directory.file(name), transport: bench.network,
            environment: Environment(console: ConsoleLogger(level: .fatal), performance: agent))
        try device.application.register(timeout: .seconds(60))
        try device.crm.subscribe()
        try agent.startInteraction("first data")
        try device.crm.synchronize("default")
        return (device, agent, try agent.stopInteraction().text)
    }

    @Test("KPI-06: what an administrator asks of a device comes with its next synchronization, as it is on the device, and once")
    func request() throws {
        let bench = try TestBench { $0.clock = { 1_800_000_000_000 } }
        let (device, agent, text) = try measuredDevice(bench, "first"), (other, _, _) = try measuredDevice(bench, "other")
        let administration = bench.server.administration
        try device.crm.synchronize("default")
        #expect(try administration.domainLog().isEmpty, "nobody has asked")
        for _ in 1...2 { try administration.requestPerformanceLog(ofDevice: device.application.deviceID, application: "CRM") }
        try other.crm.synchronize("default")
        #expect(try administration.domainLog().isEmpty)
        try device.crm.synchronize("default")
        #expect(try administration.domainLog().count == 1)
        let entry = try #require(try administration.domainLog().first)
        #expect(entry.name == "first data" && entry.text == text && entry.received == 1_800_000_000_000)
        #expect(
            entry.application == "CRM" && entry.device == device.application.deviceID && entry.user == TestBench.user && entry.package == "CRM:1.0")
        #expect(text.contains("HttpRequest: ") && text.contains("Total: "))

        try agent.startInteraction("second visit")
        let second = try agent.stopInteraction().text
        try device.crm.synchronize("default")
        #expect(try administration.domainLog().count == 1, "asked for once, answered once")
        try administration.requestPerformanceLog(ofDevice: device.application.deviceID, application: "CRM")
        try device.crm.synchronize("default")
        #expect(try administration.domainLog(ofDevice: device.application.deviceID).map(\.text).sorted() == [text, second].sorted())
        #expect(try administration.domainLog(ofDevice: other.application.deviceID).isEmpty)
        let error = #expect(throws: ServerError.self) { try administration.requestPerformanceLog(ofDevice: "nobody", application: "CRM") }
        #expect(error?.code == .notFound)
    }

    @Test("KPI-06: a long log goes in several messages; one that is broken off is asked for again, and the synchronization is done all the same")
    func longLog() throws {
        let bench = try TestBench()
        let (device, _, text) = try measuredDevice(bench, "first")
        for number in 1...4 {
            let file = bench.directory.file("first-reports") + "/long \(number).txt"
            try String(repeating: "\(number)", count: 400_000).write(toFile: file, atomically: true, encoding: .utf8)
        }
        let administration = bench.server.administration
        try administration.requestPerformanceLog(ofDevice: device.application.deviceID, application: "CRM")
        // Only the synchronization itself and the first two messages succeed.
        let before = bench.network.requestCount
        bench.network.conditions.fault = { request, _ in request > before + 2 ? .refuse : nil }
        try device.crm.synchronize("default")
        #expect(try administration.domainLog().map(\.name) == ["first data", "long 1", "long 2"])
        bench.network.conditions.fault = { _, _ in nil }
        try device.crm.synchronize("default")
        #expect(try administration.domainLog().map(\.name).sorted() == ["first data", "long 1", "long 2", "long 3", "long 4"])
        #expect(try administration.domainLog().first { $0.name == "first data" }?.text == text)
        #expect(try administration.domainLog().allSatisfy { $0.name == "first data" || $0.text.count == 400_000 })
    }

    @Test("KPI-06: a device that measures nothing answers with nothing; a log that nobody has asked for is refused")
    func nothing() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        let administration = bench.server.administration
        try administration.requestPerformanceLog(ofDevice: device.application.deviceID, application: "CRM")
        try device.crm.synchronize("default")
        #expect(try administration.domainLog().isEmpty)
        let session = try device.application.session()
        let server = Server(device.application, session.properties)
        let header = server.header(.log, package: "CRM:1.0", client: try device.crm.clientID)
        let content = ClientLogContent(inquiry: .performanceLog, entries: [.init(name: "a", text: "b")])
        let error = #expect(throws: SyncError.self) { _ = try server.send(Message(header, content: content), token: session.token) }
        #expect(error?.code == .notFound)
        #expect(try administration.domainLog().isEmpty)
    }
}
