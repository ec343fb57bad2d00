internal import MobileExecution
internal import MobileObjects

/// Reports the progress of one synchronization to its handlers and listeners, and ends it if they cancel it.
///
/// Runs on the synchronization thread. Each request of the synchronization gets its own statuses with its own groups and context. A cancelled request
/// drops out; when no request is left, the synchronization ends with ``SyncError/Code/cancelled``.
final class SynchronizationProgress {
    private let package: PackageDatabase
    private let events: EventStream<PackageEvent>
    /// The requests that are not cancelled.
    private(set) var requests: [SynchronizationRequest]
    private(set) var bytesSent: Int64 = 0
    private(set) var bytesReceived: Int64 = 0
    private(set) var operationsSent = 0
    private(set) var rowsReceived = 0
    private var bytesExpected: Int64 = 0
    private var rowsExpected = 0

    init(_ package: PackageDatabase, _ events: EventStream<PackageEvent>, _ requests: [SynchronizationRequest]) {
        self.package = package
        self.events = events
        self.requests = requests
    }

    // MARK: onSynchronize

    /// Reports a status for every request that is left.
    /// - Throws: ``SyncError/Code/cancelled`` if no request is left after it.
    func report(_ status: SynchronizationStatus) throws(SyncError) {
        for request in requests where tell(status, request) == .cancel { request.cancel() }
        try dropCancelled()
    }

    /// Asks the handlers whether announced changes are to be downloaded.
    /// - Throws: ``SyncError/Code/cancelled`` if no request is left after it.
    func reportAnnouncement() throws(SyncError) {
        for request in requests where request.isNotified && tell(.startingOnNotification, request) == .cancel { request.cancel() }
        try dropCancelled()
    }

    /// Reports the end for every request that is left; a cancellation has no effect any longer.
    func finish(_ result: Result<SynchronizationResult, SyncError>) {
        for request in requests { finish(request, result) }
        requests = []
    }

    private func finish(_ request: SynchronizationRequest, _ result: Result<SynchronizationResult, SyncError>) {
        switch result {
        case .success(let figures):
            _ = tell(.finishing, request)
            request.outcome.resolve(.success(figures))
        case .failure(let error):
            _ = tell(.error, request, error)
            request.outcome.resolve(.failure(error))
        }
    }

    private func dropCancelled() throws(SyncError) {
        guard requests.contains(where: \.isCancelled) else { return }
        let error = SyncError(.synchronize, .cancelled, "synchronization of \(package.metadata.name) was cancelled")
        let cancelled = requests.filter(\.isCancelled)
        requests.removeAll(where: \.isCancelled)
        for request in cancelled { finish(request, .failure(error)) }
        if requests.isEmpty { throw error }
    }

    private func tell(_ status: SynchronizationStatus, _ request: SynchronizationRequest, _ error: SyncError? = nil) -> SynchronizationAction {
        let context = SynchronizationContext(status: status, userContext: request.context, error: error)
        var action = SynchronizationAction.continue
        for handler in package.callbackHandlers where handler.onSynchronize(request.groups, context) == .cancel { action = .cancel }
        events.send(.synchronization(groups: request.groups, status: status, context: request.context, error: error))
        return action
    }

    // MARK: The status listener

    /// Reports a state to the detailed listeners.
    /// - Throws: ``SyncError/Code/cancelled``.
    func enter(_ state: SynchronizationStatusInfo.State, object: String? = nil) throws(SyncError) {
        for request in requests {
            guard let listener = request.listener else { continue }
            var info = SynchronizationStatusInfo(
                state: state, object: object, bytesSent: bytesSent, bytesReceived: bytesReceived, bytesExpected: bytesExpected,
                operationsSent: operationsSent, rowsReceived: rowsReceived, rowsExpected: rowsExpected)
            listener.onSynchronizationStatusChange(&info)
            if info.isCancelled { request.cancel() }
        }
        try dropCancelled()
    }

    func sent(bytes: Int) throws(SyncError) {
        bytesSent += Int64(bytes)
        try dropCancelled()
    }

    func sentOperation() { operationsSent += 1 }

    func received(bytes: Int) throws(SyncError) {
        bytesReceived += Int64(bytes)
        try dropCancelled()
    }

    /// Counts bytes of the download itself, which lists its contents.
    func receivedList(bytes: Int) throws(SyncError) {
        announced(bytes: Int64(bytes))
        try received(bytes: bytes)
    }

    /// Counts rows that the download holds or names. The server may name any number.
    func announced(rows: Int64) {
        let (sum, isTooLarge) = rowsExpected.addingReportingOverflow(Int(clamping: rows))
        rowsExpected = isTooLarge ? .max : sum
    }

    /// Counts bytes of a content that the download names, and that is fetched on its own. The server may name any number.
    func announced(bytes: Int64) {
        let (sum, isTooLarge) = bytesExpected.addingReportingOverflow(bytes)
        bytesExpected = isTooLarge ? .max : sum
    }

    func imported(rows: Int) { rowsReceived += rows }

    /// Resets the figures before the upload is repeated in a new session: those of the first attempt do not count.
    func restart() {
        (bytesSent, bytesReceived, operationsSent) = (0, 0, 0)
        (bytesExpected, rowsExpected) = (0, 0)
    }
}
