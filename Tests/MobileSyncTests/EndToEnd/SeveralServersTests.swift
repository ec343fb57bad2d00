import Foundation
import MobileExecution
import MobileObjects
import MobileStore
import MobileSync
import MobileTransport
import PostgreSQLClient
import PostgreSQLTestSupport
import SampleCRM
import TestSupport
import Testing

/// Three processes on one PostgreSQL with nginx as their proxy, which are killed, stopped, drained and restarted while devices work. `SERVER_SOAK_SECONDS` and
/// `SERVER_SOAK_DEVICES` make it long.
@Suite(.enabled(if: PostgreSQLInstallation.runsTests && ServerFleet.nginx != nil, "PostgreSQL and nginx are needed; install Debian's packages"))
struct SeveralServersTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let devices = environment["SERVER_SOAK_DEVICES"].flatMap { Int($0) } ?? 8
    private static let seconds = environment["SERVER_SOAK_SECONDS"].flatMap { Double($0) }
    private static let workers = 8

    /// The means by which the servers are disturbed. Each leaves everything running.
    private enum Disturbance: CaseIterable {
        case kill, drain, pause, cutConnections, restartPostgreSQL
    }

    @Test("nothing is lost, doubled or reordered while processes are killed, stopped and drained, connections are cut and PostgreSQL restarts")
    func disturbed() throws {
        let directory = try TemporaryDirectory(), backEndPath = directory.file("enterprise.db")
        try SampleBackEnd.create(at: backEndPath, scale: 0.0001)
        let postgreSQL = try PostgreSQLServer(settings: ["idle_in_transaction_session_timeout": "2000"]), database = try postgreSQL.database()
        let fleet = try ServerFleet(directory, store: database.configuration.address)
        defer { fleet.stop() }
        for index in 0..<fleet.count { try fleet.start(index, makesUser: index == 0) }
        try fleet.startProxy()

        let field = try (0..<Self.devices).map { try FieldWorker($0, directory, port: fleet.port) }
        try Self.inParallel(field) { try $0.begin() }
        var random = SeededGenerator(seed: UInt64(Self.seconds == nil ? 7 : Date().timeIntervalSince1970))
        let end = ContinuousClock.now + .seconds(Self.seconds ?? 0), rounds = SystemLock(0)
        var plan = Disturbance.allCases
        repeat {
            let disturbance = plan.popLast() ?? Disturbance.allCases.randomElement(using: &random) ?? .kill
            let target = Int.random(in: 0..<fleet.count, using: &random)
            let isDone = DispatchSemaphore(value: 0)
            let failure = SystemLock<(any Error)?>(nil)
            Thread.detachNewThread {
                do { try Self.disturb(disturbance, target, fleet, postgreSQL) } catch { failure.withLock { $0 = error } }
                isDone.signal()
            }
            try Self.inParallel(field) { try $0.work() }
            isDone.wait()
            if let error = failure.withLock({ $0 }) { throw error }
            rounds.withLock { $0 += 1 }
        } while !plan.isEmpty || ContinuousClock.now < end

        try Self.inParallel(field) { try $0.settle() }
        // The devices that were the first to settle do not have the rows of the others yet.
        try Self.inParallel(field) { try $0.settle() }
        let backEnd = try Database(ConnectionProfile(path: backEndPath, journal: .unchanged))
        defer { try? backEnd.close() }
        for worker in field { try worker.check(backEnd) }
        let visits = try backEnd.read { try $0.number("SELECT count(*) FROM customer WHERE name LIKE 'Device %'") }
        #expect(visits == field.reduce(0) { $0 + Int64($1.expected.count) })
        print("\(field.count) devices, \(rounds.withLock { $0 }) disturbances, \(field.reduce(0) { $0 + $1.operations }) operations, \(visits) rows")
    }

    private static func disturb(_ disturbance: Disturbance, _ target: Int, _ fleet: ServerFleet, _ postgreSQL: PostgreSQLServer) throws {
        switch disturbance {
        case .kill:
            fleet.kill(target)
            try fleet.start(target)
        case .drain:
            let status = fleet.drain(target)
            #expect(status == 0, "a drained server ends regularly")
            try fleet.start(target)
        case .pause:
            fleet.pause(target)
            // PostgreSQL gives back the locks of a process that does not continue.
            let observer = try PostgreSQLConnection(postgreSQL.configuration(database: "postgres"))
            while try observer.first("SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'") != [0] {}
            fleet.pause(target, false)
        case .cutConnections:
            fleet.cutConnections()
            try fleet.startProxy()
        case .restartPostgreSQL:
            try postgreSQL.restart()
        }
    }

    /// Runs `body` for each device, several at a time.
    private static func inParallel(_ field: [FieldWorker], _ body: @escaping @Sendable (FieldWorker) throws -> Void) throws {
        let next = SystemLock(0), failure = SystemLock<(any Error)?>(nil), group = DispatchGroup()
        for _ in 0..<min(workers, field.count) {
            group.enter()
            Thread.detachNewThread {
                while let worker = next.withLock({ next in
                    defer { next += 1 }
                    return next < field.count ? field[next] : nil
                }) {
                    do { try body(worker) } catch { failure.withLock { $0 = $0 ?? error } }
                }
                group.leave()
            }
        }
        group.wait()
        if let error = failure.withLock({ $0 }) { throw error }
    }
}

/// A device with a person who creates, changes and deletes rows of his own, and synchronizes now and then.
private final class FieldWorker: Sendable {
    private struct Memory {
        var device: Device?
        var random: SeededGenerator
        /// The city of each live row by its name.
        var expected: [String: String] = [:]
        var made = 0
        var operations = 0
    }

    private let number: Int
    private let directory: String
    private let port: Int
    private let memory: SystemLock<Memory>

    var expected: [String: String] { memory.withLock { $0.expected } }
    var operations: Int { memory.withLock { $0.operations } }

    init(_ number: Int, _ directory: TemporaryDirectory, port: Int) throws {
        (self.number, self.port) = (number, port)
        self.directory = directory.file("device-\(number)")
        memory = SystemLock(Memory(random: SeededGenerator(seed: UInt64(number) + 100)))
    }

    func begin() throws {
        let port = port, device = try Device(directory: directory, transport: MovingTransport { port })
        memory.withLock { $0.device = device }
        try repeated { try device.application.register(timeout: .seconds(60)) }
        try repeated { try device.crm.subscribe() }
        try repeated { _ = try device.crm.synchronize("default") }
    }

    /// A few changes, each submitted on its own, and one try to synchronize, which may fail.
    func work() throws {
        try memory.withLock { memory in
            guard let device = memory.device else { return }
            for _ in 0..<Int.random(in: 1...4, using: &memory.random) { try Self.change(&memory, device, number) }
        }
        _ = try? memory.withLock({ $0.device })?.crm.synchronize("default")
    }

    private static func change(_ memory: inout Memory, _ device: Device, _ number: Int) throws {
        let name = memory.expected.keys.sorted().randomElement(using: &memory.random)
        memory.operations += 1
        if let name, Int.random(in: 0..<3, using: &memory.random) > 0 {
            guard let customer = try Customer.findAll(in: device.crm).first(where: { $0.name == name }) else {
                throw CocoaError(.coderValueNotFound, userInfo: [NSDebugDescriptionErrorKey: "device \(number) has lost \(name)"])
            }
            if Int.random(in: 0..<4, using: &memory.random) == 0 {
                try customer.delete()
                memory.expected[name] = nil
            } else {
                customer.city = "City \(memory.operations)"
                try customer.update()
                memory.expected[name] = customer.city
            }
            try customer.submitPending()
        } else {
            memory.made += 1
            let customer = Customer(in: device.crm)
            customer.name = "Device \(number) row \(memory.made)"
            customer.street = "s"
            customer.city = "City \(memory.operations)"
            customer.since = LocalDate(daysSince1970: 20_000)
            try customer.save()
            try customer.submitPending()
            memory.expected[customer.name] = customer.city
        }
    }

    /// Synchronizes until nothing waits any more.
    func settle() throws {
        guard let device = memory.withLock({ $0.device }) else { return }
        try repeated { _ = try device.crm.synchronize("default") }
        try repeated {
            _ = try device.crm.synchronize("default")
            if try device.crm.hasPendingOperations() { throw CocoaError(.featureUnsupported) }
        }
    }

    func check(_ backEnd: Database) throws {
        guard let device = memory.withLock({ $0.device }) else { return }
        let theirs = try backEnd.read { connection in
            try connection.rows("SELECT name, city FROM customer WHERE name LIKE ? ORDER BY name", [.text("Device \(number) row %")]).map {
                "\($0[0].text ?? "") \($0[1].text ?? "")"
            }
        }
        #expect(theirs == expected.map { "\($0.key) \($0.value)" }.sorted(), "device \(number): each row once, with its last change")
        let refused = try device.crm.logRecords()
        #expect(refused.isEmpty, "device \(number): \(refused.map(\.message))")
        let mine = try Customer.findAll(in: device.crm).map { "\($0.id_) \($0.name) \($0.city)" }.sorted()
        let all = try backEnd.read { connection in
            try connection.rows("SELECT id, name, city FROM customer WHERE region = 'NORTH'").map {
                "\($0[0].integer ?? 0) \($0[1].text ?? "") \($0[2].text ?? "")"
            }
        }
        #expect(mine == all.sorted(), "device \(number) has the rows of the back end")
    }

    /// Tries again for as long as a part is away.
    private func repeated(_ body: () throws -> Void) throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while true {
            do { return try body() } catch  where ContinuousClock.now < deadline { continue }
        }
    }
}
