internal import Foundation
internal import MobileExecution
public import MobileObjects
public import MobileStore
public import MobileTransport

/// One application on one device, as the server identifies it: its registration and its connection.
///
/// First start: create it, set ``connectionProperties`` and ``callback``, pass it to the package (`setApplication`),
/// ``register(timeout:)-(Duration)``. Later starts: the same without the registration, then ``startConnection(timeout:)-(Duration)``. One process can
/// have several applications.
///
/// Blocking forms take a timeout. Above zero, they wait that long and throw a ``SyncError`` of kind ``SyncError/Kind/applicationTimeout`` while the
/// work continues in the background. Zero (the default) returns at once. The `async` forms wait without blocking a thread, and without limit unless a
/// timeout is given.
/// SMP 2.3: `SUPApplication`.
public final class Application: Sendable {
    struct State {
        var identifier: String
        var properties = ConnectionProperties()
        var callback: (any ApplicationCallback)?
        var status: ApplicationState
        var registration: ApplicationStore.Registration?
        var settings: ApplicationSettings?
        /// The pending work of the connection.
        var plan = ConnectionPlan()
    }

    let state: StateLock<State>
    /// Held while the registration changes, in memory and in the store, so that both agree; taken before the lock of the state.
    let registrationChanges = SystemLock<Void>(())
    let store: ApplicationStore
    let transport: any Transport
    let retryPolicy: RetryPolicy
    let surroundings: Surroundings
    var work: any SerialWork { surroundings.work }
    /// Traces the requests of this application and of its packages from end to end. SMP 2.3: `getE2ETraceService`.
    public let traceService: E2ETraceService
    private let stream = EventStream<ApplicationEvent>()
    let packages = ApplicationPackages()

    /// The device's id: created at the first start, stored in the application's database.
    public let deviceID: String

    /// Opens the application's own small database, and reads an earlier registration from it.
    ///
    ///     let application = try Application(identifier: "CRM", profile: ConnectionProfile(path: folder + "/application.db"))
    ///     application.connectionProperties = ConnectionProperties(
    ///         serverName: host, portNumber: port, loginCredentials: LoginCredentials(user: "smith", password: "s3cret"))
    ///
    /// - Parameters:
    ///   - identifier: the server's identifier of the application; case-sensitive, at most 64 characters. May be set later, before registering.
    ///   - profile: the application's database, a file apart from those of the packages.
    ///   - transport: the connection to the server; HTTP by default.
    ///   - retryPolicy: the delays before a lost connection is tried again.
    ///   - traceService: the trace of the application's requests; a separate one by default.
    ///   - makeDeviceID: the source of a new device's id; a random one by default.
    /// - Throws: ``SyncError`` of kind ``SyncError/Kind/persistence``.
    public convenience init(
        identifier: String = "", profile: ConnectionProfile, transport: any Transport = HTTPTransport(), retryPolicy: RetryPolicy = RetryPolicy(),
        traceService: E2ETraceService = E2ETraceService(), makeDeviceID: () -> String = Application.randomDeviceID
    ) throws(SyncError) {
        try self.init(
            identifier: identifier, profile: profile, transport: transport, retryPolicy: retryPolicy, traceService: traceService,
            makeDeviceID: makeDeviceID, surroundings: Surroundings())
    }

    /// The services that an application uses apart from the network; tests replace them.
    struct Surroundings: Sendable {
        /// The queue of registration and connection.
        var work: any SerialWork = SerialQueue(label: "mobile.application")
        /// A test's code between two locks of the application's state.
        var crossing = Crossing.none
        /// The source of the random part of the delays between two attempts.
        var random = RandomNumberSource.system
        /// Seconds since 1970, UTC.
        var now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }
    }

    init(
        identifier: String = "", profile: ConnectionProfile, transport: any Transport, retryPolicy: RetryPolicy = RetryPolicy(),
        traceService: E2ETraceService = E2ETraceService(), makeDeviceID: () -> String = Application.randomDeviceID, surroundings: Surroundings
    ) throws(SyncError) {
        try Self.check(identifier: identifier, isRequired: false)
        store = try ApplicationStore(profile)
        deviceID = try store.device(orMake: makeDeviceID)
        let (registration, settings) = try store.load()
        if let registration, !identifier.isEmpty, registration.identifier != identifier {
            throw SyncError(
                .persistence, .invalidState,
                "application \"\(identifier)\": the database belongs to \"\(registration.identifier)\"; use another database, or unregister that one")
        }
        var first = State(identifier: registration?.identifier ?? identifier, status: ApplicationState(isRegistered: registration != nil))
        (first.registration, first.settings) = (registration, settings)
        if let registration { first.properties = registration.properties }
        state = StateLock(first, surroundings.crossing)
        self.surroundings = surroundings
        self.transport = transport
        self.retryPolicy = retryPolicy
        self.traceService = traceService
        traceService.uploader = { [weak self] document, whenBegun in
            guard let self else { throw E2ETraceUploadError(.invalidState, "the application of this trace service is gone") }
            let cancellation = TransportCancellation()
            whenBegun { cancellation.cancel() }
            try self.upload(trace: document, cancellation)
        }
    }

    /// A device id of 32 random hexadecimal digits.
    ///
    ///     let application = try Application(
    ///         identifier: "CRM", profile: profile, makeDeviceID: { "tablet-" + Application.randomDeviceID() })
    ///     print(application.deviceID)  // the same at each start
    public static func randomDeviceID() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<2).map { _ in
            let digits = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    // MARK: Identity

    /// The identifier that the server knows the application by; empty until it is set. SMP 2.3: `applicationIdentifier`.
    public var identifier: String { state.withLock { $0.identifier } }

    /// Sets the identifier, before registering or starting. Case-sensitive, at most 64 characters; with the device's id at most 128.
    ///
    ///     let application = try Application(profile: ConnectionProfile(path: folder + "/application.db"))
    ///     try application.setIdentifier("CRM")
    ///     print(application.connectionID)  // the device's id, two underscores, CRM
    ///
    /// - Throws: ``SyncError`` of kind ``SyncError/Kind/persistence`` when it is empty or too long, or another one is registered or registers.
    public func setIdentifier(_ identifier: String) throws(SyncError) {
        try Self.check(identifier: identifier, isRequired: true)
        try state.withLock { state throws(SyncError) in
            let registered = state.registration?.identifier ?? (state.plan.isRegistering ? state.identifier : identifier)
            guard registered == identifier else {
                throw SyncError(.persistence, .invalidState, "application \"\(identifier)\": \"\(registered)\" is registered; unregister it first")
            }
            state.identifier = identifier
        }
    }

    /// The id of the connection between this device and the application: device id, two underscores, application identifier.
    public var connectionID: String { "\(deviceID)__\(identifier)" }

    static let identifierLimit = 64, connectionLimit = 128

    private static func check(identifier: String, isRequired: Bool) throws(SyncError) {
        guard !identifier.isEmpty || !isRequired else {
            throw SyncError(.persistence, .identifierMissing, "application identifier is missing: set it before registering or starting")
        }
        guard identifier.count <= identifierLimit else {
            throw SyncError(
                .persistence, .identifierMissing,
                "application identifier \"\(identifier.prefix(80))\": \(identifier.count) characters, at most \(identifierLimit) are allowed")
        }
    }

    /// - Throws: ``SyncError/Code/identifierMissing`` when this device cannot register under the identifier.
    func check(identity identifier: String) throws(SyncError) {
        try Self.check(identifier: identifier, isRequired: true)
        let connection = "\(deviceID)__\(identifier)"
        guard connection.count <= Self.connectionLimit else {
            throw SyncError(
                .persistence, .identifierMissing,
                "application connection id \"\(connection.prefix(80))\": \(connection.count) characters, at most \(Self.connectionLimit) are allowed")
        }
    }

    // MARK: Configuration and state

    /// The address of the server, and the user who registers. Set before registering. While the application is registered, another server here has
    /// ``startConnection(timeout:)-(Duration)`` and all requests throw: unregister before the change, or register again. Another password is used
    /// when the server requires it. SMP 2.3: `connectionProperties`.
    public var connectionProperties: ConnectionProperties {
        get { state.withLock { $0.properties } }
        set { state.withLock { $0.properties = newValue } }
    }

    /// The receiver of statuses. The application holds it strongly, so it lives as long as the application. SMP 2.3: `applicationCallback`.
    public var callback: (any ApplicationCallback)? {
        get { state.withLock { $0.callback } }
        set { state.withLock { $0.callback = newValue } }
    }

    /// The status of the registration. SMP 2.3: `registrationStatus`.
    public var registrationStatus: RegistrationStatus { state.withLock { $0.status.registration } }
    /// The status of the connection. SMP 2.3: `connectionStatus`.
    public var connectionStatus: ConnectionStatus { state.withLock { $0.status.connection } }

    /// The settings that the server sent at registration; nil before. SMP 2.3: `applicationSettings`, `isApplicationSettingsAvailable`.
    public var settings: ApplicationSettings? { state.withLock { $0.settings } }

    /// All events that ``callback`` receives, as values, from now on.
    public var events: AsyncStream<ApplicationEvent> { stream.stream() }

    /// Reports a condition of the device, which the platform has detected, to ``callback`` and ``events``. SMP 2.3: `onDeviceConditionChanged`.
    ///
    ///     if batteryLevel < 0.1 {
    ///         application.report(.batteryPowerLow)
    ///     }
    public func report(_ condition: DeviceCondition) {
        work.run { [self] in
            callback?.onDeviceConditionChanged(condition)
            stream.send(.deviceConditionChanged(condition))
        }
    }

    /// Closes the application's database. Stop the connection first, with ``stopConnection(timeout:)-(Duration)``.
    ///
    ///     try application.stopConnection(timeout: .seconds(10))
    ///     try application.close()
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func close() throws(SyncError) {
        let ended = state.withLock { state in
            defer { state.plan.disconnected() }
            return state.plan.stop()
        }
        ended?.outcome.resolve(.failure(Self.stopped))
        try store.close()
    }

    /// Does the same without blocking a cooperative thread.
    public func close() async throws(SyncError) { try await SyncError.elsewhere { () throws(SyncError) in try self.close() } }

    // MARK: Reporting

    /// Makes one transition and reports its changes. Runs on the application's queue only, so that reports keep their order.
    func apply(_ transition: (inout ApplicationState) -> [ApplicationState.Change]) {
        let (changes, callback) = state.withLock { (transition(&$0.status), $0.callback) }
        for change in changes {
            switch change {
            case .registration(let status, let code, let message):
                callback?.onRegistrationStatusChanged(status, code: code, message: message)
                stream.send(.registrationStatusChanged(status, code: code, message: message))
            case .connection(let status, let code, let message):
                callback?.onConnectionStatusChanged(status, code: code, message: message)
                packages.report(status)
                stream.send(.connectionStatusChanged(status, code: code, message: message))
            }
        }
    }

    func reportSettings(changed names: [String]) {
        guard !names.isEmpty else { return }
        callback?.onApplicationSettingsChanged(names: names)
        stream.send(.settingsChanged(names: names))
    }

    /// Reports that a server rejected a request over HTTP. Can be called on any thread.
    func reportHTTP(code: Int, message: String, headers: [String: String]) {
        work.run { [self] in
            callback?.onHttpCommunicationError(code: code, message: message, headers: headers)
            stream.send(.httpCommunicationError(code: code, message: message, headers: headers))
        }
    }
}
