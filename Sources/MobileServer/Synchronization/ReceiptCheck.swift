internal import MobileExecution
internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// Compares what clients remember of accepted operations with what the back ends have.
final class ReceiptCheck: Sendable {
    private let package: DeployedPackage
    private let backEnds: [ServedBackEnd]
    private let log: @Sendable (String) -> Void
    /// The history of each back end's record, with the position that it was read at.
    private let known = SystemLock<[String: (position: BackEndPosition, history: RecordHistory)]>([:])

    init(_ package: DeployedPackage, log: @escaping @Sendable (String) -> Void) {
        self.package = package
        backEnds = package.backEnds.values.filter { !$0.isIdempotent }.sorted { $0.name < $1.name }
        self.log = log
    }

    /// Returns, for each era with lost operations, the number up to which its operations are there.
    func lost(_ receipts: [String: Int64]) -> [String: Int64] {
        guard !receipts.isEmpty else { return [:] }
        var histories: [RecordHistory] = [], isComplete = true
        for backEnd in backEnds {
            do { if let history = try history(backEnd) { histories.append(history) } } catch {
                // Nothing is known about its operations now; a later synchronization compares them.
                log("back end \"\(backEnd.name)\": its record of operations cannot be read: \(error)")
                isComplete = false
            }
        }
        var lost: [String: Int64] = [:]
        for (era, number) in receipts {
            let reached = histories.lazy.compactMap { $0.reached(in: era) }.first ?? (isComplete ? 0 : number)
            if reached < number { lost[era] = reached }
        }
        return lost
    }

    /// Returns the history of a back end's record; nil for one without a record.
    /// - Throws: ``Rejection`` as a deferral, if the back end cannot be reached.
    func history(ofBackEnd name: String) throws -> RecordHistory? {
        guard let backEnd = backEnds.first(where: { $0.name == name }) else { return nil }
        do { return try history(backEnd) } catch {
            throw Rejection(ResultCode.unavailable, "the back end is out of reach; try again", detail: "record of \"\(name)\": \(error)")
        }
    }

    /// Whether an era is of the record of another back end than `name`.
    /// - Throws: as ``history(ofBackEnd:)``.
    func isOfAnother(_ era: String, than name: String) throws -> Bool {
        for backEnd in backEnds where backEnd.name != name {
            if try history(ofBackEnd: backEnd.name)?.reached(in: era) != nil { return true }
        }
        return false
    }

    /// Adds their receipts to the results of accepted operations.
    /// - Throws: ``RequestFailure`` if the record of an operation is gone already, because the back end was replaced since: the client sends the operation
    ///   again.
    func add(to outcomes: inout [OperationOutcome], client: String) throws {
        let accepted = outcomes.filter { $0.result.outcome == .accepted && !$0.isSettled }.map(\.result.id)
        guard !accepted.isEmpty else { return }
        for backEnd in backEnds {
            let found = try backEnd.system.read { source in
                try source.records().map { (numbers: try $0.numbers(of: accepted, client: client), history: try RecordHistory($0)) }
            }
            guard let found else { continue }
            for index in outcomes.indices where outcomes[index].result.outcome == .accepted && !outcomes[index].isSettled {
                guard package.object(named: outcomes[index].result.object)?.binding.backEnd == backEnd.name else { continue }
                guard let number = found.numbers[outcomes[index].result.id] else {
                    // Removed with this upload. The floor is that of the client, also where a copy of its database sends its operations.
                    if outcomes[index].isBelowFloor { continue }
                    throw RequestFailure(.unavailable, "the back end lacks an operation that it has just accepted; try again")
                }
                outcomes[index].result.receipt = Receipt(era: found.history.era(of: number), number: number)
            }
        }
    }

    /// - Returns: nil for a back end without a record.
    private func history(_ backEnd: ServedBackEnd) throws -> RecordHistory? {
        let position = try backEnd.system.read { try $0.position() }
        if let position, let known = known.withLock({ $0[backEnd.name] }), known.position == position { return known.history }
        let (read, history) = try backEnd.system.read { (try $0.position(), try $0.records().map(RecordHistory.init)) }
        if let read, let history { known.withLock { $0[backEnd.name] = (read, history) } }
        return history
    }
}

extension ServedPackage {
    /// Writes what a synchronization has shown about operations in doubt to the reconciliation report.
    func reconcile(_ header: SynchronizeHeader, _ outcomes: [OperationOutcome], user: String) throws {
        let entries = outcomes.compactMap { outcome -> ReconciliationTable.Entry? in
            fate(of: outcome, isCopy: header.successor != nil).map { (outcome.result.id, outcome.result.object, outcome.result.key, $0) }
        }
        let lost = Dictionary(grouping: header.lost) { $0.client.isEmpty ? header.client : $0.client }
        guard !entries.isEmpty || !lost.isEmpty else { return }
        let now = cache.eras.clock()
        try stateStore.write(label: "reconciliation") { connection in
            func add(_ entries: [ReconciliationTable.Entry], _ client: String, _ successor: String) throws {
                try ReconciliationTable.add(
                    entries, package: cache.id, client: client, user: user, successor: successor, now: now, in: connection)
            }
            try add(entries, header.client, header.successor ?? "")
            for (client, operations) in lost {
                try add(operations.map { ($0.id, $0.object, $0.key, .lost) }, client, client == header.client ? "" : header.client)
            }
        }
    }

    private func fate(of outcome: OperationOutcome, isCopy: Bool) -> ServerAdministration.ReconciledOperation.Fate? {
        if outcome.isSettled { return .settled }
        if outcome.result.code == ResultCode.clonedDevice { return .renamed }
        guard isCopy else { return nil }
        switch outcome.result.outcome {
        case .accepted: return outcome.isRecorded ? .recorded : .accepted
        case .rejected: return outcome.isRecorded ? .recorded : .rejected
        case .deferred: return nil
        }
    }
}
