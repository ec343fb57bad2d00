internal import MobileStore

/// The way in which the rows of one partition reach a client.
struct PartitionPlan {
    let partition: Int64
    /// The version up to which the client has the rows; nil for none of them.
    let since: Int64?
    /// The segments that the client fetches first.
    let chain: SegmentChain?
    /// The partition whose segments have to be made for a better plan.
    let need: SegmentNeed?

    /// The version from which on rows are composed live; nil for all of them.
    var liveSince: Int64? { chain?.end ?? since }

    /// The version from which on the client may have rows that are deleted since; nil if it has none of the partition.
    var deletionsSince: Int64? { since ?? chain?.deletionsSince }

    /// - Parameter shape: the columns of the rows as one text.
    init(_ partition: Int64, since: Int64?, shape: String, _ rules: SegmentRules, in connection: any StateConnection) throws {
        self.partition = partition
        self.since = since
        let changes = PartitionChanges(partition: partition, connection: connection), start = since ?? SegmentRun.beginning
        guard rules.isOn, try changes.live(after: start, limit: rules.leastRows) >= rules.leastRows else {
            (chain, need) = (nil, nil)
            return
        }
        let runs = try SegmentDirectory(partition: partition, connection: connection).runs(shape: shape)
        let chain = SegmentChain(from: start, runs, horizon: try TombstoneHorizon.version(of: partition, in: connection))
        let need = SegmentNeed(partition: partition, shape: shape)
        // A run that begins at another version than that of the client is of no use to it.
        let isServed = since == nil || !chain.runs.isEmpty || runs.contains { $0.retired == nil && $0.until == start }
        let task = isServed ? try SegmentTask(need, rules, in: connection) : nil
        self.need = task == nil ? nil : need
        self.chain = try Self.isWorthwhile(chain, since, changes, rules) ? chain : nil
    }

    /// Whether a chain carries not many more rows than the client needs.
    private static func isWorthwhile(
        _ chain: SegmentChain, _ since: Int64?, _ changes: PartitionChanges, _ rules: SegmentRules
    ) throws -> Bool {
        guard let first = chain.runs.first else { return false }
        let carried = try chain.rows + changes.live(after: chain.end, limit: .max)
        // The number of all rows of a large partition is not worth counting; this is at most as many.
        let needed = try since.map { try changes.live(after: $0, limit: .max) } ?? first.rows - changes.tombstones(after: first.until)
        return carried * 100 <= max(needed, 1) * rules.percentOfRows
    }
}

/// Thrown while a download is composed: segments are missing that would serve it.
struct SegmentsMissing: Error {
    let needs: [SegmentNeed]
}
