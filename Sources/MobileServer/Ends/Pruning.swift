internal import MobileExecution
internal import MobileStore

/// Removes data that has come to its end, in steps of one short transaction each: at most ``ServerConfiguration/cleaningPortion`` rows.
struct Pruning: Sendable {
    let stateStore: any StateStore
    let backEnds: [ServedBackEnd]
    /// The files of segments; those of removed partitions go with them.
    let files: SegmentFiles
    let configuration: ServerConfiguration
    /// The back ends whose logs of changes are pruned, also those that no operation is for.
    var backEndsWithChanges: [ServedBackEnd] = []

    /// Everything that has an end, in the order of the rounds.
    enum Part: CaseIterable, Sendable {
        case sessions, keyRanges, traces, tracedRequests, domainLogs, inquiries, reconciliation, partitions, deletedRows, logRecords, clients, changes

        /// The name in reports.
        var name: String {
            switch self {
            case .sessions: "sessions"
            case .keyRanges: "key ranges"
            case .traces: "traces"
            case .tracedRequests: "lines about traced requests"
            case .domainLogs: "logs of devices"
            case .inquiries: "inquiries"
            case .reconciliation: "entries of the reconciliation report"
            case .partitions: "rows of partitions without a subscriber"
            case .deletedRows: "deletions"
            case .logRecords: "log records"
            case .clients: "records of operations"
            case .changes: "logged changes"
            }
        }
    }

    private var portion: Int { configuration.cleaningPortion }
    private var now: Int64 { configuration.clock() }

    private func limit(_ time: Duration) -> Int64 { now - Int64(time / .milliseconds(1)) }

    /// Does one step of a part.
    /// - Parameter place: the place where the last step of a part with a cursor ended; 0 at its beginning. The step sets it to 0 at the end of the part.
    /// - Returns: the number of removed rows.
    func step(_ part: Part, from place: inout Int64) throws -> Int {
        let retention = configuration.retention
        switch part {
        case .sessions:
            return try remove(
                "_session", "token", "used <= ?1 OR began <= ?2", [limit(configuration.sessionIdleLimit), limit(configuration.sessionLifetime)])
        case .keyRanges: return try remove("_key_range", "first", "granted < ?1", [limit(retention.keyRanges)])
        case .traces: return try remove("_trace", "id", "received < ?1", [limit(retention.traces)])
        case .tracedRequests: return try remove("_traced_request", "id", "noted < ?1", [limit(retention.traces)])
        case .domainLogs: return try remove("_domain_log", "id", "received < ?1", [limit(retention.domainLogs)])
        case .inquiries: return try remove("_inquiry", "device", "asked < ?1", [limit(retention.domainLogs)])
        case .reconciliation: return try remove("_reconciled", "id", "noted < ?1", [limit(retention.reconciliation)])
        case .partitions: return try removePartitions()
        case .deletedRows: return try forgetDeletions(from: &place)
        case .logRecords: return try removeLogRecords()
        case .clients: return try backEnds.reduce(0) { try $0 + removeClients(of: $1) }
        case .changes:
            let time = limit(retention.changes)
            return try backEndsWithChanges.reduce(0) { try $0 + $1.system.removeChanges(before: time) }
        }
    }

    /// Removes everything that has come to its end.
    /// - Returns: the numbers of removed rows, by part.
    func run() throws -> [(part: Part, rows: Int)] {
        try Part.allCases.map { ($0, try run($0)) }
    }

    /// Removes everything of one part that has come to its end.
    /// - Returns: the number of removed rows.
    func run(_ part: Part) throws -> Int {
        var total = 0, count = 0, place: Int64 = 0
        repeat {
            count = try step(part, from: &place)
            total += count
        } while count >= portion || place > 0
        return total
    }

    private func remove(_ table: String, _ key: String, _ condition: String, _ values: [Int64]) throws -> Int {
        let query = "SELECT 1 FROM \(table) WHERE \(condition) LIMIT 1", values = values.map { Value.integer($0) }
        guard try stateStore.read({ try $0.exists(query, values) }) else { return 0 }
        return try stateStore.write(label: "ends in \(table)") { connection in
            try connection.execute(
                """
                DELETE FROM \(table) WHERE (\(condition))
                    AND \(key) IN (SELECT \(key) FROM \(table) WHERE \(condition) ORDER BY \(key) LIMIT \(portion))
                """, values)
        }
    }

    private func removePartitions() throws -> Int {
        let time = limit(configuration.retention.partitions)
        let unused = try stateStore.read { try Partition.unused(since: time, limit: portion, in: $0) }
        guard !unused.isEmpty else { return 0 }
        let (rows, segments) = try stateStore.write(label: "ends of partitions", isolation: .locks) { connection in
            var rows = 0, hasRemoved = false, segments: [String] = []
            for id in unused where rows < portion {
                let removed = try Partition.remove(id, unusedSince: time, limit: portion - rows, in: connection)
                // The partition itself counts, so that a round ends with the last one.
                rows += removed.rows + (removed.isGone ? 1 : 0)
                hasRemoved = hasRemoved || removed.isGone
                segments += removed.segments
            }
            if hasRemoved { try Eras(configuration).begin(in: connection) }
            return (rows, segments)
        }
        // Only after the commit. A file that is needed all the same is written again.
        files.remove(segments)
        return rows
    }

    private func forgetDeletions(from place: inout Int64) throws -> Int {
        let ids = try stateStore.read { [place] connection in
            try connection.rows(
                "SELECT id FROM _partition WHERE id > ?1 ORDER BY id LIMIT ?2", [.integer(place), .integer(Int64(Self.partitionsPerStep))]
            ).compactMap { $0[0].integer }
        }
        var rows = 0
        for id in ids where rows < portion {
            rows += try stateStore.write(label: "ends of deletions", isolation: .locks) { connection in
                try TombstoneHorizon.keepNewest(
                    Int64(configuration.retention.deletedRows), of: id, limit: portion - rows, in: connection)
            }
            if rows < portion { place = id }
        }
        if ids.count < Self.partitionsPerStep, rows < portion { place = 0 }
        return rows
    }

    /// The number of partitions that a step looks at.
    private static let partitionsPerStep = 100

    private func removeLogRecords() throws -> Int {
        let retention = configuration.retention.logRecords
        let tables = try stateStore.read { connection in
            try connection.storedRows([LogTableListColumn.name, .package]).map {
                LogTable(name: try $0.text(.name), package: try $0.integer(.package))
            }
        }
        return try tables.reduce(0) { total, table in
            let old = LogTable.Expired.stored(Int64.min...limit(retention))
            var count = 0
            if try stateStore.read({ try table.hasAny(old, in: $0) }) {
                count = try stateStore.write(label: "ends in \(table.name)") { try table.mark(old, limit: portion, in: $0) }
            }
            return try total + count
                + stateStore.write(label: "ends in \(table.name)") { connection in
                    try table.removeMarked(limit: portion, in: connection)
                        + table.removeAbandoned(before: limit(retention + retention), limit: portion, in: connection)
                }
        }
    }

    private func removeClients(of backEnd: ServedBackEnd) throws -> Int {
        let time = limit(configuration.retention.processedOperations)
        return try backEnd.system.replay(for: "") { try $0.records()?.removeClients(unchangedSince: time, now: now, limit: portion) ?? 0 }
    }
}

/// The steps that a server does by itself: one with a synchronization now and then, so that no work piles up and none is noticed.
final class PruningSchedule: Sendable {
    private struct State {
        var next: Int64 = 0
        var part = 0
        var place: Int64 = 0
    }

    private let pruning: Pruning
    private let log: @Sendable (String) -> Void
    private let state = SystemLock(State())

    /// The time between two steps, in milliseconds: all parts have their turn within a few hours.
    static let interval: Int64 = 900_000

    init(_ pruning: Pruning, log: @escaping @Sendable (String) -> Void) {
        (self.pruning, self.log) = (pruning, log)
        state.withLock { $0.next = pruning.configuration.clock() + Self.interval }
    }

    /// Does a step if it is time for one. A failure is a line of the log: the request that came along does not fail with it.
    func tick() {
        let now = pruning.configuration.clock()
        let due = state.withLock { state -> (part: Pruning.Part, place: Int64)? in
            guard now >= state.next else { return nil }
            // No other request does the same step meanwhile.
            state.next = now + Self.interval
            return (Pruning.Part.allCases[state.part], state.place)
        }
        guard let due else { return }
        var place = due.place, rows = 0
        do { rows = try pruning.step(due.part, from: &place) } catch {
            log("the ends of \(due.part.name) could not be reached: \(error)")
            place = 0
        }
        let isComplete = rows < pruning.configuration.cleaningPortion && place == 0
        state.withLock { state in
            state.place = place
            // A part with more work continues with the next request.
            if isComplete { state.part = (state.part + 1) % Pruning.Part.allCases.count } else { state.next = now }
        }
    }
}
