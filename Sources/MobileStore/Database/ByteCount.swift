/// An amount of memory or storage. `1 KB` is 1000 bytes, `1 MB` is 1,000,000.
public struct ByteCount: Sendable, Hashable, Comparable, ExpressibleByIntegerLiteral {
    /// The amount in bytes.
    public var bytes: Int

    /// So many bytes.
    public static func bytes(_ count: Int) -> ByteCount { ByteCount(bytes: count) }

    /// So many times 1000 bytes.
    public static func kilobytes(_ count: Int) -> ByteCount { ByteCount(bytes: product(count, 1000)) }

    /// So many times 1,000,000 bytes.
    public static func megabytes(_ count: Int) -> ByteCount { ByteCount(bytes: product(count, 1_000_000)) }

    /// So many bytes: `let size: ByteCount = 65536`.
    public init(integerLiteral value: Int) { bytes = value }

    init(bytes: Int) { self.bytes = bytes }

    /// The smaller amount comes first.
    public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }

    /// Amounts beyond an `Int` become the largest one, which the check at open refuses by name.
    private static func product(_ count: Int, _ unit: Int) -> Int {
        let (value, overflows) = count.multipliedReportingOverflow(by: unit)
        return overflows ? (count < 0 ? .min : .max) : value
    }
}

extension ByteCount: CustomStringConvertible {
    /// Such as `10 MB`, `4096 bytes`.
    public var description: String {
        if bytes != 0, bytes % 1_000_000 == 0 { return "\(bytes / 1_000_000) MB" }
        if bytes != 0, bytes % 1000 == 0 { return "\(bytes / 1000) KB" }
        return "\(bytes) bytes"
    }
}
