internal import MobileModel
internal import MobileObjects
internal import MobileTransport
internal import Synchronization

/// What a package database has on top when it is synchronized: its application, its profile, and the queue of synchronizations with its thread.
final class PackageSynchronizer: Sendable {
    struct State {
        var application: Application?
        var profile = SynchronizationProfile()
        var queue = RequestQueue()
        /// Ends the synchronization that runs.
        var cancellation: TransportCancellation?
        var running: [SynchronizationRequest] = []
        /// False between `disableSync` and `enableSync`.
        var isEnabled = true
        /// The transport for the certificates of the profile, kept for its open connections.
        var transport: (parameters: StreamParameters, transport: HTTPTransport)?
        /// User and password of the last login, for this run of the application only.
        var login: LoginCredentials?
    }

    let state: StateLock<State>
    let events = EventStream<PackageEvent>()
    /// The one synchronization thread of the package.
    let work: any SerialWork

    /// - Parameter crossing: who may come between two locks of the state.
    init(work: any SerialWork = WorkQueue(label: "mobile.synchronization"), crossing: Crossing = .none) {
        state = StateLock(State(), crossing)
        self.work = work
    }

    /// Puts a request into the queue; the outcome tells the rest.
    func add(_ request: SynchronizationRequest, of package: PackageDatabase) throws(SyncError) {
        let isEnabled = state.withLock { $0.isEnabled }
        guard isEnabled else {
            throw SyncError(.synchronize, .invalidState, "synchronization of \(package.metadata.name) is disabled: call enableSync first")
        }
        if state.withLock({ $0.queue.add(request) }) { work.run { [self] in serve(package) } }
    }

    /// Cancels a request wherever it is: in the queue, or running.
    func cancel(_ request: SynchronizationRequest) {
        request.cancel()
        let cancellation = state.withLock { state in
            state.running.allSatisfy(\.isCancelled) ? state.cancellation : nil
        }
        cancellation?.cancel()
    }

    /// Refuses new requests and cancels the others.
    func disable() {
        let requests = state.withLock { state in
            state.isEnabled = false
            return state.queue.waiting + state.running
        }
        for request in requests { cancel(request) }
    }

    /// Serves the queue until it is empty; on the synchronization thread.
    private func serve(_ package: PackageDatabase) {
        while case let requests = state.withLock({ $0.queue.take() }), !requests.isEmpty { perform(requests, package) }
    }

    /// Runs a request at once, for something that is on the synchronization thread already.
    func synchronizeNow(_ request: SynchronizationRequest, of package: PackageDatabase) throws(SyncError) {
        perform([request], package)
        do { _ = try request.outcome.wait() } catch { throw SyncError.from(error) }
    }

    private func perform(_ requests: [SynchronizationRequest], _ package: PackageDatabase) {
        let progress = SynchronizationProgress(package, events, requests)
        do throws(SyncError) {
            try progress.report(.starting)
            let result = try synchronize(package, progress)
            progress.finish(.success(result))
        } catch {
            progress.finish(.failure(error))
        }
    }

    private func synchronize(_ package: PackageDatabase, _ progress: SynchronizationProgress) throws(SyncError) -> SynchronizationResult {
        let (application, profile) = try connected(package)
        guard try package.isSubscribed() else {
            throw SyncError(.synchronize, .invalidState, "package \(package.metadata.name) is not subscribed: subscribe first")
        }
        let requests = progress.requests
        let cancellation = TransportCancellation()
        state.withLock { ($0.cancellation, $0.running) = (cancellation, requests) }
        application.state.withLock { $0.synchronizations += 1 }
        defer {
            application.state.withLock { $0.synchronizations -= 1 }
            state.withLock { ($0.cancellation, $0.running) = (nil, []) }
        }
        return try SynchronizationSession(
            package: package, application: application, profile: profile,
            groups: RequestQueue.union(requests, inOrderOf: package.allGroupNames),
            isUploadOnly: requests.allSatisfy(\.isUploadOnly), progress: progress, cancellation: cancellation, events: events
        ).run()
    }

    /// The server as this package reaches it.
    /// - Throws: ``SyncError/Code/connectionPropertyMissing`` for a certificate file that cannot be read.
    func server(
        _ application: Application, _ profile: SynchronizationProfile, _ properties: ConnectionProperties, for package: PackageDatabase
    ) throws(SyncError) -> Server {
        Server(
            application, profile.applied(to: properties), for: package, transport: try transport(profile.streamParameters) ?? application.transport,
            stallTimeout: profile.idleTimeout, trace: profile.messageTrace)
    }

    /// Nil when the profile names no certificates: then the application's own transport does.
    private func transport(_ parameters: StreamParameters) throws(SyncError) -> HTTPTransport? {
        guard parameters.trustedCertificates != nil || parameters.identity != nil else { return nil }
        if let known = state.withLock({ $0.transport }), known.parameters == parameters { return known.transport }
        var configuration = HTTPTransport.Configuration()
        configuration.trustedCertificates = try parameters.trustedCertificates.map(StreamParameters.pem)
        configuration.identity = try parameters.identity.map(StreamParameters.pem)
        configuration.identityPassword = parameters.identityPassword
        let transport = HTTPTransport(configuration)
        state.withLock { $0.transport = (parameters, transport) }
        return transport
    }

    /// What every request to the server needs.
    func connected(_ package: PackageDatabase) throws(SyncError) -> (Application, SynchronizationProfile) {
        let (application, profile) = state.withLock { ($0.application, $0.profile) }
        guard let application else {
            throw SyncError(.synchronize, .invalidState, "package \(package.metadata.name) has no application: set it before you synchronize")
        }
        guard package.metadata.model.synchronization == .replication else {
            throw SyncError(
                .synchronize, .invalidState,
                "package \(package.metadata.name) has messaging synchronization, which this release does not support; use replication in its model")
        }
        try profile.validate()
        return (application, profile)
    }
}
