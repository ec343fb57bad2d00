public import Foundation
internal import MobileExecution

/// A clock that moves only on request, for simulations and tests.
public final class VirtualClock: Sendable {
    private let time: SystemLock<Duration>

    /// - Parameter start: the first time that the clock shows, since 1970 where it shows a date; default zero.
    public init(start: Duration = .zero) { time = SystemLock(start) }

    /// The time.
    public var now: Duration { time.withLock { $0 } }

    /// Moves the clock forward.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "time does not go back")
        time.withLock { $0 += duration }
    }

    /// Sets the clock, also back, as people do with the clocks of their devices.
    public func set(_ now: Duration) { time.withLock { $0 = now } }

    /// The time in whole seconds.
    public var seconds: Int64 {
        get { now.components.seconds }
        set { set(.seconds(newValue)) }
    }

    /// The time in milliseconds.
    public var milliseconds: Int64 {
        let parts = now.components
        return parts.seconds * 1000 + parts.attoseconds / 1_000_000_000_000_000
    }

    /// The time as a date: ``now`` after the beginning of 1970.
    public var date: Date { Date(timeIntervalSince1970: now / .seconds(1)) }
}

extension Duration {
    /// Days of 24 hours.
    public static func days(_ count: Double) -> Duration { .seconds(count * 86_400) }
}
