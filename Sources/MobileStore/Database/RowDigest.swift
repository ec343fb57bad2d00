internal import MobileCore

/// The names of SQL functions that sum up the rows of a query, so that later sums show which rows have changed. Every connection has them, for statements
/// of the program only.
///
///     SELECT mc_row_digest_sums(:seed, id, name, price) FROM article
///     SELECT id FROM article WHERE mc_row_digest_has(:seed, :buckets, id)
///
/// A row belongs to one of ``bucketCount`` buckets by its key. The sums are a blob: the number of rows, for each bucket the sum of its rows' hashes, and for
/// each bucket the sum of its keys' hashes; 8 bytes each, little-endian. The seed is a blob of ``seedSize`` random bytes: sums with different seeds have
/// nothing in common. Storage class and length of each value are hashed with its content.
public enum RowDigest {
    /// The aggregate: seed, key, and any number of values.
    public static let sums = MC_ROW_DIGEST_SUMS
    /// The hash of a seed and any number of values, as an integer: it stands for columns that exceed the number of arguments of a function.
    public static let hash = MC_ROW_DIGEST_HASH
    /// The test of a key: seed, set of buckets, key. In the set, bucket `b` is bit `b % 8` of byte `b / 8`.
    public static let has = MC_ROW_DIGEST_HAS
    /// The number of buckets.
    public static let bucketCount = Int(MC_ROW_DIGEST_BUCKETS)
    /// The length of a seed in bytes.
    public static let seedSize = Int(MC_ROW_DIGEST_SEED_SIZE)

    /// Returns the bucket of a key, as the functions find it.
    /// - Parameters:
    ///   - key: the value that the SQL passes as the key.
    ///   - seed: ``seedSize`` bytes.
    public static func bucket(of key: Value, seed: [UInt8]) -> Int {
        precondition(seed.count == seedSize, "a seed has \(seedSize) bytes")
        var bucket = 0
        try? unsafe CoreValues.with([key]) { values, _ throws(StoreError) in
            bucket = unsafe seed.withUnsafeBufferPointer { seed in
                unsafe seed.baseAddress.map { unsafe Int(mc_row_digest_bucket($0, values)) } ?? 0
            }
        }
        return bucket
    }
}

/// Sums that an export adds up on its way, see ``ExportSums``.
@safe package final class RowSums {
    let handle: OpaquePointer

    /// - Parameter seed: ``RowDigest/seedSize`` bytes.
    /// - Throws: ``StoreError/Code/noMemory``.
    package init(seed: [UInt8]) throws(StoreError) {
        precondition(seed.count == RowDigest.seedSize, "a seed has \(RowDigest.seedSize) bytes")
        var handle: OpaquePointer?
        try unsafe StoreError.check { error in
            unsafe seed.withUnsafeBufferPointer { unsafe mc_row_digest_pass_create($0.baseAddress!, &handle, error) }
        }
        unsafe self.handle = handle!  // MC_OK promises sums
    }

    deinit { unsafe mc_row_digest_pass_free(handle) }

    /// The sums so far, in the form of ``RowDigest/sums``.
    package var blob: [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: Int(MC_ROW_DIGEST_SUMS_SIZE)) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            unsafe mc_row_digest_pass_read(handle, start)
            count = buffer.count
        }
    }
}
