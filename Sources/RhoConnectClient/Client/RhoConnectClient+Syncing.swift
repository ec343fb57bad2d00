internal import MobileExecution
internal import MobileStore
internal import MobileTransport

extension RhoConnectClient {
    /// Synchronizes all models. RhoConnect: `syncAll`.
    ///
    /// Without ``threadedMode`` it waits, calls no callbacks, and returns the last notification. Failures and errors of the server's application that later
    /// notifications would hide are in the result as well. With it, or when a callback of this client calls it, it returns at once with the status
    /// ``RhoConnectNotify/Status/inProgress``.
    @discardableResult
    public func syncAll() -> RhoConnectNotify { core.performOrStart(.syncAll) }

    /// Synchronizes all models; as the blocking twin, without a thread that waits. Callbacks are called with ``threadedMode``. Cancelling the task stops it.
    @discardableResult
    public func syncAll() async -> RhoConnectNotify { await core.perform(.syncAll) }

    /// Starts a synchronization of all models, whose notifications the returned sequence has. It ends with the synchronization.
    public func syncAllNotifications() -> AsyncStream<RhoConnectNotify> { core.notifications(.syncAll) }

    /// Whether a synchronization, search or login is in progress or waits. RhoConnect: `is_syncing`.
    public var isSyncing: Bool { core.runs.isBusy }

    /// Stops the synchronization in progress, and waits for its end, except in a callback. None of its notifications comes any more; what was committed
    /// stays. RhoConnect: `stop_sync`.
    public func stopSync() { core.runs.stop() }

    // MARK: Notifications

    /// Sets the callback for the notifications of all models, on the client's thread. RhoConnect: `setNotification:target:`.
    /// - Parameters:
    ///   - parameters: a text that each notification has as ``RhoConnectNotify/callbackParameters``.
    ///   - callback: called with ``threadedMode``. A model's own callback comes first.
    public func setNotification(parameters: String = "", _ callback: @escaping @Sendable (RhoConnectNotify) -> Void) {
        core.withState { $0.callback = NotificationCallback(parameters: parameters, call: callback) }
    }

    /// Removes the callback for all models. RhoConnect: `clearNotification`.
    public func clearNotification() { core.withState { $0.callback = nil } }

    /// Sets the callback for changes of observed objects, called after each page that changed one. RhoConnect: `setObjectNotification:target:`.
    public func setObjectNotification(_ callback: @escaping @Sendable (RhoConnectObjectNotify) -> Void) {
        core.withState { $0.objectCallback = callback }
    }

    /// Removes the callback for objects, and observes none any more. RhoConnect: `clearObjectNotification`.
    public func clearObjectNotification() {
        core.withState {
            $0.objectCallback = nil
            $0.observedObjects = []
        }
    }

    /// Observes an object. RhoConnect: `addObjectNotify:szObject:`.
    /// - Parameters:
    ///   - sourceID: the local id of the model, which objects have under `source_id`.
    ///   - object: the object's id.
    public func addObjectNotify(sourceID: Int, object: String) {
        core.withState { _ = $0.observedObjects.insert(.init(object: object, sourceID: sourceID)) }
    }

    // MARK: Search

    /// Searches on the server. The results become objects of the models: find them there. The next synchronization of a model removes those that the server's
    /// query does not return. RhoConnect: `search:from:params:sync_changes:progress_step:`.
    /// - Parameters:
    ///   - models: the models to search in.
    ///   - from: the last part of the URL's path.
    ///   - parameters: `name=value` pairs joined by `&`, with percent-encoded values.
    ///   - syncChanges: whether local changes of these models are uploaded first.
    ///   - progressStep: a notification comes after each such number of objects of a model, in addition to the one per page; 0: none.
    /// - Returns: the last notification, ``RhoConnectNotify/Status/complete`` or an error; with ``threadedMode`` it returns at once.
    @discardableResult
    public func search(
        _ models: [RhomModel], from: String = "search", parameters: String = "", syncChanges: Bool = false, progressStep: Int = 0
    ) -> RhoConnectNotify {
        core.search(models, .init(sources: [], path: from, parameters: parameters, syncChanges: syncChanges, progressStep: progressStep)) {
            core.performOrStart($0)
        }
    }

    /// Searches on the server, and calls back with each notification; the last one is ``RhoConnectNotify/Status/complete`` or an error.
    /// - Parameters:
    ///   - models: the models whose objects are searched for.
    ///   - from: the path of the search on the server; default `search`.
    ///   - parameters: for the server, as a query string; default none.
    ///   - syncChanges: whether local changes of these models are uploaded first; default false.
    ///   - progressStep: a notification comes after each such number of objects of a model, in addition to the one per page; 0 (default): none.
    ///   - callback: called on the client's thread.
    public func search(
        _ models: [RhomModel], from: String = "search", parameters: String = "", syncChanges: Bool = false, progressStep: Int = 0,
        callback: @escaping @Sendable (RhoConnectNotify) -> Void
    ) {
        let request = SearchRequest(sources: [], path: from, parameters: parameters, syncChanges: syncChanges, progressStep: progressStep)
        let failure = core.search(models, request) { command in
            _ = core.submit(command, .init(callsCallbacks: false, observer: callback))
            return RhoConnectNotify()
        }
        if failure.errorCode != .none { callback(failure) }
    }

    /// Searches on the server; as the blocking twin, without a thread that waits.
    @discardableResult
    public func search(
        _ models: [RhomModel], from: String = "search", parameters: String = "", syncChanges: Bool = false, progressStep: Int = 0
    ) async -> RhoConnectNotify {
        let request = SearchRequest(sources: [], path: from, parameters: parameters, syncChanges: syncChanges, progressStep: progressStep)
        do { return await core.perform(.search(try core.complete(request, models))) } catch { return SyncRun.notify(error) }
    }
}

extension RhomModel {
    /// Synchronizes the model, after the models that it refers to. RhoConnect: `sync`. See `syncAll()` of the client for the result.
    @discardableResult
    public func sync() -> RhoConnectNotify {
        do {
            let client = try attached().client
            return client.performOrStart(try client.command(synchronizing: self))
        } catch {
            return SyncRun.notify(error)
        }
    }

    /// Synchronizes the model in the background, and calls back with its notifications until its end. RhoConnect: `sync:target:`.
    public func sync(parameters: String = "", _ callback: @escaping @Sendable (RhoConnectNotify) -> Void) {
        do {
            setNotification(parameters: parameters, callback)
            let client = try attached().client
            _ = client.submit(try client.command(synchronizing: self), .init(callsCallbacks: true))
        } catch {
            callback(SyncRun.notify(error))
        }
    }

    /// Synchronizes the model; as the blocking twin, without a thread that waits.
    @discardableResult
    public func sync() async -> RhoConnectNotify {
        do {
            let client = try attached().client
            return await client.perform(try client.command(synchronizing: self))
        } catch {
            return SyncRun.notify(error)
        }
    }

    /// Sets the callback for the notifications of this model. It is removed after a notification that ends the model's synchronization, and after errors of
    /// the server's application. RhoConnect: `setNotification:target:`.
    public func setNotification(parameters: String = "", _ callback: @escaping @Sendable (RhoConnectNotify) -> Void) {
        guard let attachment = try? attached() else { return }
        attachment.client.withState { $0.sourceCallbacks[attachment.source.id] = NotificationCallback(parameters: parameters, call: callback) }
    }

    /// Removes the callback of this model. RhoConnect: `clearNotification`.
    public func clearNotification() {
        guard let attachment = try? attached() else { return }
        attachment.client.withState { $0.sourceCallbacks[attachment.source.id] = nil }
    }
}

extension ClientCore {
    /// Queues a command.
    func submit(_ command: SyncCommand, _ audience: RunAudience) -> RunQueue.Result {
        runs.submit(command, audience) { [self] entry in run(entry) }
    }

    /// Runs a command and waits; on the client's own thread it is only queued.
    func perform(_ command: SyncCommand, _ audience: RunAudience) -> RhoConnectNotify {
        let result = submit(command, audience)
        return runs.isOwnThread ? RhoConnectNotify(status: .inProgress) : result.wait()
    }

    func performOrStart(_ command: SyncCommand) -> RhoConnectNotify {
        guard withState(\.isThreaded) else { return perform(command, .init(callsCallbacks: false)) }
        _ = submit(command, .init(callsCallbacks: true))
        return RhoConnectNotify(status: .inProgress)
    }

    func perform(_ command: SyncCommand) async -> RhoConnectNotify {
        let result = submit(command, .init(callsCallbacks: withState(\.isThreaded)))
        return await withTaskCancellationHandler {
            await result.notification
        } onCancel: {
            cancelCurrent()
        }
    }

    func notifications(_ command: SyncCommand) -> AsyncStream<RhoConnectNotify> {
        AsyncStream { continuation in
            let audience = RunAudience(callsCallbacks: withState(\.isThreaded), observer: { continuation.yield($0) })
            submit(command, audience).observe { _ in continuation.finish() }
        }
    }

    /// Stops the run in progress, without a wait.
    func cancelCurrent() { runs.cancelCurrent() }

    /// The command that synchronizes a model with those that it refers to.
    func command(synchronizing model: RhomModel) throws(RhoConnectError) -> SyncCommand {
        var wanted: Set<Int> = []
        func add(_ source: Source) throws(RhoConnectError) {
            guard wanted.insert(source.id).inserted else { return }
            for name in source.model.associations.values { try add(try self.source(named: name)) }
        }
        let primary = try source(named: model.name)
        try add(primary)
        return .sync(sources: wanted.sorted(), primary: primary.id)
    }

    func complete(_ request: SearchRequest, _ models: [RhomModel]) throws(RhoConnectError) -> SearchRequest {
        var request = request
        for model in models { request.sources.append(try source(named: model.name).id) }
        return request
    }

    func search(
        _ models: [RhomModel], _ request: SearchRequest, _ start: (SyncCommand) -> RhoConnectNotify
    ) -> RhoConnectNotify {
        do { return start(.search(try complete(request, models))) } catch { return SyncRun.notify(error) }
    }

    /// Runs one command on the client's thread.
    private func run(_ entry: RunQueue.Entry) -> RhoConnectNotify {
        let notify: RhoConnectNotify
        do throws(RhoConnectError) {
            let run = try SyncRun(entry, self)
            switch entry.command {
            case .syncAll: notify = run.synchronize(nil)
            case .sync(let sources, let primary): notify = run.synchronize(sources, primary: primary)
            case .search(let request): notify = run.search(request)
            case .login(let user, let password): notify = run.login(user: user, password: password)
            }
        } catch {
            notify = SyncRun.notify(error)
            entry.audience.observer?(notify)
            entry.audience.final?.call(notify)
        }
        log(.info, "\(entry.command.name): \(notify.status?.rawValue ?? "done"), code \(notify.errorCode.rawValue)")
        if case .syncAll = entry.command { schedulePoll() }
        return notify
    }

    /// Starts the timer of the next synchronization, in place of a running one.
    func schedulePoll() {
        let (interval, cancel) = withState { state in
            defer { state.cancelPoll = nil }
            return (state.pollInterval, state.cancelPoll)
        }
        cancel?()
        guard interval > 0 else { return }
        let timer = environment.schedule(.seconds(interval)) { [weak self] in
            guard let self, !self.runs.isBusy else { return self?.schedulePoll() ?? () }
            _ = self.submit(.syncAll, .init(callsCallbacks: true))
        }
        withState { $0.cancelPoll = timer }
    }
}

extension SyncCommand {
    /// The name in the log, without any of its values.
    fileprivate var name: String {
        switch self {
        case .syncAll: "synchronize all"
        case .sync(let sources, _): "synchronize \(sources)"
        case .search: "search"
        case .login: "login"
        }
    }
}
