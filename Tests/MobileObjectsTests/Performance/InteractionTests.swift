import Foundation
import MobileExecution
import MobileObjects
import MobileStore
import TestSupport
import Testing

/// Figures that grow with each look: a millisecond on the wall, half a millisecond on a processor, and a thousand bytes.
private final class Figures: Sendable {
    private let looks = SystemLock<(wall: Int, processor: Int, memory: Int)>((0, 0, 0))

    var meter: ResourceMeter {
        ResourceMeter(
            now: {
                self.looks.withLock { looks in
                    looks.wall += 1
                    return .milliseconds(looks.wall)
                }
            },
            cpuTime: {
                self.looks.withLock { looks in
                    looks.processor += 1
                    return .microseconds(500 * looks.processor)
                }
            },
            memory: {
                self.looks.withLock { looks in
                    looks.memory += 1
                    return 1000 * looks.memory
                }
            })
    }

    var count: Int { looks.withLock { $0.wall + $0.processor + $0.memory } }
}

/// The cost of the user's interactions.
@Suite struct InteractionTests {
    private let figures = Figures()
    private let temporary: TemporaryDirectory
    /// The agent's directory for its texts; it is made for the first one.
    private let directory: URL
    private let agent: PerformanceAgent
    private let shop: Shop
    init() throws {
        temporary = try TemporaryDirectory()
        directory = temporary.url.appending(path: "texts")
        agent = PerformanceAgent(directory: directory, meter: figures.meter, clock: { Date(timeIntervalSince1970: 1_000_000) })
        shop = try Shop(performance: agent)
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
    }

    @Test("KPI-01: an interaction is started by name and stopped; one at a time, and nothing is measured outside of it")
    func startAndStop() throws {
        let looks = figures.count
        _ = try shop.database.logRecords()
        #expect(figures.count == looks)
        try agent.startInteraction("Interaction 1")
        let second = #expect(throws: ObjectError.self) { try agent.startInteraction("Interaction 2") }
        #expect(second?.code == .misuse && second?.message.contains("Interaction 1") == true)
        _ = try shop.database.logRecords()
        let first = try agent.stopInteraction()
        #expect(first.name == "Interaction 1" && first.sums[.persistenceRead]?.count == 1)
        #expect(#expect(throws: ObjectError.self) { try agent.stopInteraction() }?.code == .misuse)
        try agent.startInteraction("Interaction 2")
        #expect(try agent.stopInteraction().sums.isEmpty)
    }

    @Test("KPI-02: reads, writes, submits, cancels, transactions and requests are intervals of types of their own")
    func types() throws {
        #expect(
            IntervalType.allCases.map(\.rawValue) == [
                "HttpRequest", "PersistenceRead", "PersistenceWrite", "SubmitPending", "CancelPending", "Transaction",
            ])
        func counts(_ body: () throws -> Void) throws -> [IntervalType: Int] {
            try agent.startInteraction("types")
            try body()
            return try agent.stopInteraction().sums.mapValues(\.count)
        }
        let customer = try shop.objects("Customer").load(1)
        #expect(try counts { _ = try shop.objects("Customer").find(1) } == [.persistenceRead: 1])
        #expect(try counts { _ = try shop.objects("Customer").findAll() } == [.persistenceRead: 1])
        try customer.set("city", "Cork")
        #expect(try counts { try customer.update() } == [.persistenceWrite: 1])
        #expect(try counts { try customer.submitPending() } == [.submitPending: 1])
        #expect(try counts { try customer.cancelPending() } == [.cancelPending: 1])
        #expect(try counts { try shop.database.submitPendingOperations() } == [.submitPending: 1])
        #expect(try counts { try shop.database.cancelPendingOperations() } == [.cancelPending: 1])
        #expect(
            try counts {
                try shop.database.transaction {
                    try shop.newCustomer("c2").create()
                    try shop.newCustomer("c3").create()
                }
            } == [.transaction: 1, .persistenceWrite: 2])
        #expect(try counts { agent.end(agent.begin(.httpRequest)) } == [.httpRequest: 1])
    }

    @Test("KPI-02: the same for the calls that do not block")
    func asyncTypes() async throws {
        let customer = try await shop.objects("Customer").load(1)
        try customer.set("city", "Cork")
        try agent.startInteraction("async")
        try await customer.update()
        try await customer.submitPending()
        try await customer.cancelPending()
        _ = try await shop.database.logRecords()
        try await shop.database.transaction {}
        let sums = try agent.stopInteraction().sums
        #expect(
            sums.mapValues(\.count) == [.persistenceWrite: 1, .submitPending: 1, .cancelPending: 1, .persistenceRead: 1, .transaction: 1])
    }

    @Test("KPI-03: every type has the time on the wall, the time on processors and the most memory, summed up")
    func measures() throws {
        try agent.startInteraction("measures")
        _ = try shop.database.logRecords()
        _ = try shop.database.logRecords()
        let summary = try agent.stopInteraction()
        let sum = try #require(summary.sums[.persistenceRead])
        // Each interval looks twice at each figure; the fourth look at the memory is the greatest.
        #expect(sum.count == 2 && sum.wallClockTime == .milliseconds(2) && sum.cpuTime == .milliseconds(1) && sum.maximumMemory == 4000)
        #expect(sum.network == nil && summary.duration == .milliseconds(5))
        for type in IntervalType.allCases {
            try agent.startInteraction("one")
            agent.end(agent.begin(type))
            let sum = try #require(try agent.stopInteraction().sums[type])
            #expect(sum.wallClockTime == .milliseconds(1) && sum.cpuTime == .microseconds(500) && sum.maximumMemory > 4000)
        }
    }

    @Test("the system's own figures: time on the wall and on processors goes by, memory is occupied")
    func system() throws {
        let agent = PerformanceAgent()
        try agent.startInteraction("system")
        let interval = agent.begin(.transaction)
        var sum = 0
        for number in 0..<100_000 { sum &+= number }
        agent.end(interval)
        let figures = try #require(try agent.stopInteraction().sums[.transaction])
        #expect(sum > 0 && figures.wallClockTime > .zero && figures.cpuTime > .zero && figures.maximumMemory > 1_000_000)
    }

    @Test("an interval that ends behind its interaction does not count in the next one")
    func late() throws {
        try agent.startInteraction("first")
        let interval = agent.begin(.persistenceWrite)
        #expect(try agent.stopInteraction().sums.isEmpty)
        try agent.startInteraction("second")
        agent.end(interval)
        #expect(try agent.stopInteraction().sums.isEmpty)
    }

    @Test("KPI-05: after the stop a text with the sums per type, and their totals, is written on the device")
    func report() throws {
        try agent.startInteraction("Orders: all/of them")
        _ = try shop.database.logRecords()
        agent.end(agent.begin(.httpRequest), sentBytes: 300, receivedBytes: 4000)
        agent.end(agent.begin(.httpRequest), sentBytes: 30, receivedBytes: 40, localTime: .microseconds(400))
        #expect(!FileManager.default.fileExists(atPath: directory.path))
        let summary = try agent.stopInteraction()
        let file = directory.appending(path: "Orders_ all_of them.txt")
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text == summary.text)
        #expect(
            text == """
                Interaction: Orders: all/of them
                Started: 1970-01-12T13:46:40.000Z
                Duration: 0.007000 s

                HttpRequest: Intervals 2, Wallclock Time 0.002000 s, CPU Time 0.001000 s, Memory Max 6000, NetworkTime 0.001600 s, \
                Roundtrips 2, Total Bytes 4370, Sent Bytes 330, Received Bytes 4040
                PersistenceRead: Intervals 1, Wallclock Time 0.001000 s, CPU Time 0.000500 s, Memory Max 2000
                Total: Intervals 3, Wallclock Time 0.003000 s, CPU Time 0.001500 s, Memory Max 6000, NetworkTime 0.001600 s, \
                Roundtrips 2, Total Bytes 4370, Sent Bytes 330, Received Bytes 4040

                """)
        try agent.startInteraction("Orders: all/of them")
        try agent.stopInteraction()
        #expect(FileManager.default.fileExists(atPath: directory.appending(path: "Orders_ all_of them (2).txt").path))
    }

    @Test("a summary that cannot be written is an error, and the next interaction can start")
    func unwritable() throws {
        try Data("a file".utf8).write(to: directory)
        try agent.startInteraction("first")
        #expect(#expect(throws: ObjectError.self) { try agent.stopInteraction() }?.code == .file)
        try agent.startInteraction("second")
    }
}
