internal import MobileCrypto
internal import MobileExecution
internal import MobileModel
internal import MobileProtocol
internal import MobileStore
internal import PostgreSQLClient

/// Lets clients listen for changes of their groups.
///
///     back end --looks, 20 ms--> refresh --versions--> registry --> listeners --> connections
///                                   other processes --messages-----^
///
/// **No back end is watched while no client listens.** A change is an event when the cache has it: the synchronization that follows the event finds it.
final class EventService: Sendable {
    let registry: ListenerRegistry
    private let news: VersionNews
    private let packages: [ServedPackage]
    private let stateStore: any StateStore
    private let log: @Sendable (String) -> Void
    /// By package, in their order.
    private let watches: [[BackEndWatch]]
    private let receiver: NotificationReceiver?

    private struct Watching {
        /// The parameters of partitions that listeners wait for, by package; those of listeners that have gone are removed with the next refresh.
        var parameters: [[Int64: PartitionParameters]]
        var isClosed = false
    }
    private let watching: SystemLock<Watching>

    /// - Parameter news: brings the changes of the packages' caches to its listeners.
    init(_ packages: [ServedPackage], _ news: VersionNews, _ configuration: ServerConfiguration) {
        (self.packages, self.news) = (packages, news)
        (registry, stateStore, log) = (news.registry, news.stateStore, configuration.log)
        let watching = SystemLock(Watching(parameters: packages.map { _ in [:] }))
        self.watching = watching
        watches = packages.enumerated().map { index, package in
            package.deployed.backEnds.values.sorted { $0.name < $1.name }.map { backEnd in
                BackEndWatch(
                    interval: backEnd.system.positionInterval, position: { try backEnd.system.read { try $0.position() } },
                    changed: { [registry = news.registry] in
                        let wanted = watching.withLock { watching in
                            let watched = Set(registry.watched(among: Array(watching.parameters[index].keys)))
                            watching.parameters[index] = watching.parameters[index].filter { watched.contains($0.key) }
                            return Array(watching.parameters[index].values)
                        }
                        if !wanted.isEmpty { _ = try package.refresher.refresh(wanted) }
                    },
                    failed: { [log = configuration.log] in
                        log("events: the back end \"\(backEnd.name)\" of \(package.deployed.identifier) cannot be watched: \($0)")
                    })
            }
        }
        guard let state = news.stateStore as? PostgreSQLStateStore else {
            receiver = nil
            return
        }
        let reports = Reports()
        receiver = NotificationReceiver(state.configuration, news) { reports.take($0) }
        reports.service = self
    }

    /// Breaks the circle between the receiver and the service.
    private final class Reports: @unchecked Sendable {  // written once, before the receiver starts
        weak var service: EventService?
        func take(_ text: String) {
            guard let service, let json = try? JSONValue(parsing: Array(text.utf8)), let report = try? ChangeReport(json: json) else { return }
            do { try service.apply(report) } catch { service.log("events: a reported change could not be followed: \(error)") }
        }
    }

    /// Ends all looks, and waits for those in progress.
    func close() {
        watching.withLock { $0.isClosed = true }
        for watch in watches.joined() { watch.close() }
        receiver?.close()
    }

    // MARK: Listeners

    /// Begins to listen.
    /// - Parameter headers: the packages, each with the state of one client.
    func listen(_ headers: [SynchronizeHeader], _ session: Accounts.Session) throws -> EventListener {
        var topics: [EventListener.Topic] = []
        var found: [(package: Int, partitions: [Int64: PartitionParameters])] = []
        for header in headers {
            guard let index = packages.firstIndex(where: { $0.deployed.identifier == header.package }) else {
                throw RequestFailure(.notFound, "there is no package \"\(header.package.prefix(80))\"")
            }
            guard (1...128).contains(header.client.utf8.count) else {
                throw RequestFailure(.badRequest, "client id of \(header.client.utf8.count) bytes: expected 1 to 128")
            }
            let package = packages[index]
            try package.checkSubscription(of: header.client, user: session.user)
            let requested = try RequestedGroups(header, access: package.access(of: session.user), package: package.deployed)
            var own: [Int64: PartitionParameters] = [:]
            for group in requested.groups {
                let partitions = try package.refresher.refresh(group.partitions)
                for (partition, parameters) in zip(partitions, group.partitions) { own[partition.id] = parameters }
                let has = group.token.flatMap { DeliveredState($0, epoch: package.cache.epoch) }
                let positions = partitions.map { partition in
                    // A later position is that of a store that was restored since: the client needs the object again.
                    let position = has?.position(of: partition), isLost = position?.isLater(than: partition.position) ?? false
                    return (partition.id, isLost ? nil : position)
                }
                topics.append(
                    EventListener.Topic(
                        package: header.package, client: header.client, group: group.name, partitions: Dictionary(positions) { first, _ in first }))
            }
            found.append((index, own))
        }
        let owner = EventListener.Owner(
            user: session.user, application: session.application, device: session.device, clients: headers.map(\.client).sorted())
        let listener = EventListener(owner, topics) { [weak self] in self?.remove($0) }
        try registry.add(listener)
        watching.withLock { watching in
            for (package, partitions) in found {
                watching.parameters[package].merge(partitions) { $1 }
                guard !watching.isClosed else { continue }
                for watch in watches[package] { watch.start() }
            }
            if !watching.isClosed { receiver?.start() }
        }
        // A change between the refresh above and the entry here has not been seen yet.
        for (package, _) in found { for watch in watches[package] { watch.wake() } }
        try news.look(for: listener)
        return listener
    }

    private func remove(_ id: ObjectIdentifier) {
        registry.remove(id)
        // With the lock, so that a listener that comes meanwhile starts what is stopped here.
        watching.withLock { watching in
            let isWatched = Set(registry.watched)
            for index in packages.indices where !watching.parameters[index].keys.contains(where: isWatched.contains) {
                watching.parameters[index] = [:]
                for watch in watches[index] { watch.stop() }
            }
            if isWatched.isEmpty { receiver?.stop() }
        }
    }

    /// The number of connections that listen.
    var count: Int { registry.count }

    /// Whether a back end is being watched.
    var isWatching: Bool { watches.joined().contains { $0.isRunning } }

    // MARK: Reports of back ends

    /// A back end has reported changes: its rows are read again, at once if a client listens here, otherwise by the next synchronization.
    func take(_ report: ChangeReport) throws {
        try apply(report)
        if receiver != nil {
            try stateStore.write(label: "reported changes") { try $0.notify(StateNotifications.changes, report.message) }
        }
    }

    private func apply(_ report: ChangeReport) throws {
        guard let index = packages.firstIndex(where: { $0.deployed.identifier == report.package }) else {
            throw RequestFailure(.notFound, "there is no package \"\(report.package.prefix(80))\"")
        }
        let package = packages[index]
        let keys = try report.keys(in: package.deployed)
        if !report.keys.isEmpty {
            let wanted = watching.withLock { watching in
                let watched = Set(registry.watched(among: Array(watching.parameters[index].keys)))
                return watching.parameters[index].filter { watched.contains($0.key) && keys[$0.value.object] != nil }
            }
            if !wanted.isEmpty { try package.refresher.refresh(Array(wanted.values), reported: keys) }
            // The rows of partitions without listeners are read by the next synchronization.
            package.refresher.forget(try partitions(of: Array(keys.keys), in: package).filter { wanted[$0] == nil })
            if report.objects.isEmpty { return }
        }
        let objects = report.objects.isEmpty ? package.deployed.objects.map(\.name) : report.objects
        package.refresher.forget(try partitions(of: objects, in: package))
        for watch in watches[index] { watch.wake() }
    }

    private func partitions(of objects: [String], in package: ServedPackage) throws -> [Int64] {
        let list = JSONValue.array(objects.compactMap { package.cache.objectIDs[$0] }.map { .integer($0) }).description
        return try stateStore.read { connection in
            try connection.rows("SELECT id FROM _partition WHERE object IN (\(connection.dialect.numbers("?1")))", [.text(list)])
        }.compactMap(\.first?.integer)
    }
}

extension ServedPackage {
    /// - Throws: ``RequestFailure`` for a client that may not synchronize.
    func checkSubscription(of client: String, user: String) throws {
        switch try clients.state(of: client, user: user) {
        case .locked: throw RequestFailure(.forbidden, "an administrator has locked the subscription")
        case .unsubscribed: throw RequestFailure(.notFound, "the client is not subscribed to \"\(deployed.identifier)\"")
        case .suspended: throw RequestFailure(.notFound, "the client's subscription to \"\(deployed.identifier)\" is suspended")
        case .subscribed, nil: return
        }
    }
}
