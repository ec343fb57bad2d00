internal import MobileExecution
internal import MobileStore
internal import MobileTransport

/// The parts that a client, its models and its synchronizations share.
final class ClientCore: Sendable {
    let database: RhomDatabase
    let transport: any Transport
    let environment: ClientEnvironment
    let runs = RunQueue()
    private let state: SystemLock<ClientState>
    private let bulkUpdate = SystemLock<BulkUpdate?>(nil)

    init(_ database: RhomDatabase, _ transport: any Transport, _ settings: RhoConnectClient.Settings, _ environment: ClientEnvironment) {
        self.database = database
        self.transport = transport
        self.environment = environment
        state = SystemLock(ClientState(settings: settings))
    }

    /// Reads or changes the state in memory.
    func withState<R: Sendable>(_ body: (inout ClientState) throws -> R) rethrows -> R { try state.withLock { try body(&$0) } }

    // MARK: Database

    /// Writes in one transaction, or in that of the bulk update in progress.
    func write<R>(_ label: String, _ body: @escaping (Connection) throws -> R) throws(RhoConnectError) -> R {
        if let update = bulkUpdate.withLock({ $0 }) { return try update.run(body) }
        return try database.write(label, body)
    }

    /// Reads one state: that of the bulk update in progress, if there is one.
    func read<R>(_ body: @escaping (Connection) throws -> R) throws(RhoConnectError) -> R {
        if let update = bulkUpdate.withLock({ $0 }) { return try update.run(body) }
        return try database.read(body)
    }

    func startBulkUpdate() throws(RhoConnectError) {
        // A second one would wait for the writer that the first one holds.
        guard !isUpdating else { throw RhoConnectError(.runtime, "bulk update: one is in progress; call stopBulkUpdate first") }
        let update = try BulkUpdate(database)
        let isFirst = bulkUpdate.withLock { current in
            guard current == nil else { return false }
            current = update
            return true
        }
        guard !isFirst else { return }
        try update.finish()
        throw RhoConnectError(.runtime, "bulk update: one is in progress; call stopBulkUpdate first")
    }

    func stopBulkUpdate() throws(RhoConnectError) {
        let update = bulkUpdate.withLock { current in
            defer { current = nil }
            return current
        }
        guard let update else { throw RhoConnectError(.runtime, "bulk update: none is in progress; call startBulkUpdate first") }
        defer { deleteReplacedFiles() }
        try update.finish()
    }

    /// Deletes the files of BLOB values that were replaced; during a bulk update they wait for its end.
    func deleteReplacedFiles() {
        if !isUpdating { database.replacedFiles.delete(in: database, withState(\.sources)) }
    }

    /// Whether a bulk update is in progress.
    var isUpdating: Bool { bulkUpdate.withLock { $0 != nil } }

    /// Makes an object id: a decimal number of the time in milliseconds, larger than all earlier ones.
    func newObjectID(in connection: Connection) throws -> String {
        let last = try connection.first("SELECT last_object FROM client_info")?.first?.integer ?? 0
        let id = max(last + 1, environment.milliseconds())
        try ClientInfo.set("last_object = ?1", [.integer(id)], in: connection)
        return String(id)
    }

    // MARK: Log

    func log(_ severity: RhoConnectClient.LogSeverity, _ message: @autoclosure () -> String) {
        let sink = withState { $0.logSeverity <= severity && $0.logSeverity != .off ? $0.logSink : nil }
        sink?(severity, message())
    }

    // MARK: Sources

    /// The source of a model's name.
    /// - Throws: ``RhoConnectErrorCode/runtime`` for an unknown one.
    func source(named name: String) throws(RhoConnectError) -> Source {
        guard let source = withState({ $0.sources.first { $0.name == name } }) else {
            throw RhoConnectError(.runtime, "there is no model \"\(name.prefix(80))\": add it with addModels")
        }
        return source
    }

    /// The sources that refer to a source, with the attributes that do.
    func references(to source: Source) -> [(source: Source, attribute: String)] {
        withState(\.sources).flatMap { other in
            other.model.associations.filter { $0.value == source.name }.sorted { $0.key < $1.key }.map { (other, $0.key) }
        }
    }
}

/// Time and timers, which tests replace.
struct ClientEnvironment: Sendable {
    /// Milliseconds since 1970, UTC.
    var milliseconds: @Sendable () -> Int64
    /// Runs a function after a time, unless the returned function is called before.
    var schedule: @Sendable (Duration, @escaping @Sendable () -> Void) -> (@Sendable () -> Void)?
}

/// The state of a client in memory.
struct ClientState: Sendable {
    var settings: RhoConnectClient.Settings
    /// In the order of the declaration.
    var sources: [Source] = []
    var address: ServerAddress?
    var style = RhoConnectClient.ProtocolStyle.version4
    var isThreaded = false
    var pollInterval = 0
    var cancelPoll: (@Sendable () -> Void)?
    var device: RhoConnectClient.Device?
    var logSeverity = RhoConnectClient.LogSeverity.trace
    var logSink: (@Sendable (RhoConnectClient.LogSeverity, String) -> Void)?
    /// The callback for all models.
    var callback: NotificationCallback?
    /// Callbacks for single models, by their ids.
    var sourceCallbacks: [Int: NotificationCallback] = [:]
    var objectCallback: (@Sendable (RhoConnectObjectNotify) -> Void)?
    /// The models with stored refusals that were reported to this process.
    var reportedErrors: Set<Int> = []
    var observedObjects: Set<RhoConnectObjectNotify.Object> = []

    /// The sources in the order of a synchronization: by priority, and each one after those that it refers to.
    var synchronizationOrder: [Source] {
        let sorted = sources.enumerated().sorted {
            ($0.element.model.options.priority, $0.offset) < ($1.element.model.options.priority, $1.offset)
        }.map(\.element)
        var order: [Source] = [], visited: Set<Int> = []
        func visit(_ source: Source) {
            guard visited.insert(source.id).inserted else { return }
            let referenced = Set(source.model.associations.values)
            for other in sorted where referenced.contains(other.name) { visit(other) }
            order.append(source)
        }
        for source in sorted { visit(source) }
        return order
    }
}

/// A callback with the text that it gets back.
struct NotificationCallback: Sendable {
    let parameters: String
    let call: @Sendable (RhoConnectNotify) -> Void
}
