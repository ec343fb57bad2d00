internal import Foundation
internal import MobileModel
internal import MobileObjects
internal import MobileSync
internal import PostgreSQLClient
internal import PostgreSQLTestSupport
internal import TestSupport

/// Runs the history of a world, and judges it. Everything happens in the turn of the calling thread, one call after the other, with clocks and random
/// numbers of the world's own: the same world has the same history each time.
final class Rig {
    let world: World
    /// Known faults that the history keeps away from.
    let avoided: Set<KnownFault>
    let clock = VirtualClock(start: .seconds(1_900_000_000))
    private(set) var enterprise: any EnterpriseDatabase
    private let openEnterprise: () throws -> any EnterpriseDatabase
    let stores: Stores
    let server: any WorldServer
    /// The versions of each package, by its name.
    let models: [String: [PackageMetadata]]
    /// Whether the server has the second version of the packages.
    var isSecondDeployed: Bool
    /// Removed with the world.
    let database: PostgreSQLTestDatabase?
    private let folder: TemporaryDirectory
    /// Where a saved back end is.
    private var savedEnterprise: SavedEnterprise?
    /// Whether an earlier state of the back end has taken its place.
    private(set) var hasRestoredBackEnd = false
    /// Whether a request has come to the server once more.
    var hasSentAgain = false
    var devices: [DeviceBench] = []
    /// All changes of users, in their order.
    var edits: [Edit] = []
    /// The regions that each user has now, and those that he does not have, or did not have at some time.
    var rights: [Set<Region>], lackedRights: [Set<Region>]
    /// The rights of all users when a line of the ledger was written.
    private(set) var lineRights: [Int: [Set<Region>]] = [:]
    private(set) var lastLine = 0
    /// The users of all devices that there were, by the ids of the devices.
    var users: [Int: Int] = [:]
    /// The number of the step that runs.
    var step = 0
    /// A line for each step: what it did.
    private(set) var trace: [String] = []
    /// The kinds of steps that did something, with the features of the object that they were about.
    var met: Set<Meeting> = []
    /// How often steps of each kind did something.
    private(set) var done: [Step.Kind: Int] = [:]
    /// The last step that moved the clock by more than 30 days.
    var lastLeap = -1
    /// The latest time of all.
    var latest = Duration.zero
    /// The number of times that the server has got an empty or earlier state.
    var lostStates = 0
    /// Gives tags, stamps and keys; never the same twice.
    private(set) var counter = 0
    private var generation = 0
    /// The end of the ledger before the last look.
    var seenLedger = 0
    /// Lines of the ledger that restores of the back end have removed.
    var undone: [Truth.Entry] = []
    /// Lines of the ledger that other applications made.
    var foreignLines: Set<Int> = []
    /// Keys of deleted rows, by object.
    var freeKeys: [Int: [Int]] = [:]

    init(_ world: World, avoiding avoided: Set<KnownFault>, in stores: Stores) throws {
        self.stores = stores
        let world = world.avoiding(avoided)
        (self.world, self.avoided) = (world, avoided)
        rights = world.users
        lackedRights = world.users.map { Set(Region.allCases).subtracting($0) }
        folder = try TemporaryDirectory()
        let names = Set(world.devices.indices.map { world.packageName($0) }).sorted()
        let texts = names.flatMap { name in [1, 2].map { world.model(version: $0, name: name) } }
        let packages = try texts.map { try PackageModel(json: $0) }
        models = try Dictionary(grouping: packages, by: \.name).mapValues { try $0.map { try PackageMetadata($0) } }
        isSecondDeployed = stores == .processes || !world.steps.contains { $0.kind == .deploy }
        let directory = folder.path, place: String, ground = stores == .processes ? try ProcessGround.borrow() : nil
        switch stores {
        case .sqlite:
            database = nil
            place = directory + "/enterprise.db"
            openEnterprise = { try SQLiteEnterprise(path: place) }
        case .postgreSQL, .processes:
            let made = try ground?.postgreSQL.database() ?? PostgreSQLTestDatabase(), isDurable = ground != nil
            database = made
            place = "postgresql://postgres@/\(made.name)?host=\(made.server.folder)&port=\(made.server.port)"
            openEnterprise = { try PostgreSQLEnterprise(address: place, isDurable: isDurable) }
        }
        enterprise = try openEnterprise()
        try enterprise.run(world.tables(in: stores, reusesKeys: !avoided.contains(.reusedKeys)))
        server =
            if let ground {
                try ServerProcesses(world, texts, backEnd: place, folder: directory, ground, startsApart: avoided.contains(.startsAtOnce))
            } else {
                try ServerBench(
                    world, packages, isSecondDeployed: isSecondDeployed, backEnd: place, folder: directory, stores, clock: clock)
            }
    }

    /// Makes rows and devices, runs all steps, and checks what is there at rest.
    func run() throws {
        step = -1
        for object in world.objects.indices { for pick in 0..<3 { try foreignInsert(object, pick) } }
        for index in world.devices.indices { devices.append(try newDevice(index)) }
        for (number, step) in world.steps.enumerated() {
            self.step = number
            clock.advance(by: .seconds(1))
            let result = try take(step)
            try noteRights()
            guard let text = result else { continue }
            note("\(number) \(step.kind) \(text)")
            done[step.kind, default: 0] += 1
            // A step that is about no object meets all of them.
            if !met.contains(where: { $0.kind == step.kind }) { for object in world.objects.indices { meet(step.kind, object) } }
        }
        step = world.steps.count
        try settle()
    }

    func close() {
        for device in devices { try? device.close() }
        try? server.close()
    }

    func note(_ line: String) { trace.append(line) }

    /// A number that was not there before.
    func number() -> Int {
        counter += 1
        return counter
    }

    /// - Parameter former: a device with another user, whose place and name it takes.
    func newDevice(_ index: Int, version: Int = 1, after former: DeviceBench? = nil) throws -> DeviceBench {
        // A copy of a device has no place in the world.
        let own = index < world.devices.count ? world.devices[index] : WorldDevice(user: devices[index].user, regions: devices[index].subscribed)
        let user = former.map { 1 - $0.user } ?? own.user, package = devices.indices.contains(index) ? devices[index].packageName : nil
        let device = try bench(
            index, user: user, regions: former?.subscribed ?? own.regions, version: version, package: package ?? world.packageName(index),
            name: former?.name)
        do {
            try device.begin()
            try device.package.synchronize()
        } catch { throw failure(.deviceStuck, "device \(index), at its first synchronization: \(error)\(server.lastErrors)") }
        return device
    }

    /// A device that is not registered.
    /// - Parameter original: a closed device whose database it gets.
    func bench(
        _ index: Int, user: Int, regions: Set<Region>, version: Int, package: String, name: String? = nil, copying original: DeviceBench? = nil
    ) throws -> DeviceBench {
        generation += 1
        let directory = folder.file("devices")
        if generation == 1 { try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false) }
        let device = try DeviceBench(
            world, index, user: user, regions: regions, generation: generation, package, models[package] ?? [], version: version, name: name, server,
            folder: directory, copying: original, clock)
        users[device.id] = device.user
        return device
    }

    func failure(_ kind: WorldFailure.Kind, _ text: String) -> WorldFailure { WorldFailure(kind: kind, text: text, step: step) }

    /// Notes that a step met an object.
    func meet(_ kind: Step.Kind, _ object: Int) { for feature in world.features(object) { met.insert(Meeting(kind: kind, feature: feature)) } }

    // MARK: The back end

    private enum SavedEnterprise {
        case file(String)
        case database(PostgreSQLTestDatabase)
    }

    /// Makes a backup of the back end.
    func saveBackEnd() throws {
        try whileBackEndIsClosed { path in
            if let database {
                savedEnterprise = .database(try PostgreSQLTestDatabase(copyOf: database))
            } else {
                let saved = folder.file("enterprise-saved.db")
                try? FileManager.default.removeItem(atPath: saved)
                try FileManager.default.copyItem(atPath: path, toPath: saved)
                savedEnterprise = .file(saved)
            }
        }
    }

    /// Puts the backup in the place of the back end.
    /// - Returns: false if there is none.
    func restoreBackEnd() throws -> Bool {
        guard let savedEnterprise else { return false }
        try whileBackEndIsClosed { path in
            switch savedEnterprise {
            case .database(let saved): try database?.replace(with: saved)
            case .file(let saved):
                try FileManager.default.removeItem(atPath: path)
                try FileManager.default.copyItem(atPath: saved, toPath: path)
            }
        }
        hasRestoredBackEnd = true
        seenLedger = 0
        try look()
        foreignLines = foreignLines.filter { $0 <= seenLedger }
        lineRights = lineRights.filter { $0.key <= seenLedger }
        lastLine = min(lastLine, seenLedger)
        freeKeys = [:]
        return true
    }

    private func whileBackEndIsClosed(_ body: (_ path: String) throws -> Void) throws {
        guard let server = server as? ServerBench else { return }
        try server.close()
        // Without its last connection a file of SQLite has no log file next to it.
        enterprise.close()
        try body(folder.file("enterprise.db"))
        enterprise = try openEnterprise()
        try server.open()
    }

    // MARK: Lines of the ledger

    /// Runs a change of another application, whose lines of the ledger are its own.
    func foreign(_ sql: String) throws -> Bool {
        try look()
        do { try enterprise.run(sql) } catch { return false }
        for entry in try Truth.ledger(enterprise, after: seenLedger) {
            foreignLines.insert(entry.sequence)
            seenLedger = entry.sequence
        }
        return true
    }

    /// Takes notice of the rights under which lines were written. Between changes of rights they are the same.
    func noteRights() throws {
        let last = Int(try enterprise.rows("SELECT coalesce(max(seq), 0) FROM ledger")[0][0] ?? "") ?? lastLine
        while lastLine < last {
            lastLine += 1
            lineRights[lastLine] = rights
        }
    }

    /// Takes notice of all lines until now.
    func look() throws {
        seenLedger = Int(try enterprise.rows("SELECT coalesce(max(seq), 0) FROM ledger")[0][0] ?? "") ?? seenLedger
    }
}

/// A kind of step with a feature of the object that it was about, or of any object.
struct Meeting: Hashable {
    let kind: Step.Kind, feature: Feature
}
