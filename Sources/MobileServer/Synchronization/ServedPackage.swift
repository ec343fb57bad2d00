internal import MobileCrypto
internal import MobileProtocol
internal import MobileStore

/// One deployed package with all that a synchronization needs.
///
/// A class, because many structures contain it, as ``ObjectPlan``.
final class ServedPackage: Sendable {
    let deployed: DeployedPackage
    let cache: PackageCache
    let clients: ClientDirectory
    let log: PackageLog
    let stateStore: any StateStore
    let refresher: CacheRefresher
    /// The eras of the back ends that the package writes to, by their names.
    private let recordEras: [String: RecordEras]
    private let receipts: ReceiptCheck
    private let news: VersionNews
    private let segmentMaker: SegmentMaker
    private let configuration: ServerConfiguration

    init(
        _ package: DeployedPackage, stateStore: any StateStore, files: SegmentFiles, configuration: ServerConfiguration, news: VersionNews
    ) throws {
        self.stateStore = stateStore
        deployed = package
        cache = try PackageCache.open(package, in: stateStore, configuration: configuration)
        clients = ClientDirectory(stateStore: stateStore, cache: cache, configuration: configuration)
        log = try PackageLog(package, cache: cache, stateStore: stateStore, configuration: configuration)
        recordEras = Dictionary(
            uniqueKeysWithValues: package.writtenBackEnds.map { [cache] in
                ($0.name, RecordEras($0, cache: cache, stateStore: stateStore, configuration))
            })
        receipts = ReceiptCheck(package, log: configuration.log)
        self.news = news
        refresher = CacheRefresher(
            package: package, cache: cache, stateStore: stateStore, files: files, configuration: configuration, changed: news.changed)
        segmentMaker = SegmentMaker(stateStore: stateStore, configuration: configuration)
        self.configuration = configuration
        for eras in recordEras.values { try eras.begin() }
    }

    /// Checks an upload of a copied database for the client that it was copied from.
    /// - Returns: whether it is one.
    private func checkSuccessor(_ header: SynchronizeHeader) throws(RequestFailure) -> Bool {
        guard let successor = header.successor else { return false }
        guard header.groups.isEmpty, successor != header.client, !successor.isEmpty, successor.utf8.count <= 128 else {
            throw RequestFailure(
                .badRequest, "an upload for another client: expected no groups and the own client id of 1 to 128 bytes as \"successor\"")
        }
        // With or without traced requests: whose operations a database offers is worth a line.
        configuration.log(
            "client \(LogSanitizer.name(successor)) settles operations of client \(LogSanitizer.name(header.client)), of whose database it is a copy")
        return true
    }

    func close() throws {
        for backEnd in deployed.backEnds.values { try backEnd.system.close() }
    }

    /// Makes sure that a transaction may record operations; see ``RecordEras/check(_:_:)``.
    func checkEra(of backEnd: ServedBackEnd, _ transaction: any BackEndTransaction, _ records: any OperationRecords) throws {
        try recordEras[backEnd.name]?.check(transaction, records)
    }

    /// Begins an era in the record of operations of a back end that was restored or is another one now.
    func beginEraIfEnded(of backEnd: ServedBackEnd) throws {
        guard let eras = recordEras[backEnd.name] else { return }
        do {
            try backEnd.system.replay(for: "") { transaction in
                if let records = try transaction.records() { try eras.check(transaction, records) }
            }
        } catch is RecordEras.Ended { try eras.begin() }
    }

    /// Writes a line of the server's log.
    func logLine(_ text: String) { configuration.log(text) }

    /// The present time in the protocol's format.
    var timestamp: String { Timestamp.text(milliseconds: configuration.clock()) }

    /// Returns what a user may do with the package.
    /// - Throws: ``RequestFailure`` for a user without any of its roles.
    func access(of user: String) throws -> UserAccess { try UserAccess(of: user, package: deployed, in: stateStore) }

    /// Runs one synchronization: checks the whole upload, replays it, brings the cache up to date, and answers with the data that the client does not
    /// have. The upload is checked to its end before any of it is done: a truncated one changes nothing.
    /// - Parameters:
    ///   - inquiries: the administrator's open inquiries to the client.
    ///   - grants: gives the session the permission to fetch contents on their own.
    func synchronize(
        _ body: Spool, user: String, inquiries: [ServerInquiry], grants: SessionGrants, _ line: inout RequestLine
    ) throws -> Download {
        let upload = UploadReader(body)
        let header = try upload.header()
        let access = try access(of: user)
        let state = try clients.state(of: header.client, user: user)
        guard state != .locked else { throw RequestFailure(.forbidden, "an administrator has locked the subscription") }
        let isCopy = try checkSuccessor(header)
        guard state != .unsubscribed || isCopy else { throw RequestFailure(.notFound, "the client is not subscribed to \"\(deployed.identifier)\"") }
        let requested = try RequestedGroups(header, access: access, package: deployed)
        // The answer contains the client's own changes: no event follows about them.
        let listeners = news.registry.listeners(of: header.client)
        for listener in listeners { listener.hold() }
        defer { for listener in listeners { listener.release() } }
        let check = UploadCheck(package: deployed)
        var unchecked = try upload.operations(), operations = 0, hasLargeValues = false
        while let operation = try unchecked.next() {
            try check.check(operation)
            operations += 1
            hasLargeValues = hasLargeValues || !operation.largeValues.isEmpty
        }
        try upload.forEachLogRecordFrame { try $0.forEach(check.check) }
        if state == nil {
            // The server may have lost its cache. The client's own statement is sufficient, because the password has been checked.
            try clients.setState(.subscribed, of: header.client, user: user)
        }
        let isSuspended = state == .suspended
        let refusedClaims = try clients.claimKeys(header.keyClaims, for: header.client)
        let replayer = OperationReplayer(
            package: deployed, cache: cache, stateStore: stateStore, client: header.client, access: access, header: header,
            recordEras: recordEras, receipts: receipts, configuration: configuration)
        try log.receive(upload, header, user: user)
        // Without the keys of the refused ranges, the later operations would overtake the earlier ones: none of them is done.
        var outcomes =
            if operations == 0 { [OperationOutcome]() } else { refusedClaims.isEmpty ? try replayer.replay(upload) : try replayer.recorded(upload) }
        try receipts.add(to: &outcomes, client: header.client)
        try reconcile(header, outcomes, user: user)
        try log.store(outcomes, client: header.client, user: user)
        let rejected = outcomes.count { $0.result.outcome == .rejected }, deferred = outcomes.count { $0.result.outcome == .deferred }
        line.events = [
            LogSanitizer.name(header.package), "client \(LogSanitizer.name(header.client))",
            "\(outcomes.count) operations, \(rejected) rejected\(deferred > 0 ? ", \(deferred) deferred" : "")",
        ]
        if !refusedClaims.isEmpty { line.events.append("\(refusedClaims.count) ranges of surrogate keys belong to another client") }
        if let successor = header.successor { line.events.append("on behalf of \(LogSanitizer.name(successor)), a copy of its database") }
        let keys = !isCopy && header.keysLeft < configuration.keyRangeSize / 2 ? try clients.grantKeys(to: header.client) : nil
        // A client that has to renumber rows imports nothing before that: another client's row may have the key of one of them.
        // So does a copied client that has to give its own operations other numbers.
        let isCopied = outcomes.contains { $0.result.code == ResultCode.clonedDevice }
        let isImporting = !isSuspended && refusedClaims.isEmpty && !isCopied
        let groups = isImporting ? requested.groups : []
        let partitions = try refresher.refresh(groups.flatMap(\.partitions))
        let hasSystemGroup = requested.hasSystemGroup && isImporting
        var answer = SynchronizeAnswer(
            package: header.package, groups: (hasSystemGroup ? [SystemGroup.name] : []) + groups.map(\.name), operations: Int64(outcomes.count),
            inquiries: inquiries, refusedClaims: refusedClaims)
        answer.lost = receipts.lost(header.receipts)
        let seen = SeenRecords(header, receipts)
        let touchedRows = TouchedRows(header, outcomes: outcomes, groups: groups), touched = try touchedRows.decide(partitions, of: self)
        answer.undecided = touched.undecided.sorted()
        let own = try OwnLargeValues(header, upload, hasLargeValues: hasLargeValues, outcomes, groups: groups)
        if !answer.lost.isEmpty { line.events.append("a back end was restored and lacks operations of this client") }
        return try withSegments { [answer, outcomes] requiresSegments, connection in
            let composer = DownloadComposer(
                package: deployed, cache: cache, partitions: partitions,
                reread: Set(outcomes.filter(\.isSettled).map(\.result.object)), gone: touched.gone, removed: touchedRows.removed, own: own,
                isRestored: { try seen.isRestored($0, nil) },
                connection: connection,
                logsSuccesses: configuration.logsSuccesses,
                log: configuration.log, segments: configuration.segmentRules, grants: grants, requiresSegments: requiresSegments)
            let download = try composer.compose(
                answer: answer, groups: groups, keys: keys.map { KeyRange(first: $0.first, last: $0.last) }, outcomes: outcomes,
                system: hasSystemGroup ? log.delivery(to: header, outcomes, in: connection) : nil)
            if !listeners.isEmpty {
                let positions = Dictionary(try partitions.map { ($0.id, try $0.state(in: connection).position) }) { $1 }
                for listener in listeners { listener.note(delivered: positions) }
            }
            return download
        }
    }

    /// Returns the surrogate-key map's key of a row; nil for a row that the cache does not know.
    func key(of surrogateKey: Int64, in object: ObjectPlan) throws -> Value? {
        try stateStore.read { try KeyMap(package: deployed, cache: cache).key(of: surrogateKey, in: object, $0) }
    }

    /// Composes a download in a snapshot; once more if segments had to be made first.
    /// - Parameter compose: throws ``SegmentsMissing`` if its first argument is true and segments are missing.
    private func withSegments(_ compose: (_ requiresSegments: Bool, any StateConnection) throws -> Download) throws -> Download {
        do {
            return try stateStore.read { try compose(true, $0) }
        } catch let missing as SegmentsMissing {
            do { for need in missing.needs { try segmentMaker.advance(need) } } catch {
                // The rows can be sent without.
                configuration.log("segments of \(deployed.identifier) could not be made: \(error)")
            }
        }
        return try stateStore.read { try compose(false, $0) }
    }
}
