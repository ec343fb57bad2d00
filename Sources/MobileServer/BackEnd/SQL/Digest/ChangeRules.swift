/// The rules by which back ends that speak SQL find changes with sums of rows.
package struct ChangeRules: Sendable {
    /// Smaller partitions are compared as a whole each time.
    package var leastRows: Int64 = 4000
    /// The number of rows to a bucket, as far as there are enough buckets.
    var rowsPerBucket: Int64 = 32
    /// All rows are compared if more than this part of the buckets has changed: one in `changedPart`.
    var changedPart = 16
    /// All rows are compared if there are more keys than these in changed buckets: their single look-ups would cost more.
    var keyLimit = 20_000
}
