internal import MobileExecution
public import MobileStore
public import MobileTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A client of a RhoConnect server. RhoConnect: `RhoConnectClient`.
///
///     let database = try RhoConnectClient.initDatabase(ConnectionProfile(path: "store.db"))
///     let client = RhoConnectClient(database)
///     let product = RhomModel("Product")
///     try client.addModels([product])
///     try client.setSyncServer("http://localhost:9292/")
///     _ = client.login(user: "kim", password: "p4ss")
///     let result = client.syncAll()
///
/// The server may be any RhoConnect server of version 4 or later, or an older one with ``ProtocolStyle/version3``. Work with the network runs on one thread
/// of the client's own, one piece of work after another. All state is in the database: a process that is killed at any time continues where it was.
public final class RhoConnectClient: Sendable {
    let core: ClientCore

    /// Opens the local database, and creates it where it does not exist. Call it before anything else. RhoConnect: `initDatabase`.
    /// - Parameters:
    ///   - profile: the file and its tuning.
    ///   - blobFolder: the folder for the files of BLOB attributes; nil (default): next to the database, with the suffix `-files`.
    /// - Throws: ``RhoConnectErrorCode/runtime`` when the file cannot be opened or belongs to something else.
    public static func initDatabase(_ profile: ConnectionProfile, blobFolder: String? = nil) throws(RhoConnectError) -> RhomDatabase {
        try RhomDatabase(profile, blobFolder: blobFolder)
    }

    /// Makes a client.
    /// - Parameters:
    ///   - database: the database, used by one client.
    ///   - transport: the network.
    ///   - settings: page size, limits and times.
    public convenience init(_ database: RhomDatabase, transport: any Transport = HTTPTransport(), settings: Settings = Settings()) {
        let timers = BlockingWork(threads: 1)
        let environment = ClientEnvironment(
            milliseconds: { Int64(Date().timeIntervalSince1970 * 1000) },
            schedule: { time, job in
                guard let timer = timers.start(after: time, job) else { return nil }
                return { _ = timer.cancel() }
            })
        self.init(database, transport: transport, settings: settings, environment: environment)
    }

    init(_ database: RhomDatabase, transport: any Transport, settings: Settings, environment: ClientEnvironment) {
        core = ClientCore(database, transport, settings, environment)
    }

    deinit {
        let cancel = core.withState { $0.cancelPoll }
        cancel?()
        core.runs.close()
    }

    // MARK: Models

    /// Adds models, and creates their tables. RhoConnect: `addModels:`.
    ///
    /// A model keeps its number in the database. A fixed schema of another version rebuilds its table: columns with the same names keep their values, and the
    /// server sends all data again.
    /// - Throws: ``RhoConnectErrorCode/runtime`` for two models of one name, a name of a table of the framework, a reference to an unknown model, a column
    ///   that the protocol reserves.
    public func addModels(_ models: [RhomModel]) throws(RhoConnectError) {
        stopSync()
        let old = core.withState(\.sources)
        let all = old.map(\.model) + models.map(\.definition)
        if let twice = Dictionary(grouping: all, by: \.name).first(where: { $0.value.count > 1 })?.key {
            throw RhoConnectError(.runtime, "there are two models \"\(twice)\"")
        }
        for model in models {
            for (attribute, name) in model.associations where !all.contains(where: { $0.name == name }) {
                throw RhoConnectError(.runtime, "model \"\(model.name)\", attribute \"\(attribute)\": there is no model \"\(name)\"")
            }
        }
        let added = try core.write("models") { connection in try models.map { try SourceTables.prepare($0.definition, in: connection) } }
        for (model, source) in zip(models, added) { try model.attach(.init(client: core, source: source)) }
        core.withState { $0.sources = old + added }
    }

    // MARK: Settings

    /// Sets the URL of the server, such as `http://host:port/` for ``ProtocolStyle/version4`` and `http://host:port/application` for
    /// ``ProtocolStyle/version3``. Another URL than before ends the session and forgets the client id; the data stays. RhoConnect: `sync_server`.
    /// - Throws: ``RhoConnectErrorCode/runtime`` for a text that is not an HTTP URL.
    public func setSyncServer(_ url: String, style: ProtocolStyle = .version4) throws(RhoConnectError) {
        let address = try ServerAddress(url, style)
        stopSync()
        try core.write("sync server") { connection in
            guard try ClientInfo(in: connection).server != address.base else { return }
            let isFirst = try ClientInfo(in: connection).server == nil
            try ClientInfo.set("server = ?1", [.text(address.base)], in: connection)
            if !isFirst { try ClientInfo.set("session = NULL, client_id = '', token = NULL, token_sent = 0", in: connection) }
        }
        core.withState { $0.address = address }
    }

    /// The URL of the server with a slash at its end; nil before ``setSyncServer(_:style:)``. RhoConnect: `sync_server`.
    public var syncServer: String? { core.withState { $0.address?.base } }

    /// Whether `syncAll()`, `sync()` of models and `search` return at once and report by callbacks; default
    /// `false`: they return the result, and call no callbacks. RhoConnect: `threaded_mode`.
    public var threadedMode: Bool {
        get { core.withState(\.isThreaded) }
        set { core.withState { $0.isThreaded = newValue } }
    }

    /// The number of seconds after a synchronization of all models at which the next one begins by itself; 0 (default): none. RhoConnect: `poll_interval`.
    public var pollInterval: Int {
        get { core.withState(\.pollInterval) }
        set {
            core.withState { $0.pollInterval = max(0, newValue) }
            core.schedulePoll()
        }
    }

    /// The weight from which on lines are written to the log; default ``LogSeverity/trace``. RhoConnect: `log_severity`.
    public var logSeverity: LogSeverity {
        get { core.withState(\.logSeverity) }
        set { core.withState { $0.logSeverity = newValue } }
    }

    /// Sets the receiver of log lines, which any thread may call; nil (default) discards them. Lines contain no attribute values and no session.
    public func setLogSink(_ sink: (@Sendable (LogSeverity, String) -> Void)?) { core.withState { $0.logSink = sink } }

    /// The state of the bulk synchronization; nil: it was never used. Set ``BulkSyncState/notSynchronized``, and the next synchronization begins with one.
    /// RhoConnect: `bulksync_state`.
    /// - Throws: ``RhoConnectErrorCode/runtime``.
    public func bulkSyncState() throws(RhoConnectError) -> BulkSyncState? { try core.read { try ClientInfo(in: $0).bulkState } }

    /// Sets the state of the bulk synchronization; see ``bulkSyncState()``. Setting ``BulkSyncState/notSynchronized`` also is the decision after a changed
    /// schema: the next query acknowledges it.
    /// - Throws: ``RhoConnectErrorCode/runtime``.
    public func setBulkSyncState(_ state: BulkSyncState) throws(RhoConnectError) {
        try core.write("bulk state") { connection in
            try ClientInfo.set("bulksync_state = ?1", [Value(state.rawValue)], in: connection)
            guard state == .notSynchronized else { return }
            try connection.execute("UPDATE sources SET token = schema_token, schema_token = '' WHERE schema_token <> ''")
        }
    }
}
