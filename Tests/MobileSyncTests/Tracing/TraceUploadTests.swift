import Foundation
import MobileObjects
import MobileProtocol
import MobileServer
import MobileStore
import MobileTransport
import SampleCRM
import TestSupport
import Testing

@testable import MobileSync

/// The upload of business transactions to the server.
@Suite struct TraceUploadTests {
    /// Makes a traced synchronization.
    private func transaction(_ device: Device) throws -> [UInt8] {
        try device.application.traceService.startTrace("visit <1>")
        try device.crm.synchronize("default")
        return try device.application.traceService.stopTrace()
    }

    @Test("E2E-07: a trace is uploaded, and the server has it beside its own lines about the same requests")
    func upload() async throws {
        let lines = RecordedLines()
        let bench = try TestBench {
            $0.clock = { 1_800_000_000_000 }
            $0.log = { lines.add($0) }
        }
        let device = try bench.subscribedDevice(), other = try bench.subscribedDevice("other")
        let service = device.application.traceService
        let document = try transaction(device)
        _ = try transaction(other)
        func uploaded() throws -> Bool { try service.uploadTrace(document) }
        #expect(try uploaded())
        let trace = try #require(try bench.server.administration.traces().first)
        #expect(try bench.server.administration.traces().count == 1)
        #expect(Array(trace.document.utf8) == document && trace.user == TestBench.user && trace.application == "CRM")
        #expect(trace.device == device.application.deviceID && trace.received == 1_800_000_000_000)
        #expect(trace.document.contains("id=\"\(trace.transaction)\""))
        #expect(trace.requests.count == 1 && trace.requests[0].contains("transaction \(trace.transaction)"))
        #expect(
            trace.requests[0].contains("/mobile/v1/synchronize of device \(device.application.deviceID)") && lines.take().contains(trace.requests[0]))
        // The same one again, then another one.
        #expect(try await service.uploadTrace(document))
        let second = try transaction(device)
        #expect(try await service.uploadTrace(second))
        let traces = try bench.server.administration.traces()
        #expect(traces.count == 2 && Set(traces.map(\.transaction)).count == 2)
        #expect(try bench.server.administration.traces(transaction: trace.transaction.lowercased()).map(\.document) == [trace.document])
    }

    @Test("E2E-07 EXC-17: without a connection the upload throws its own error, which has code, cause and texts, and can be tried again")
    func noConnection() throws {
        let bench = try TestBench()
        let device = try bench.subscribedDevice()
        let document = try transaction(device)
        bench.network.conditions.fault = { _, _ in .refuse }
        let thrown = #expect(throws: E2ETraceUploadError.self) { try device.application.traceService.uploadTrace(document) }
        let error = try #require(thrown)
        #expect(error.code == .serverNotReached && error.errorCode == 14813 && error.recovery == .retry)
        #expect((error.cause as? SyncError)?.cause is TransportError)
        #expect(error.message.hasPrefix("upload of a trace: ") && error.arguments == [.text(error.message)])
        #expect(device.crm.message(of: error, locale: "en") == "The server was not reached; try again later (\(error.message)).")
        bench.network.conditions.fault = { _, _ in nil }
        #expect(try bench.server.administration.traces().isEmpty)
        func again() throws -> Bool { try device.application.traceService.uploadTrace(document) }
        #expect(try again())
    }

    /// A document that the server does not accept.
    struct Refused: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let document: [UInt8]
        let code: SyncError.Code
        let message: String
        init(_ description: String, _ document: [UInt8], _ code: SyncError.Code, _ message: String) {
            (testDescription, self.document, self.code, self.message) = (description, document, code, message)
        }
    }

    static let id = String(repeating: "0A", count: 16)
    static let refused = [
        Refused("empty", [], .refused, "well-formed"), Refused("no XML", Array("hello".utf8), .refused, "well-formed"),
        Refused("cut", Array("<BusinessTransaction id=\"\(id)\"><Message/>".utf8), .refused, "well-formed"),
        Refused("no UTF-8", [0x3C, 0xFF, 0xFE], .refused, "UTF-8"),
        Refused("NUL", Array("<BusinessTransaction id=\"\(id)\">\0</BusinessTransaction>".utf8), .refused, "well-formed"),
        Refused("another element", Array("<Message id=\"\(id)\"/>".utf8), .refused, "BusinessTransaction"),
        Refused("no id", Array("<BusinessTransaction/>".utf8), .refused, "32 hexadecimal digits"),
        Refused("short id", Array("<BusinessTransaction id=\"0A\"/>".utf8), .refused, "32 hexadecimal digits"),
        Refused(
            "entities",
            Array("<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><BusinessTransaction id=\"\(id)\">&b;</BusinessTransaction>".utf8),
            .refused, "document type"),
        Refused(
            "too long", Array("<BusinessTransaction id=\"\(id)\">".utf8) + [UInt8](repeating: 0x20, count: 4 << 20), .tooLarge, "\(4 << 20)"),
    ]

    @Test("E2E-07 EXC-17: a document that is none, or too long, is refused with the reason, and nothing is kept", arguments: refused)
    func refusals(_ refused: Refused) throws {
        let bench = try TestBench()
        let device = try bench.subscribedDevice()
        let error = #expect(throws: E2ETraceUploadError.self) { try device.application.traceService.uploadTrace(refused.document) }
        #expect(error?.code == refused.code && error?.recovery == .removeCause)
        #expect(error?.message.contains(refused.message) == true, "\(error?.message ?? "")")
        #expect(try bench.server.administration.traces().isEmpty)
    }

    @Test("E2E-07 EXC-17: an application that is not registered, or none at all, cannot upload; a session that has ended is renewed")
    func sessions() async throws {
        let bench = try TestBench()
        let document = Array("<BusinessTransaction id=\"\(Self.id)\"/>".utf8)
        let stranger = try bench.newDevice("stranger")
        let unregistered = #expect(throws: E2ETraceUploadError.self) { try stranger.application.traceService.uploadTrace(document) }
        #expect(unregistered?.code == .applicationNotRegistered && unregistered?.errorCode == 14871 && unregistered?.cause is SyncError)
        let alone = await #expect(throws: E2ETraceUploadError.self) { try await E2ETraceService().uploadTrace(document) }
        #expect(alone?.code == .invalidState && alone?.cause == nil)
        let service = E2ETraceService()
        func use() throws {
            _ = try Application(identifier: "CRM", profile: ConnectionProfile(path: bench.directory.file("gone.db")), traceService: service)
        }
        try use()
        #expect(#expect(throws: E2ETraceUploadError.self) { try service.uploadTrace(document) }?.code == .invalidState)

        let device = try bench.subscribedDevice()
        try bench.forgetSessions()
        #expect(try await device.application.traceService.uploadTrace(document))
        try bench.forgetDevices()
        let forgotten = await #expect(throws: E2ETraceUploadError.self) { try await device.application.traceService.uploadTrace(document) }
        #expect(forgotten?.code == .registrationUnknown)
        let response = bench.server.respond(to: ServerRequest(method: "POST", path: Endpoint.traces, body: Spool(document)))
        #expect(response.status == 401)
        #expect(try bench.server.administration.traces().count == 1)
    }

    @Test("of one device the newest traces are kept")
    func limit() throws {
        let bench = try TestBench()
        let device = try bench.subscribedDevice(), other = try bench.subscribedDevice("other")
        func id(_ number: Int) -> String { String(repeating: "0", count: 29) + String(1000 + number).dropFirst() }
        func document(_ number: Int) -> [UInt8] { Array("<BusinessTransaction id=\"\(id(number))\"/>".utf8) }
        try other.application.traceService.uploadTrace(document(0))
        for number in 1...102 { try device.application.traceService.uploadTrace(document(number)) }
        #expect(try bench.server.administration.traces().map(\.transaction) == [id(0)] + (3...102).map(id))
    }
}
