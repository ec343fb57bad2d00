/// An amount of memory or storage. `1 KB` is 1000 bytes, `1 MB` is 1,000,000.
public struct ByteCount: Sendable, Hashable, Comparable, ExpressibleByIntegerLiteral {
    /// The amount in bytes.
    public var bytes: Int

    /// Makes an amount from a number of bytes.
    public static func bytes(_ count: Int) -> ByteCount { ByteCount(bytes: count) }

    /// Makes an amount from a number of kilobytes of 1000 bytes.
    public static func kilobytes(_ count: Int) -> ByteCount { ByteCount(bytes: product(count, 1000)) }

    /// Makes an amount from a number of megabytes of 1,000,000 bytes.
    public static func megabytes(_ count: Int) -> ByteCount { ByteCount(bytes: product(count, 1_000_000)) }

    /// Makes an amount from a literal number of bytes: `let size: ByteCount = 65536`.
    public init(integerLiteral value: Int) { bytes = value }

    init(bytes: Int) { self.bytes = bytes }

    /// Orders amounts by their number of bytes.
    public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }

    /// Clamps a product that overflows `Int` to its largest or smallest value, which the check at open then refuses by the setting's name.
    private static func product(_ count: Int, _ unit: Int) -> Int {
        let (value, overflows) = count.multipliedReportingOverflow(by: unit)
        return overflows ? (count < 0 ? .min : .max) : value
    }
}

extension ByteCount: CustomStringConvertible {
    /// The amount as a text, such as `10 MB` or `4096 bytes`.
    public var description: String {
        if bytes != 0, bytes % 1_000_000 == 0 { return "\(bytes / 1_000_000) MB" }
        if bytes != 0, bytes % 1000 == 0 { return "\(bytes / 1000) KB" }
        return "\(bytes) bytes"
    }
}
