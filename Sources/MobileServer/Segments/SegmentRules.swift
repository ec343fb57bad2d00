/// The rules by which segments are made and used.
package struct SegmentRules: Sendable {
    /// If a client needs fewer rows of a partition, they are composed live: a synchronization with few rows stays one request and one answer.
    package var leastRows: Int64 = 4096
    /// The number of bytes of JSON after which a segment ends. On mobile networks each further request costs a round trip.
    var textBytes = 4 << 20
    /// Increments of this number become one.
    var mergedIncrements = 16
    /// The base is written again when this part of its rows has changed: one in `rewrittenPart`.
    package var rewrittenPart: Int64 = 4
    /// A chain of segments is not used if it carries more rows than this percentage of those that the client needs.
    package var percentOfRows: Int64 = 130
    /// The time in milliseconds for which segments stay after others took their place. Grants are valid for this time.
    var retention: Int64 = 24 * 3_600_000
    /// Large values of this length and more are fetched on their own, so that a broken transfer can be continued.
    package var namedValueBytes: Int64 = 4 << 20
    /// The time for which a check of a session's rights to a partition is valid for its next segments.
    var checkedTime = Duration.seconds(1)
    /// Whether segments are made and used.
    var isOn = true
}
