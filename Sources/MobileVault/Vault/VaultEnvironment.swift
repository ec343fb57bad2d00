public import Foundation
public import MobileCrypto

/// Time and chance, passed in: a test lets passwords expire and vaults lock themselves without waiting.
public struct VaultEnvironment: Sendable {
    /// The time of day, by which passwords expire. Default: the system's clock.
    public var now: @Sendable () -> Date
    /// A time that only grows, by which vaults lock themselves, so that setting the clock back keeps none open. Default: the system's
    /// continuous clock, which runs while the device sleeps.
    public var uptime: @Sendable () -> Duration
    /// As many random bytes as asked for: keys, nonces and salts come from it. Default: the system's generator for secrets.
    public var randomBytes: @Sendable (Int) throws -> [UInt8]

    /// The real world, but for what is given.
    public init(
        now: @escaping @Sendable () -> Date = { Date() },
        uptime: @escaping @Sendable () -> Duration = VaultEnvironment.systemUptime(),
        randomBytes: @escaping @Sendable (Int) throws -> [UInt8] = { try RandomBytes.make($0) }
    ) {
        (self.now, self.uptime, self.randomBytes) = (now, uptime, randomBytes)
    }

    /// The continuous clock, from now on.
    public static func systemUptime() -> @Sendable () -> Duration {
        let clock = ContinuousClock(), start = ContinuousClock.now
        return { start.duration(to: clock.now) }
    }
}
