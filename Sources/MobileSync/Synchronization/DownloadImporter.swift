internal import MobileModel
internal import MobileObjects
internal import MobileProtocol
internal import MobileStore

/// Writes a complete download into the local database: one transaction per group with its token, then one for all answers.
///
/// Imports come before answers, so that an accepted change finds the server's version of its row. Each transaction is independent: a process that is
/// killed between two of them keeps the first, and the next synchronization brings the rest again.
final class DownloadImporter {
    private let package: PackageDatabase
    private let progress: SynchronizationProgress
    private let events: EventStream<PackageEvent>
    private let expected: Set<String>
    private var reader = FrameReader(.download)
    private var result = SynchronizationResult()
    private var keyRange: KeyRange?
    /// The ranges of surrogate keys that the server has refused.
    private var refusedClaims: [Int64] = []
    /// Whether rows have other keys now, because the server refused theirs.
    private(set) var hasRenumbered = false
    /// Whether operations have new ids now, because the server's answer has shown that this database is a copy.
    private(set) var hasNewIdentity = false
    /// By era: the number above which accepted operations are lost.
    private var lost: [String: Int64] = [:]
    /// By era: how far the records of the back ends had come when the rows of the groups were read.
    private var records: [String: Int64] = [:]
    /// The rows about which the download decides whether they are the device's.
    private var decided = DecidedRows()
    private var answers: [ReplayResult] = []
    private var logRecords: [LogRecordEntry] = []
    /// The upload that the server has received.
    private let sent: SentUpload
    /// The groups that the download contains.
    private var received: Set<String> = []
    private var systemToken: Token?
    /// The open inquiries of the server's administrator.
    private(set) var inquiries: [ServerInquiry] = []
    /// The large values of the download in its order, already in the database; nil for NULL.
    private var largeValues: ArraySlice<LargeValue?> = []
    private let files: DownloadFiles
    /// The segments of the download in its order.
    private var segments: ArraySlice<ListedContent> = []

    init(
        _ package: PackageDatabase, _ progress: SynchronizationProgress, _ events: EventStream<PackageEvent>, groups: [String], sent: SentUpload
    ) {
        self.sent = sent
        self.package = package
        files = DownloadFiles(package)
        self.progress = progress
        self.events = events
        expected = Set(groups)
    }

    func run(_ receiver: DownloadReceiver) throws(SyncError) -> SynchronizationResult {
        do {
            let spool = receiver.spool
            if receiver.hasLargeValues {
                let values = receiver.contents.filter { $0.kind == .largeValue }
                largeValues = try LargeValueIntake(package, progress).run(spool, values)[...]
            }
            segments = receiver.contents.filter { $0.kind == .segment }[...]
            spool.rewind()
            var remaining = 0
            while let content = try next(spool) {
                switch content {
                case .answer(let answer):
                    remaining = answer.groups.count { $0 != SystemGroup.name }
                    inquiries = answer.inquiries
                    refusedClaims = answer.refusedClaims
                    (lost, records) = (answer.lost, answer.records)
                    decided = DecidedRows(groups: Set(answer.groups), undecided: Set(answer.undecided))
                    received = Set(answer.groups)
                    try checkGroups(answer.groups)
                case .keyRange(let range): keyRange = range
                case .groupEnd(let end) where end.group == SystemGroup.name: systemToken = end.token
                case .table, .segment, .largeValue, .groupEnd:
                    remaining -= 1
                    try importGroup(from: content, spool, isLast: remaining == 0)
                case .replayResults(let results): answers += results
                case .logRecords(let records): logRecords += records
                default: break
                }
            }
            try settle()
            return result
        } catch {
            throw Self.error(error)
        }
    }

    private func next(_ spool: Spool) throws -> FrameContent? {
        try reader.next(from: { try spool.nextChunk() })?.content
    }

    private func checkGroups(_ groups: [String]) throws(SyncError) {
        if let other = groups.first(where: { !expected.contains($0) }) {
            throw SyncError(.synchronize, .synchronizationCommunication, "download: group \"\(other.prefix(80))\" was not requested")
        }
        guard groups.isEmpty || refusedClaims.isEmpty else {
            throw SyncError(.synchronize, .synchronizationCommunication, "download: it refuses a range of keys and has a group; it can only do one")
        }
    }

    // MARK: Groups

    private func importGroup(from first: FrameContent, _ spool: Spool, isLast: Bool) throws {
        try progress.enter(.committingDownload)
        var group = ""
        try write("import") { transaction in
            if let keyRange { try transaction.grantKeyRange(first: keyRange.first, last: keyRange.last) }
            var content = first
            var isReset = false
            var segmentImport = SegmentImport()
            while true {
                try segmentImport.end(before: content)
                switch content {
                case .table(let part):
                    let deleted = result.rowsDeleted
                    try importRows(part, spool, transaction)
                    // The first download begins with a reset of empty tables, which is not worth a callback.
                    isReset = isReset || part.mode == .reset && result.rowsDeleted > deleted
                case .segment(let part): try importSegment(part, &segmentImport, transaction)
                case .largeValue(let part): try importLargeValue(part, spool, transaction)
                case .groupEnd(let end):
                    try checkGroups([end.group])
                    try transaction.setToken(end.token.text, ofGroup: end.group, records: records)
                    try transaction.setStaleRows(end.stale, ofGroup: end.group)
                    try transaction.confirmRows(ofGroup: end.group, sent.unconfirmed, decided)
                    group = end.group
                    if isReset { package.notify { $0.onResetSuccess() } }
                    if isLast { package.notify { $0.onImportSuccess() } }
                    return
                default: break
                }
                guard let following = try next(spool) else { throw Self.brokenOff }
                content = following
            }
        }
        keyRange = nil
        files.remove(group)
        if isLast { events.send(.importSuccess) }
    }

    private func importSegment(_ part: SegmentPart, _ segmentImport: inout SegmentImport, _ transaction: Transaction) throws {
        guard let content = segments.popFirst() else { throw SyncError.unlisted(part.object) }
        try progress.enter(.committingDownload, object: part.object)
        let count = try segmentImport.take(part) {
            try comparingModels {
                try transaction.importSession(for: part.object).rows(part.columns) { [progress] _ in
                    try progress.enter(.committingDownload, object: part.object)
                }
            }
        } bytes: { rows in
            try files.read(content) { try rows.push($0) }
        }
        guard count == part.rows else {
            throw SyncError(
                .synchronize, .synchronizationCommunication, "download: a segment of \"\(part.object)\" has \(count) rows instead of \(part.rows)")
        }
        result.rowsImported += count
        progress.imported(rows: count)
    }

    private func importRows(_ part: TablePart, _ spool: Spool, _ transaction: Transaction) throws {
        let session = try comparingModels { try transaction.importSession(for: part.object) }
        // A cancellation is thrown here; the transaction is then rolled back.
        let check: (ImportProgress) throws -> Void = { [progress] _ in try progress.enter(.committingDownload, object: part.object) }
        let rows: BulkImporter
        switch part.mode {
        case .upsert: rows = try comparingModels { try session.rows(part.columns, progress: check) }
        case .delete: rows = try session.deletions(progress: check)
        case .reset:
            result.rowsDeleted += try session.removeAll(keepsKeys: part.keepsKeys)
            guard case .partEnd? = try next(spool) else { throw Self.brokenOff }
            return
        }
        while case .data(let bytes)? = try next(spool) { try rows.push(bytes) }
        let counts = try rows.finish()
        if part.mode == .upsert { result.rowsImported += counts.rows } else { result.rowsDeleted += counts.rows }
        progress.imported(rows: counts.rows)
    }

    private func importLargeValue(_ part: LargeValuePart, _ spool: Spool, _ transaction: Transaction) throws {
        guard case .row(let key) = part.owner, let value = largeValues.popFirst() else { throw Self.brokenOff }
        while case .data? = try next(spool) {}
        let session = try transaction.importSession(for: part.object)
        if let submitted = part.submitted {
            guard try session.setLargeValue(ofOperation: submitted, of: part.attribute, key: key) else {
                throw SyncError(
                    .synchronize, .synchronizationCommunication,
                    "download of \"\(part.object)\": a large value of operation \(submitted), which was taken back meanwhile; synchronize again")
            }
        } else {
            try session.setLargeValue(value, of: part.attribute, key: key)
            result.largeValuesImported += 1
        }
    }

    /// Explains names that this application's model does not have: the server has another model under the same name and version.
    private func comparingModels<R>(_ body: () throws -> R) throws -> R {
        do { return try body() } catch let error as ObjectError where error.code == .noSuchClass || error.code == .noSuchAttribute {
            throw SyncError(.synchronize, .refused, "\(error.message) here; \(ModelDifference.text(package.wireName))", cause: error)
        }
    }

    private static var brokenOff: SyncError { SyncError(.synchronize, .synchronizationCommunication, "download: a part does not end") }

    // MARK: Answers

    private func settle() throws {
        // A token alone brings nothing new. It is stored only if the log records are all that was requested.
        let isSystemAlone = systemToken != nil && expected == [SystemGroup.name]
        let hasLogRecords = !logRecords.isEmpty || !sent.logRecords.isEmpty
        guard
            !answers.isEmpty || hasLogRecords || keyRange != nil || isSystemAlone || !refusedClaims.isEmpty || !lost.isEmpty
                || !sent.lost.isEmpty
        else { return }
        let outcomes = try write("settle") { transaction in
            if let keyRange { try transaction.grantKeyRange(first: keyRange.first, last: keyRange.last) }
            // Log records first, so that a handler of the rejection finds them.
            try transaction.uploaded(logRecords: sent.logRecords)
            for record in logRecords {
                if record.isDeleted {
                    try transaction.removeLogRecord(record.messageId ?? 0)
                } else {
                    try transaction.store(package.logRecord(record, answers))
                }
            }
            if let systemToken { try transaction.setToken(systemToken.text, ofGroup: SystemGroup.name) }
            if let before = sent.inDoubtBefore, !answers.isEmpty { try transaction.endDoubt(at: before) }
            // Before the answers, so that an operation that is accepted now does not count.
            let lostGroups = try transaction.noteLost(lost)
            try transaction.reportedLost(sent.lost)
            let outcomes = try transaction.settle(answers.filter { !$0.isOfCopy }.map { ReplayAnswer($0) }, decided: decided)
            // After the answers, so that rows that the server took from an earlier upload keep their keys.
            try goOnAsCopy(transaction)
            try rereadRows(of: outcomes, transaction)
            // The download after the acceptance of a lost operation may have come from the restored back end already, which has no change to report about
            // a row that it never had.
            for group in lostGroups { try transaction.forgetToken(ofGroup: group) }
            for group in received { try transaction.dropBasesOfUnchangedRows(inGroup: group) }
            return outcomes
        }
        keyRange = nil
        for outcome in outcomes { note(outcome) }
    }

    /// Gives new ids or keys to what the server has refused because another database has the same ones.
    private func goOnAsCopy(_ transaction: Transaction) throws {
        let own = answers.filter(\.isOfCopy).map(\.id)
        if sent.client.isEmpty {
            if !own.isEmpty {
                try transaction.takeNewIdentity(renaming: own)
                hasNewIdentity = true
            }
            // A copy has given up these ranges already.
            hasRenumbered = try transaction.renumberKeys(ofRefusedRanges: refusedClaims) != nil
        } else if refusedClaims.isEmpty {
            try transaction.rename(own)
        } else {
            // The server has done none of the operations without a result.
            let waiting = try package.outbox(after: 0, limit: -1, ofClient: sent.client).map(\.id)
            try transaction.rename(waiting)
        }
    }

    /// Makes the next synchronization bring the rows of operations whose outcome the server does not know any more, because this client had settled them.
    /// Groups of this download have brought them.
    private func rereadRows(of outcomes: [ReplayOutcome], _ transaction: Transaction) throws {
        let settled = Set(answers.lazy.filter { $0.code == ResultCode.alreadySettled }.map(\.id))
        for outcome in outcomes where settled.contains(outcome.id) {
            let group = try package.metadata.entity(named: outcome.entity).model.synchronizationGroup
            if !received.contains(group) { try transaction.forgetToken(ofGroup: group) }
        }
    }

    private func note(_ outcome: ReplayOutcome) {
        let (object, key) = (outcome.entity, outcome.surrogateKey), event: PackageEvent
        switch outcome.decision {
        case .accepted:
            result.operationsAccepted += 1
            event = .replaySuccess(object: object, surrogateKey: key)
        case .rejected, .conflict:
            result.operationsRejected += 1
            event = .replayFailure(object: object, surrogateKey: key)
        case .deferred:
            result.operationsDeferred += 1
            event = .replayDeferred(object: object, surrogateKey: key)
        }
        if outcome.changedState { events.send(event) }
    }

    // MARK: Transactions

    /// Runs one transaction with the callbacks of its end: `onMessageException` before a rollback, then commit or rollback.
    private func write<R>(_ label: String, _ body: (Transaction) throws -> R) throws -> R {
        let result: R
        do {
            result = try package.write(label) { transaction in
                do { return try body(transaction) } catch {
                    package.notify { $0.onMessageException(error) }
                    throw error
                }
            }
        } catch {
            package.notify { $0.onTransactionRollback() }
            throw error
        }
        package.notify { $0.onTransactionCommit() }
        return result
    }

    /// Converts errors of the layers below to a ``SyncError``.
    private static func error(_ error: any Error) -> SyncError {
        switch error {
        case let error as SyncError: error
        case let error as ProtocolError where error.code != .spool:
            SyncError(.synchronize, .synchronizationCommunication, "download: \(error)", cause: error)
        default: SyncError(.persistence, .localDatabase, "import of the download: \(error)", cause: error)
        }
    }
}

extension ReplayResult {
    /// Whether the server has another operation under the id of this one, so that the database is a copy. The operation was not done.
    fileprivate var isOfCopy: Bool { outcome == .rejected && code == ResultCode.clonedDevice }
}

extension ReplayAnswer {
    /// Creates the answer from a result in the form of the protocol.
    fileprivate init(_ result: ReplayResult) {
        switch result.outcome {
        case .accepted:
            self.init(id: result.id, .accepted)
            receipt = result.receipt.map { AcceptanceReceipt(era: $0.era, number: $0.number) }
        case .rejected where result.code == ResultCode.changedSince: self.init(id: result.id, .conflict(result.row))
        case .rejected: self.init(id: result.id, .rejected)
        case .deferred: self.init(id: result.id, .deferred(ReplayDeferral(code: result.code, message: result.message)))
        }
    }
}
