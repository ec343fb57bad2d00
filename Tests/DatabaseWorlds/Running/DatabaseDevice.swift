internal import Foundation
internal import MobileCrypto
internal import MobileExecution
internal import MobileModel
internal import MobileObjects
internal import MobileServer
internal import MobileStore
internal import MobileSync
internal import TestSupport

/// The server of a database, and one device of it, in this process.
final class DatabaseDevice {
    let package: PackageDatabase
    private let application: Application
    private let server: MobileServer
    private let clock = VirtualClock(start: .seconds(1_900_000_000))

    static let user = "clerk"

    /// Opens the server.
    /// - Throws: the server's error: it does not deploy the model.
    static func server(_ model: PackageModel, place: String, folder: String, seed: UInt64) throws -> MobileServer {
        var configuration = ServerConfiguration(
            cachePath: folder + "/cache.db", packages: [PackageDeployment(model, backEnds: ["enterprise": place])], users: [user: user])
        configuration.passwordParameters = .init(n: 16)
        configuration.connectionTimeout = .milliseconds(2000)
        let random = SystemLock(SeededGenerator(seed: seed))
        configuration.random = { count in random.withLock { random in (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) } } }
        return try MobileServer(configuration)
    }

    /// Registers and subscribes; nothing is synchronized.
    init(_ model: PackageModel, _ server: MobileServer, folder: String, seed: UInt64) throws {
        self.server = server
        let console = ConsoleLogger()
        console.level = .off
        let clock = clock, random = SystemLock(SeededGenerator(seed: seed &+ 1))
        let environment = MobileObjects.Environment(
            now: { clock.date }, random: { random.withLock { $0.next() } }, console: console)
        application = try Application(
            identifier: "Databases", profile: ConnectionProfile(path: folder + "/application.db"),
            transport: SimulatedTransport(server: { server.respond(to: $0) }, seed: seed, clock: clock),
            retryPolicy: RetryPolicy(initialDelay: .seconds(360_000), maximumDelay: .seconds(360_000)), makeDeviceID: { "device" })
        application.connectionProperties = ConnectionProperties(
            serverName: "mobile.example", loginCredentials: LoginCredentials(user: Self.user, password: Self.user))
        package = PackageDatabase(
            metadata: try PackageMetadata(model), profile: ConnectionProfile(path: folder + "/device.db"), environment: environment)
        try package.openConnection()
        package.application = application
        try application.register(timeout: .seconds(60))
        try package.subscribe()
    }

    func close() {
        try? package.closeConnection()
        try? application.close()
        try? server.close()
    }

    func synchronize() throws {
        clock.advance(by: .seconds(1))
        try package.synchronize()
    }

    // MARK: Values

    /// The value of an attribute in the form of ``Meaning``.
    func shown(_ entity: GenericEntity, _ attribute: AttributeModel) throws -> String? {
        guard attribute.isLarge else { return Meaning.shown(try entity.value(attribute.name)) }
        let index = entity.metadata.attributes.firstIndex { $0.name == attribute.name } ?? 0
        guard let id = try entity.largeValue(ofAttribute: index) else { return nil }
        let bytes = try LargeValueReader(id, in: entity.largeValueDatabase).bytes(upTo: 10_000_000)
        return attribute.type == .bigString ? String(decoding: bytes, as: UTF8.self) : StoredValue.hex(bytes)
    }

    /// Sets the value of an attribute.
    func set(_ text: String?, _ attribute: AttributeModel, of entity: GenericEntity) throws {
        guard attribute.isLarge else {
            guard let value = Meaning.attributeValue(text, attribute) else { return }
            return try entity.setValue(value, attribute.name)
        }
        let index = entity.metadata.attributes.firstIndex { $0.name == attribute.name } ?? 0
        guard let text else { return try entity.setLargeValue(nil, ofAttribute: index) }
        let writer = try LargeValueWriter(in: entity.largeValueDatabase, unit: attribute.type == .bigString ? .scalars : .bytes)
        if attribute.type == .bigString { try writer.write(text) } else { try writer.write(Meaning.bytes(text)) }
        try entity.setLargeValue(writer.finish(), ofAttribute: index)
    }

    /// The answer of the server to the operations of a synchronization.
    enum Answer {
        case accepted, deferred
        case rejected(String)
    }

    /// Submits everything and synchronizes.
    func submit() throws -> Answer {
        try package.submitPendingOperations()
        let ids = try package.outbox.map { "\($0.id)" }
        try synchronize()
        let waiting = try package.outbox
        guard waiting.isEmpty else { return .deferred }
        for record in try package.logRecords() where ids.contains(record.requestID) && record.code != LogRecord.Code.success {
            return .rejected(record.message)
        }
        return .accepted
    }
}
