import Foundation
import MobileObjects
import Synchronization
import Testing

/// The trace of requests from end to end, without the network: the senders of requests call `begin` and `end`.
@Suite struct E2ETraceTests {
    /// A service whose clock advances by a quarter of a second with each reading, and whose random numbers count up.
    private let service: E2ETraceService
    init() {
        let looks = Count(), numbers = Count()
        service = E2ETraceService(
            environment: Environment(
                now: { Date(timeIntervalSince1970: 1_000_000 + Double(looks.next()) / 4) }, random: { UInt64(numbers.next()) }))
    }

    private final class Count: Sendable {
        private let count = Atomic(0)
        func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).newValue }
    }

    private func stop() throws -> String { String(decoding: try service.stopTrace(), as: UTF8.self) }

    @Test("E2E-03: levels are low, medium and high with their documented numbers; none is refused and the level stays")
    func levels() throws {
        #expect(E2ETraceLevel.allCases.map(\.rawValue) == [0, 1, 2, 3])
        #expect([E2ETraceLevel.none, .low, .medium, .high].map(\.rawValue) == [0, 1, 2, 3])
        for level in [E2ETraceLevel.low, .medium, .high] {
            try service.setTraceLevel(level)
            #expect(service.traceLevel == level)
        }
        #expect(#expect(throws: ObjectError.self) { try service.setTraceLevel(.none) }?.code == .misuse)
        #expect(service.traceLevel == .high)
    }

    @Test("E2E-03: requests carry the level that is set when they are sent")
    func levelOfRequests() throws {
        try service.startTrace()
        let first = service.begin(request: "GET /", component: "app")
        try service.setTraceLevel(.high)
        let second = service.begin(request: "GET /", component: "app")
        #expect(first?.passport.level == .low && second?.passport.level == .high)
    }

    @Test("E2E-04: a start opens one business transaction; requests outside of it are not traced")
    func start() throws {
        #expect(!service.isStarted && service.begin(request: "GET /", component: "app") == nil)
        try service.startTrace("orders")
        #expect(service.isStarted)
        #expect(#expect(throws: ObjectError.self) { try service.startTrace("again") }?.code == .misuse)
        let message = try #require(service.begin(request: "GET /", component: "app"))
        #expect(try stop().contains("<BusinessTransaction id=\"\(hexadecimal(message.passport.rootContextID))\" name=\"orders\""))
        #expect(!service.isStarted && service.begin(request: "GET /", component: "app") == nil)
    }

    @Test("E2E-05: a trace message has request, answer, figures and a passport of its own")
    func messages() throws {
        try service.startTrace()
        let first = try #require(service.begin(request: "POST /synchronize", component: "CRM", sentBytes: 10))
        let second = try #require(service.begin(request: "POST /messages", component: "CRM"))
        #expect(first.request == "POST /synchronize" && first.sentBytes == 10 && first.received == nil && first.status == nil)
        #expect(first.passport.counter == 1 && second.passport.counter == 2)
        #expect(first.passport.rootContextID == second.passport.rootContextID && first.passport.connectionID != second.passport.connectionID)
        service.end(first, status: 200, sentBytes: 300, receivedBytes: 4000)
        service.end(second, status: nil, failure: "cannot connect")
        let xml = try stop()
        #expect(
            xml.contains(
                "request=\"POST /synchronize\" sent=\"1970-01-12T13:46:40.500Z\" received=\"1970-01-12T13:46:41.000Z\" duration=\"500\" "
                    + "sentBytes=\"300\" receivedBytes=\"4000\" status=\"200\" passport=\"\(first.passport.headerValue)\""))
        #expect(xml.contains("failure=\"cannot connect\" passport=\"\(second.passport.headerValue)\""))
    }

    @Test("E2E-06: a stop gives the transaction's XML once and forgets it")
    func stopping() throws {
        try service.startTrace("a \"name\" & <more>\u{1}")
        let message = try #require(service.begin(request: "GET /", component: "CRM"))
        let xml = try stop()
        #expect(
            xml == """
                <?xml version="1.0" encoding="UTF-8"?>
                <BusinessTransaction id="00000000000000010000000000000002" name="a &quot;name&quot; &amp; &lt;more&gt;?" \
                started="1970-01-12T13:46:40.250Z" ended="1970-01-12T13:46:40.750Z" traceLevel="1">
                  <Message number="1" id="00000000000000030000000000000004" traceLevel="1" component="CRM" request="GET /" \
                sent="1970-01-12T13:46:40.500Z" sentBytes="0" receivedBytes="0" passport="\(message.passport.headerValue)"/>
                </BusinessTransaction>

                """)
        #expect(#expect(throws: ObjectError.self) { try service.stopTrace() }?.code == .misuse)
        service.end(message, status: 200)
        try service.startTrace()
        #expect(try !stop().contains("<Message"))
    }

    @Test("a passport has 230 bytes between its marks, and is read back as it was")
    func passport() throws {
        try service.setTraceLevel(.medium)
        try service.startTrace()
        let passport = try #require(service.begin(request: "POST /überall", component: String(repeating: "x", count: 50))).passport
        #expect(passport.bytes.count == 230 && passport.headerValue.count == 460)
        #expect(passport.headerValue.hasPrefix("2A54482A0300E60002") && passport.headerValue.hasSuffix("2A54482A"))
        let read = try #require(E2EPassport(headerValue: passport.headerValue))
        #expect(read.level == .medium && read.counter == 1 && read.connectionID == passport.connectionID)
        #expect(read.rootContextID == passport.rootContextID && read.component == String(repeating: "x", count: 32) && read.action == "POST /?berall")
        for bad in [
            "", "2A", String(passport.headerValue.dropLast(2)), String(passport.headerValue.dropLast(2)) + "+F",
            "00" + passport.headerValue.dropFirst(2), passport.headerValue.replacing("2A54482A03", with: "2A54482A02"),
            passport.headerValue.replacing("0300E60002", with: "0300E60009"),
        ] {
            #expect(E2EPassport(headerValue: bad) == nil)
        }
    }

    private func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
