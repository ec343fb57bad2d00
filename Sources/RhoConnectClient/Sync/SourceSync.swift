internal import MobileStore

/// The synchronization of one model: upload, then pages until the end of the data.
final class SourceSync {
    private let run: SyncRun
    private let source: Source
    private var inserted = 0
    private var deleted = 0
    private var cumulative = 0
    private var total = 0

    init(_ run: SyncRun, _ source: Source) {
        self.run = run
        self.source = source
    }

    /// The continuation of the run after a model.
    enum End {
        case next
        /// Another version of the protocol, a changed schema, or the application's stop.
        case ended
        /// A session or client that the server does not accept: every further model would fail in the same way.
        case refused(RhoConnectError)
    }

    /// Synchronizes the model, and reports.
    func synchronize() -> End {
        let began = run.core.environment.milliseconds()
        var failure: RhoConnectError?
        var isSchemaChanged = false
        do throws(RhoConnectError) {
            try reportStoredErrors()
            try SourceSearch(run, source).recover()
            if try uncertainCreates() > 0 { isSchemaChanged = try resolveUncertain() }
            if !isSchemaChanged {
                let holdsDeletes = try upload()
                isSchemaChanged = try receive()
                if holdsDeletes, !isSchemaChanged {
                    try upload()
                    isSchemaChanged = try receive()
                }
            }
        } catch {
            failure = error
        }
        guard !run.isStopped else { return .ended }
        finish(failure, began: began)
        report(failure, isSchemaChanged)
        if let failure, failure.code == .unauthorized || failure.isUnknownClient { return .refused(failure) }
        return isSchemaChanged || failure?.code == .syncVersion ? .ended : .next
    }

    // MARK: Upload

    private func uncertainCreates() throws(RhoConnectError) -> Int {
        let queue = source.queue
        return try run.core.database.read { try queue.uncertainCreates(in: $0) }
    }

    /// Finds out which creates of an upload without an answer the server has: those with links or errors. The server's queue may hold others, after one that it
    /// refused or because its process ended, and works them off with the next upload of any client. So uploads without changes follow until none of them brings
    /// anything; the creates that are left then did not arrive.
    /// - Returns: whether the server's schema has changed.
    private func resolveUncertain() throws(RhoConnectError) -> Bool {
        if try receive() { return true }
        var left = try uncertainCreates(), before = left + 1
        while left > 0, left < before {
            _ = try send(UploadBatch())
            if try receive() { return true }
            (before, left) = (left, try uncertainCreates())
        }
        let source = source
        try run.write("resolve uploads") { try source.queue.resolveUncertain(source.table, in: $0) }
        return false
    }

    /// Sends the local changes.
    /// - Returns: whether deletions wait for the end of the data.
    @discardableResult
    func upload() throws(RhoConnectError) -> Bool {
        let source = source, attempts = run.calls.settings.createAttempts
        let batch = try run.write("collect changes") { connection in
            try source.queue.collect(
                source, attempts: attempts, awaitsPage: try SourceRow(source.id, in: connection).awaitsPage,
                waiting: { try self.isTemporary($1, of: $0, in: connection) }, in: connection)
        }
        guard !batch.isEmpty || batch.isForced else { return batch.holdsDeletes }
        let answer: ServerCalls.Answer
        do throws(RhoConnectError) {
            answer = try send(batch)
        } catch {
            // A refused session or client: the server surely has not queued the changes.
            let isKnown = error.code == .unauthorized || error.isUnknownClient || error.code == .runtime
            try run.core.database.write("upload failed") { try source.queue.fail(batch, isKnown: isKnown, source.table, in: $0) }
            throw error
        }
        try run.core.database.write("upload sent") { connection in
            try source.queue.succeed(batch, in: connection)
            if let session = answer.session { try ClientInfo.renew(session: session, in: connection) }
        }
        run.calls.session = answer.session ?? run.calls.session
        return batch.holdsDeletes
    }

    private func send(_ batch: UploadBatch) throws(RhoConnectError) -> ServerCalls.Answer {
        let calls = run.calls, url = calls.address.upload(source.name), id = source.id
        let names = try run.core.database.read { try BlobNames.read(id, in: $0) }.union(source.blobAttributes.keys)
        let files = BlobUpload(batch, names: names, folder: run.core.database.blobFolder)
        do {
            let json = try UploadBody.json(batch, source: source.name, client: calls.clientID, blobs: files.fields)
            guard !files.isEmpty else { return try calls.send("POST", url, json: json) }
            let multipart = try files.multipart(json)
            return try calls.send("POST", url, headers: [("Content-Type", multipart.contentType)], body: multipart.body)
        } catch {
            throw RhoConnectError(error)
        }
    }

    /// Whether a value of an attribute is the id of a new object that the server has not confirmed.
    private func isTemporary(_ value: String, of attribute: String, in connection: Connection) throws -> Bool {
        guard let name = source.model.associations[attribute], let other = try? run.core.source(named: name), other.isIncremental else {
            return false
        }
        guard let marker = try other.queue.marker(of: value, in: connection) else { return false }
        return marker.progress != .confirmed
    }

    // MARK: Pages

    /// Receives the page that the server may have for this client, before something else than a query gives the client newer data: the page would come again
    /// afterwards, and put the older data over it. The end of the data is not awaited.
    func completeLastPage() throws(RhoConnectError) {
        let id = source.id
        try forgetReportedErrors()
        try SourceSearch(run, source).recover()
        guard try run.core.database.read({ try SourceRow(id, in: $0).awaitsPage }) else { return }
        _ = try receive(isOnePage: true)
    }

    /// Receives pages until the end of the data, or one page without reports; its errors are reported by the next synchronization.
    /// - Returns: whether the server's schema has changed.
    private func receive(isOnePage: Bool = false) throws(RhoConnectError) -> Bool {
        var isAtEnd = false
        if !source.model.options.isPassThrough {
            let id = source.id
            try run.write("query") { try SourceRow.set("awaits_page = 1", of: id, in: $0) }
        }
        while !isAtEnd {
            try run.checkStopped()
            let calls = run.calls, id = source.id
            let token = try run.core.database.read { try SourceRow(id, in: $0).token }
            // A token that matches nothing has the server repeat a page that was not committed. No token would acknowledge it.
            let url = calls.address.query(
                source.name, client: calls.clientID, pageSize: calls.settings.pageSize, token: token.isEmpty ? "1" : token,
                extra: calls.settings.queryParameters)
            let answer = try calls.send("GET", url)
            let page = try PageResponse(parsing: answer.body)
            total = page.totalCount
            let blobs = try BlobDownload(run, source).files(of: page)
            var application = PageApplication(source, page, run.core, blobs)
            application.isFollowed = !isOnePage
            let session = answer.session
            try run.write("page of \(source.name)") { connection in
                try application.apply(in: connection)
                if let session { try ClientInfo.renew(session: session, in: connection) }
            }
            run.deleteReplacedFiles()
            run.calls.session = session ?? run.calls.session
            if application.isSchemaChanged { return true }
            if isOnePage { reportObjects(application.changes) } else { report(application, page) }
            if let failure = blobs.failure { throw failure }
            isAtEnd = isOnePage || page.token.isEmpty || source.model.options.isPassThrough
        }
        return false
    }

    // MARK: Reports

    private func report(_ application: PageApplication, _ page: PageResponse) {
        inserted += application.inserted
        deleted += application.deleted
        cumulative += page.count
        reportErrors(application.errors)
        reportObjects(application.changes)
        guard page.count > 0 else { return }
        var notify = notification(.inProgress)
        notify.processedCount = page.count
        run.report(notify)
    }

    /// Reports errors that were committed.
    private func reportErrors(_ errors: RhoConnectServerErrors) {
        guard !errors.isEmpty else { return }
        guard !run.isStopped else {
            // The application has not had these: all are reported again.
            run.core.withState { _ = $0.reportedErrors.remove(source.id) }
            return
        }
        var notify = notification(.error)
        notify.errorCode = .customSyncServer
        notify.errorMessage = errors.source.sorted { $0.key < $1.key }.first?.value ?? ""
        notify.serverErrors = errors
        run.report(notify)
        run.core.withState { _ = $0.reportedErrors.insert(source.id) }
    }

    /// Forgets the refusals that the application has had since the last synchronization.
    private func forgetReportedErrors() throws(RhoConnectError) {
        let id = source.id
        guard run.core.withState({ $0.reportedErrors.remove(id) }) != nil else { return }
        try run.core.database.write("errors reported") { try SourceRow.set("errors = NULL", of: id, in: $0) }
    }

    /// Reports the refusals of a process which ended before the application could answer them.
    private func reportStoredErrors() throws(RhoConnectError) {
        let id = source.id
        try forgetReportedErrors()
        guard let stored = try run.core.database.read({ try SourceRow(id, in: $0).errors }) else { return }
        reportErrors(StoredErrors.read(stored, of: source.name))
    }

    private func reportObjects(_ changes: PageChanges) {
        let notify = run.core.withState { changes.notification(of: source.id, observed: $0.observedObjects) }
        guard !notify.isEmpty, !run.isStopped else { return }
        run.core.withState(\.objectCallback)?(notify)
    }

    private func report(_ failure: RhoConnectError?, _ isSchemaChanged: Bool) {
        var notify = notification(isSchemaChanged ? .schemaChanged : failure == nil ? .ok : .error)
        if let failure { (notify.errorCode, notify.errorMessage) = (failure.code, failure.message) }
        run.report(notify)
    }

    private func notification(_ status: RhoConnectNotify.Status) -> RhoConnectNotify {
        var notify = RhoConnectNotify(status: status)
        (notify.sourceID, notify.sourceName) = (source.id, source.name)
        (notify.totalCount, notify.cumulativeCount) = (total, cumulative)
        return notify
    }

    /// Notes the end in the row of the source.
    private func finish(_ failure: RhoConnectError?, began: Int64) {
        let id = source.id, now = run.core.environment.milliseconds()
        let values = [Value(inserted), Value(deleted), Value(now - began), Value(failure == nil ? 1 : 0), Value(now / 1000)]
        do throws(RhoConnectError) {
            try run.core.database.write("end of source") { connection in
                try SourceRow.set(
                    """
                    last_inserted_size = ?1, last_deleted_size = ?2, last_sync_duration = ?3, last_sync_success = ?4,
                    last_updated = CASE ?4 WHEN 1 THEN ?5 ELSE last_updated END
                    """, values, of: id, in: connection)
            }
        } catch {
            run.core.log(.warning, "the end of \(source.name) was not noted: \(error)")
        }
    }
}
