internal import Foundation
internal import MobileStore

/// The sums of a partition's rows and keys by buckets, see ``RowDigest``. PostgreSQL makes them with its own functions.
///
/// Buckets can be joined to fewer, because sums can be added: a partition of some thousands of rows needs a mark of some KB only.
struct BucketSums: Sendable, Equatable {
    /// The number of rows.
    var count: Int64 = 0
    /// The sum of the rows' hashes, by bucket.
    var rows: [UInt64]
    /// The sum of the keys' hashes, by bucket.
    var keys: [UInt64]

    /// The sums of no rows.
    init() {
        rows = [UInt64](repeating: 0, count: RowDigest.bucketCount)
        keys = rows
    }

    init(count: Int64, rows: [UInt64], keys: [UInt64]) { (self.count, self.rows, self.keys) = (count, rows, keys) }

    /// Reads the result of ``RowDigest/sums``; nil for anything else.
    init?(_ blob: [UInt8]) {
        let words = Self.words(blob)
        guard words.count == 1 + 2 * RowDigest.bucketCount else { return nil }
        count = Int64(truncatingIfNeeded: words[0])
        rows = Array(words[1...RowDigest.bucketCount])
        keys = Array(words[(1 + RowDigest.bucketCount)...])
    }

    /// The number and the sum of all rows. A change of any row changes it.
    var total: String { "\(count) \(rows.reduce(0, &+))" }

    /// Returns the number of buckets for this number of rows.
    func bucketCount(_ rules: ChangeRules) -> Int {
        var number = RowDigest.bucketCount
        while number > RowDigest.bucketCount / 64, count / Int64(number) < rules.rowsPerBucket { number /= 2 }
        return number
    }

    /// Adds up buckets until a number of them is left. Distant ones are joined: neighbours hold the keys of a small partition.
    static func joined(_ sums: [UInt64], to number: Int) -> [UInt64] {
        guard number > 0, sums.count > number else { return sums }
        return (0..<number).map { start in stride(from: start, to: sums.count, by: number).reduce(0) { $0 &+ sums[$1] } }
    }

    /// Whether this is a number of buckets that all of them can be joined to.
    static func isBucketCount(_ number: Int) -> Bool { number > 0 && RowDigest.bucketCount.isMultiple(of: number) }

    // MARK: Text

    static func text(_ sums: [UInt64]) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(8 * sums.count)
        for sum in sums {
            var rest = sum
            for _ in 0..<8 {
                bytes.append(UInt8(truncatingIfNeeded: rest))
                rest &>>= 8
            }
        }
        return Data(bytes).base64EncodedString()
    }

    /// Reads a text of ``text(_:)``; nil for one that is damaged.
    static func sums(_ text: String) -> [UInt64]? {
        guard let data = Data(base64Encoded: text), data.count.isMultiple(of: 8) else { return nil }
        let sums = words(Array(data))
        return isBucketCount(sums.count) ? sums : nil
    }

    /// Reads little-endian numbers of eight bytes. Slices and strides would take eight times as long where nothing is optimized.
    private static func words(_ bytes: [UInt8]) -> [UInt64] {
        var words: [UInt64] = [], word: UInt64 = 0, index = 0
        words.reserveCapacity(bytes.count / 8)
        while index < bytes.count {
            word = word &>> 8 | UInt64(bytes[index]) &<< 56
            index += 1
            if index & 7 == 0 { words.append(word) }
        }
        return words
    }
}

/// Some of the buckets of a partition.
struct BucketSet: Sendable, Equatable {
    /// In the form of ``RowDigest/has``.
    private(set) var bits = [UInt8](repeating: 0, count: RowDigest.bucketCount / 8)
    /// The number of joined buckets that differ.
    private(set) var count = 0

    /// The buckets whose sums differ. Both have the same number of buckets, which may be joined ones.
    init(_ one: [UInt64], differentFrom other: [UInt64]) {
        for index in one.indices where !other.indices.contains(index) || one[index] != other[index] {
            count += 1
            for bucket in stride(from: index, to: RowDigest.bucketCount, by: one.count) { bits[bucket / 8] |= 1 << UInt8(bucket % 8) }
        }
    }

    var isEmpty: Bool { count == 0 }

    func contains(_ bucket: Int) -> Bool { bits[bucket / 8] >> UInt8(bucket % 8) & 1 == 1 }
}
