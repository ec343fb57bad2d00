internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// Determines the data that a client does not have, from one snapshot of the cache, and writes its rows into a spool.
///
/// Rows are written while the snapshot is open, at the speed of the database and the disk; the client then reads at its own pace. Large values are
/// not written but listed: the download reads each from the back end when its turn comes.
struct DownloadComposer {
    let package: DeployedPackage
    let cache: PackageCache
    let partitions: [Partition]
    /// The objects whose rows are sent as to a client that has none of them.
    let reread: Set<String>
    /// Rows of the client that were in none of its partitions when these were refreshed, by object.
    let gone: [String: [Int64]]
    /// Rows that the client has removed itself, by object.
    let removed: [String: Set<Int64>]
    /// Large values that the client has made.
    let own: OwnLargeValues
    /// Whether a back end was restored since the client saw its rows.
    let isRestored: (String) throws -> Bool
    let connection: any StateConnection
    let logsSuccesses: Bool
    let log: @Sendable (String) -> Void
    let segments: SegmentRules
    let grants: SessionGrants
    /// Whether the composition ends with ``SegmentsMissing`` where segments are missing that would serve the client.
    let requiresSegments: Bool

    /// - Parameter system: the frames of the group `system`; nil if it was not requested. In that case only the log records of the outcomes are sent.
    func compose(
        answer: SynchronizeAnswer, groups: [RequestedGroups.Group], keys: KeyRange?, outcomes: [OperationOutcome], system: [FrameContent]?
    ) throws -> Download {
        let rows = Spool(), largeValues = LargeValueList()
        let earlier = try Quarantine.earlierVersions(in: partitions.map(\.id), limit: GroupEnd.staleLimit, connection)
        let deltas = try groups.map { try delta(of: $0, earlier) }
        let needs = requiresSegments ? deltas.flatMap { $0.objects.flatMap { $0.plans.compactMap(\.need) } } : []
        guard needs.isEmpty else { throw SegmentsMissing(needs: needs) }
        var answer = answer
        // Nothing new costs no further statement.
        let isChanged = !outcomes.isEmpty || zip(groups, deltas).contains { $0.token != $1.end.token }
        if isChanged { answer.records = try records(of: groups.flatMap(\.objects)) }
        var steps: [Download.Step] = [.frame(.answer(answer))]
        if let keys { steps.append(.frame(.keyRange(keys))) }
        steps += (system ?? []).map { .frame($0) }
        for delta in deltas {
            for object in delta.objects { try object.compose(rows, largeValues, &steps) }
            steps.append(.frame(.groupEnd(delta.end)))
        }
        let records = system == nil ? outcomes.compactMap { $0.logRecord(logsSuccesses: logsSuccesses) } : []
        if !records.isEmpty { steps.append(.frame(.logRecords(records))) }
        if !outcomes.isEmpty { steps.append(.frame(.replayResults(outcomes.map(\.result)))) }
        steps.append(.frame(.streamEnd))
        rows.rewind()
        try largeValues.finish()
        return Download(
            steps: steps, rows: rows, largeValues: largeValues, grants: grants, longValue: segments.namedValueBytes,
            log: log)
    }

    /// Returns the data of a group that the client does not have.
    /// - Parameter earlier: rows that the server holds back while the client has earlier versions, by partition.
    private func delta(of group: RequestedGroups.Group, _ earlier: [Int64: [Int64]]) throws -> (objects: [ObjectDelta], end: GroupEnd) {
        let reading = TokenReading(
            delivered: group.token.flatMap { DeliveredState($0, epoch: cache.epoch) }, cache: cache, connection: connection)
        var next = DeliveredState(epoch: cache.epoch), objects: [ObjectDelta] = [], stale: [String: [Int64]] = [:]
        let current = Dictionary(grouping: partitions, by: \.object)
        for object in group.objects {
            let states = try (current[object.name] ?? []).map { (partition: $0, state: try $0.state(in: connection)) }
            let versions = try reading.versions(of: object, states)
            objects.append(
                try ObjectDelta(
                    object: object, keySpace: cache.keySpace(of: object), backEnd: package.backEnd(of: object).system,
                    current: Dictionary(states.map { ($0.partition.id, $0.state.version) }) { $1 },
                    delivered: reread.contains(object.name) ? nil : versions, keepsKeys: versions != nil || lacksRows(of: object),
                    gone: gone[object.name] ?? [], removed: removed[object.name] ?? [], own: own, segments,
                    grants, connection))
            let keys = Set(states.flatMap { earlier[$0.partition.id] ?? [] })
            if !keys.isEmpty { stale[object.name] = keys.sorted() }
            next.objects[object.name] = Dictionary(states.map { ($0.partition.digest, $0.state.position) }) { $1 }
        }
        return (objects, GroupEnd(group: group.name, token: next.token, stale: stale))
    }

    /// Whether the primary key of a row may be that of another row than the client has: the back end was restored, and makes the keys.
    private func lacksRows(of object: ObjectPlan) -> Bool {
        // Where the back end cannot be asked, no row is taken for another one.
        object.hasGeneratedKey && ((try? isRestored(object.binding.backEnd)) ?? true)
    }

    /// Returns, by era, how far the cache has read the records of the objects' back ends. The cache never has a row before it has read that a device
    /// has created it.
    private func records(of objects: [ObjectPlan]) throws -> [String: Int64] {
        let keys = KeyMap(package: package, cache: cache), names = Set(objects.map(\.binding.backEnd))
        var records: [String: Int64] = [:]
        for backEnd in package.backEnds.values where names.contains(backEnd.name) && !backEnd.isIdempotent {
            let applied = try keys.appliedPosition(of: backEnd, in: connection)
            // Nothing was recorded, or the back end has no eras yet.
            if !applied.era.isEmpty { records[applied.era] = applied.number }
        }
        return records
    }
}
