public import Foundation

/// Time and chance, passed in: a test runs a year of devices with clocks of its own, repeatable by seed.
public struct Environment: Sendable {
    /// The time of day. Default: the system's clock.
    public var now: @Sendable () -> Date
    /// 64 random bits. Default: the system's random source.
    public var random: @Sendable () -> UInt64

    public init(
        now: @escaping @Sendable () -> Date = { Date() },
        random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }
    ) {
        (self.now, self.random) = (now, random)
    }
}
