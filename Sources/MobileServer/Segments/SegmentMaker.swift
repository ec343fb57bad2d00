internal import MobileProtocol
internal import MobileStore

/// Makes the segments of a partition when a client needs many of its rows, once for all clients.
///
/// The rows are read in one snapshot and compressed without a transaction that others would wait for; the finished segments are then stored in short
/// ones. **A run is true for its versions regardless of later changes**, so nothing has to be checked but that the rows are still those of this history.
/// When two processes make the same run, the second one is dropped.
final class SegmentMaker: Sendable {
    private let stateStore: any StateStore
    private let configuration: ServerConfiguration
    /// The partitions that are being worked on.
    private let locks = KeyedLocks<Int64>()

    init(stateStore: any StateStore, configuration: ServerConfiguration) {
        self.stateStore = stateStore
        self.configuration = configuration
    }

    /// Makes what is missing. Other threads of this process that need the same partition wait until it is done.
    func advance(_ need: SegmentNeed) throws { try locks.withLock(need.partition) { try advanceAlone(need) } }

    private func advanceAlone(_ need: SegmentNeed) throws {
        while let work = try stateStore.read({ try draft(need, $0) }) {
            try store(work.draft, need)
            guard work.hasMore else { break }
        }
        try stateStore.write(label: "old segments", isolation: .locks) { connection in
            try SegmentDirectory(partition: need.partition, connection: connection).remove(retiredBefore: configuration.clock() - rules.retention)
        }
    }

    private var rules: SegmentRules { configuration.segmentRules }

    /// Builds the next run in a snapshot.
    /// - Returns: the run, and whether there may be another one to make; nil if nothing is missing.
    private func draft(_ need: SegmentNeed, _ connection: any StateConnection) throws -> (draft: SegmentDraft, hasMore: Bool)? {
        guard let task = try SegmentTask(need, rules, in: connection) else { return nil }
        return (try SegmentDraft(task, need, textBytes: rules.textBytes, in: connection), task.hasMore)
    }

    /// The number of segments that are stored in one transaction.
    private static let portion = 8

    private func store(_ draft: SegmentDraft, _ need: SegmentNeed) throws {
        let run = SegmentRun.newID(configuration), now = configuration.clock()
        let count = draft.builder.segments.count
        for first in stride(from: 0, to: count, by: Self.portion) {
            let isStored = try stateStore.write(label: "segments", isolation: .locks) {
                try draft.store(first..<min(first + Self.portion, count), run: run, now: now, need, in: $0)
            }
            guard isStored else { return }
        }
        try stateStore.write(label: "segment run", isolation: .locks) { try draft.complete(run: run, now: now, need, in: $0) }
    }
}

/// A partition that a client needs segments of.
struct SegmentNeed: Hashable, Sendable {
    let partition: Int64
    /// The columns of the rows as one text.
    let shape: String
}

/// The next run that a partition lacks.
struct SegmentTask: Equatable {
    enum Kind: Equatable {
        /// All live rows; it takes the place of all earlier runs.
        case base
        case increment
        /// Increments become one.
        case merge([SegmentRun])
    }

    let kind: Kind
    let since: Int64
    let until: Int64
    /// The position of the partition in the snapshot.
    let position: PartitionPosition

    /// Whether another run may be missing afterwards.
    var hasMore: Bool { kind == .increment }

    init(_ kind: Kind, since: Int64, until: Int64? = nil, _ state: PartitionState) {
        (self.kind, self.since, self.until, position) = (kind, since, until ?? state.version, state.position)
    }

    /// Fails if nothing is missing.
    init?(_ need: SegmentNeed, _ rules: SegmentRules, in connection: any StateConnection) throws {
        guard let state = try PartitionState.find(need.partition, in: connection) else { return nil }
        let runs = try SegmentDirectory(partition: need.partition, connection: connection).runs(shape: need.shape).filter { $0.retired == nil }
        let changes = PartitionChanges(partition: need.partition, connection: connection)
        guard let base = runs.filter(\.isBase).max(by: { $0.until < $1.until }) else {
            guard try changes.live(after: SegmentRun.beginning, limit: rules.leastRows) >= rules.leastRows else { return nil }
            self.init(.base, since: SegmentRun.beginning, state)
            return
        }
        let share = max(1, base.rows / rules.rewrittenPart)
        if try changes.all(after: base.until, limit: share) >= share {
            self.init(.base, since: SegmentRun.beginning, state)
            return
        }
        let increments = runs.filter { !$0.isBase && $0.since >= base.until }.sorted { $0.since < $1.since }
        let head = increments.last?.until ?? base.until
        if try changes.live(after: head, limit: rules.leastRows) >= rules.leastRows {
            self.init(.increment, since: head, state)
            return
        }
        guard increments.count >= rules.mergedIncrements, let first = increments.first else { return nil }
        self.init(.merge(increments), since: first.since, until: head, state)
    }
}

/// A run whose segments are built and not yet in the store.
struct SegmentDraft {
    let task: SegmentTask
    let builder: SegmentBuilder

    /// Reads the rows from one snapshot.
    init(_ task: SegmentTask, _ need: SegmentNeed, textBytes: Int, in connection: any StateConnection) throws {
        self.task = task
        builder = try SegmentBuilder(textBytes: textBytes)
        // A base in the order of the keys, in which its rows are stored on a device.
        let interval = task.kind == .base ? "ORDER BY sk" : "AND \(PartitionChanges.after(task.since, "?2")) AND version <= ?3 ORDER BY version, sk"
        let values: [Value] = [.integer(need.partition)] + (task.kind == .base ? [] : [.integer(task.since), .integer(task.until)])
        try connection.forEachRow("SELECT body FROM _row WHERE partition = ?1 AND deleted = 0 \(interval)", values) { try builder.add($0.bytes(0)) }
        try builder.finish()
    }

    /// Stores some of the segments. Until the run is complete, nothing uses them.
    /// - Returns: whether they are stored; false if the partition is gone.
    func store(_ numbers: Range<Int>, run: Int64, now: Int64, _ need: SegmentNeed, in connection: any StateConnection) throws -> Bool {
        // The lock keeps the end of the partition away: it removes the segments that are there.
        guard try PartitionState.find(need.partition, lock: connection.dialect.lock, in: connection) != nil else { return false }
        let directory = SegmentDirectory(partition: need.partition, connection: connection)
        var place = builder.segments[..<numbers.lowerBound].reduce(0) { $0 + Int($1.length) }
        for number in numbers {
            let segment = builder.segments[number]
            guard let content = try builder.contents.chunk(at: place, maximum: Int(segment.length)) else {
                throw ProtocolError(.spool, "the spooled segments end too early")
            }
            try directory.add(segment, number: number, content: content, run: run, made: now)
            place += content.count
        }
        return true
    }

    /// Makes the run usable, and retires those whose place it takes. Does nothing if another process has made such a run meanwhile.
    func complete(run: Int64, now: Int64, _ need: SegmentNeed, in connection: any StateConnection) throws {
        // The lock of the partition's row orders the processes. In a store that was restored meanwhile, the rows of the snapshot may be those of the lost
        // days.
        guard let state = try PartitionState.find(need.partition, lock: connection.dialect.lock, in: connection),
            try state.holds(task.position, in: connection)
        else { return }
        let directory = SegmentDirectory(partition: need.partition, connection: connection)
        let runs = try directory.runs(shape: need.shape)
        guard !runs.contains(where: { $0.since == task.since && $0.until >= task.until && $0.retired == nil }) else { return }
        let made = SegmentRun(id: run, since: task.since, until: task.until, rows: builder.rowCount, made: now, retired: nil)
        try directory.add(made, shape: need.shape)
        switch task.kind {
        case .base:
            try directory.retire(allBut: run, now: now)
            try removeTombstones(made, runs, need, in: connection)
        case .increment: break
        case .merge(let parts): try directory.retire(parts, now: now)
        }
    }

    /// Removes the tombstones up to the former base, if there are more of them than rows: for a client of such an early version, the rows from the start
    /// are less than the deletions.
    private func removeTombstones(_ base: SegmentRun, _ runs: [SegmentRun], _ need: SegmentNeed, in connection: any StateConnection) throws {
        guard let former = runs.filter({ $0.isBase && $0.until < base.until }).map(\.until).max() else { return }
        let changes = PartitionChanges(partition: need.partition, connection: connection)
        guard try changes.tombstones(after: SegmentRun.beginning) - changes.tombstones(after: former) > base.rows else { return }
        try TombstoneHorizon.raise(need.partition, to: former, in: connection)
    }
}
