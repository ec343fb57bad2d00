internal import MobileObjects
internal import MobileProtocol
internal import MobileTransport

/// One synchronization: upload and download over one request, then the import, a transaction per group, then the answers.
///
/// An interruption before the import leaves the database as it was, and the synchronization is simply repeated: the server knows which operations it
/// has processed, and the tokens record the progress of the imports. After an interruption between two groups, only the second one is repeated.
struct SynchronizationSession {
    let package: PackageDatabase
    let application: Application
    let profile: SynchronizationProfile
    let groups: [String]
    let isUploadOnly: Bool
    let progress: SynchronizationProgress
    let cancellation: TransportCancellation
    let events: EventStream<PackageEvent>

    func run() throws(SyncError) -> SynchronizationResult {
        let clock = ContinuousClock(), began = clock.now
        try progress.enter(.starting)
        try package.logInWithProfile(application, profile)
        let session = try application.session()
        let unsendable = try rejectUnsendable()
        try progress.report(.uploading)
        try progress.enter(.connecting)
        // Inherited operations were submitted first, so they are done first.
        let inherited = try settleInherited(session)
        var (importer, receiver) = try exchangedImporter(session)
        var received = clock.now
        var result = try importer.run(receiver)
        if importer.hasRenumbered || importer.hasNewIdentity {
            // The server has done no new operation of this upload, and takes the rows under their new keys. Or this database has found out that it is a
            // copy: its own operations have new ids now.
            let first = result
            progress.restart()
            (importer, receiver) = try exchangedImporter(session)
            received = clock.now
            result = try importer.run(receiver)
            result.operationsAccepted += first.operationsAccepted
            result.operationsRejected += first.operationsRejected
            result.operationsDeferred += first.operationsDeferred
        }
        for part in inherited {
            result.operationsAccepted += part.operationsAccepted
            result.operationsRejected += part.operationsRejected
            result.operationsDeferred += part.operationsDeferred
        }
        result.operationsRejected += unsendable
        result.groups = groups
        result.operationsSent = progress.operationsSent
        result.bytesSent = progress.bytesSent
        result.bytesReceived = progress.bytesReceived
        result.networkDuration = received - began
        result.importDuration = clock.now - received
        result.duration = clock.now - began
        answer(importer.inquiries)
        // A cancellation has no effect here, because the work is done.
        _ = try? progress.enter(.disconnecting)
        _ = try? progress.enter(.done)
        return result
    }

    /// Ends operations that cannot be sent, so that they hold back no others.
    /// - Returns: their number.
    private func rejectUnsendable() throws(SyncError) -> Int {
        let outcomes = try SyncError.local("check the outbox of \(package.metadata.name)") { try package.rejectOperationsWithoutLargeValues() }
        for outcome in outcomes where outcome.changedState {
            events.send(.replayFailure(object: outcome.entity, surrogateKey: outcome.surrogateKey))
        }
        return outcomes.count
    }

    private func exchangedImporter(
        _ session: Application.Session, ofClient client: String = ""
    ) throws(SyncError) -> (DownloadImporter, DownloadReceiver) {
        let (receiver, sent) = try exchange(session, client)
        return (DownloadImporter(package, progress, events, groups: client.isEmpty ? wireGroups : [], sent: sent), receiver)
    }

    /// Offers the operations that this database inherited under the client ids that they were submitted with.
    private func settleInherited(_ session: Application.Session) throws(SyncError) -> [SynchronizationResult] {
        let clients = try SyncError.local("read the clients of \(package.metadata.name)") { try package.formerClients }
        var results: [SynchronizationResult] = []
        for client in clients {
            let (importer, receiver) = try exchangedImporter(session, ofClient: client)
            results.append(try importer.run(receiver))
            progress.restart()
        }
        return results
    }

    /// Uploads and downloads. A session that the server does not know is renewed once, with the available credentials, and all data is sent again.
    /// - Returns: the download, and the content of the upload.
    private func exchange(_ session: Application.Session, _ client: String) throws(SyncError) -> (DownloadReceiver, SentUpload) {
        var sent = SentUpload(client: client)
        do {
            return (try exchange(session.properties, token: session.token, &sent), sent)
        } catch let error where error.code == .authenticationFailed {
            progress.restart()
            let token = try application.renewSession(
                insteadOf: session.token, credentials: profile.credentials, cancellation: cancellation)
            return (try exchange(session.properties, token: token, &sent), sent)
        }
    }

    /// The number of downloads with a content that was gone before it was fetched; after these the synchronization ends.
    private static let listsOfContents = 3

    /// Uploads, downloads, and fetches the contents that the download names. If one of them is gone, a new download names those that are there now;
    /// files that it names as well are not fetched again.
    private func exchange(_ properties: ConnectionProperties, token: String, _ sent: inout SentUpload) throws(SyncError) -> DownloadReceiver {
        for _ in 0..<Self.listsOfContents {
            let receiver = try exchangeOnce(properties, token: token, &sent)
            if try fetchContents(of: receiver, properties, token: token) == .complete { return receiver }
        }
        throw SyncError(.synchronize, .synchronizationCommunication, "download: its contents were gone each time that they were fetched")
    }

    private func fetchContents(
        of receiver: DownloadReceiver, _ properties: ConnectionProperties, token: String
    ) throws(SyncError) -> ContentFetcher.Outcome {
        let files = DownloadFiles(package), contents = receiver.contents
        let length = contents.reduce(Int64(0)) { $0.addingReportingOverflow($1.length).overflow ? .max : $0 + $1.length }
        guard length <= DownloadFiles.maximumBytes else {
            throw SyncError(
                .synchronize, .tooLarge,
                "download of \(length) bytes in files: at most \(DownloadFiles.maximumBytes) are kept; synchronize fewer groups at a time")
        }
        try SyncError.local("prepare the files of the download") { try files.prepare(receiver.groups, contents) }
        guard !contents.isEmpty else { return .complete }
        let server = try package.synchronizer.server(application, profile, properties, for: package), cancellation = cancellation
        let fetcher = ContentFetcher(contents, files) { content, offset, receive in
            try server.fetch(content.name, grant: content.grant, from: offset, token: token, cancellation: cancellation, receive: receive)
        } cancel: {
            cancellation.cancel()
        }
        return try fetcher.run(progress)
    }

    private func exchangeOnce(_ properties: ConnectionProperties, token: String, _ sent: inout SentUpload) throws(SyncError) -> DownloadReceiver {
        let trace = MessageTrace(package, profile.messageTrace)
        let (upload, isLong) = try upload(trace, &sent)
        let spool = Spool(directory: package.databaseDirectory)
        let receiver = DownloadReceiver(spool, progress, trace: trace) { () throws(SyncError) in try progress.report(.downloading) }
        let server = try package.synchronizer.server(application, profile, properties, for: package)
        let long = isLong ? try LargeUpload(upload, directory: package.databaseDirectory) : nil
        let isStored = try long.map { upload throws(SyncError) in try server.upload(upload, token: token, cancellation: cancellation) } ?? false
        try server.synchronize(
            token: token, cancellation: cancellation, upload: isStored ? long?.id : nil,
            body: { if let long { try long.spool.nextChunk() } else { try upload.next() } }, receive: { try receiver.receive($0) },
            finish: { try receiver.finish() })
        if isStored, let long { server.forget(long, token: token, cancellation: cancellation) }
        sent.logRecords = upload.logRecords
        return receiver
    }

    /// The requested groups. Log records come with every download.
    private var wireGroups: [String] {
        if isUploadOnly { return [] }
        return [SystemGroup.name] + groups.filter { $0 != SystemGroup.name }
    }

    private func upload(_ trace: MessageTrace?, _ sent: inout SentUpload) throws(SyncError) -> (UploadStream, isLong: Bool) {
        do {
            // The operations come first: the header then claims the keys of each of them, regardless of rows that are submitted meanwhile.
            let outbox = try OutboxReader(package, ofClient: sent.client)
            let isInherited = !sent.client.isEmpty
            var header = try isInherited ? package.inheritedHeader(ofClient: sent.client) : package.synchronizeHeader(groups: wireGroups)
            if !isInherited {
                sent.lost = Array(try package.unreportedLostOperations.prefix(ReportedOperation.limit))
                header.lost = PackageDatabase.report(sent.lost)
            }
            sent.unconfirmed = header.unconfirmed.merging(header.removed) { $0 + $1 }
            if outbox.end > 0 {
                let before = try package.beginDoubt(through: outbox.end)
                // A first attempt that the server refused as a whole has left no operation in doubt.
                sent.inDoubtBefore = sent.inDoubtBefore ?? before
            }
            return (
                UploadStream(header, isInherited ? nil : try LogRecordReader(package), outbox, progress, trace: trace),
                try outbox.isLonger(than: LargeUpload.threshold)
            )
        } catch {
            throw SyncError(.persistence, .localDatabase, "prepare the upload of \(package.metadata.name): \(error)", cause: error)
        }
    }
}

/// The content of an upload that is relevant to its answers.
struct SentUpload {
    /// The former client id whose operations the upload had; empty for the present one.
    var client = ""
    /// The lost operations that it reported.
    var lost: [LostOperation] = []
    /// The rows that it asked about, those that are here and those that were deleted.
    var unconfirmed: [String: [Int64]] = [:]
    /// The ids of the uploaded log records.
    var logRecords: [Int64] = []
    /// The id up to which operations were in doubt before the upload; nil where it had no operations.
    var inDoubtBefore: Int64?
}

extension SynchronizationProfile {
    /// Returns the connection's properties, with those that this profile replaces.
    func applied(to properties: ConnectionProperties) -> ConnectionProperties {
        var properties = properties
        if let serverName { properties.serverName = serverName }
        if let portNumber { properties.portNumber = portNumber }
        if let networkProtocol { properties.networkProtocol = networkProtocol }
        if let suffix = streamParameters.urlSuffix { properties.urlSuffix = suffix }
        return properties
    }
}
