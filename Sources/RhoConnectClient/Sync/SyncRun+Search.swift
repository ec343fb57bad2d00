internal import MobileStore

extension SyncRun {
    /// Searches, one source per request: servers pass the token of one source on to the next one of a request.
    func search(_ request: SearchRequest) -> RhoConnectNotify {
        var failure: RhoConnectError?
        let sources = core.withState { state in request.sources.compactMap { id in state.sources.first { $0.id == id } } }
        do throws(RhoConnectError) {
            try begin()
            try synchronizeBulk()
            for source in sources where source.isIncremental { try SourceSync(self, source).completeLastPage() }
            if request.syncChanges {
                for source in sources where source.isIncremental { uploadBeforeSearch(source) }
            }
            for source in sources { try SourceSearch(self, source).search(request) }
        } catch {
            failure = error
        }
        var notify = RhoConnectNotify(status: failure == nil ? .complete : .error)
        if let failure { (notify.errorCode, notify.errorMessage) = (failure.code, failure.message) }
        if errors.source["search-error"] != nil || errors.source["login-error"] != nil, failure == nil {
            notify.status = .error
            notify.errorCode = .customSyncServer
            notify.errorMessage = errors.source.sorted { $0.key < $1.key }.first?.value ?? ""
            notify.serverErrors = errors
        }
        report(notify)
        return result()
    }

    /// Uploads local changes. A failure does not end the search.
    private func uploadBeforeSearch(_ source: Source) {
        do throws(RhoConnectError) { try SourceSync(self, source).upload() } catch {
            core.log(.warning, "upload of \(source.name) before a search: \(error)")
        }
    }
}

/// The search in one source.
final class SourceSearch {
    private let run: SyncRun
    private let source: Source
    private var cumulative = 0

    init(_ run: SyncRun, _ source: Source) { (self.run, self.source) = (run, source) }

    func search(_ request: SearchRequest) throws(RhoConnectError) {
        try recover()
        var token = ""
        while true {
            // Kept for a process that ends before the page is committed: the server has then counted it as delivered.
            try remember(request.path + "?" + request.parameters, token.isEmpty ? "1" : token)
            let page = try self.page(token: token, path: request.path, parameters: request.parameters)
            guard let page else { break }
            try apply(page, progressStep: request.progressStep)
            guard page.count > 0, !page.token.isEmpty, page[.searchError].exists == false else { break }
            token = page.token
            // Sources without a copy on the server answer everything at once, and fail when they are asked again.
            if source.model.options.isPassThrough { break }
        }
        try forget()
    }

    /// Receives the last page of a search that was interrupted.
    func recover() throws(RhoConnectError) {
        let id = source.id
        let row = try run.core.database.read { try SourceRow(id, in: $0) }
        guard let search = row.search else { return }
        let parts = search.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let parameters = (parts.count > 1 && !parts[1].isEmpty ? parts[1] + "&" : "") + "resend=1"
        do throws(RhoConnectError) {
            // The request for the first page may not have arrived: the server then has the last page of the search before it, whose data is older.
            if let page = try page(token: row.searchToken, path: parts[0], parameters: parameters), !page[.searchError].exists,
                row.searchToken != "1" || page.token != row.lastSearch
            {
                try apply(page, progressStep: nil)
            }
        } catch {
            // Without an answer the page may still be there.
            guard [.remoteServer, .unexpectedServerResponse, .syncVersion].contains(error.code) else { throw error }
            run.core.log(.warning, "the last page of an interrupted search in \(source.name) is lost: \(error)")
        }
        try forget()
    }

    private func page(token: String, path: String, parameters: String) throws(RhoConnectError) -> PageResponse? {
        let calls = run.calls
        let url = calls.address.search(
            source.name, client: calls.clientID, path: path, pageSize: calls.settings.pageSize, token: token, parameters: parameters)
        var entry: [(key: String, value: JSONValue)] = [("name", .string(source.name))]
        if !token.isEmpty { entry.append(("token", .string(token))) }
        let body = JSONValue.object(["sources": .array([.object(JSONObject(uniqueKeys: entry))])])
        let isCurrent = calls.address.style == .version4
        let answer = try calls.send(isCurrent ? "POST" : "GET", url, json: isCurrent ? body.bytes : nil)
        run.calls.session = answer.session ?? calls.session
        let pages = try PageResponse.searchPages(parsing: answer.body)
        guard pages.count <= 1 else { throw PageResponse.unexpected("the search of one source has \(pages.count) results") }
        guard let page = pages.first ?? nil else { return nil }
        guard page.sourceName == source.name else {
            throw PageResponse.unexpected("the search in \"\(source.name)\" has results of \"\(page.sourceName ?? "")\"")
        }
        return page
    }

    /// - Parameter progressStep: as in the request; nil for a page without reports.
    private func apply(_ page: PageResponse, progressStep: Int?) throws(RhoConnectError) {
        let blobs = try BlobDownload(run, source).files(of: page)
        var application = PageApplication(source, page, run.core, blobs)
        application.isSearch = true
        try run.write("search page of \(source.name)") { try application.apply(in: $0) }
        run.deleteReplacedFiles()
        guard let progressStep else { return }
        if !application.errors.isEmpty {
            var notify = notification(.error)
            notify.errorCode = .customSyncServer
            notify.serverErrors = application.errors
            run.collect(notify)
        }
        reportSteps(page, every: progressStep)
        let changes = run.core.withState { application.changes.notification(of: source.id, observed: $0.observedObjects) }
        if !changes.isEmpty, !run.isStopped { run.core.withState(\.objectCallback)?(changes) }
        if let failure = blobs.failure { throw failure }
    }

    /// Reports the steps within the page, and the page.
    private func reportSteps(_ page: PageResponse, every step: Int) {
        let before = cumulative
        if step > 0 {
            for reached in stride(from: before / step * step + step, through: before + page.count, by: step) {
                cumulative = reached
                run.report(notification(.inProgress, processed: reached - before))
            }
        }
        cumulative = before + page.count
        if page.count > 0 { run.report(notification(.inProgress, processed: page.count)) }
    }

    private func notification(_ status: RhoConnectNotify.Status, processed: Int = 0) -> RhoConnectNotify {
        var notify = RhoConnectNotify(status: status)
        (notify.sourceID, notify.sourceName) = (source.id, source.name)
        (notify.cumulativeCount, notify.processedCount) = (cumulative, processed)
        return notify
    }

    private func remember(_ search: String, _ token: String) throws(RhoConnectError) {
        let id = source.id
        try run.write("search") { try SourceRow.set("search = ?1, search_token = ?2", [.text(search), .text(token)], of: id, in: $0) }
    }

    private func forget() throws(RhoConnectError) {
        let id = source.id
        try run.core.database.write("search done") { try SourceRow.set("search = NULL, search_token = ''", of: id, in: $0) }
    }
}
