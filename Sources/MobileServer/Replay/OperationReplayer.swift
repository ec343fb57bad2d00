internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// Replays the operations of one upload on the back ends, each exactly once however often they come.
///
/// One batch is one transaction of its back end, which also records the ids of its operations and what became of them. An operation
/// that is recorded is not done again; its recorded result is the answer. So after a crash at any instruction the client sends
/// the same upload again, and nothing is lost or done twice.
struct OperationReplayer {
    let package: DeployedPackage
    let cache: PackageCache
    let database: Database
    let client: String
    /// Results of operations with lower ids have arrived at the client.
    let settledBelow: Int64
    let configuration: ServerConfiguration

    /// Replays all batches of `upload` in order.
    /// - Returns: what became of each operation, in the order of the upload.
    func replay(_ upload: UploadReader) throws -> [OperationOutcome] {
        var outcomes: [OperationOutcome] = []
        var rows = RowDirectory(package: package, cache: cache, database: database, client: client)
        for backEnd in package.backEnds.values { try KeyMap(package: package, cache: cache).catchUp(with: backEnd, database) }
        try upload.forEachBatch { batch in
            let results = try replay(batch, &rows)
            for outcome in results where outcome.result.outcome == .rejected {
                configuration.log(
                    "operation \(outcome.result.id) of client \(LogLine.name(client)) rejected: \(LogLine.name(outcome.result.object)) \(outcome.operation): \(outcome.result.code) \(outcome.result.message)\(outcome.detail.isEmpty ? "" : " (\(outcome.detail))")"
                )
            }
            for outcome in results { rows.take(outcome) }
            outcomes += results
        }
        return outcomes
    }

    private func replay(_ batch: [UploadReader.Operation], _ rows: inout RowDirectory) throws -> [OperationOutcome] {
        let names = Set(batch.compactMap { package.object(named: $0.frame.object)?.binding.backEnd })
        guard names.count == 1, let backEnd = names.first.flatMap({ package.backEnds[$0] }) else {
            let rejection = Rejection(
                ResultCode.failure, "the operations of one batch are on several back ends", detail: names.sorted().joined(separator: ", "))
            return batch.map { outcome(of: $0.frame, rejection) }
        }
        let state = BatchState(rows)
        do {
            let outcomes = try run(batch, on: backEnd, state)
            rows = state.rows
            return outcomes
        } catch let error as StoreError where error.code == .timeout && error.sqliteCode == nil {
            // Other requests have all connections: nothing was decided, and nobody else's lock is to blame. The whole upload comes again.
            throw error
        } catch {
            let rejection = Rejection(error, of: state.current.flatMap { package.object(named: batch[$0].frame.object) })
            let outcomes = batch.enumerated().map { index, operation in
                // A commit that fails blames all; otherwise the others share the fate of the one that failed.
                let isCulprit = state.current == nil || state.current == index || batch.count == 1
                let culprit = state.current.map { "\"\(batch[$0].frame.object)\": " } ?? ""
                return outcome(of: operation.frame, isCulprit ? rejection : rejection.shared(by: culprit))
            }
            if rejection.isTransient { return outcomes }
            if backEnd.isIdempotent {
                try takeOver(outcomes)
                return outcomes
            }
            return try record(outcomes, on: backEnd)
        }
    }

    /// What a batch leaves behind when it fails in the middle.
    private final class BatchState {
        var rows: RowDirectory
        /// The operation that is being done; nil outside of operations, such as at the commit.
        var current: Int?
        init(_ rows: RowDirectory) { self.rows = rows }
    }

    private func run(_ batch: [UploadReader.Operation], on backEnd: BackEnd, _ state: BatchState) throws -> [OperationOutcome] {
        let applied = try database.read { try KeyMap(package: package, cache: cache).appliedSequence(of: backEnd, in: $0) }
        let outcomes = try backEnd.database.write(label: "replay for \(client)") { connection in
            var runner = OperationRunner(package: package, connection: connection, rows: state.rows)
            var outcomes: [OperationOutcome] = []
            for (index, operation) in batch.enumerated() {
                if let recorded = try recorded(operation.frame, backEnd, connection) {
                    runner.rows.take(recorded)
                    outcomes.append(recorded)
                    continue
                }
                state.current = index
                let key = try runner.run(operation)
                state.current = nil
                let outcome = outcome(of: operation.frame, key: key)
                if !backEnd.isIdempotent { try ProcessedOperations.record(outcome, client: client, in: connection) }
                outcomes.append(outcome)
            }
            // Together with a change, because a change of its own would make every cached row be compared again.
            if !backEnd.isIdempotent, settledBelow > 0 {
                try ProcessedOperations.prune(client: client, below: settledBelow, upTo: applied, in: connection)
            }
            state.rows = runner.rows
            return outcomes
        }
        if backEnd.isIdempotent { try takeOver(outcomes) }
        return outcomes
    }

    /// Takes over what became of operations on a back end that keeps no record.
    private func takeOver(_ outcomes: [OperationOutcome]) throws {
        try database.write(label: "keys of new rows") { try KeyMap(package: package, cache: cache).apply(outcomes, of: client, in: $0) }
    }

    private func recorded(_ frame: OperationFrame, _ backEnd: BackEnd, _ connection: Connection) throws -> OperationOutcome? {
        backEnd.isIdempotent ? nil : try ProcessedOperations.outcome(of: frame.id, client: client, in: connection)
    }

    /// Records rejections, after the transaction of their batch is gone. What another request has recorded in between is the answer.
    private func record(_ outcomes: [OperationOutcome], on backEnd: BackEnd) throws -> [OperationOutcome] {
        do {
            return try backEnd.database.write(label: "rejections for \(client)") { connection in
                try outcomes.map { outcome in
                    if let recorded = try ProcessedOperations.outcome(of: outcome.result.id, client: client, in: connection) { return recorded }
                    try ProcessedOperations.record(outcome, client: client, in: connection)
                    return outcome
                }
            }
        } catch {
            // A back end that cannot be written has decided nothing either.
            configuration.log("rejections of client \(LogLine.name(client)) could not be recorded: \(error)")
            return outcomes
        }
    }

    // MARK: Outcomes

    private func outcome(of frame: OperationFrame, key: Value?) -> OperationOutcome {
        OperationOutcome(
            result: ReplayResult(id: frame.id, outcome: .accepted, object: frame.object, key: frame.key), package: package.identifier,
            change: frame.change, operation: name(of: frame), timestamp: Timestamp.text(milliseconds: configuration.clock()), rowKey: key)
    }

    private func outcome(of frame: OperationFrame, _ rejection: Rejection) -> OperationOutcome {
        var outcome = OperationOutcome(
            result: ReplayResult(
                id: frame.id, outcome: .rejected, code: rejection.code, message: rejection.message, object: frame.object, key: frame.key),
            package: package.identifier, backEndCode: rejection.backEndCode, change: frame.change, operation: name(of: frame),
            timestamp: Timestamp.text(milliseconds: configuration.clock()))
        outcome.detail = rejection.detail
        return outcome
    }

    private func name(of frame: OperationFrame) -> String { frame.operation ?? frame.change.kind.rawValue }
}

extension Rejection {
    /// The rejection of an operation that was right itself: its batch was undone.
    func shared(by culprit: String) -> Rejection {
        Rejection(
            code, "not done, because another operation of its batch was rejected: \(culprit)\(message)", backEndCode: backEndCode,
            detail: detail)
    }
}
