import Foundation
import MobileCrypto
import MobileExecution
import MobileModel
import MobileObjects
import MobileServer
import MobileStore
import MobileTransport
import SampleCRM
import TestSupport

@testable import MobileSync

/// A sample back end, a server over it and a network in memory, all in one directory; any number of devices can be added.
final class TestBench: Sendable {
    let directory: TemporaryDirectory
    let contents: SampleBackEnd.Contents
    let server: MobileServer
    let network: SimulatedTransport
    /// The back end, opened independently of the server.
    let backEnd: Database

    static let user = "smith", password = "s3cret"

    /// Makes a bench with 20 customers, 15 of them in region NORTH, 30 orders, and 25 products, 3 of them with a picture.
    init(seed: UInt64 = 1, configure: (inout ServerConfiguration) -> Void = { _ in }) throws {
        directory = try TemporaryDirectory()
        let path = directory.file("enterprise.db")
        contents = try SampleBackEnd.create(at: path, scale: 0.0001)
        let server = try Self.server(directory, configure)
        self.server = server
        network = SimulatedTransport(server: { server.respond(to: $0) }, seed: seed)
        var profile = ConnectionProfile(path: path)
        profile.journal = .unchanged
        profile.createsFile = false
        backEnd = try Database(profile)
    }

    /// Opens another server over the same files.
    func server(_ configure: (inout ServerConfiguration) -> Void) throws -> MobileServer { try Self.server(directory, configure) }

    private static func server(_ directory: TemporaryDirectory, _ configure: (inout ServerConfiguration) -> Void) throws -> MobileServer {
        var configuration = ServerConfiguration(
            cachePath: directory.file("cache.db"),
            packages: [PackageDeployment(CRM.metadata.model, backEnds: ["enterprise": directory.file("enterprise.db")])],
            users: [user: password])
        configuration.passwordParameters = .init(n: 16)  // cheap, because these tests do not measure logins
        configure(&configuration)
        return try MobileServer(configuration)
    }

    /// Makes a new device.
    func newDevice(_ name: String = "device", transport: (any Transport)? = nil, environment: Environment = Environment()) throws -> Device {
        let device = try Device(directory: directory.file(name), transport: transport ?? network, environment: environment)
        device.folder.withLock { $0 = directory }
        return device
    }

    /// Makes a device that is registered and subscribed.
    func subscribedDevice(_ name: String = "device", transport: (any Transport)? = nil) throws -> Device {
        let device = try newDevice(name, transport: transport)
        try device.application.register(timeout: .seconds(60))
        try device.crm.subscribe()
        return device
    }

    /// Makes a device that has its data.
    func synchronizedDevice(_ name: String = "device", groups: String? = nil) throws -> Device {
        let device = try subscribedDevice(name)
        try device.crm.synchronize(groups)
        return device
    }

    /// Copies the database of a closed device, as a backup of its file does, or with its mark, as an image of the whole device does.
    func copyDatabase(of device: Device, to name: String, isImage: Bool) throws {
        let folder = directory.file(name), path = device.crm.databasePath
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: path, toPath: folder + "/crm.db")
        guard isImage else { return }
        // In an image, the file has its former number.
        let mark = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: path + "-mark"))) as? [String: Any] ?? [:]
        try JSONSerialization.data(withJSONObject: mark.filter { $0.key != "file" }).write(to: URL(filePath: folder + "/crm.db-mark"))
    }

    /// Removes the server's devices and sessions, as after a restored backup.
    func forgetDevices() throws { try empty(["_session", "_device"]) }

    /// Removes the server's sessions; devices must log in again.
    func forgetSessions() throws { try empty(["_session"]) }

    private func empty(_ tables: [String]) throws {
        let cache = try Database(ConnectionProfile(path: directory.file("cache.db")))
        try cache.write { connection in
            for table in tables { _ = try connection.execute("DELETE FROM \(table)", []) }
        }
        try cache.close()
    }

    /// Reads rows of the back end.
    func rows(_ sql: String, _ values: [Value] = []) throws -> [[Value]] { try backEnd.read { try $0.rows(sql, values) } }

    /// Reads the first value of the first row.
    func value(_ sql: String, _ values: [Value] = []) throws -> Value? { try rows(sql, values).first?.first }

    /// Changes the back end behind the server's back.
    func change(_ sql: String, _ values: [Value] = []) throws {
        _ = try backEnd.write { try $0.execute(sql, values) }
    }
}

/// One device with its application and its package.
final class Device: Sendable {
    let application: Application
    let crm: CRM
    let events = RecordedApplicationEvents()
    let handler = RecordedCallbacks()
    /// The files are there as long as the device is.
    fileprivate let folder = SystemLock<TemporaryDirectory?>(nil)

    init(
        directory: String, transport: any Transport,
        retryPolicy: RetryPolicy = RetryPolicy(initialDelay: .seconds(3600), maximumDelay: .seconds(3600)),
        environment: Environment = Environment(), surroundings: Application.Surroundings = .init(), synchronizer: PackageSynchronizer? = nil
    ) throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        application = try Application(
            identifier: "CRM", profile: ConnectionProfile(path: directory + "/application.db"), transport: transport, retryPolicy: retryPolicy,
            surroundings: surroundings)
        application.connectionProperties = ConnectionProperties(
            serverName: "mobile.example", loginCredentials: LoginCredentials(user: TestBench.user, password: TestBench.password))
        application.callback = events
        crm = try CRM.open(ConnectionProfile(path: directory + "/crm.db"), environment: environment)
        if let synchronizer { _ = crm.attachment { synchronizer } }
        crm.application = application
        crm.registerCallbackHandler(handler)
    }

    /// Returns the visible content: names and credit limits of all customers, by surrogate key.
    func customers() throws -> [String] {
        try Customer.findAll(in: crm).map { "\($0.surrogateKey) \($0.name) \($0.creditLimit)" }.sorted()
    }
}
