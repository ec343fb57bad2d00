internal import MobileExecution
internal import MobileProtocol
internal import MobileStore

/// Compares what clients remember of accepted operations with what the back ends have.
final class ReceiptCheck: Sendable {
    private let backEnds: [BackEnd]
    /// The eras of each back end, with the state of the file that they were read from.
    private let known = SystemLock<[String: (version: Int64, history: BackEndHistory)]>([:])

    init(_ package: DeployedPackage) { backEnds = package.backEnds.values.filter { !$0.isIdempotent }.sorted { $0.name < $1.name } }

    /// Returns, for each era with lost operations, the number up to which its operations are there.
    func lost(_ receipts: [String: Int64]) throws -> [String: Int64] {
        guard !receipts.isEmpty else { return [:] }
        let histories = try backEnds.map(history)
        var lost: [String: Int64] = [:]
        for (era, number) in receipts {
            let reached = histories.lazy.compactMap { $0.reached(in: era) }.first ?? 0
            if reached < number { lost[era] = reached }
        }
        return lost
    }

    /// Adds their receipts to the results of accepted operations.
    func add(to outcomes: inout [OperationOutcome], client: String) throws {
        let accepted = outcomes.filter { $0.result.outcome == .accepted && !$0.isSettled }.map(\.result.id)
        guard !accepted.isEmpty else { return }
        for backEnd in backEnds {
            let (numbers, history) = try backEnd.database.read { source in
                guard try KeyMap.isRecording(source) else { return ([Int64: Int64](), BackEndHistory()) }
                return (try BackEndEras.numbers(of: accepted, client: client, in: source), try BackEndEras.read(in: source))
            }
            for index in outcomes.indices where outcomes[index].result.outcome == .accepted {
                guard let number = numbers[outcomes[index].result.id] else { continue }
                outcomes[index].result.receipt = Receipt(era: history.era(of: number), number: number)
            }
        }
    }

    private func history(_ backEnd: BackEnd) throws -> BackEndHistory {
        let version = try backEnd.database.read { try BackEnd.dataVersion($0) }
        if let known = known.withLock({ $0[backEnd.name] }), known.version == version { return known.history }
        let (read, history) = try backEnd.database.read { (try BackEnd.dataVersion($0), try BackEndEras.read(in: $0)) }
        known.withLock { $0[backEnd.name] = (read, history) }
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
