internal import Foundation
internal import MobileModel
internal import MobileProtocol
internal import MobileStore
internal import PostgreSQLClient

/// Replays the operations of one upload on the back ends, each exactly once, regardless of the number of uploads.
///
/// One batch is one transaction of its back end, which also records the ids and the outcomes of its operations. A recorded operation is not done
/// again: its recorded result is the answer. So after a crash at any instruction the client sends the same upload again, and no operation is lost or
/// done twice. An operation that its client has settled is not done at all, see ``ReplayGuard``.
///
/// **A deferred batch defers the rest of the upload on its back end.** Otherwise later operations would overtake it.
struct OperationReplayer {
    let package: DeployedPackage
    let cache: PackageCache
    let stateStore: any StateStore
    let client: String
    let access: UserAccess
    /// The header of the upload.
    let header: SynchronizeHeader
    /// The results of operations with lower ids have arrived at the client.
    private var settledBelow: Int64 { header.settledBelow }
    /// The eras of the back ends' records, by the names of the back ends.
    let recordEras: [String: RecordEras]
    let receipts: ReceiptCheck
    let configuration: ServerConfiguration

    /// Replays all batches of `upload` in order.
    /// - Returns: the outcome of each operation, in the order of the upload.
    func replay(_ upload: UploadReader) throws -> [OperationOutcome] {
        var outcomes: [OperationOutcome] = []
        var rows = RowDirectory(package: package, cache: cache, stateStore: stateStore, client: client)
        let seen = SeenRecords(header, receipts)
        for backEnd in package.backEnds.values { try KeyMap(package: package, cache: cache).catchUp(with: backEnd, stateStore) }
        var operations = try upload.operations()
        /// By back end: the first deferral of this upload.
        var deferrals: [String: Rejection] = [:]
        while let first = operations.upcoming {
            let backEnd = try backEnd(of: first)
            let results: [OperationOutcome]
            if let deferral = deferrals[backEnd.name] {
                results = try postpone(batch: first.batch, &operations, deferral)
            } else {
                results = try replay(batch: first, on: backEnd, &operations, &rows, seen)
                log(results)
                deferrals[backEnd.name] = results.lazy.map(\.result).first { $0.outcome == .deferred }.map { Rejection($0.code, $0.message) }
            }
            for outcome in results { rows.take(outcome) }
            outcomes += results
        }
        return outcomes
    }

    /// Returns the recorded outcomes of operations that an earlier upload has brought, and does none of the others. A client whose range of surrogate
    /// keys was refused settles these before it renumbers the rest.
    func recorded(_ upload: UploadReader) throws -> [OperationOutcome] {
        var outcomes: [OperationOutcome] = []
        var operations = try upload.operations()
        while let frame = try operations.next()?.frame {
            let backEnd = try backEnd(of: frame)
            guard !backEnd.isIdempotent else { continue }
            let outcome = try backEnd.system.read { try $0.records()?.processed(frame.id, client: client) }
            if let outcome, !outcome.isOfAnother(digest: frame.digest) { outcomes.append(outcome) }
        }
        return outcomes
    }

    private func backEnd(of operation: OperationFrame) throws -> ServedBackEnd {
        guard let object = package.object(named: operation.object), let backEnd = package.backEnds[object.binding.backEnd] else {
            throw RequestFailure(.notFound, "operation \(operation.id): there is no object \"\(operation.object.prefix(80))\"")
        }
        return backEnd
    }

    private func log(_ outcomes: [OperationOutcome]) {
        for outcome in outcomes where outcome.result.outcome != .accepted {
            let result = outcome.result
            configuration.log(
                "operation \(result.id) of client \(LogSanitizer.name(client)) \(result.outcome.rawValue): \(LogSanitizer.name(result.object)) \(outcome.operation): \(result.code) \(result.message)\(outcome.detail.isEmpty ? "" : " (\(outcome.detail))")"
            )
        }
    }

    /// Defers a batch without a look at its back end, and leaves `operations` after it.
    private func postpone(batch: Int64, _ operations: inout UploadOperations, _ deferral: Rejection) throws -> [OperationOutcome] {
        let rejection = Rejection(deferral.code, "not tried, because an earlier operation was deferred: \(deferral.message)")
        var outcomes: [OperationOutcome] = []
        while let operation = try operations.next(ofBatch: batch) { outcomes.append(outcome(of: operation.frame, rejection)) }
        return outcomes
    }

    /// Replays the batch that begins with `first`, and leaves `operations` after it. The operations are read one at a time, inside the transaction,
    /// because a batch may be as long as the upload.
    private func replay(
        batch first: OperationFrame, on backEnd: ServedBackEnd, _ operations: inout UploadOperations, _ rows: inout RowDirectory,
        _ seen: SeenRecords
    ) throws -> [OperationOutcome] {
        let state = BatchState(operations, rows, seen)
        let outcomes: [OperationOutcome]
        do {
            outcomes = try run(batch: first.batch, on: backEnd, state)
        } catch let error as StoreError where error.code == .timeout && error.sqliteCode == nil {
            // Other requests have all connections: nothing was decided, and no lock of another process is the cause. The client sends the whole
            // upload again.
            throw error
        } catch let error as PostgreSQLError {
            // The server's own state was out of reach.
            throw error
        } catch let displaced as RowDirectory.Displaced {
            rows.take(displaced)
            return try replay(batch: first, on: backEnd, &operations, &rows, seen)
        } catch let failure as RequestFailure {
            // The server was busy, and decided nothing.
            throw failure
        } catch let error as ProtocolError {
            // The upload itself can no longer be read: that decides nothing about its operations.
            throw error
        } catch {
            return try reject(batch: first.batch, &operations, on: backEnd, culprit: state.current, error)
        }
        (operations, rows) = (state.operations, state.rows)
        if backEnd.isIdempotent { try takeOver(outcomes, from: backEnd) }
        return outcomes
    }

    /// Rejects or defers the operations of a batch that was rolled back, records rejections, and leaves `operations` after the batch.
    /// - Parameter culprit: the operation that failed; nil if the batch as a whole failed, such as at its commit. All operations get the same outcome
    ///   then.
    private func reject(
        batch: Int64, _ operations: inout UploadOperations, on backEnd: ServedBackEnd, culprit: OperationFrame?, _ error: any Error
    ) throws -> [OperationOutcome] {
        let rejection = Rejection(error, of: culprit.flatMap { package.object(named: $0.object) }, on: backEnd.system)
        let shared = culprit.map { rejection.shared(by: "\"\($0.object)\": ") } ?? rejection
        var outcomes: [OperationOutcome] = []
        while let operation = try operations.next(ofBatch: batch) {
            outcomes.append(outcome(of: operation.frame, culprit?.id == operation.frame.id ? rejection : shared))
        }
        if rejection.isTransient { return outcomes }
        guard backEnd.isIdempotent else { return try record(outcomes, on: backEnd) }
        try takeOver(outcomes, from: backEnd)
        return outcomes
    }

    /// The progress of a batch.
    private final class BatchState {
        /// The operations that are still to be read.
        var operations: UploadOperations
        var rows: RowDirectory
        /// The operation in progress; nil outside of operations, such as at the commit.
        var current: OperationFrame?
        let seen: SeenRecords

        init(_ operations: UploadOperations, _ rows: RowDirectory, _ seen: SeenRecords) {
            (self.operations, self.rows, self.seen) = (operations, rows, seen)
        }
    }

    private func run(batch: Int64, on backEnd: ServedBackEnd, _ state: BatchState) throws -> [OperationOutcome] {
        do { return try runOnce(batch: batch, on: backEnd, state) } catch is RecordEras.Ended {
            // No operation of the batch has been read yet.
            configuration.log("back end \"\(backEnd.name)\" was restored, or is another one now: an era begins in its record of operations")
            try recordEras[backEnd.name]?.begin()
            // The keys that were read before may be those of the former life.
            try KeyMap(package: package, cache: cache).catchUp(with: backEnd, stateStore)
            return try runOnce(batch: batch, on: backEnd, state)
        }
    }

    private func runOnce(batch: Int64, on backEnd: ServedBackEnd, _ state: BatchState) throws -> [OperationOutcome] {
        let applied = try stateStore.read { try KeyMap(package: package, cache: cache).appliedPosition(of: backEnd, in: $0) }
        return try backEnd.system.replay(for: client) { transaction in
            let records = try records(of: backEnd, transaction)
            let life = try records.flatMap { try recordEras[backEnd.name]?.check(transaction, $0) }
            let record = records.map { SeenRecords.Present(backEnd: backEnd.name, records: $0, life: life) }
            // Without a record of the operations there is no floor: they may be repeated.
            let floor = try records?.raiseFloor(of: client, to: settledBelow) ?? 0
            var runner = OperationRunner(
                package: package, access: access, client: client, header: header, transaction: transaction, seen: state.seen,
                record: record, rows: state.rows)
            runner.rows.beginBatch()
            var outcomes: [OperationOutcome] = []
            while let operation = try state.operations.next(ofBatch: batch) {
                state.current = operation.frame
                if var known = try known(operation.frame, below: floor, records) {
                    state.current = nil
                    known.isBelowFloor = operation.frame.id < floor
                    runner.rows.take(known)
                    outcomes.append(known)
                    continue
                }
                guard package.object(named: operation.frame.object)?.binding.backEnd == backEnd.name else {
                    throw Rejection(ResultCode.failure, "the operations of one batch are on several back ends")
                }
                let key = try runner.run(operation)
                state.current = nil
                var outcome = outcome(of: operation.frame, key: key)
                outcome.left = runner.left
                try records?.record(outcome, client: client)
                outcomes.append(outcome)
            }
            if let record { try runner.rows.checkDisplaced(record, since: applied) }
            // Together with a change, because a separate change would cause a comparison of every cached row.
            if floor > 0 { try records?.remove(client: client, below: floor, upTo: applied.number) }
            state.rows = runner.rows
            return outcomes
        }
    }

    /// Imports the outcomes of operations on a back end that keeps no record of them.
    private func takeOver(_ outcomes: [OperationOutcome], from backEnd: ServedBackEnd) throws {
        let keys = KeyMap(package: package, cache: cache)
        try stateStore.write(label: "keys of new rows", isolation: .locks) { connection in
            try keys.lock(backEnd, in: connection)
            try keys.apply(outcomes, of: client, on: backEnd, in: connection)
        }
    }

    /// Returns the back end's record of operations; nil if they may be repeated.
    private func records(of backEnd: ServedBackEnd, _ transaction: any BackEndTransaction) throws -> (any OperationRecords)? {
        guard !backEnd.isIdempotent else { return nil }
        guard let records = try transaction.records() else {
            throw Rejection(
                ResultCode.failure, "the server could not do this; its log says why",
                detail: "the back end \"\(backEnd.name)\" has no record of operations")
        }
        return records
    }

    /// Returns the outcome of an operation that was processed before, or that the client has settled; nil for a new one. An operation whose record
    /// cannot be read is neither done again nor rejected for good: the device keeps it until the back end is repaired.
    /// - Throws: ``Rejection`` for an operation whose id belongs to another one.
    private func known(
        _ frame: OperationFrame, below floor: Int64, _ records: (any OperationRecords)?
    ) throws -> OperationOutcome? {
        guard let records else { return nil }
        let recorded: OperationOutcome?
        do {
            recorded = try records.processed(frame.id, client: client)
        } catch {
            throw Rejection(ResultCode.unavailable, "the server cannot read the outcome of this operation", detail: "\(error)")
        }
        guard let recorded else { return frame.id < floor ? settled(frame) : nil }
        guard !recorded.isOfAnother(digest: frame.digest) else {
            throw Rejection(
                ResultCode.clonedDevice,
                "the server already has another operation under this number: the data of this device were copied to another one, or from there")
        }
        return recorded
    }

    /// Records rejections after the transaction of their batch was rolled back. If another request has recorded an outcome in between, that one is
    /// the answer, except to an operation that is not the recorded one.
    private func record(_ outcomes: [OperationOutcome], on backEnd: ServedBackEnd) throws -> [OperationOutcome] {
        do {
            return try backEnd.system.replay(for: client) { transaction in
                guard let records = try records(of: backEnd, transaction) else { return outcomes }
                try recordEras[backEnd.name]?.check(transaction, records)
                _ = try records.raiseFloor(of: client, to: settledBelow)
                return try outcomes.map { outcome in
                    if let recorded = try records.processed(outcome.result.id, client: client) {
                        return recorded.isOfAnother(digest: outcome.digest) ? outcome : recorded
                    }
                    var rejected = outcome
                    rejected.left = try outcome.follows.flatMap { try records.processed($0, client: client) }?.left
                    try records.record(rejected, client: client)
                    return rejected
                }
            }
        } catch {
            // Without a record the same operation could be decided in another way when it comes again.
            configuration.log("rejections of client \(LogSanitizer.name(client)) could not be recorded: \(error)")
            return outcomes.map { outcome in
                var deferred = outcome
                (deferred.result.outcome, deferred.result.code) = (.deferred, ResultCode.unavailable)
                deferred.result.message = "the back end is out of reach; try again"
                return deferred
            }
        }
    }

    // MARK: Outcomes

    private func outcome(of frame: OperationFrame, key: Value?) -> OperationOutcome {
        OperationOutcome(
            result: ReplayResult(id: frame.id, outcome: .accepted, object: frame.object, key: frame.key), package: package.identifier,
            change: frame.change, operation: name(of: frame), timestamp: Timestamp.text(milliseconds: configuration.clock()), rowKey: key,
            digest: frame.digest)
    }

    /// Returns the outcome of an operation that the client had settled before it arrived.
    private func settled(_ frame: OperationFrame) -> OperationOutcome {
        var outcome = outcome(of: frame, key: nil)
        outcome.result.code = ResultCode.alreadySettled
        return outcome
    }

    private func outcome(of frame: OperationFrame, _ rejection: Rejection) -> OperationOutcome {
        var outcome = OperationOutcome(
            result: ReplayResult(
                id: frame.id, outcome: rejection.outcome, code: rejection.code, message: rejection.message, object: frame.object, key: frame.key,
                row: rejection.row),
            package: package.identifier, backEndCode: rejection.backEndCode, change: frame.change, operation: name(of: frame),
            timestamp: Timestamp.text(milliseconds: configuration.clock()), digest: frame.digest)
        outcome.detail = rejection.detail
        outcome.follows = frame.follows
        return outcome
    }

    private func name(of frame: OperationFrame) -> String { frame.operation ?? frame.change.kind.rawValue }
}

/// Points in time in the protocol's format.
enum Timestamp {
    /// `YYYY-MM-DDTHH:MM:SS.sssZ`
    static func text(milliseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
