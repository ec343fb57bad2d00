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
    /// Whether it has given up a region.
    var hasLeftRegions = false
    private(set) var version = 1
    /// The name under which it registers.
    let name: String
    let packageName: String
    /// Whether another user had the name before.
    let hasFormerUser: Bool
    let network: any DeviceNetwork
    private(set) var application: Application
    private(set) var package: PackageDatabase
    private let models: [PackageMetadata], folder: String, environment: MobileObjects.Environment
    /// In an eighth of all worlds each object has an observer: they read after each commit.
    private(set) var observers: [Int: RowObserver] = [:]
    /// Whether something has happened after which the server may send all rows once more.
    var mayStartAgain = true
    /// The tags of rows that were seen, by object and surrogate key.
    var tags: [Place: String] = [:]

    /// Keys that references have, of rows that are still to be made, by object.
    var plannedKeys: [Int: [Int]] = [:]

    struct Place: Hashable {
        let object: Int, surrogateKey: Int64
    }

    /// - Parameters:
    ///   - generation: another number makes another device in the same place.
    ///   - name: the name under which it registers; nil for one of its own.
    ///   - original: a device, which is closed, whose database it gets.
    init(
        _ world: World, _ index: Int, user: Int, regions: Set<Region>, generation: Int, _ packageName: String, _ models: [PackageMetadata],
        version: Int, name: String?, _ server: any WorldServer, folder: String, copying original: DeviceBench? = nil, _ clock: VirtualClock
    )
        throws
    {
        (self.world, self.index, self.id, self.models) = (world, index, generation, models)
        (self.user, subscribed) = (user, regions)
        hasFormerUser = name != nil
        let name = name ?? "device \(index).\(generation)"
        (self.name, self.packageName) = (name, packageName)
        self.folder = folder + "/device\(index).\(generation)"
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: false)
        let seed = world.seed &* 31 &+ UInt64(index * 100 + generation)
        network = server.network(seed: seed, clock: clock)
        let random = RandomWords(seed: seed), console = ConsoleLogger()
        // Each restored database says that it is one.
        console.level = .off
        environment = MobileObjects.Environment(now: { clock.date }, random: { random.next() }, console: console)
        application = try Application(
            identifier: "World", profile: ConnectionProfile(path: self.folder + "/application.db"), transport: network,
            retryPolicy: RetryPolicy(initialDelay: .seconds(360_000), maximumDelay: .seconds(360_000)),
            makeDeviceID: { name })
        application.connectionProperties = ConnectionProperties(
            serverName: "mobile.example", loginCredentials: LoginCredentials(user: ServerBench.user(user), password: ServerBench.password))
        self.version = version
        if let original {
            // Without its mark, a file is a copy.
            try FileManager.default.copyItem(atPath: original.folder + "/world.db", toPath: self.folder + "/world.db")
        }
        package = PackageDatabase(
            metadata: models[version - 1], profile: ConnectionProfile(path: self.folder + "/world.db"), environment: environment)
        try package.openConnection()
        package.application = application
        if logsChanges { try package.enableChangeLog() }
        try observe()
    }

    /// In another eighth, each device has a change log.
    var logsChanges: Bool { world.seed % 8 == 5 }

    /// Begins to observe after the database was opened, which ended the former observers.
    private func observe() throws {
        guard world.seed % 8 == 3 else { return }
        for object in world.objects.indices { observers[object] = RowObserver(try package.entity(World.name(object))) }
    }

    func close() throws {
        try package.closeConnection()
        try application.close()
    }

    /// Closes the database until the body has ended.
    func whileClosed<R>(_ body: () throws -> R) throws -> R {
        try package.closeConnection()
        let result = try body()
        try openAgain()
        return result
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
        try observe()
    }

    /// A backup of the database, with the changes of users until then.
    private(set) var saved: (edits: [Edit], subscribed: Set<Region>, version: Int)?

    /// The number of backups that took the place of the database. Each one gives the device another identity, with other ids of operations.
    private(set) var life = 0

    /// Makes a backup of the database.
    func save(_ edits: [Edit]) throws {
        try whileClosed {
            try? FileManager.default.removeItem(atPath: folder + "/saved.db")
            try FileManager.default.copyItem(atPath: folder + "/world.db", toPath: folder + "/saved.db")
        }
        saved = (edits, subscribed, version)
    }

    /// Puts the backup in place of the database.
    func restore() throws {
        guard let saved else { return }
        life += 1
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
    func openAgain() throws {
        try package.openConnection()
        try observe()
    }

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

    /// The tag of a row that was on the device, also under a surrogate key that it has got since.
    func tag(_ place: Place) throws -> String? {
        if let tag = tags[place] { return tag }
        let former = try package.store.read { connection in
            try connection.rows(
                "SELECT CAST(replace(\"name\", 'renumbered.', '') AS INTEGER) FROM \"_settings\" WHERE \"name\" GLOB 'renumbered.*' AND \"value\" = ?1",
                [.integer(place.surrogateKey)])
        }
        tags[place] = former.compactMap { $0[0].integer.flatMap { tags[Place(object: place.object, surrogateKey: $0)] } }.first
        return tags[place]
    }

    private func row(_ entity: GenericEntity, _ object: Int) throws -> ShownRow {
        var values: [String: String] = [:]
        for (column, type) in world.columns(object, version: version) {
            guard column != LongText.column else {
                values[column] = try text(entity)
                continue
            }
            let name = world.attribute(ofColumn: column, object, version: version)
            values[column] = type == .largeBinary ? try largeValue(entity.bigBinary(name)) : type.canonical(try entity.value(name))
        }
        return ShownRow(object: object, tag: values["tag"] ?? "", surrogateKey: entity.surrogateKey, values: values, change: entity.pendingChange)
    }

    private func largeValue(_ stream: BigBinary) throws -> String? {
        guard let length = try stream.length else { return nil }
        try stream.openForRead()
        let bytes = try stream.read(Int(length))
        try stream.close()
        return LargeContent(bytes ?? []).name
    }

    /// The row with the values of an object in memory.
    func shown(_ entity: GenericEntity, _ object: Int) throws -> ShownRow { try row(entity, object) }

    var file: String { folder + "/world.db" }

    /// Lets the file grow by this number of pages at most, or without a limit: as a disk that is full for a moment.
    func limitFile(to pages: Int?) throws {
        try package.store.write { connection in
            let count = try connection.first("PRAGMA page_count")?.first?.integer ?? 0
            _ = try connection.rows("PRAGMA max_page_count = \(pages.map { Int64($0) + count } ?? 0xFFFF_FFFE)")
        }
    }

    func entity(_ row: ShownRow) throws -> GenericEntity { try package.entity(World.name(row.object)).load(row.surrogateKey) }

    /// Sets the value of a column.
    func setValue(_ value: String?, _ column: String, _ entity: GenericEntity, _ object: Int) throws {
        let type = world.columns(object, version: version).first { $0.name == column }?.type ?? .string
        let name = world.attribute(ofColumn: column, object, version: version)
        guard type == .largeBinary else { return try entity.setValue(type.attributeValue(value), name) }
        let stream = try entity.bigBinary(name)
        guard let content = value.flatMap(LargeContent.named) else { return try stream.remove() }
        try stream.openForWrite(Int64(content.bytes.count))
        try stream.write(content.bytes)
        try stream.close()
    }
}

/// Random words of a seed, for closures.
private final class RandomWords: Sendable {
    private let state: SystemLock<SeededGenerator>

    init(seed: UInt64) { state = SystemLock(SeededGenerator(seed: seed)) }

    func next() -> UInt64 { state.withLock { $0.next() } }
}
