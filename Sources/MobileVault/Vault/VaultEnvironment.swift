public import Foundation
public import MobileCrypto

/// Time and randomness, passed in: tests let passwords expire and vaults lock themselves without waiting.
public struct VaultEnvironment: Sendable {
    /// The time of day, by which passwords expire. Default: the system's clock.
    public var now: @Sendable () -> Date
    /// A time that only grows, by which vaults lock themselves, so that setting the clock back keeps no vault open. Default: the system's
    /// continuous clock, which runs while the device sleeps.
    public var uptime: @Sendable () -> Duration
    /// Returns the requested number of random bytes, for keys, nonces and salts. Default: the system's generator for secrets.
    public var randomBytes: @Sendable (Int) throws -> [UInt8]

    /// Creates the real environment; given values replace its parts.
    public init(
        now: @escaping @Sendable () -> Date = { Date() },
        uptime: @escaping @Sendable () -> Duration = VaultEnvironment.systemUptime(),
        randomBytes: @escaping @Sendable (Int) throws -> [UInt8] = { try RandomBytes.make($0) }
    ) {
        (self.now, self.uptime, self.randomBytes) = (now, uptime, randomBytes)
    }

    /// Returns the continuous clock, counted from now on.
    public static func systemUptime() -> @Sendable () -> Duration {
        let clock = ContinuousClock(), start = ContinuousClock.now
        return { start.duration(to: clock.now) }
    }
}
