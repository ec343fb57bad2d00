internal import MobileExecution
internal import MobileModel
internal import MobileStore

/// The first load of a partition from a snapshot of its back end. Rows are written while later ones are read, block by block, each in a short write:
///
///     back end --rows--> blocks --thread--> keys and rows --thread--> segments
///                                  \--last: the partition's version, which makes all of them valid
///
/// Until then no request reads them, because the partition counts as not loaded. Those of a load that was broken off stay, and the next load compares them
/// with what it finds (see ``StagedRefresh``).
struct FirstLoad: Sendable {
    let comparison: PartitionComparison
    let backEnd: ServedBackEnd
    let refresher: CacheRefresher
    let ground: RefreshGround

    private var rules: SegmentRules { refresher.configuration.segmentRules }

    /// The state was changed meanwhile.
    fileprivate struct Changed: Error {}

    /// Whether a partition can be loaded so.
    static func isPossible(_ comparison: PartitionComparison, _ source: any BackEndSnapshot, _ stateStore: any StateStore) throws -> Bool {
        guard source.isSnapshot, comparison.keys == nil, !comparison.state.isLoaded, comparison.held.isEmpty else { return false }
        return try stateStore.read {
            try !$0.exists("SELECT 1 FROM _row WHERE partition = ?1 LIMIT 1", [.integer(comparison.partition.id)])
        }
    }

    /// Loads and writes the rows.
    /// - Parameter notify: is called in the last write.
    /// - Returns: the partition's state, and lines for the log; nil if it, or a key of a row, has changed since the look began.
    func run(
        _ source: any BackEndSnapshot, notify: (any StateConnection) throws -> Void
    ) throws -> (state: PartitionState, lines: [String])? {
        do { return try load(source, notify) } catch is Changed { return nil } catch is KeyTwice {
            throw FirstLoadNotPossible(partition: comparison.partition.id)
        }
    }

    private func load(
        _ source: any BackEndSnapshot, _ notify: (any StateConnection) throws -> Void
    ) throws -> (state: PartitionState, lines: [String])? {
        let space = Value.integer(refresher.cache.keySpace(of: comparison.object))
        let mayBeKnown = try refresher.stateStore.read { try $0.exists("SELECT 1 FROM _key WHERE object = ?1 LIMIT 1", [space]) }
        var writer: FirstRows?
        defer { writer?.end() }
        var rows = PackedRows(references: comparison.object.references.count), count: Int64 = 0
        func hand(over block: inout PackedRows) throws {
            let present = try writer ?? FirstRows(self, mayBeKnown: mayBeKnown)
            writer = present
            try present.add(&block)
        }
        let load = comparison.load(from: source)
        var unfit = UnfitRows()
        let mark = try load.pack(into: &rows) { row in
            if ground.lease.isLost { throw RefreshLease.Lost() }
            unfit.add(row)
        } _: { rows in
            if ground.lease.isLost { throw RefreshLease.Lost() }
            count += 1
            guard rows.count >= refresher.rules.rowsInBlock || rows.bytes.count >= refresher.rules.bytesInBlock else { return }
            try hand(over: &rows)
        }
        // Few rows are written together with the version.
        if !rows.isEmpty, writer != nil || count >= rules.leastRows { try hand(over: &rows) }
        try writer?.finish()
        let comparison = try comparison.awaitsMark ? comparison.marked(mark) : comparison
        let written = try withLargeValues(of: load) { connection -> (state: PartitionState, lines: [String])? in
            guard try ground.holds(comparison, in: connection) else { return nil }
            let refresh = self.refresh(connection, comparison)
            var texts = RowTexts()
            if !rows.isEmpty { try RowBlock(refresh: refresh, mayBeKnown: mayBeKnown).write(rows, &texts) }
            if !comparison.object.largeAttributes.isEmpty { _ = try refresh.largeValues.noteDifferences(refresh.version) }
            let lines = try refresh.finish(Int(count), unfit: unfit).lines
            try writer?.base?.complete(refresh.version, rows: count, in: connection)
            try notify(connection)
            return (try comparison.partition.state(in: connection), lines)
        }
        if written != nil { writer?.isValid = true }
        return written
    }

    /// Runs the last write, with the digests of large values staged for it.
    private func withLargeValues<R>(of load: BackEndLoad, _ write: (any StateConnection) throws -> R) throws -> R {
        let label = "refresh from \(backEnd.name)"
        guard !comparison.object.largeAttributes.isEmpty else {
            return try refresher.stateStore.write(label: label, isolation: .locks, write)
        }
        return try refresher.stateStore.staging { staging in
            try staging.prepare { connection in
                try connection.stage("_digest", LargeValueLoad.columns(connection.dialect)) { add in
                    try LargeValueLoad(load: load, backEnd: backEnd.system, partition: comparison.partition.id).forEach(nil) { digest in
                        if ground.lease.isLost { throw RefreshLease.Lost() }
                        try add(digest)
                    }
                }
                let refresh = self.refresh(connection, comparison)
                try refresh.onceEach { try refresh.largeValues.compare() }
            }
            return try staging.write(label: label, write)
        }
    }

    private func refresh(_ connection: any StateConnection, _ comparison: PartitionComparison) -> PartitionRefresh {
        PartitionRefresh(comparison: comparison, package: refresher.package, cache: refresher.cache, connection: connection)
    }

    /// Writes a block.
    /// - Parameter texts: receives the rows as they travel.
    fileprivate func write(_ block: PackedRows, _ texts: inout RowTexts, mayBeKnown: Bool) throws {
        try refresher.stateStore.draft(label: "first rows from \(backEnd.name)") { connection in
            guard try ground.holds(comparison, in: connection) else { throw Changed() }
            texts.removeAll()
            try RowBlock(refresh: refresh(connection, comparison), mayBeKnown: mayBeKnown).write(block, &texts)
        }
    }
}

/// The threads of a first load with many rows.
private final class FirstRows {
    /// The segments of the rows; nil if the server makes none.
    let base: BaseDraft?
    /// Whether the rows, and with them the segments, became valid.
    var isValid = false
    private let blocks: ReusedValues<PackedRows>
    private let worker: ItemWorker<SystemLock<PackedRows>>

    /// The number of blocks that wait to be written. A back end in a file is read faster than rows are written, one over the network arrives more slowly:
    /// in both cases more of them would take memory and save no time.
    private static let waitingBlocks = 1

    /// - Throws: ``RequestFailure`` if the system cannot start a thread.
    init(_ load: FirstLoad, mayBeKnown: Bool) throws {
        let refresher = load.refresher, references = load.comparison.object.references.count
        let need = SegmentNeed(partition: load.comparison.partition.id, shape: load.comparison.object.shape)
        let base =
            refresher.configuration.segmentRules.isOn
            ? BaseDraft(need, stateStore: refresher.stateStore, files: refresher.files, configuration: refresher.configuration) : nil
        // A block ends after the row that passes its limit: a long one doubles the room.
        let full = refresher.rules.bytesInBlock, kept = 3 * full
        let blocks = ReusedValues { PackedRows(references: references, room: full + full / 16) }
        let worker = ItemWorker<SystemLock<PackedRows>>(capacity: Self.waitingBlocks) {
            var ownTexts = RowTexts()
            return { block in
                try block.withLock { rows in
                    if let base {
                        try base.add { try load.write(rows, &$0, mayBeKnown: mayBeKnown) }
                    } else {
                        try load.write(rows, &ownTexts, mayBeKnown: mayBeKnown)
                    }
                    rows.removeAll(keeping: kept)
                }
                blocks.giveBack(block)
            }
        }
        guard let worker else {
            base?.discard()
            throw RequestFailure.busy
        }
        (self.base, self.blocks, self.worker) = (base, blocks, worker)
    }

    /// Hands a block over, and leaves an empty one. Waits while too many others do.
    func add(_ rows: inout PackedRows) throws {
        let block = blocks.take()
        block.withLock { swap(&$0, &rows) }
        try worker.add(block)
    }

    /// Waits until all rows and segments are stored.
    func finish() throws {
        try worker.finish()
        base?.finish()
    }

    /// Ends the threads. Rows that wait are written for the next load; segments of rows that did not become valid are removed, and incomplete ones.
    func end() {
        try? worker.finish()
        if let base, !isValid || !base.isCompleted { base.discard() }
    }
}
