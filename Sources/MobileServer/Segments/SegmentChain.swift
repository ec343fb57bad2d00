/// The segments that a client at some version of a partition gets: the longest run that begins exactly there, then the longest one that begins where that
/// one ends, and so on. Rows with a version after the last one are composed live.
struct SegmentChain: Equatable, Sendable {
    private(set) var runs: [SegmentRun] = []
    /// The version up to which the client has the rows, after the runs.
    private(set) var end: Int64

    /// - Parameters:
    ///   - version: that of the client; ``SegmentRun/beginning`` for a client without rows of the partition.
    ///   - horizon: the version up to which the tombstones of the partition are gone.
    init(from version: Int64, _ known: [SegmentRun], horizon: Int64) {
        end = version
        // A base from before the horizon may have rows that were deleted since without a trace.
        var usable = known.filter { !$0.isBase || $0.until >= horizon }
        while let next = usable.filter({ $0.since == end }).max(by: { ($0.until, $0.id) < ($1.until, $1.id) }), next.until > end {
            runs.append(next)
            end = next.until
            usable.removeAll { $0.until <= next.until }
        }
    }

    var rows: Int64 { runs.reduce(0) { $0 + $1.rows } }

    /// The version from which on a client may have rows that are deleted since: that of the client, or of the base.
    var deletionsSince: Int64? { runs.first.map { $0.isBase ? $0.until : $0.since } }
}
