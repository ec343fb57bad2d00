import Foundation
import MobileExecution
import MobileObjects
import MobileStore
import MobileSync
import MobileTransport
import SampleCRM
import TestSupport
import Testing

/// A device with a person who creates, changes and deletes rows of his own, and synchronizes now and then.
final class FieldWorker: Sendable {
    private struct Memory {
        var device: Device?
        var random: SeededGenerator
        /// The city of each live row by its name.
        var expected: [String: String] = [:]
        /// The rows by their names, also those that were deleted.
        var keys: [String: Int64] = [:]
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
    /// - Parameter mayLoseRows: whether the servers may have lost commits, and with them rows of this device.
    func work(mayLoseRows: Bool = false) throws {
        try memory.withLock { memory in
            guard let device = memory.device else { return }
            for _ in 0..<Int.random(in: 1...4, using: &memory.random) { try Self.change(&memory, device, number, mayLoseRows: mayLoseRows) }
        }
        _ = try? memory.withLock({ $0.device })?.crm.synchronize("default")
    }

    private static func change(_ memory: inout Memory, _ device: Device, _ number: Int, mayLoseRows: Bool) throws {
        let name = memory.expected.keys.sorted().randomElement(using: &memory.random)
        memory.operations += 1
        if let name, Int.random(in: 0..<3, using: &memory.random) > 0 {
            guard let customer = try Customer.findAll(in: device.crm).first(where: { $0.name == name }) else {
                // Its create was among the lost commits.
                if mayLoseRows { return }
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
            memory.keys[customer.name] = customer.surrogateKey
        }
    }

    /// Synchronizes until every operation has its answer.
    func settle() throws {
        guard let device = memory.withLock({ $0.device }) else { return }
        try repeated {
            let result = try device.crm.synchronize()
            guard result.operationsAccepted + result.operationsRejected + result.operationsDeferred == 0 else {
                throw CocoaError(.featureUnsupported)
            }
        }
    }

    /// Compares the rows of the device with those of the back end.
    /// - Returns: the names of its own rows whose last change the back end does not have.
    func check(_ rows: [BackEndCustomer]) throws -> [String] {
        guard let device = memory.withLock({ $0.device }) else { return [] }
        // A row whose last operation was rejected keeps its values until its user decides.
        let customers = try Customer.findAll(in: device.crm), names = memory.withLock { Dictionary($0.keys.map { ($0.value, $0.key) }) { $1 } }
        // A rejected delete keeps its row away in the same way.
        let deletes = try device.crm.logRecords().filter { $0.operation == "delete" }.compactMap { Int64($0.entityKey).flatMap { names[$0] } }
        let rejected = Set(customers.filter(\.isPending).map(\.name) + deletes)
        let mine = Set(customers.map { BackEndCustomer(id: $0.id_ ?? 0, name: $0.name, city: $0.city) }.filter { !rejected.contains($0.name) })
        let theirs = Set(rows.filter { !rejected.contains($0.name) })
        #expect(mine == theirs, "device \(number) has in addition \(mine.subtracting(theirs)) and lacks \(theirs.subtracting(mine))")
        let own = rows.filter { $0.name.hasPrefix("Device \(number) row ") }, cities = Dictionary(grouping: own, by: \.name)
        #expect(cities.values.allSatisfy { $0.count == 1 }, "device \(number): each row once")
        return Set(expected.keys).union(cities.keys).filter { expected[$0] != cities[$0]?.first?.city }.sorted()
    }

    /// The log records of operations that were rejected.
    func rejections() throws -> [LogRecord] { try memory.withLock { $0.device }?.crm.logRecords() ?? [] }

    /// The names of the rows that lost or rejected operations concern.
    func explained() throws -> Set<String> {
        try memory.withLock { memory in
            guard let device = memory.device else { return [] }
            let names = Dictionary(memory.keys.map { ($0.value, $0.key) }) { $1 }
            let lost = try device.crm.lostOperations().map(\.surrogateKey), rejected = try device.crm.logRecords().compactMap { Int64($0.entityKey) }
            let pending = try Customer.findAll(in: device.crm).filter(\.isPending).map(\.name)
            return Set((lost + rejected).compactMap { names[$0] } + pending)
        }
    }

    /// The facts about a row, for the message of a test.
    func facts(about name: String) throws -> String {
        try memory.withLock { memory in
            guard let device = memory.device, let key = memory.keys[name] else { return "no row" }
            let row = try Customer.findAll(in: device.crm).first { $0.name == name }
            let lost = try device.crm.lostOperations().filter { $0.surrogateKey == key || $0.values["name"]?.string == name }
            let refused = try device.crm.logRecords().map { "\($0.entityKey) \($0.operation) \($0.message)" }
            return "\(name), key \(key): expected \(memory.expected[name] ?? "none"), here \(row?.city ?? "none"), lost \(lost), log \(refused)"
        }
    }

    /// Submits the lost operations again.
    /// - Returns: their number.
    func submitLostAgain() throws -> Int {
        guard let device = memory.withLock({ $0.device }) else { return 0 }
        let lost = try device.crm.lostOperations()
        for operation in lost { try device.crm.submitAgain(operation) }
        return lost.count
    }

    /// Tries again for as long as a part is away.
    private func repeated(_ body: () throws -> Void) throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while true {
            do { return try body() } catch  where ContinuousClock.now < deadline { continue }
        }
    }
}

/// A row of the table `customer` that the devices have.
struct BackEndCustomer: Hashable {
    let id: Int64
    let name: String
    let city: String

    static let query = "SELECT id, name, city FROM customer WHERE region = 'NORTH' ORDER BY id"
}

extension [FieldWorker] {
    /// Runs `body` for each device, several at a time.
    func inParallel(_ body: @escaping @Sendable (FieldWorker) throws -> Void) throws {
        let field = self
        let next = SystemLock(0), failure = SystemLock<(any Error)?>(nil), group = DispatchGroup()
        for _ in 0..<Swift.min(8, field.count) {
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
