internal import MobileExecution
internal import MobileModel
internal import MobileObjects
internal import MobileTransport

/// The synchronization state of a package database: its application, its profile, and the queue of synchronizations with its thread.
final class PackageSynchronizer: Sendable {
    struct State {
        var application: Application?
        var profile = SynchronizationProfile()
        var queue = RequestQueue()
        /// The transport for the certificates of the profile, kept for its open connections.
        var transport: (parameters: StreamParameters, transport: HTTPTransport)?
        /// User and password of the last login, for this run of the application only.
        var login: LoginCredentials?
        /// The digests of values that the last header named, by id: a value does not change, and may be named again and again.
        var digests: [Int64: String] = [:]
        /// Whether ``login`` was that of the profile's user: without one, the next session is that of the registration again.
        var loginIsOfProfile = false
        /// Ends the messages of the request that is on the package's thread; nil where its caller cannot be cancelled.
        var cancellation: TransportCancellation?

        func transport(for parameters: StreamParameters) -> HTTPTransport? {
            transport?.parameters == parameters ? transport?.transport : nil
        }
    }

    let state: StateLock<State>
    let events = EventStream<PackageEvent>()
    var cancellation: TransportCancellation? { state.withLock { $0.cancellation } }
    /// The one synchronization thread of the package.
    let work: any SerialWork

    /// - Parameter crossing: a test's code between two locks of the state.
    init(work: any SerialWork = SerialQueue(label: "mobile.synchronization"), crossing: Crossing = .none) {
        state = StateLock(State(), crossing)
        self.work = work
    }

    /// Puts a request into the queue; its outcome reports the result.
    func add(_ request: SynchronizationRequest, of package: PackageDatabase) throws(SyncError) {
        try state.withLock { state throws(SyncError) in
            switch state.queue.add(request) {
            // With the lock held: a caller that disables synchronization after this waits for the work that is queued here.
            case .queued(let startsWork): if startsWork { work.run { [self] in serve(package) } }
            case .refused: throw disabled(package)
            }
        }
    }

    private func disabled(_ package: PackageDatabase) -> SyncError {
        SyncError(.synchronize, .invalidState, "synchronization of \(package.metadata.name) is disabled: call enableSync first")
    }

    /// Cancels a request, whether it is queued or running.
    func cancel(_ request: SynchronizationRequest) { cancel([request]) }

    /// Cancels a request whose caller waits for it.
    /// - Returns: whether the caller is free at once: the request waited, or others share its synchronization, which continues for them.
    func leave(_ request: SynchronizationRequest) -> Bool {
        if state.withLock({ $0.queue.withdraw(request) }) { return true }
        cancel(request)
        return state.withLock { $0.queue.isShared(request) }
    }

    /// Refuses new requests and cancels the existing ones.
    func disable() { cancel(state.withLock { $0.queue.disable() }) }

    private func cancel(_ requests: [SynchronizationRequest]) {
        // The mark comes before the check: a thread that takes a request from the queue between the two finds it marked.
        for request in requests { request.cancel() }
        for run in state.withLock({ $0.queue.unwanted }) { run.cancellation.cancel() }
    }

    /// Serves the queue until it is empty; on the synchronization thread.
    private func serve(_ package: PackageDatabase) {
        while let run = state.withLock({ $0.queue.take() }) { perform(run, package) }
    }

    /// Runs a request at once, for a caller that is already on the synchronization thread.
    /// - Throws: ``SyncError/Code/invalidState`` while synchronization is disabled.
    func synchronizeNow(_ request: SynchronizationRequest, of package: PackageDatabase) throws(SyncError) {
        guard let run = state.withLock({ $0.queue.takeAtOnce(request, $0.cancellation) }) else { throw disabled(package) }
        perform(run, package)
        _ = try request.outcome.wait()
    }

    private func perform(_ run: RequestQueue.Run, _ package: PackageDatabase) {
        defer { state.withLock { $0.queue.end(run) } }
        let progress = SynchronizationProgress(package, events, run.requests)
        do throws(SyncError) {
            try progress.reportAnnouncement()
            try progress.report(.starting)
            let result = try synchronize(package, progress, run.cancellation)
            progress.finish(.success(result))
        } catch {
            progress.finish(.failure(error))
        }
    }

    private func synchronize(
        _ package: PackageDatabase, _ progress: SynchronizationProgress, _ cancellation: TransportCancellation
    ) throws(SyncError) -> SynchronizationResult {
        let (application, profile) = try connected(package)
        guard try package.isSubscribed() else {
            throw SyncError(.synchronize, .invalidState, "package \(package.metadata.name) is not subscribed: subscribe first")
        }
        guard application.state.withLock({ $0.plan.beginSynchronization() }) else {
            throw SyncError(
                .synchronize, .invalidState, "application \"\(application.identifier)\" is being unregistered: register it again to synchronize")
        }
        defer { application.state.withLock { $0.plan.endSynchronization() } }
        let requests = progress.requests
        return try SynchronizationSession(
            package: package, application: application, profile: profile,
            groups: RequestQueue.union(requests, inOrderOf: package.allGroupNames),
            isUploadOnly: requests.allSatisfy(\.isUploadOnly), progress: progress, cancellation: cancellation, events: events
        ).run()
    }

    /// Returns the server with the connection settings of this package.
    /// - Throws: ``SyncError/Code/connectionPropertyMissing`` for a certificate file that cannot be read.
    func server(
        _ application: Application, _ profile: SynchronizationProfile, _ properties: ConnectionProperties, for package: PackageDatabase
    ) throws(SyncError) -> Server {
        Server(
            application, profile.applied(to: properties), for: package, transport: try transport(profile.streamParameters) ?? application.transport,
            stallTimeout: profile.idleTimeout, trace: profile.messageTrace, cancellation: cancellation)
    }

    /// Returns nil if the profile names no certificates: the application's own transport is used in that case.
    private func transport(_ parameters: StreamParameters) throws(SyncError) -> HTTPTransport? {
        guard parameters.trustedCertificates != nil || parameters.identity != nil else { return nil }
        if let known = state.withLock({ $0.transport(for: parameters) }) { return known }
        var configuration = HTTPTransport.Configuration()
        configuration.trustedCertificates = try parameters.trustedCertificates.map(StreamParameters.pem)
        configuration.identity = try parameters.identity.map(StreamParameters.pem)
        configuration.identityPassword = parameters.identityPassword
        let transport = HTTPTransport(configuration)
        return state.withLock { state in
            // Another thread may have read the same files: only one of the two transports is kept.
            if let known = state.transport(for: parameters) { return known }
            state.transport = (parameters, transport)
            return transport
        }
    }

    /// Returns the application and the profile, which every request to the server needs.
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
