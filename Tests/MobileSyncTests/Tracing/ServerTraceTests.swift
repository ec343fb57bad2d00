import Foundation
import MobileObjects
import MobileServer
import MobileTransport
import SampleCRM
import TestSupport
import Testing

@testable import MobileSync

/// The server's traces of requests and operations, and their receivers.
@Suite struct ServerTraceTests {
    /// Makes a device with a change of its first customer in the outbox.
    private func device(_ bench: TestBench, _ name: String = "device") throws -> (Device, Customer) {
        let device = try bench.synchronizedDevice(name, groups: "default")
        let customer = try #require(try Customer.findAll(in: device.crm).first)
        customer.city = "Kinsale"
        try customer.update()
        try customer.submitPending()
        return (device, customer)
    }

    @Test("PSP-06 X-04: a success brings a log record where the server is set to, and none otherwise", arguments: [false, true])
    func successRecords(logsSuccesses: Bool) throws {
        let bench = try TestBench { $0.logsSuccesses = logsSuccesses }
        let (device, customer) = try device(bench)
        let result = try device.crm.synchronize("default")
        #expect(result.operationsAccepted == 1)
        let records = try customer.logRecords()
        #expect(records.count == (logsSuccesses ? 1 : 0))
        guard let record = records.first else { return }
        #expect(record.level == .info && record.code == 200 && record.component == "Customer" && record.operation == "update")
        try customer.refresh()
        #expect(!customer.isPending && customer.replayFailure == 0)
    }

    @Test("PSP-10: an error inside of the server is in its log, and comes to the device as a rejection with a log record")
    func serverSideError() throws {
        let lines = RecordedLines()
        let bench = try TestBench { $0.log = { lines.add($0) } }
        let (device, customer) = try device(bench)
        try bench.change("CREATE TRIGGER broken BEFORE UPDATE ON customer BEGIN SELECT abs(-9223372036854775808); END")
        let result = try device.crm.synchronize("default")
        #expect(result.operationsRejected == 1)
        #expect(lines.take().contains { $0.contains("rejected: Customer update: 500") && $0.contains("integer overflow") })
        try customer.refresh()
        #expect(customer.state == .failed && customer.city == "Kinsale")
        let record = try #require(try customer.logRecords().first)
        #expect(record.code == 500 && record.level == .error && record.message == "the back end could not do this; the server's log says why")
        #expect(device.handler.take().contains { $0.hasPrefix("replayFailure Customer") })
    }

    @Test("E2E-01: each request of a trace carries a passport of its own, and the server's log and the trace know it by the same ids")
    func passports() throws {
        let lines = RecordedLines()
        let bench = try TestBench { $0.log = { lines.add($0) } }
        let (device, _) = try device(bench)
        #expect(lines.take().isEmpty)
        try device.application.traceService.startTrace("visit")
        try device.crm.suspendSubscription()
        try device.crm.resumeSubscription()
        try device.crm.synchronize("default")
        let xml = String(decoding: try device.application.traceService.stopTrace(), as: UTF8.self)
        let written = lines.take()
        try device.crm.synchronize("default")
        #expect(lines.take().isEmpty, "after the stop no request is traced")

        let pattern = /transaction ([0-9A-F]{32}), request ([0-9A-F]{32})/
        let ids = written.compactMap { $0.firstMatch(of: pattern).map { (String($0.1), String($0.2)) } }
        #expect(written.count == 3 && ids.count == 3)
        #expect(Set(ids.map(\.0)).count == 1 && Set(ids.map(\.1)).count == 3)
        #expect(written[0].contains("suspend of CRM:1.0: done") && written[2].contains("1 operations, 0 rejected"))
        for (transaction, request) in ids { #expect(xml.contains("id=\"\(transaction)\"") && xml.contains("id=\"\(request)\"")) }
    }

    @Test("TRC-11: the server traces all requests, or those of one device, until it is told to stop")
    func perServerAndPerDevice() throws {
        let lines = RecordedLines(), trace = RequestTrace()
        let bench = try TestBench { configuration in
            configuration.log = { lines.add($0) }
            configuration.requestTrace = trace
        }
        let (first, _) = try device(bench, "first")
        let (second, _) = try device(bench, "second")
        func traced() throws -> [String] {
            try first.crm.synchronize("default")
            try second.crm.synchronize("default")
            return lines.take()
        }
        #expect(try traced().isEmpty)
        trace.devices = [second.application.deviceID]
        var written = try traced()
        #expect(written.count == 1 && written[0].contains("device \(second.application.deviceID), user smith") && written[0].contains("status 200"))
        trace.tracesAll = true
        written = try traced()
        #expect(written.count == 2 && written[0].contains(first.application.deviceID))
        (trace.tracesAll, trace.devices) = (false, [])
        #expect(try traced().isEmpty)
    }

    @Test func `a header that is no passport is left alone`() throws {
        let valid = E2ETraceService()
        try valid.startTrace()
        let message = try #require(valid.begin(request: "POST /x", component: "CRM"))
        let field = message.passport.headerValue
        #expect(E2EPassport(headerValue: field) == message.passport)
        let lines = RecordedLines()
        let bench = try TestBench { $0.log = { lines.add($0) } }
        for bad in [
            "", "x", String(field.dropLast()), String(repeating: "é", count: 230), field.replacingOccurrences(of: "2A54482A", with: "00000000"),
        ] {
            var request = ServerRequest(path: "/mobile/v1/status")
            request.headers["sap-passport"] = bad
            _ = bench.server.respond(to: request)
        }
        #expect(lines.take().isEmpty)
        var request = ServerRequest(path: "/mobile/v1/status")
        request.headers["sap-passport"] = field
        _ = bench.server.respond(to: request)
        #expect(lines.take().count == 1)
    }
}
