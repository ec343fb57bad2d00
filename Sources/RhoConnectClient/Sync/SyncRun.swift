internal import Dispatch
internal import MobileStore
internal import MobileTransport

/// One run: a synchronization, a search or a login. Used by the thread of its client's queue.
final class SyncRun {
    let core: ClientCore
    let cancellation: TransportCancellation
    let audience: RunAudience
    var calls: ServerCalls
    private(set) var last = RhoConnectNotify()
    private(set) var errors = RhoConnectServerErrors()
    /// The first failure of a model, which the result shows although later models went well.
    private var failure: RhoConnectNotify?

    init(_ entry: RunQueue.Entry, _ core: ClientCore) throws(RhoConnectError) {
        self.core = core
        cancellation = entry.cancellation
        audience = entry.audience
        calls = try ServerCalls(core, entry.cancellation)
    }

    /// Whether the application has stopped the run: nothing is reported any more.
    var isStopped: Bool { cancellation.isCancelled }

    func checkStopped() throws(RhoConnectError) {
        if isStopped { throw RhoConnectError(.cancelledByUser, "stopped") }
    }

    /// Commits a step of the run, unless it was stopped. A reset that stopped it does not find the step afterwards.
    func write<R>(_ label: String, _ body: (Connection) throws -> R) throws(RhoConnectError) -> R {
        try core.database.write(label) { connection in
            try checkStopped()
            return try body(connection)
        }
    }

    /// Deletes the files of BLOB values that a committed step has replaced.
    func deleteReplacedFiles() { core.database.replacedFiles.delete(in: core.database, core.withState(\.sources)) }

    // MARK: Notifications

    /// Reports to the callbacks and to the observer.
    func report(_ notify: RhoConnectNotify) {
        guard !isStopped else { return }
        last = notify
        errors.add(notify.serverErrors)
        if notify.errorCode != .none, notify.errorCode != .customSyncServer, failure == nil { failure = notify }
        audience.observer?(notify)
        if audience.callsCallbacks { callback(for: notify) }
    }

    private func callback(for notify: RhoConnectNotify) {
        let callback = core.withState { state -> NotificationCallback? in
            guard let id = notify.sourceID, let own = state.sourceCallbacks[id] else { return state.callback }
            if notify.status != .inProgress { state.sourceCallbacks[id] = nil }
            return own
        }
        guard let callback else { return }
        var notify = notify
        notify.callbackParameters = callback.parameters
        callback.call(notify)
    }

    /// The result of the call that waits for the run: the last notification, with the failures of the run that later ones would hide.
    func result() -> RhoConnectNotify {
        var result = last
        if isStopped {
            result = RhoConnectNotify(status: .error)
            result.errorCode = .cancelledByUser
            result.errorMessage = "stopped"
        } else if result.errorCode == .none, let failure {
            (result.errorCode, result.errorMessage) = (failure.errorCode, failure.errorMessage)
        }
        result.serverErrors = errors
        if result.errorCode == .none, !errors.isEmpty { result.errorCode = .customSyncServer }
        return result
    }

    /// Keeps the errors of a notification for the end of the run, without a report.
    func collect(_ notify: RhoConnectNotify) { errors.add(notify.serverErrors) }

    static func notify(_ error: RhoConnectError, _ source: Source? = nil) -> RhoConnectNotify {
        var notify = RhoConnectNotify(status: .error)
        notify.errorCode = error.code
        notify.errorMessage = error.message
        notify.sourceID = source?.id
        notify.sourceName = source?.name
        return notify
    }

    // MARK: Synchronization

    /// Synchronizes all models, or the given ones in their order.
    func synchronize(_ ids: [Int]?, primary: Int? = nil) -> RhoConnectNotify {
        let order = core.withState(\.synchronizationOrder).filter { ids?.contains($0.id) != false }
        let single = order.first { $0.id == primary }
        do throws(RhoConnectError) {
            try begin()
            try synchronizeBulk()
        } catch {
            // A failed bulk synchronization has reported itself.
            if !(error.cause is ReportedFailure) { report(Self.notify(error, single)) }
            return result()
        }
        var refusal: RhoConnectError?
        for source in order where source.isIncremental {
            if isStopped { break }
            if let refusal {
                // As if the server had been asked: the documents have one error per model.
                report(Self.notify(refusal, source))
                continue
            }
            switch SourceSync(self, source).synchronize() {
            case .next: break
            case .ended: return result()
            case .refused(let error): refusal = error
            }
        }
        if ids == nil, !isStopped, refusal == nil { report(RhoConnectNotify(status: .complete)) }
        return result()
    }

    /// Loads the session, and makes or resets the client on the server.
    func begin() throws(RhoConnectError) {
        let info = try core.database.read { try ClientInfo(in: $0) }
        guard let session = info.session else { throw RhoConnectError(.clientIsNotLoggedIn, "there is no session: log in") }
        calls.session = session
        calls.clientID = info.clientID
        if info.clientID.isEmpty { try createClient() } else { try resetServer(all: info.needsReset) }
        register()
    }

    private func createClient() throws(RhoConnectError) {
        let isCurrent = calls.address.style == .version4
        let answer = try calls.send(isCurrent ? "POST" : "GET", calls.address.createClient)
        let id = (try? JSONValue(parsing: answer.body))?["client"]?["client_id"]?.string ?? ""
        guard !id.isEmpty else { throw PageResponse.unexpected("the response has no client id") }
        try write("client id") { connection in
            try ClientInfo.set("client_id = ?1, reset = 0", [.text(id)], in: connection)
            try connection.execute("UPDATE sources SET reset = 0, \(SourceRow.withoutPages)")
            if let session = answer.session { try ClientInfo.renew(session: session, in: connection) }
        }
        calls.clientID = id
        calls.session = answer.session ?? calls.session
    }

    /// Has the server forget the state of all models, or of those that need it. The mark is removed after a 200 only.
    private func resetServer(all: Bool) throws(RhoConnectError) {
        let names = try core.database.read { connection in
            try connection.rows("SELECT name FROM sources WHERE reset = 1 ORDER BY source_id").compactMap(\.first?.text)
        }
        guard all || !names.isEmpty else { return }
        let sources = all ? [] : names, isCurrent = calls.address.style == .version4
        let url = calls.address.reset(calls.clientID, sources)
        let body = JSONValue.object(["sources": .array(sources.map { ["name": .string($0)] })]).bytes
        _ = try calls.send(isCurrent ? "POST" : "GET", url, json: isCurrent && !sources.isEmpty ? body : nil)
        try write("server reset") { connection in
            try connection.execute("UPDATE sources SET reset = 0, \(SourceRow.withoutPages) WHERE reset = 1 OR ?1", [Value(all)])
            if all { try ClientInfo.set("reset = 0", in: connection) }
        }
    }

    /// Waits, unless the run is stopped.
    func pause(_ time: Duration) throws(RhoConnectError) {
        let over = DispatchSemaphore(value: 0)
        let steps = max(1, Int(time / .milliseconds(100)))
        for _ in 0..<steps where time > .zero {
            try checkStopped()
            _ = over.wait(timeout: .now() + time / .seconds(1) / Double(steps))
        }
        try checkStopped()
    }
}

/// The cause of an error that its notifications have reported already.
struct ReportedFailure: Error {}
