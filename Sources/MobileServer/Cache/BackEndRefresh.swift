internal import MobileExecution
internal import MobileModel
internal import MobileStore
internal import PostgreSQLClient

/// A refresh of different partitions of one back end. No transaction of the store is open while the back end is read: a slow one keeps no other request from writing.
///
///     look: position, record of operations, changes   --nothing--> done
///       | few rows, in memory              | all rows of a partition, many rows
///       v                                  v
///     one write, if the partitions are     lease --> staged load --> one write per partition, if the lease and the
///     as they were before the look                                   partition are as they were before the look
///
/// A write that finds something else changes nothing, and the refresh looks again; after some times it takes the lease, so that only refreshes of few
/// rows can disturb it.
struct BackEndRefresh {
    private let refresher: CacheRefresher
    private let backEnd: ServedBackEnd
    private let partitions: [Partition]
    private let keys: KeyMap
    /// The keys of rows that the back end has reported as changed, by object; nil if all changes are to be found.
    private let reported: [String: [RowKey]]?

    /// The number of looks in vain after which the refresh takes the lease, and after which it gives up.
    private static let conflictsBeforeLease = 3, maximumConflicts = 20
    /// The largest number of first loads that are staged, each with a commit of its own. More of them are taken for small ones, and share a write.
    private static let stagedFirstLoads = 8

    init(_ refresher: CacheRefresher, _ backEnd: ServedBackEnd, _ partitions: [Partition], reported: [String: [RowKey]]? = nil) {
        (self.refresher, self.backEnd, self.partitions, self.reported) = (refresher, backEnd, partitions, reported)
        keys = KeyMap(package: refresher.package, cache: refresher.cache)
    }

    private var place: RefreshLease.Place {
        RefreshLease.Place(stateStore: refresher.stateStore, package: refresher.cache.id, backEnd: backEnd.name)
    }

    /// The state of the store before a look.
    struct Known: Equatable {
        /// In the order of the partitions.
        let states: [PartitionState]
        let applied: AppliedPosition
        let rekeyed: Int64
    }

    /// The result of a look.
    private struct Look {
        var position: BackEndPosition?
        var record: RecordImport?
        /// Few rows, to be compared in the next write.
        var loads: [PartitionLoad] = []
        /// The partitions without a change.
        var unchanged: [PartitionState] = []
        /// Whether there is more to do after the write: partitions that need the lease.
        var isPartial = false
        var needsLease = false
    }

    // MARK: Attempts

    /// Brings the partitions up to date. The caller has their turn.
    func run(until deadline: ContinuousClock.Instant) throws {
        var lease: RefreshLease?
        let all: Set<RefreshTurns.Part> = [.allRows(backEnd: backEnd.name)]
        defer {
            if let lease {
                lease.end()
                refresher.turns.give(all)
            }
        }
        var findings = Findings(), conflicts = 0
        while conflicts < Self.maximumConflicts {
            do {
                let found = try attempt(lease, findings)
                if found.isDone { return }
                if found.isConflict { conflicts += 1 }
                guard lease == nil, found.needsLease || conflicts >= Self.conflictsBeforeLease else { continue }
                _ = try refresher.turns.take(all, until: deadline)
                do { lease = try RefreshLease.take(place, refresher.rules, until: deadline) } catch {
                    refresher.turns.give(all)
                    throw error
                }
            } catch let load as PartitionLoad.TooLarge {
                findings.large.insert(load.partition)
            } catch let load as FirstLoadNotPossible {
                findings.staged.insert(load.partition)
            } catch let found as RowsToHold {
                if try !findings.take(found) { conflicts += 1 }
            } catch let twice as KeyTwice {
                throw twice.failure
            } catch is RefreshLease.Lost {
                lease?.end()
                lease = nil
                refresher.turns.give(all)
                conflicts += 1
            } catch is RecordImport.Moved {
                conflicts += 1
            } catch let interruption as Interruption {
                conflicts += Self.conflictsBeforeLease
                guard conflicts < Self.maximumConflicts else { throw interruption.cause }
            }
        }
        throw RequestFailure.busy
    }

    /// The findings of looks in vain.
    private struct Findings {
        /// The partitions whose rows do not fit into memory.
        var large = Set<Int64>()
        /// The partitions whose first load is staged.
        var staged = Set<Int64>()
        /// The rows to hold back, by partition.
        private(set) var held: [Int64: [KeyText: UnfitRow]] = [:]

        /// - Returns: whether a row is new.
        /// - Throws: the error of the load if there are too many.
        mutating func take(_ found: RowsToHold) throws -> Bool {
            let known = held[found.partition] ?? [:], all = known.merging(found.rows) { $1 }
            guard all.count <= RowsToHold.limit else { throw found.failure }
            held[found.partition] = all
            return found.rows.keys.contains { known[$0] == nil }
        }
    }

    /// A staged load has lost its connection to the store, and can be repeated.
    private struct Interruption: Error {
        let cause: PostgreSQLError
    }

    /// Looks at the back end once, and writes what it finds.
    private func attempt(_ lease: RefreshLease?, _ findings: Findings) throws -> (isDone: Bool, isConflict: Bool, needsLease: Bool) {
        // Before the look: what another process commits from now on may be later than what it sees.
        let known = try refresher.stateStore.read { try self.known(in: $0) }
        let found = try backEnd.system.read { try look($0, known, lease, findings) }
        guard let found, try write(found, known) else { return (false, true, false) }
        if reported == nil { for state in found.unchanged { refresher.note(state, at: found.position) } }
        return (!found.isPartial, false, found.needsLease)
    }

    private func known(lock: String = "", in connection: any StateConnection) throws -> Known {
        Known(
            states: try partitions.map { try $0.state(lock: lock, in: connection) }, applied: try keys.appliedPosition(of: backEnd, in: connection),
            rekeyed: try RefreshLease.rekeyed(place, in: connection))
    }

    // MARK: The look

    /// - Returns: nil if the store has changed so much that the look is in vain.
    private func look(_ source: any BackEndSnapshot, _ known: Known, _ lease: RefreshLease?, _ findings: Findings) throws -> Look? {
        var look = Look()
        look.position = try source.position()
        look.record = try RecordImport.read(source, of: backEnd, after: known.applied, package: refresher.package.model.name) {
            try keys.take($0, from: backEnd, refresher.stateStore)
        }
        let states = Dictionary(uniqueKeysWithValues: zip(partitions.map(\.id), known.states))
        let outdated = Dictionary(grouping: partitions) { $0.object }
        var rows = 0, firstLoads = known.states.count { !$0.isLoaded }
        if firstLoads <= Self.stagedFirstLoads { firstLoads = 0 }
        // In the order of the model, so that parents have their keys from their own load.
        for object in refresher.package.objects {
            for partition in (outdated[object.name] ?? []).sorted(by: { $0.id < $1.id }) {
                guard let state = states[partition.id] else { continue }
                // Another request may have loaded it meanwhile.
                if reported == nil && state.isLoaded && refresher.isLoaded(partition.id, state.position, look.position) { continue }
                if rows >= refresher.rules.rowsInMemory {
                    // Within the look, as staged rows are: another look would find the back end at a later position, and read all of these again.
                    guard try importRecord(&look, known), try write(look, known) else { return nil }
                    (look.loads, rows) = ([], 0)
                }
                // A first load takes place under the lease. Without it, sums of all rows are not worth their time. Reports are about loaded rows only.
                guard state.isLoaded || lease != nil || reported != nil else {
                    (look.isPartial, look.needsLease) = (true, true)
                    continue
                }
                guard var comparison = try comparison(source, object, partition, state) else {
                    look.unchanged.append(state)
                    continue
                }
                comparison.held = findings.held[partition.id] ?? [:]
                let isLarge = try isLarge(comparison, findings.large), isFirst = !state.isLoaded
                // Large comparisons take place under the lease as well.
                if !isLarge && (!isFirst || lease != nil && firstLoads > 0) {
                    let load = try PartitionLoad(marked(comparison, source), refresher.rules, backEnd: backEnd.system, source)
                    rows += load.rows.count
                    look.loads.append(load)
                    continue
                }
                guard let lease else {
                    (look.isPartial, look.needsLease) = (true, true)
                    continue
                }
                // Before any row has a key: a device may have given it one.
                guard try importRecord(&look, known) else { return nil }
                guard try stage(comparison, source, look.position, known, lease, isFirst: !findings.staged.contains(partition.id)) else { return nil }
            }
        }
        return look
    }

    /// Asks the back end for the changes of a partition.
    /// - Returns: nil if there are none.
    private func comparison(
        _ source: any BackEndSnapshot, _ object: ObjectPlan, _ partition: Partition, _ state: PartitionState
    ) throws -> PartitionComparison? {
        let now = refresher.clock(), mark = RefreshMark(object)
        if let reported {
            guard state.isLoaded, let keys = reported[object.name] else { return nil }
            // The mark stays: other rows may have changed before these.
            return PartitionComparison(
                object: object, partition: partition, state: state, keys: Array(Set(keys)), mark: state.mark, markContent: nil, now: now)
        }
        let isDue = !state.isLoaded || state.isComparisonDue(now, refresher.comparisonInterval)
        let known = isDue ? nil : try refresher.stateStore.read { try mark.content(of: state, in: $0) }
        if !state.isLoaded, try (source as? any PackedBackEndSnapshot)?.marksLoads(of: object.model) == true {
            return PartitionComparison(awaitingMarkOf: object, partition, state, now: now)
        }
        let parameters = BackEndLoad(object: object, parameters: partition.parameters, source: source).namedParameters
        let changes = try source.changes(of: object.model, parameters: parameters, since: known)
        guard isDue || !changes.areNone else { return nil }
        var keys = isDue ? nil : changes.keys.map { Set($0) }
        if let present = keys, let covers = changes.covers {
            keys = try present.union(refresher.stateStore.read { try partition.keys(of: object, refresher.cache, where: covers, in: $0) })
        }
        return PartitionComparison(
            object: object, partition: partition, state: state, keys: keys.map { Array($0) }, mark: try changes.mark.map { try mark.text(of: $0) },
            markContent: changes.mark, now: now)
    }

    /// Asks for the mark of a comparison whose load does not make it after all.
    private func marked(_ comparison: PartitionComparison, _ source: any BackEndSnapshot) throws -> PartitionComparison {
        guard comparison.awaitsMark else { return comparison }
        let parameters = BackEndLoad(object: comparison.object, parameters: comparison.partition.parameters, source: source).namedParameters
        return try comparison.marked(source.changes(of: comparison.object.model, parameters: parameters, since: nil).mark)
    }

    /// Whether a comparison has many rows, as far as this is known before the load.
    private func isLarge(_ comparison: PartitionComparison, _ large: Set<Int64>) throws -> Bool {
        if large.contains(comparison.partition.id) { return true }
        let limit = refresher.rules.rowsInMemory
        if let keys = comparison.keys { return keys.count > limit }
        let count = try refresher.stateStore.read {
            try $0.number(
                "SELECT count(*) FROM (SELECT 1 FROM _row WHERE partition = ?1 AND deleted = 0 LIMIT \(limit + 1)) AS r",
                [.integer(comparison.partition.id)])
        }
        return count > limit
    }

    /// Applies the outcomes of the look's record in a transaction of their own.
    /// - Returns: whether the store is as it was otherwise.
    private func importRecord(_ look: inout Look, _ known: Known) throws -> Bool {
        guard let record = look.record.take() else { return true }
        guard try keys.take(record, from: backEnd, refresher.stateStore) else { return false }
        let present = try refresher.stateStore.read { try self.known(in: $0) }
        return present.states == known.states && present.rekeyed == known.rekeyed
    }

    // MARK: Writes

    /// Loads and writes a partition with many rows.
    /// - Parameter isFirst: whether the rows of a first load may be written without a comparison.
    /// - Returns: whether it was written; false if the partition, or a key of a row, has changed since the look began.
    private func stage(
        _ comparison: PartitionComparison, _ source: any BackEndSnapshot, _ position: BackEndPosition?, _ known: Known, _ lease: RefreshLease,
        isFirst: Bool
    ) throws -> Bool {
        let written: (state: PartitionState, changes: PartitionRefresh.Written)?
        do { written = try load(comparison, source, known, lease, isFirst: isFirst) } catch let error as PostgreSQLError where error.canBeRepeated {
            throw Interruption(cause: error)
        }
        guard let written else { return false }
        note(written.state, after: comparison.state, at: position)
        log(written.changes.lines)
        if written.changes.isChanged { refresher.changed([written.state.partition]) }
        return true
    }

    private func load(
        _ comparison: PartitionComparison, _ source: any BackEndSnapshot, _ known: Known, _ lease: RefreshLease, isFirst: Bool
    ) throws -> (state: PartitionState, changes: PartitionRefresh.Written)? {
        let ground = RefreshGround(backEnd: backEnd, keys: keys, lease: lease, place: place, rekeyed: known.rekeyed)
        if try isFirst && FirstLoad.isPossible(comparison, source, refresher.stateStore) {
            let first = FirstLoad(comparison: comparison, backEnd: backEnd, refresher: refresher, ground: ground)
            let written = try first.run(source) { try notify([comparison.partition.id], in: $0) }
            return written.map { ($0.state, PartitionRefresh.Written(isChanged: true, lines: $0.lines)) }
        }
        return try refresher.stateStore.staging { staging in
            let comparison = try marked(comparison, source)
            var staged = StagedRefresh(comparison, package: refresher.package, cache: refresher.cache, staging: staging)
            try staged.load(backEnd: backEnd.system, source) { if lease.isLost { throw RefreshLease.Lost() } }
            guard try importLaterRecords(source) else { return nil }
            do {
                try staged.compare()
                return try staging.write(label: "refresh from \(backEnd.name)") { connection in
                    guard try ground.holds(comparison, in: connection) else { return nil }
                    let changes = try staged.write(in: connection)
                    if changes.isChanged { try notify([comparison.partition.id], in: connection) }
                    return (try comparison.partition.state(in: connection), changes)
                }
            } catch let twice as KeyTwice {
                throw try staged.doubledRows() ?? twice.failure
            }
        }
    }

    /// Imports the keys of rows that devices have created during a load, from a back end without snapshots.
    /// - Returns: false if the look must begin again.
    private func importLaterRecords(_ source: any BackEndSnapshot) throws -> Bool {
        guard !backEnd.isIdempotent, let records = try source.records() else { return true }
        let known = try refresher.stateStore.read { try keys.appliedPosition(of: backEnd, in: $0) }
        // A snapshot has none that the look has not found at its beginning; another process may have imported later ones.
        guard try records.lastNumber() > known.number else { return true }
        let apply = { try keys.take($0, from: backEnd, refresher.stateStore) }
        let record = try RecordImport.read(source, of: backEnd, after: known, package: refresher.package.model.name, apply: apply)
        return try record.map(apply) ?? true
    }

    /// Writes the outcomes of the record, and the partitions with few rows.
    /// - Returns: whether everything was written. Otherwise the outcomes may have been applied, and nothing else has changed.
    private func write(_ look: Look, _ known: Known) throws -> Bool {
        guard look.record != nil || !look.loads.isEmpty else { return true }
        let written = try refresher.stateStore.write(label: "refresh from \(backEnd.name)", isolation: .locks) {
            connection -> (states: [PartitionState], changed: [Int64], lines: [String])? in
            try keys.lock(backEnd, in: connection)
            if let record = look.record, try !keys.apply(record, of: backEnd, in: connection) { return nil }
            guard try isUnchanged(look, in: connection) else { return nil }
            var changed: [Int64] = [], lines: [String] = []
            for load in look.loads {
                let refresh = PartitionRefresh(
                    comparison: load.comparison, package: refresher.package, cache: refresher.cache, connection: connection)
                let written = try refresh.run(load)
                if written.isChanged { changed.append(load.comparison.partition.id) }
                lines += written.lines
            }
            if !changed.isEmpty { try notify(changed, in: connection) }
            return (try look.loads.map { try $0.comparison.partition.state(in: connection) }, changed, lines)
        }
        guard let written else { return false }
        // Only after the commit: a load that is rolled back does not count.
        for (state, load) in zip(written.states, look.loads) { note(state, after: load.comparison.state, at: look.position) }
        log(written.lines)
        if !written.changed.isEmpty { refresher.changed(written.changed) }
        return true
    }

    private func log(_ lines: [String]) {
        for line in lines { refresher.configuration.log(line) }
    }

    private func note(_ state: PartitionState, after former: PartitionState, at position: BackEndPosition?) {
        if reported == nil { refresher.note(state, at: position) } else { refresher.noteReported(state, after: former) }
    }

    /// Whether the partitions of a look are as they were before it, also after its outcomes were applied: these can demand a comparison of all rows.
    private func isUnchanged(_ look: Look, in connection: any StateConnection) throws -> Bool {
        // In the order of their numbers, as all processes lock them.
        for comparison in look.loads.map(\.comparison).sorted(by: { $0.partition.id < $1.partition.id }) {
            guard try comparison.partition.state(lock: connection.dialect.lock, in: connection) == comparison.state else { return false }
        }
        guard look.record != nil else { return true }
        let others = Dictionary(uniqueKeysWithValues: zip(partitions.map(\.id), partitions))
        return try look.unchanged.allSatisfy { try others[$0.partition]?.state(in: connection) == $0 }
    }

    private func notify(_ partitions: [Int64], in connection: any StateConnection) throws {
        try connection.notify(StateNotifications.partitions, StateNotifications.text(partitions))
    }
}
