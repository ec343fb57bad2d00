import Foundation
import MobileCrypto
import MobileExecution
import MobileObjects
import MobileServer
import MobileStore
import SampleCRM
import TestSupport
import Testing

@testable import MobileSync

/// A sample server whose store and back end can be backed up and restored, with devices over a network in memory.
final class RestoreBench {
    let directory: TemporaryDirectory
    private let server = SystemLock<MobileServer?>(nil)
    let network: SimulatedTransport
    var devices: [Device] = []
    private let connectionTimeout: Duration?

    /// - Parameter connectionTimeout: the time after which the server takes the back end for busy; nil for the usual one.
    init(seed: UInt64 = 1, connectionTimeout: Duration? = nil) throws {
        self.connectionTimeout = connectionTimeout
        directory = try TemporaryDirectory()
        _ = try SampleBackEnd.create(at: directory.file("enterprise.db"), scale: 0.0001)
        let server = server
        network = SimulatedTransport(server: { request in server.withLock { $0 }!.respond(to: request) }, seed: seed)
        try open()
    }

    private func open() throws {
        var configuration = ServerConfiguration(
            cachePath: directory.file("cache.db"),
            packages: [PackageDeployment(CRM.metadata.model, backEnds: ["enterprise": directory.file("enterprise.db")])],
            users: [TestBench.user: TestBench.password])
        configuration.passwordParameters = .init(n: 16)
        configuration.keyRangeSize = 4
        if let connectionTimeout { configuration.connectionTimeout = connectionTimeout }
        let opened = try MobileServer(configuration)
        server.withLock { $0 = opened }
    }

    var administration: ServerAdministration { server.withLock { $0 }!.administration }

    /// Works on the files while the server is closed.
    func closed(_ body: () throws -> Void) throws {
        try server.withLock { $0 }?.close()
        try body()
        try open()
    }

    func backUp(_ file: String, to name: String) throws {
        try closed { try FileManager.default.copyItem(atPath: directory.file(file), toPath: directory.file(name)) }
    }

    func restore(_ file: String, from name: String) throws {
        try closed {
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: directory.file(file) + suffix) }
            try FileManager.default.copyItem(atPath: directory.file(name), toPath: directory.file(file))
        }
    }

    func rows(_ sql: String, _ values: [Value] = []) throws -> [[Value]] {
        var profile = ConnectionProfile(path: directory.file("enterprise.db"))
        profile.journal = .unchanged
        let database = try Database(profile)
        let rows = try database.write { try $0.rows(sql, values) }
        try database.close()
        return rows
    }

    func newDevice(_ name: String) throws -> Device {
        let device = try Device(directory: directory.file(name), transport: network)
        try device.application.register(timeout: .seconds(60))
        try device.crm.subscribe()
        devices.append(device)
        return device
    }

    /// Copies the database of a device to a new one.
    func copy(_ device: Device, to name: String) throws -> Device {
        try device.crm.closeConnection()
        try FileManager.default.createDirectory(atPath: directory.file(name), withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: device.crm.databasePath, toPath: directory.file(name) + "/crm.db")
        let copy = try Device(directory: directory.file(name), transport: network)
        try copy.application.register(timeout: .seconds(60))
        devices.append(copy)
        return copy
    }

    /// Saves the database of a device.
    func backUp(_ device: Device, to name: String) throws {
        try device.crm.closeConnection()
        try FileManager.default.copyItem(atPath: device.crm.databasePath, toPath: directory.file(name))
    }

    /// Puts an earlier database of a device back in its place: as another file, or into the same one.
    func restore(_ device: Device, from name: String, intoSameFile: Bool) throws {
        try device.crm.closeConnection()
        let path = device.crm.databasePath
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        guard intoSameFile else {
            try FileManager.default.removeItem(atPath: path)
            return try FileManager.default.copyItem(atPath: directory.file(name), toPath: path)
        }
        let handle = try #require(FileHandle(forWritingAtPath: path))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(contentsOf: URL(filePath: directory.file(name))))
        try handle.close()
    }

    /// Synchronizes, and registers the device again if a restored store does not know it.
    @discardableResult
    func synchronize(_ device: Device) throws -> SynchronizationResult {
        do { return try device.crm.synchronize() } catch  where error.code == .registrationUnknown {
            try device.application.register(timeout: .seconds(60))
            return try device.crm.synchronize()
        }
    }

    @discardableResult
    func submit(_ name: String, _ device: Device) throws -> Customer {
        let customer = Customer(in: device.crm)
        (customer.name, customer.since, customer.region) = (name, LocalDate(daysSince1970: 20_000), "NORTH")
        try customer.create()
        try customer.submitPending()
        return customer
    }
}

/// Accepted operations that a restored back end has lost.
@Suite struct LostOperationTests {
    @Test func `lost operations are listed with their values, reported, and done again when they are submitted again`() throws {
        let bench = try RestoreBench(), device = try bench.newDevice("device")
        try bench.synchronize(device)
        try bench.submit("Kept", device)
        try bench.synchronize(device)
        try bench.backUp("enterprise.db", to: "backup.db")
        let gone = try bench.submit("Gone", device)
        let changed = try #require(try Customer.findByPrimaryKey(1, in: device.crm))
        changed.city = "Sligo"
        try changed.update()
        try changed.submitPending()
        #expect(try bench.synchronize(device).operationsAccepted == 2 && device.crm.lostOperations().isEmpty)
        try bench.restore("enterprise.db", from: "backup.db")
        try bench.synchronize(device)
        let lost = try device.crm.lostOperations()
        #expect(lost.map(\.change) == ["C", "U"] && lost.map(\.entity) == ["Customer", "Customer"] && lost.first?.surrogateKey == gone.surrogateKey)
        #expect(lost.first?.values["name"]?.string == "Gone" && lost.last?.values == ["city": "Sligo"])
        #expect(try Customer.findAll(in: device.crm).allSatisfy { $0.name != "Gone" })
        try bench.synchronize(device)
        #expect(try bench.administration.reconciliation().map(\.fate) == [.lost, .lost])
        for operation in lost { try device.crm.submitAgain(operation) }
        #expect(throws: ObjectError.self) { try device.crm.submitAgain(lost[0]) }
        #expect(try bench.synchronize(device).operationsAccepted == 2 && device.crm.lostOperations().isEmpty && device.crm.outbox.isEmpty)
        #expect(try bench.rows("SELECT city FROM customer WHERE id = 1") == [["Sligo"]])
        #expect(try bench.rows("SELECT count(*) FROM customer WHERE name = 'Gone'") == [[1]])
        #expect(try Customer.find(gone.surrogateKey, in: device.crm)?.name == "Gone")
        try bench.synchronize(device)
        #expect(try bench.administration.reconciliation().count == 2)
    }

    @Test func `a lost operation that is forgotten is listed no longer`() throws {
        let bench = try RestoreBench(), device = try bench.newDevice("device")
        try bench.synchronize(device)
        try bench.backUp("enterprise.db", to: "backup.db")
        try bench.submit("Gone", device)
        try bench.synchronize(device)
        try bench.restore("enterprise.db", from: "backup.db")
        try bench.synchronize(device)
        try device.crm.forget(try #require(device.crm.lostOperations().first))
        try bench.synchronize(device)
        #expect(try device.crm.lostOperations().isEmpty)
    }

    @Test func `a copy submits lost operations of its original again: the row gets a key that the copy may give, and later operations follow`() throws
    {
        let bench = try RestoreBench(), device = try bench.newDevice("device")
        try bench.synchronize(device)
        for file in ["cache", "enterprise"] { try bench.backUp("\(file).db", to: "\(file).backup") }
        let gone = Customer(in: device.crm), order = SalesOrder(in: device.crm)
        (gone.name, gone.since, gone.region, order.orderDate) = ("Gone", LocalDate(daysSince1970: 20_000), "NORTH", gone.since)
        gone.orders.append(order)
        try gone.save()
        try gone.submitPending()
        #expect(try bench.synchronize(device).operationsAccepted == 2)
        let copy = try bench.copy(device, to: "copy")
        // With both, the server does not know the former key of the row.
        for file in ["cache", "enterprise"] { try bench.restore("\(file).db", from: "\(file).backup") }
        try bench.synchronize(copy)
        let lost = try copy.crm.lostOperations()
        #expect(lost.map(\.entity) == ["Customer", "SalesOrder"])
        for operation in lost { try copy.crm.submitAgain(operation) }
        let result = try bench.synchronize(copy)
        #expect(result.operationsAccepted == 2 && result.operationsRejected == 0)
        let customer = try #require(Customer.findAll(in: copy.crm).first { $0.name == "Gone" })
        #expect(customer.surrogateKey != gone.surrogateKey && customer.orders.count == 1)
        // The original lists them as well. Submitted once more, its row is another one.
        try bench.synchronize(device)
        for operation in try device.crm.lostOperations() { try device.crm.submitAgain(operation) }
        #expect(try bench.synchronize(device).operationsAccepted == 2)
        #expect(try bench.rows("SELECT count(*) FROM customer WHERE name = 'Gone'") == [[2]])
    }

    /// The oracle: in the end all devices show the rows of the back end, under the same keys; nothing was rejected; every row that a device has created and
    /// submitted is in the back end once, or listed as lost on a device, from where it can be submitted again. A device that was put back to an earlier
    /// state does not know its later rows: these are in the back end once or not at all.
    @Test(arguments: RestoreSeeds.range)
    func `random histories of restored stores, back ends and devices, and of copied devices: all converge, and nothing accepted is silently lost`(
        seed: Int
    ) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let bench = try RestoreBench(seed: UInt64(seed))
        var stores: [String] = [], backEnds: [String] = [], names: Set<String> = [], number = 0
        // By device: the names that it has submitted, and its backups with the number of these at that time.
        var submitted: [Int: [String]] = [:], databases: [(device: Int, path: String, count: Int)] = [], forgotten: Set<String> = []
        for name in ["one", "two"] { try bench.synchronize(try bench.newDevice(name)) }
        for _ in 0..<44 {
            number += 1
            let index = Int.random(in: 0..<bench.devices.count, using: &random), device = bench.devices[index], path = "backup \(number)"
            switch Int.random(in: 0..<19, using: &random) {
            case 0:
                try bench.backUp("cache.db", to: path)
                stores.append(path)
            case 1:
                try bench.backUp("enterprise.db", to: path)
                backEnds.append(path)
            case 2: if let from = stores.randomElement(using: &random) { try bench.restore("cache.db", from: from) }
            case 3: if let from = backEnds.randomElement(using: &random) { try bench.restore("enterprise.db", from: from) }
            case 4:
                if let store = stores.randomElement(using: &random), let backEnd = backEnds.randomElement(using: &random) {
                    try bench.restore("cache.db", from: store)
                    try bench.restore("enterprise.db", from: backEnd)
                }
            case 5: if bench.devices.count < 4 { _ = try bench.copy(device, to: "copy \(number)") }
            case 6: _ = try bench.rows("UPDATE customer SET city = ?1 WHERE id <= 3", [.text("city \(number)")])
            case 7, 8, 9, 10:
                names.insert("Created \(number)")
                submitted[index, default: []].append("Created \(number)")
                try bench.submit("Created \(number)", device)
            case 11:
                // The answer is lost on its way.
                bench.network.conditions.fault = { _, _ in .cutResponse }
                _ = try? device.crm.synchronize()
                bench.network.conditions.fault = { _, _ in nil }
            case 12:
                try bench.backUp(device, to: path)
                databases.append((index, path, submitted[index, default: []].count))
            case 13:
                guard let saved = databases.randomElement(using: &random) else { break }
                try bench.restore(bench.devices[saved.device], from: saved.path, intoSameFile: Bool.random(using: &random))
                forgotten.formUnion(submitted[saved.device, default: []].dropFirst(saved.count))
            default: #expect(try bench.synchronize(device).operationsRejected == 0, "seed \(seed)")
            }
        }
        for _ in 0..<3 { for device in bench.devices { #expect(try bench.synchronize(device).operationsRejected == 0, "seed \(seed)") } }
        func present() throws -> [String] { try bench.rows("SELECT name FROM customer WHERE name LIKE 'Created %'").compactMap { $0[0].text } }
        // Each lost row is submitted again from one device that lists it.
        var missing = names.subtracting(try present())
        for device in bench.devices {
            for operation in try device.crm.lostOperations() {
                if missing.remove(operation.values["name"]?.string ?? "") != nil {
                    try device.crm.submitAgain(operation)
                } else {
                    try device.crm.forget(operation)
                }
            }
        }
        #expect(missing.isSubset(of: forgotten), "seed \(seed): neither in the back end nor listed as lost")
        for _ in 0..<2 { for device in bench.devices { #expect(try bench.synchronize(device).operationsRejected == 0, "seed \(seed)") } }
        #expect(try present().sorted() == names.subtracting(missing).sorted(), "seed \(seed)")
        let rows = try bench.rows("SELECT name, city FROM customer WHERE region = 'NORTH'").map { "\($0[0].text ?? "") \($0[1].text ?? "")" }.sorted()
        let first = try bench.devices[0].customers()
        for device in bench.devices {
            #expect(try Customer.findAll(in: device.crm).map { "\($0.name) \($0.city)" }.sorted() == rows, "seed \(seed)")
            #expect(try device.customers() == first, "seed \(seed)")
            #expect(try !device.crm.hasPendingOperations(), "seed \(seed)")
        }
    }
}
