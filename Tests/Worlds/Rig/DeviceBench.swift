internal import Foundation
internal import MobileExecution
internal import MobileModel
internal import MobileObjects
internal import MobileStore
internal import MobileSync
internal import TestSupport

/// A row as a device shows it.
struct ShownRow: Equatable {
    let object: Int, tag: String
    let surrogateKey: Int64
    /// By column; without those that are NULL.
    let values: [String: String]
    let change: PendingChange

    func key(_ world: World) -> [String] { world.keyColumns(object).map { values[$0] ?? "" } }
}

/// A device of a world.
final class DeviceBench {
    /// Its place in the world.
    let index: Int
    /// Another device in the same place has another one.
    let id: Int
    let world: World
    let user: Int
    var subscribed: Set<Region>
    private(set) var version = 1
    let network: WorldNetwork
    private(set) var application: Application
    private(set) var package: PackageDatabase
    private let models: [PackageMetadata], folder: String, environment: MobileObjects.Environment
    /// The tags of rows that were seen, by object and surrogate key.
    var tags: [Place: String] = [:]

    /// Keys that references have, of rows that are still to be made, by object.
    var plannedKeys: [Int: [Int]] = [:]

    struct Place: Hashable {
        let object: Int, surrogateKey: Int64
    }

    /// - Parameter generation: another number makes another device in the same place.
    init(
        _ world: World, _ index: Int, generation: Int, _ models: [PackageMetadata], version: Int, _ server: ServerBench, folder: String,
        _ clock: VirtualClock
    )
        throws
    {
        (self.world, self.index, self.id, self.models) = (world, index, generation, models)
        (user, subscribed) = (world.devices[index].user, world.devices[index].regions)
        self.folder = folder + "/device\(index).\(generation)"
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: false)
        let seed = world.seed &* 31 &+ UInt64(index * 100 + generation)
        network = WorldNetwork(server, seed: seed, clock: clock)
        let random = RandomWords(seed: seed), console = ConsoleLogger()
        // Each restored database says that it is one.
        console.level = .off
        environment = MobileObjects.Environment(now: { clock.date }, random: { random.next() }, console: console)
        application = try Application(
            identifier: "World", profile: ConnectionProfile(path: self.folder + "/application.db"), transport: network,
            retryPolicy: RetryPolicy(initialDelay: .seconds(360_000), maximumDelay: .seconds(360_000)),
            makeDeviceID: { "device \(index).\(generation)" })
        application.connectionProperties = ConnectionProperties(
            serverName: "mobile.example", loginCredentials: LoginCredentials(user: ServerBench.user(user), password: ServerBench.password))
        self.version = version
        package = PackageDatabase(
            metadata: models[version - 1], profile: ConnectionProfile(path: self.folder + "/world.db"), environment: environment)
        try package.openConnection()
        package.application = application
    }

    func close() throws {
        try package.closeConnection()
        try application.close()
    }

    /// Registers and subscribes.
    func begin() throws {
        try application.register(timeout: .seconds(60))
        for region in subscribed.sorted() { try setSubscription(region, true) }
        try package.subscribe()
    }

    /// Opens the database again, with the model of a version.
    func reopen(version: Int) throws {
        try package.closeConnection()
        let opened = PackageDatabase(metadata: models[version - 1], profile: ConnectionProfile(path: folder + "/world.db"), environment: environment)
        try opened.openConnection()
        package.application = nil
        opened.application = application
        (package, self.version) = (opened, version)
    }

    /// A backup of the database, with the changes of users until then.
    private(set) var saved: (edits: [Edit], subscribed: Set<Region>, version: Int)?

    /// Makes a backup of the database.
    func save(_ edits: [Edit]) throws {
        try package.closeConnection()
        try? FileManager.default.removeItem(atPath: folder + "/saved.db")
        try FileManager.default.copyItem(atPath: folder + "/world.db", toPath: folder + "/saved.db")
        saved = (edits, subscribed, version)
        try package.openConnection()
    }

    /// Puts the backup in place of the database.
    func restore() throws {
        guard let saved else { return }
        try package.closeConnection()
        let handle = try FileHandle(forWritingTo: URL(filePath: folder + "/world.db"))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(contentsOf: URL(filePath: folder + "/saved.db")))
        try handle.close()
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: folder + "/world.db" + suffix) }
        (subscribed, version) = (saved.subscribed, saved.version)
        try reopen(version: version)
    }

    /// Opens the database again with its present model, after an upgrade that was refused.
    func openAgain() throws { try package.openConnection() }

    /// Subscribes all objects with a parameter that the device chooses to a region, or takes that back.
    func setSubscription(_ region: Region, _ isOn: Bool) throws {
        for (object, model) in world.objects.enumerated() {
            switch model.partition {
            case .all, .bound: continue
            case .region, .parent: break
            }
            let entity = try package.entity(World.name(object)).metadata
            if isOn {
                try package.addSubscription(["region": .string(region.rawValue)], to: entity)
            } else {
                for subscription in try package.subscriptions(of: entity) where subscription.parameters["region"] == .string(region.rawValue) {
                    try package.removeSubscription(subscription)
                }
            }
        }
    }

    /// All rows, in the order of their tags.
    func shown() throws -> [ShownRow] {
        var rows: [ShownRow] = []
        for object in world.objects.indices {
            for entity in try package.entity(World.name(object)).findAll() { rows.append(try row(entity, object)) }
        }
        for row in rows { tags[Place(object: row.object, surrogateKey: row.surrogateKey)] = row.tag }
        return rows.sorted { ($0.tag, $0.surrogateKey) < ($1.tag, $1.surrogateKey) }
    }

    private func row(_ entity: GenericEntity, _ object: Int) throws -> ShownRow {
        var values: [String: String] = [:]
        for (column, type) in world.columns(object, version: version) {
            values[column] = type.canonical(try entity.value(world.attribute(ofColumn: column, object, version: version)))
        }
        return ShownRow(object: object, tag: values["tag"] ?? "", surrogateKey: entity.surrogateKey, values: values, change: entity.pendingChange)
    }

    func entity(_ row: ShownRow) throws -> GenericEntity { try package.entity(World.name(row.object)).load(row.surrogateKey) }

    /// Sets the value of a column.
    func setValue(_ value: String?, _ column: String, _ entity: GenericEntity, _ object: Int) throws {
        let type = world.columns(object, version: version).first { $0.name == column }?.type ?? .string
        try entity.setValue(type.attributeValue(value), world.attribute(ofColumn: column, object, version: version))
    }
}

/// Random words of a seed, for closures.
private final class RandomWords: Sendable {
    private let state: SystemLock<SeededGenerator>

    init(seed: UInt64) { state = SystemLock(SeededGenerator(seed: seed)) }

    func next() -> UInt64 { state.withLock { $0.next() } }
}
