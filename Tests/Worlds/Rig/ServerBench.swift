internal import Foundation
internal import MobileCrypto
internal import MobileExecution
internal import MobileModel
internal import MobileObjects
internal import MobileServer
internal import PostgreSQLClient
internal import PostgreSQLTestSupport
internal import TestSupport

/// The server of a world in the process of the rig. Both versions of the package are deployed.
final class ServerBench: WorldServer {
    private let configuration: ServerConfiguration
    /// The last lines of the log.
    private let lines = SystemLock<[String]>([])
    /// The second versions of the packages, and whether they are deployed.
    private let second: [PackageDeployment], hasSecond: SystemLock<Bool>
    private let server = SystemLock<MobileServer?>(nil)
    private let folder: String
    /// The state in PostgreSQL, and the saved one.
    private let databases = SystemLock<(state: PostgreSQLTestDatabase?, saved: PostgreSQLTestDatabase?)>((nil, nil))

    static let password = "pencil and paper"
    static func user(_ index: Int) -> String { "user\(index)" }

    init(
        _ world: World, _ models: [PackageModel], isSecondDeployed: Bool, backEnd: String, folder: String, _ stores: Stores, clock: VirtualClock
    ) throws {
        self.folder = folder
        let deployment = { PackageDeployment($0, backEnds: ["enterprise": backEnd]) }
        hasSecond = SystemLock(isSecondDeployed)
        second = models.filter { $0.version != "1.0" }.map(deployment)
        let users = world.users.indices.map { (Self.user($0), Self.password) }
        var configuration = ServerConfiguration(
            cachePath: folder + "/cache.db", packages: models.filter { $0.version == "1.0" }.map(deployment),
            users: Dictionary(uniqueKeysWithValues: users))
        configuration.passwordParameters = .init(n: 16)
        // The step `lockBackEnd` waits for it. PostgreSQL may need longer to accept a connection, and has no such step.
        if stores == .sqlite { configuration.connectionTimeout = .milliseconds(200) }
        configuration.keyRangeSize = 16
        configuration.retention.deletedRows = 2
        // In half of all worlds the rows of a download come as segments, which are made for partitions of thousands of rows otherwise.
        if world.seed % 2 == 1 {
            configuration.segmentRules.leastRows = 2
            // A base of few rows would be written again for each change, and never be used together with later changes.
            (configuration.segmentRules.rewrittenPart, configuration.segmentRules.percentOfRows) = (1, 10_000)
        }
        // Ways that are for large partitions otherwise.
        if world.seed % 3 == 1 { configuration.changeRules.leastRows = 1 }
        if world.seed % 5 == 1 { configuration.refreshRules.rowsInMemory = 2 }
        if world.seed % 4 == 1 { configuration.segmentRules.namedValueBytes = 1000 }
        configuration.clock = { clock.milliseconds }
        configuration.log = { [lines] line in lines.withLock { $0 = $0.suffix(4) + [line] } }
        let random = SystemLock(SeededGenerator(seed: world.seed &+ 7))
        configuration.random = { count in random.withLock { random in (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) } } }
        self.configuration = configuration
        if stores == .postgreSQL {
            let state = try PostgreSQLTestDatabase.ofState()
            databases.withLock { $0.state = state }
        }
        try open()
        for (index, regions) in world.users.enumerated() { try setRegions(regions, ofUser: index) }
    }

    /// Starts after ``close()``.
    func open() throws {
        var configuration = configuration
        if hasSecond.withLock({ $0 }) { configuration.packages += second }
        configuration.storeAddress = databases.withLock { $0.state?.configuration.address }
        let opened = try MobileServer(configuration)
        server.withLock { $0 = opened }
    }

    func network(seed: UInt64, clock: VirtualClock) -> any DeviceNetwork { WorldNetwork(self, seed: seed, clock: clock) }

    func close() throws {
        let closed = server.withLock { server in
            defer { server = nil }
            return server
        }
        try closed?.close()
    }

    func respond(to request: ServerRequest) -> ServerResponse {
        guard let server = server.withLock({ $0 }) else { return ServerResponse(status: 503) }
        return server.respond(to: request)
    }

    func setRegions(_ regions: Set<Region>, ofUser index: Int) throws {
        try server.withLock { $0 }?.administration.setAttribute("region", to: Set(regions.map(\.rawValue)), ofUser: Self.user(index))
    }

    func quarantined(_ object: String, package: String) throws -> Int? {
        try server.withLock { $0 }?.administration.quarantine(ofPackage: package).count { $0.object == object }
    }

    /// Ends a subscription, as an operator does.
    func removeSubscription(client: String, package: String) throws {
        try server.withLock { $0 }?.administration.removeSubscription(client: client, package: package)
    }

    /// Starts again with the second versions of all packages.
    func deploySecond() throws {
        try close()
        hasSecond.withLock { $0 = true }
        try open()
    }

    /// The account that a lock closes.
    enum Lock: Int, CaseIterable { case user, device, subscription }

    /// Locks the user, the device or the subscription of a device, or takes that back.
    func setLocked(_ isLocked: Bool, _ lock: Lock, of device: DeviceBench) throws {
        let administration = server.withLock { $0 }?.administration
        switch lock {
        case .user: try administration?.setLocked(isLocked, user: Self.user(device.user))
        case .device: try administration?.setLocked(isLocked, device: device.name, application: "World")
        case .subscription:
            try administration?.setLocked(isLocked, client: device.package.clientID, package: "\(device.packageName):\(device.version).0")
        }
    }

    func removeDevice(_ device: DeviceBench) throws {
        try server.withLock { $0 }?.administration.removeDevice(device.name, application: "World")
    }

    func prune() throws { _ = try server.withLock { $0 }?.administration.prune() }

    func restart() throws {
        try close()
        try open()
    }

    func loseState() throws {
        try close()
        if databases.withLock({ $0.state }) != nil {
            let state = try PostgreSQLTestDatabase.ofState()
            databases.withLock { $0.state = state }
        } else {
            try remove(folder + "/cache.db")
        }
        try open()
    }

    func saveState() throws {
        try close()
        if let state = databases.withLock({ $0.state }) {
            let saved = try PostgreSQLTestDatabase(copyOf: state)
            databases.withLock { $0.saved = saved }
        } else {
            try copy(folder + "/cache.db", folder + "/saved.db")
        }
        try open()
    }

    func restoreState() throws -> Bool {
        let databases = databases.withLock { $0 }
        guard databases.saved != nil || FileManager.default.fileExists(atPath: folder + "/saved.db") else { return false }
        try close()
        if let state = databases.state, let saved = databases.saved {
            try state.replace(with: saved)
        } else {
            try copy(folder + "/saved.db", folder + "/cache.db")
        }
        try open()
        return true
    }

    var lastErrors: String { lines.withLock { $0 }.map { "\n    the server's log: \($0)" }.joined() }

    /// The file of the state; nil where it is in PostgreSQL.
    var stateFile: String? { databases.withLock { $0.state } == nil ? folder + "/cache.db" : nil }

    private func remove(_ path: String) throws {
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.removeItem(atPath: path + suffix)
        }
    }

    private func copy(_ source: String, _ target: String) throws {
        try remove(target)
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: source + suffix) {
            try FileManager.default.copyItem(atPath: source + suffix, toPath: target + suffix)
        }
    }
}
