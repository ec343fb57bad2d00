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

    /// - Parameters:
    ///   - shape: the columns of the rows as one text.
    ///   - isExact: whether the client may get rows in their present form only. Segments have rows that have left the partition since.
    init(_ partition: Int64, since: Int64?, shape: String, isExact: Bool, _ rules: SegmentRules, in connection: any StateConnection) throws {
        self.partition = partition
        self.since = since
        let changes = PartitionChanges(partition: partition, connection: connection), start = since ?? SegmentRun.beginning
        func segments() throws -> (runs: [SegmentRun], chain: SegmentChain) {
            let runs = try SegmentDirectory(partition: partition, connection: connection).runs(shape: shape)
            return (runs, SegmentChain(from: start, runs, horizon: try TombstoneHorizon.version(of: partition, in: connection)))
        }
        // For a new client the base shows how many rows there are at least, and thousands of them are not counted.
        let known = try rules.isOn && since == nil ? segments() : nil
        let atLeast = try known?.chain.runs.first.map { try $0.rows - changes.tombstones(after: $0.until) } ?? 0
        guard rules.isOn, try atLeast >= rules.leastRows || changes.live(after: start, limit: rules.leastRows) >= rules.leastRows else {
            (chain, need) = (nil, nil)
            return
        }
        let (runs, chain) = try known ?? segments()
        let need = SegmentNeed(partition: partition, shape: shape)
        // A run that begins at another version than that of the client is of no use to it.
        let isServed = since == nil || !chain.runs.isEmpty || runs.contains { $0.retired == nil && $0.until == start }
        let task = isServed ? try SegmentTask(need, rules, in: connection) : nil
        self.need = task == nil ? nil : need
        let isOutdated = try isExact && chain.runs.first.map { try changes.all(after: $0.until, limit: 1) > 0 } ?? false
        self.chain = try !isOutdated && Self.isWorthwhile(chain, since, changes, rules) ? chain : nil
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
