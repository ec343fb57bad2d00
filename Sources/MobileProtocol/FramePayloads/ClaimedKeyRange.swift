internal import MobileStore

/// The ranges of surrogate keys that clients make themselves. A client that has no granted key makes one, gives its keys to new rows, and claims it with
/// each upload; on the wire, the first key stands for the range.
///
/// In the first key bit 62 is set, bits 16 to 61 are random, and all others are 0. So no server grants such a key, and two clients make the same range
/// only if one is a copy of the other.
public enum ClaimedKeyRange {
    /// The lowest key of all these ranges. A server grants only keys below it.
    public static let lowest: Int64 = 1 << 62
    /// The number of keys of a range.
    public static let size: Int64 = 1 << 16
    /// The maximum number of ranges in one upload.
    public static let claims = 1024

    /// Whether a range begins with this key.
    public static func begins(with key: Int64) -> Bool { key >= lowest && key % size == 0 }
}

extension WireMembers {
    /// The ranges in a list of their first keys; empty if the member is absent or null.
    func claimedKeyRanges(_ key: String) throws(ProtocolError) -> [Int64] {
        guard !isAbsent(key) else { return [] }
        let values = try array(key)
        guard values.count <= ClaimedKeyRange.claims else {
            throw ProtocolError(
                .invalidContent, "\(name), member \"\(key)\": \(values.count) ranges, the limit is \(ClaimedKeyRange.claims)")
        }
        var ranges: [Int64] = []
        for value in values {
            guard let first = value.integer else { throw unexpected(key, "an array of integers", value) }
            guard ClaimedKeyRange.begins(with: first) else {
                throw ProtocolError(
                    .invalidContent, "\(name), member \"\(key)\": \(first) is not a multiple of \(ClaimedKeyRange.size) from 2^62 on")
            }
            ranges.append(first)
        }
        return ranges
    }
}
