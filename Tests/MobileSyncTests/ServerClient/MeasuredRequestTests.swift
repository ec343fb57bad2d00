import Foundation
import MobileExecution
import MobileObjects
import MobileStore
import MobileSync
import MobileTransport
import SampleCRM
import TestSupport
import Testing

/// A transport that keeps the passports of its requests.
private final class PassportTransport: Transport {
    private let transport: any Transport
    private let seen = SystemLock<[String?]>([])

    init(_ transport: any Transport) { self.transport = transport }

    /// Returns the passports since the last call; nil for a request without one.
    func take() -> [String?] {
        seen.withLock { seen in
            defer { seen = [] }
            return seen
        }
    }

    func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        let passport = request.headers.first { $0.name == E2EPassport.headerName }?.value
        seen.withLock { $0.append(passport) }
        return try transport.send(request, receive: receive)
    }
}

/// The records of requests to the server in traces and interactions.
@Suite struct MeasuredRequestTests {
    @Test(
        "E2E-02 E2E-05: the application's trace service writes down each request of a synchronization with its figures, under a passport of its own")
    func trace() throws {
        let bench = try TestBench(), transport = PassportTransport(bench.network)
        let device = try bench.subscribedDevice(transport: transport), other = try bench.newDevice("other")
        #expect(device.application.traceService !== other.application.traceService)
        #expect(transport.take().allSatisfy { $0 == nil })
        try device.application.traceService.setTraceLevel(.medium)
        try device.application.traceService.startTrace("first data")
        try device.crm.synchronize()
        try device.crm.synchronize()
        let xml = String(decoding: try device.application.traceService.stopTrace(), as: UTF8.self)
        let values = transport.take().compactMap { $0 }
        let passports = values.compactMap { E2EPassport(headerValue: $0) }
        #expect(passports.count == 2 && passports.map(\.counter) == [1, 2] && passports.allSatisfy { $0.level == .medium && $0.component == "CRM" })
        #expect(Set(passports.map(\.connectionID)).count == 2 && Set(passports.map(\.rootContextID)).count == 1)
        let messages = xml.split(separator: "\n").filter { $0.contains("<Message") }
        #expect(messages.count == 2)
        for (message, value) in zip(messages, values) {
            #expect(
                message.contains("status=\"200\"") && message.contains("passport=\"\(value)\"")
                    && message.contains("request=\"POST http://mobile.example"))
            #expect(!message.contains("sentBytes=\"0\"") && !message.contains("receivedBytes=\"0\""))
        }
        try device.crm.synchronize()
        #expect(transport.take() == [nil])
    }

    @Test("a request that fails is in the trace with its reason")
    func failure() throws {
        let bench = try TestBench()
        let device = try bench.subscribedDevice()
        try bench.forgetDevices()
        try device.application.traceService.startTrace()
        #expect(throws: SyncError.self) { try device.crm.synchronize() }
        let xml = String(decoding: try device.application.traceService.stopTrace(), as: UTF8.self)
        #expect(xml.contains("status=\"4") && xml.contains("failure=\""))
    }

    @Test("KPI-04: requests have network time, round trips and the bytes of both directions, and their sum")
    func interaction() throws {
        let bench = try TestBench()
        let agent = PerformanceAgent()
        let device = try bench.subscribedDevice()
        let crm = try CRM.open(
            ConnectionProfile(path: bench.directory.file("measured.db")), environment: Environment(performance: agent))
        crm.application = device.application
        try crm.subscribe()
        try agent.startInteraction("first data")
        try crm.synchronize()
        try crm.synchronize()
        let sums = try agent.stopInteraction().sums
        let request = try #require(sums[.httpRequest]), network = try #require(request.network)
        #expect(request.count == 2 && network.roundTrips == 2)
        #expect(network.sentBytes > 0 && network.receivedBytes > network.sentBytes && network.totalBytes == network.sentBytes + network.receivedBytes)
        #expect(network.networkTime > .zero && network.networkTime <= request.wallClockTime)
        #expect(sums[.persistenceWrite] != nil && sums[.persistenceWrite]?.network == nil)
    }

    @Test("errors of synchronization have a text per code, in German as well, and say whether trying again can help")
    func texts() throws {
        let codes: [SyncError.Code] = [
            .authenticationFailed, .notAuthorized, .notFound, .noLicence, .backEndBusy, .constraintViolated, .serverFailure, .unavailable,
            .synchronizationCommunication, .registrationUnknown, .cancelled, .uploadFailedAtServer, .identifierMissing, .connectionPropertyMissing,
            .invalidState, .serverNotReached, .localDatabase, .applicationNotRegistered, .timeout, .unknown,
        ]
        let bundle = Repository.fixture("superr.bundle")
        let registry = ServiceRegistry()
        registry.register(try MessageBundles(directories: [bundle], preferredLanguages: []), for: (any ErrorMessageService).self)
        for code in codes {
            let error: any BaseError = SyncError(.synchronize, code, "why")
            #expect(error.errorCode == code.rawValue && error.arguments == [.text("why")])
            let english = error.message(from: registry, locale: "en"), german = error.message(from: registry, locale: "de")
            #expect(english.hasSuffix("(why).") && german.hasSuffix("(why).") && english != german, "\(code.rawValue)")
            #expect(error.recovery == (code.isRecoverable ? .retry : .removeCause))
        }
    }
}
